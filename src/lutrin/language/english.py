"""English as data: the words that carry no subject, and the phrases by which a question says what it wants.

Everything that Lutrin knows of the language as lists stands here; another language is another module like this one.
"""

STEMMER = "english"
"""As the Snowball project names its stemmer."""
_FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any anyone are as at be because been before being below between
    both but by can cannot could did do does doing done down during each either else ever every few for from
    further get give gives got had has have having he her here hers him his how i if in into is it its itself just
    let like lot me might more most much must my myself neither no nor not now of off on once one only or other our
    ours out over own please pls plz put rather really s same shall she should since so some something such t than
    thanks that the their theirs them then there these they thing things this those through thx to too under until
    up upon us use used uses using very was we were what when where whether which while who whom whose why will
    with within without would you your yours""".split()
)
_DENIED = "ai are ca could did do does had has have is might must need sha should was were wo would".split()
_JOINED = {
    "s": "he here how it let she that there this what when where who why".split(),
    "m": ["i"],
    "re": "they we what you".split(),
    "ve": "could i might should they we would you".split(),
    "ll": "he i it she that they we you".split(),
    "d": "he how i it she that they we you".split(),
}
_SHORT_FORMS = frozenset(
    [*(f"{word}n't" for word in _DENIED), *(f"{word}'{end}" for end, words in _JOINED.items() for word in words)]
)
_OTHER_WORDS = frozenset("hell id ill shed shell wed well".split())
STOP_WORDS = (
    _FUNCTION_WORDS
    | _SHORT_FORMS
    | {form.replace("'", "’") for form in _SHORT_FORMS}
    | {form.replace("'", "") for form in _SHORT_FORMS} - _OTHER_WORDS
)
"""With their short forms, as they are written and as they are typed: what's, what’s, whats."""
QUESTION_WORDS = frozenset(
    """answer book chapter clarify compare continue define describe detail detailed details difference differences
    different elaborate example examples explain explained explanation further go help idea keep know learn list
    main mean meaning means mention mentioned need page paragraph passage point question really say says section
    selected selection sentence show simple simpler simply step steps summarise summarize summary talk tell term
    text textbook understand want way word words work works write""".split()
)
COUNTS_IN_ORDER = tuple("one two three four five six seven eight nine ten eleven twelve".split())
NEGATIONS = frozenset("cannot neither never no nobody none nor not nothing without n't".split())
TOTAL = frozenset("all always entirely every never".split())
"""Words by which a sentence claims the whole."""
WHOLE = frozenset("any anything each entire everybody everyone everything just only whole".split())
"""Words that may stand for one of those."""
COMMON_WORDS = frozenset(
    """able accept accidentally achieve act actual actually add advise afraid agree ahead aim alive allow almost alone
    along already alter although always amount annoying anybody anyhow anyway anywhere appear appropriate arrange
    arrive aside ask aspect assume attempt automatically available avoid away awful back bad badly basic basically
    beautiful become begin behave behind believe belong beside best better big bigger bit blame boring bother break
    bring broad broader broken build busy buy call calm care careful case catch cause certain chance change cheap
    cheaper check choice choose clean clear clever close closer come common commonly complete completely complicated
    concern confuse consider context continue convenient cool correct correctly cost count couple create curious cut
    daily danger dangerous day deal decide deep deeper definitely demand depend deserve despite develop difficult
    directly dirty disappear discover do double doubt dumb easier easily easy effect effort either empty enable end
    enjoy enough ensure enter entire entirely equal especially essential eventually everybody everyday everyone
    everything everywhere exact exactly exist expect expensive extra extremely fact fail fair fall false famous fancy
    fast faster favourite fear feel fine finish fit fix follow forbid forget form former fresh friend full fully fun
    funny future gain gather generally gentle glad goal gone good grab great grow guess guy half happen happy hard
    harder hardly harm hate hear heavier heavy helpful hide high higher hint hit hold hope huge hurry idea ideal
    identify imagine immediately improve include increase indeed inside instead intend interesting involve job join
    keen kid kill kind lack large larger last late later latter least leave left less lie likely limit little live
    long longer look loose lose lot loud love low lower lowest luck mad maintain major make manage manner many mark
    matter maximum maybe meet merely messy middle mind minimum miss mistake mix modern moment mostly move multiple
    name narrow nasty near nearly neat necessary neither new newer next nice nicer nobody none normally notice
    nowadays obtain obvious occasion occur odd offer often okay old older open opposite order ordinary otherwise outcome
    outside overall particular pass past pay people perfect perhaps permit person pick piece place plain play plenty
    plus poor popular possible possibly prefer prepare present pretty prevent previous probably problem produce
    proper properly protect prove provide purpose quality quantity quick quickly quiet quite rare rarely reach ready
    real realise reason recent recently recognise recommend reduce regular relate relevant rely remain remember
    remove repair repeat replace require respect respond result return rid right rise risk rough round rule run sad
    safe safely safer satisfy save seem seldom select send separate sequence serious serve set several severe shape
    sharp short shorter shortly shout show shut side silly similar simple simpler since single sit situation size slight
    slightly slow slower slowly small smaller smart smooth solve somebody somehow someone sometimes somewhere soon
    sooner special specific spend split spoil stand start state stay still stop straight strange strong stronger
    student stuff stupid succeed successful sudden suddenly suffer sufficient suggest suit suitable suppose sure
    surely surprise take tall tend terrible thank thin think tight time tiny today together tomorrow tonight total
    totally tough toward trick trouble true truly trust try turn twice typical typically ugly unable unless unlike
    unusual useful useless usual usually various vary wait walk warn waste watch weak weaker weird well whatever
    whenever whole wide wider wise wish wonder worry worse worst
    worth wrong wrongly yesterday yet young younger
    according alongside altogether apart briefly cons farther forever onto poorer pros quicker till vs
    began begun bought broke broken brought built came chose chosen fell fallen felt forbidden forgot forgotten gone
    gotten grew grown held heard hid hidden kept knew known laid lain lay left lost made meant met paid ran risen rose
    sat saw said seen sent shown showed spent stood taken thought told took understood went written wrote
    aunt boss brother classmate colleague cousin customer dad grownup mum sister teacher tutor uncle
    overnight outdoors indoors alone often hot far shall may sort ours""".split()
)
"""Everyday words that name no subject: what is done to things, how things are, people and occasions. Nouns for things,
and verbs of a trade, are left out."""
REFERENCES = frozenset(
    "he her him his it it's its ones same she that their theirs them there these they this those".split()
)
"""Words for something that was named elsewhere."""
POINTING = frozenset("this that these those".split())
"""Those that stand before the name of what they point at: "this formula"."""
POINTS_AT_NOTHING = (
    r"\b(?:is|was|isn['’]?t|be|makes?|made|call) it (?:[\w,-]+ ){0,5}(?:to|that|if|when)\b",
    r"\b(?:does|did|will|would) it (?:take|cost)\b.* (?:to|for)\b", r"\b(?:is|are|was|were) there\b",
    r"\bthere (?:is|are|was|were)\b", r"\b(?:they|people|one) (?:\w+ )?(?:mean|say|call)\b", r"\bsame .{0,40}\bas\b",
    r"\bthis (?:book|chapter)\b", r"\bso that\b",
)  # fmt: skip
"""Where such a word stands for nothing: "Is it safe to ...?", "What do they mean by drift?"."""
ONE_AFTER = frozenset("another last next other that this which".split())
"""After these, "one" is something that was named elsewhere."""
COURTESIES = frozenset(
    """a afternoon bye cheers cool day dear evening everyone goodbye good great greetings hello hey hi hiya lot morning
    much nice night ok okay please pls plz see so thank thanks there thx ty very you""".split()
)
"""A text of these words alone greets or thanks."""

CHAT_SPELLINGS = {
    "abt": "about", "bc": "because", "cuz": "because", "diff": "difference", "gimme": "give me", "hows": "how is",
    "plz": "please", "pls": "please", "thx": "thanks", "wanna": "want to", "wat": "what", "wats": "what is",
    "whats": "what is", "what's": "what is", "what’s": "what is", "whos": "who is", "wheres": "where is", "wut": "what",
    "how 2": "how to", "how r": "how are", "what r": "what are", "who r u": "who are you", "big r": "big are",
    "are u": "are you", "ask u": "ask you", "can u": "can you", "could u": "could you", "do u": "do you",
    "would u": "would you", "y are": "why are", "y can": "why can", "y do": "why do", "y does": "why does",
    "y is": "why is",
}  # fmt: skip
"""As pupils type, and what they mean; a letter alone may be a quantity."""
_COUNT = r"(?:one|two|three|four|five|ten|\d+|a few|some|several|more|another|an?|any|other)"
_GIVE = (
    r"(?:(?:can|could|would) you (?:please )?)?(?:please )?(?:give|show|tell|make|write|name|find|list"
    r"|(?:can )?i (?:want|need|get|have|see))"
    rf"(?: me| us)? (?:the )?(?:{_COUNT} ){{0,4}}"
)
WISHES: dict[str, tuple[str, ...]] = {
    "quiz": (
        (
            rf"(?:{_GIVE})?\b(?:(?:practice|pop|little|short"
            r"|multiple[- ]choice) ){0,3}(?:quiz(?:zes)?(?: time)?|flash ?cards?|(?:practice"
            r"|multiple[- ]choice|test|exam) (?:questions|problems|exercises|tasks))(?: me"
            r"| us)?\b(?: (?:on|about|for|over))?"
        ),
        r"\b(?:test|examine) (?:me|us|my knowledge)(?: (?:on|about|in|of))?\b",
        rf"\bask (?:me|us) (?:{_COUNT} ){{0,4}}(?:questions?|something|things)(?: (?:on|about))?\b",
    ),
    "analogy": (
        (
            rf"(?:(?:is|are) there |what is |with |using |by |think of |{_GIVE})?(?:\b(?:an?|good|simple"
            r"|nice|everyday|real[- ]life) ){0,4}\b(?:analog(?:y|ies)|metaphors?|comparison (?:from|with"
            r"|to))(?: (?:from )?\w+ life)?(?: that helps (?:me|us) (?:to )?understand)?(?: (?:for|of"
            r"|to explain))?\b"
        ),
        r"\b(?:like |to |with )?(?:something|things|what) (?:from|in) (?:everyday|daily|normal|real) life",
        r"^what can (?:i|you|we) compare",
    ),
    "simpler": (
        (
            r"\b(?:much |more |very |quite )?(?:simply|simpler|easier|plainer)\b(?: to (?:get|understand"
            r"|follow))?(?! (?:than|to|put)\b)"
        ),
        r"\bsimplify\b",
        r"\b(?:in|using|with) (?:[\w']+ ){1,2}(?:words|terms|english|language|speak)(?= for\b|[\s,.:;!?]*$)",
        r"\beli ?\d+\b", r"\bdumb (?:it |this |that )?down\b", r"\bwithout (?:the )?jargon\b",
        (
            r"\b(?:just |as if |as though |like )?i(?:['’]m| am| was| were) (?:only "
            r"|just )?(?:in )?(?:(?:an? )?(?:child|kid|baby|beginner|noob)|\d+(?:th|rd)?(?: grade)?|five"
            r"|six|seven|eight|nine|ten|twelve)\b(?: years? old)?"
        ),
        (
            r"\b(?:say |explain )?(?:it |this )?so (?:that )?(?:even )?(?:an? "
            r"|my )?[\w -]{2,30} (?:understands?|gets?)(?: it)?\b"
        ),
        (
            r"(?<!and )(?<!hard )(?<!easy )\b(?:for|(?:like )?to) (?:(?:an?|my|complete|total|absolute"
            r") ){0,4}(?:child|beginners?|kids?|dummies|newbie|grandma|little \w+|\w+[- ]years?[- ]olds?)\b"
        ),
        r"\btoo (?:hard|complicated|difficult)\b",
    ),
    "summary": (
        (
            rf"(?:{_GIVE})?(?:\b(?:short|brief|quick|one[- ]line) ){{0,3}}\b(?:summary|summaries|overview|recap"
            r"|gist|short version)(?: of| on| about)\b"
        ),
        r"\bin (?:short|brief)$",
        r"^(?:please )?(?:(?:can|could) you )?(?:summari[sz]e|recap|sum (?:up\b|(?=.*up\b)))",
        r"\btl;?dr(?: of)?(?!\w)", r"\bin a nutshell\b",
        (
            rf"(?:what (?:are|is) |{_GIVE})?(?:the )?\b(?:key|main|most important) (?:points?|ideas?"
            r"|takeaways?|facts?|things)\b(?: (?:of|about|in|from|on))?"
        ),
    ),
    "steps": (
        r"\b(?:with |as )?step[- ]by[- ]step\b(?: (?:instructions?|guide))?(?: (?:for|to|on))?", r"\bin steps\b",
        r"\b(?:walk|guide|take) (?:me|us) through\b",
        r"^in (?:what|which) order (?:do|should|must|can) (?:i|we|you)\b",
        rf"(?:^|what (?:are|is) |{_GIVE})(?:the |every )?\b(?:steps?|instructions|procedure) (?:to|for|of|in)\b",
        r"\bfirst, second\b(?:,? (?:and )?third)?",
    ),
    "example": (
        (
            r"(?:(?:are|is) there |what (?:is|are|would be) |could i (?:see|get|have) |with "
            rf"|{_GIVE})?(?<!as )\b(?:{_COUNT} ){{1,4}}(?:(?:good|simple|real[- ]life|real[- ]world|real"
            r"|concrete|practical|everyday|worked) ){0,4}examples?(?: (?:of|for|where))?\b"
        ),
        r"^(?:for )?(?:examples?|e\.?g\.?)(?: (?:of|for))?\b", r"\bfor instance\b",
    ),
    "code": (
        (
            rf"(?:{_GIVE})(?:\w+ ){{0,2}}(?:code|snippet|script|program|function|command|query|one[- ]liner"
            r"|sketch)(?: (?:snippet|example))?(?: (?:for|to|of|that|which))?\b(?!['’]s)"
        ),
        r"^(?:code|snippet|script|program|command)(?: (?:for|to))\b",
        r"\bwhat is the (?:command|code|syntax)(?: (?:for|to|of))?\b", r"^what do i type\b(?: to)?",
    ),
}  # fmt: skip
"""What a reader asks for besides the subject, tried in this order; the words that match go, the rest is the subject."""
_NUMBER_NOUN = (
    r"(?:number|rate|frequency|speed|range|cost|price|size|mass|weight|height|length|width|depth|voltage|current|power"
    r"|torque|capacity|resolution|accuracy|angle|distance|temperature|percent(?:age)?|latency|point|year|age|radius"
    r"|value|pressure|density|population)"
)
_VERB = "is|are|was|were|do|does|did|can|could|may|must|should|would|will|has|have|had"
SHAPES: dict[str, tuple[str, ...]] = {
    "why": (
        r"^(?:(?:and|but|so) )?why\b", r"[,;:.–-] ?why\b", r"\b(?:and )?why(?:['’]?s that)?[\s?.!]*$",
        r"\bhow come\b", r"\bfor what reason\b", r"^what (?:is the (?:point|reason|purpose)|causes?|makes?)\b",
    ),
    "compare": (
        (
            r"\b(?:compared?|comparison|versus|vs\.?|differs?|different (?:from|to|about|between)"
            r"|diff(?:erences?)? between|differences?|pros and cons)\b"
        ),
        r"\badvantages? of .* over\b",
        r"\b(?:better|worse|faster|slower|stronger|safer|cheaper|heavier|more \w+)\b.*(?: than |, ?\w+| or )",
        r"^when .*\band when\b", r"^(?:should|shall) (?:i|we|you) .* or ",
        r"^what (?:do|does|has) .* (?:have|do|has) that .* (?:do|does|has|have)n",
    ),
    "number": (
        (
            r"\bhow (?:much|many|fast|slow|long|far|heavy|big|large|small|tall|high|deep|wide|often|hot"
            r"|cold|close|old|thick|strong|loud|tight)\b"
        ),
        (
            r"^(?:at |in |on |to )?(?:what|which|whats|what's)(?: (?:is|are|was"
            rf"|should))?(?: the)?(?: \w+){{0,2}} {_NUMBER_NOUN}\b"
        ),
        r"\b(?:in )?(?:what|which) year\b", r"^when (?:was|were|did)\b", r"^at what\b",
        rf"^(?:\w+ )?{_NUMBER_NOUN} of\b",
    ),
    "code": (
        r"\b(?:command|snippet|syntax|one[- ]liner)\b",
        r"\b(?:python|bash|c\+\+|java|sql|rust) (?:code|function|script)\b", r"^(?:the )?code\b",
        (
            r"\bhow (?:do|can|would|to) (?:(?:i|you|we) )?(?:write|call|import"
            r"|declare) (?:an? )?(?:\w+ )?(?:loop|function|class|script|query|method|test|struct|module)\b"
        ),
    ),
    "list": (
        r"^(?:name|list)\b", r"^list of\b", r"\b(?:kinds?|types?|parts|components|sorts) of\b",
        r"^what are (?:all )?(?:the )?(?:(?:two|three|four|five|six) (?:\w+ )?)?\w+s\b",
        (
            r"^(?:which|what) (?:\w+ ){0,2}?(?!is\b|was\b|does\b|this\b|has\b)\w+[^s\W]s (?:are|do|does"
            r"|can|should|must|make|belong|exist|have|were)\b"
        ),
        r"\ball (?:the )?(?:ways|kinds|types|parts)\b",
    ),
    "how": (
        r"^how\b", r"^(?:in )?(?:what|which) way\b", r"\bhow to\b",
        r"\b(?:right|best|safest|easiest|quickest|good) way to\b", r"[,;:.] ?how\b", r"^what is the trick\b",
        r"\b(?:is there )?a way to\b",
    ),
    "definition": (
        (
            r"^what(?: (?:exactly|really|actually|even|on earth|the heck))?(?: is| are)?(?: (?:exactly"
            r"|really|actually))? (?:meant by|an? [^,]+|(?!the\b|that\b|this\b|it\b"
            rf"|{_VERB})[\w-]+(?: [\w-]+)?)[\s?.!]*$"
        ),
        r"^what (?:an? )?[\w -]+ (?:is|are|means?)[\s?.!]*$", r"\b(?:meaning|definition) of\b",
        r"^(?:define|definition)\b", r"\bwhat (?:do|does|did) .* (?:mean|stand for)\b",
        r"\b(?:what|the word|the term) .* means?\b",
        r"\bwhat (?:is|are|was) (?:that|it|this|they)(?: supposed to (?:be|mean))?[\s?.!]*$",
        r" (?:meaning|definition)$",
    ),
}  # fmt: skip
"""What the words of a question itself ask for, tried in this order; nothing is taken away."""
COMPUTE = (
    r"^(?:please )?(?:calculate|compute|work out|convert)\b(?=.*\d)",
    r"^what (?:is|are) \d[\d.]* (?:percent|%) of\b",
    r"^(?:what|how much) (?:is|are) [^?]*\d[^?\d]*(?:[*x×+÷]|times|plus|minus|divided by)\s*\d",
    r"^if\b(?>.*?\d)(?>.*?\d).*\b(?:how|what)\b",
    r"^how (?:much|many|long|far|fast|heavy)\b(?>.*?\d ?[a-z]+\b)(?>.*?\b(?:at|with|if)\b).*\d ?[a-z]+\b",
    r"^\d(?>.*?\d).*, (?:what|how)\b",
)  # fmt: skip
ABOUT = (
    (
        r"^(?:(?:which|what|how many|list(?: all)?|show)(?: me)?(?: all)?(?: the)? (?:chapters?"
        r"|modules?|table of contents)(?: (?:are there|are in|(?:does|do|has|have) (?:this|the|it"
        r"|you)|is in|in (?:this|the)|comes?)\b.*)?|table of contents|(?:what|which) topics (?:does"
        r"|do|are)\b.*(?:book|covers?|covered|in here|here)|how is the book (?:structured"
        r"|organi[sz]ed)|is there an? (?:chapter"
        r"|module)\b.*)[\s?.!]*(?:please)?[\s?.!]*$"
    ),
    (
        r"^(?:what(?: is| does| do| will| can)?|tell|describe)\b.*\b(?:this|the"
        r"|your) (?:text)?book(?: (?:even |all )?(?:about|cover|teach|contain|talk about"
        r"|for))?[\s?.!]*$"
    ),
    (
        r"^(?:hi |hello |hey )?(?:(?:who|what) are you\b|who made you|are you (?:an? )?(?:robot|human"
        r"|ai|person|bot|real|chatgpt)\b|what can you (?:do|help)\b|what can i ask\b|how (?:do"
        r"|can) (?:you|i) (?:use|help) (?:you|me)[\s?.!]*$)(?P<self>)"
    ),
    (
        r"^(?:what(?: is| does| do)?|describe|tell me)(?: in| about)?(?: is)?(?: the"
        r"| this)? (?P<nth>(?!an?\b)\w+ )?(?:chapter|module(?= \d))(?: (?:on|about"
        r"|called))? ?(?P<chapter>(?:\d+|[\w &'’-]+?)??)(?: in)?(?: (?:all )?(?:about|cover|contain"
        r"|teach|talk about))?[\s?.!]*$"
    ),
)  # fmt: skip
"""A question about the book itself: its chapters, its subject, the tutor."""
_SOMEBODY = "(?:you|u|someone|somebody|anyone|anybody)"
LEAD = (
    (
        r"(?:(?:hi|hey|hello|hiya|ok(?:ay)?|so|well|um+|basically|please|plz|pls"
        rf"|quick question)\b[\s,:;.!-]*|(?:can|could|would|will) {_SOMEBODY} (?:please |pls "
        r"|plz )?(?:help me |help )?(?:to )?(?:explain|tell|show|describe|give|say|define|remind"
        r"|understand|know)\b(?: (?:to )?(?:me|us))?(?: about)?\s*|(?:explain|describe|tell|clarify"
        r"|define|show|give|remind)\b(?: (?:to )?(?:me|us)\b)?(?: about| again)?[\s:,]*"
        r"|.{0,80}?\bi(?:'d| would)? (?:still )?(?:do ?n['o’]?t|can ?['’]?n?o?t|did ?n['o’]?t|want to"
        r"|need to|wanna|like to) (?:really |quite |fully )?(?:get|understand|know|see"
        r"|learn)(?: about)?\s+(?=(?:what|how|why|when|where|which|if|the)\b)|(?:do|does) (?:you|u"
        r"|anyone) know\s+(?=(?:what|how|why|when|where|which|who|if)\b))+"
    ),
)  # fmt: skip
"""What stands before a question and asks nothing."""
PLEA = (
    (
        r"(?<![\s,;.!?-])[\s,;.!?-]*\b(?:for me|(?:i|we) (?:have|got) an? (?:test|exam|quiz)\b[\w ]*|please|plz|pls"
        r"|thanks(?: a lot)?|thank you|thx|ty|asap|exactly|actually)[\s?.!]*$"
    ),
)  # fmt: skip
"""What stands after it and asks nothing."""
ASKING = frozenset(
    """am are calculate can compare convert could define describe did do does explain give had has have how hows is list
    may might must name quiz should show summarise summarize tell was were what whats when where which who whom whose
    why will would write walk""".split()
)
"""The words with which a sentence begins that asks."""
BEFORE_ASKING = frozenset("and but hey hi now ok okay please pls plz so then well".split())
DEFINING = frozenset("clarify define describe explain understand".split())
"""Words that want a term explained."""
_PREPOSITION = (
    "for|from|at|in|into|on|by|with|without|within|under|over|after|before|during|until|through|near|close|outside"
    "|beside"
)
GOES_ON = ("and ", "but ", "so ", "then ", "also ", "or ", "what about ", "how about ", "same for ", "same with ")
"""How a question begins that goes on from the one before."""
CORRECTS = (
    (
        r"(?:(?:no|nope|sorry|oops|oh|wait|i)\b[\s,.!-]*){1,6}(?:i |we )?(?:(?:actually "
        r"|really )?(?:meant?|wanted to (?:say|ask))(?: to (?:say|ask))?|not (?:that|this"
        r"|it)[\s,]+)(?: about)?\s+"
    ),
    r"^\*",
)  # fmt: skip
"""How a reader begins who mends the question before: "Sorry, I meant the P gain"."""
ORDINALS = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4,
    "last": -1,
}  # fmt: skip
CHAPTER = (r"\bchapter (?P<name>\w+)\b", r"\b(?P<name>\w+) chapter\b")
"""Where a question names a chapter by its number, or the one that the reader is in."""
NTH = (rf"\b(?:the )?({'|'.join(ORDINALS)})(?: (?:one|option|point|item|step|type|kind|method|reason|thing|part))\b",)
"""One of several things that the last answer named."""
ELLIPTIC = (
    (
        rf"^(?:why (?:not|no|only|so|just|always|never|exactly|bother|{_PREPOSITION})\b|(?:not|no|only"
        rf"|even|{_PREPOSITION})\b(?!.*\b(?:{_VERB})\b)"
        rf"|how \w+ (?:{_PREPOSITION})\b(?!.*\b(?:{_VERB})\b)|(?:which|what|how (?:much"
        r"|many))\b[\w -]* (?:do|does|did|should|must|can) (?:we|you|i) (?:use|need|take|have|want"
        r"|buy|choose|pick|aim for)\W*$|what if\b(?!.*,)|what do you mean\b)"
    ),
)  # fmt: skip
"""A question that lacks its verb, or whose verb lacks what it is said of: it stands on the one before."""
JOINT = (
    (
        r",?\s+(?:and|but|or)\s+(?=(?:(?:about|after|at|by|for|from|in|of|on|since|to|until|under"
        rf"|with)\s+)?(?:what|which|how|why|where|when|who)\b[^?;]*\b(?:{_VERB}|to)\b|(?:what|how|why"
        r"|which)\b)"
    ),
    rf",\s+(?:and|but|or)\s+(?=(?:{_VERB})\s+\w)", r"(?<=\?)\s+(?=\w)", r";\s+",
)  # fmt: skip
"""Where a second question begins inside a question."""
SAYING = frozenset(f"{_VERB}|to|it|they|i|you|we".split("|"))
"""What a question has that could stand alone."""
