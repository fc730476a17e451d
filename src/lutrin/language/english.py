"""English as data: the words that carry no subject, and the phrases by which a question says what it wants.

Everything that Lutrin knows of the language as lists stands here; another language is another module like this one.
"""

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
FORM_WORDS = frozenset(
    """calculate calculates code command compute computes diagram equation figure formula function implement implemented
    implements listing picture program script snippet table""".split()
)
"""Words that say in which form an answer is wanted; a book may hold the form without naming it."""
COUNTS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million first second third
    half twice""".split()
)
"""Words that count things; they say nothing of what is counted."""
NEGATIONS = frozenset("cannot neither never no nobody none nor not nothing without n't".split())

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
    "he her him his it it's its one ones she that their theirs them there these they this those".split()
)
"""Words for something that was named elsewhere."""
COURTESIES = frozenset(
    """a afternoon bye cheers cool day dear evening everyone goodbye good great greetings hello hey hi hiya lot morning
    much nice night ok okay please pls plz see so thank thanks there thx ty very you""".split()
)
"""A text of these words alone greets or thanks."""

_COUNT = r"(?:one|two|three|four|five|ten|\d+|a few|some|several|more|another|an?|any|the|other)"
_GIVE = (
    r"(?:(?:can|could|would) you (?:please )?)?(?:please )?(?:give|show|tell|make|write|name|find|list|i (?:want|need))"
    rf"(?: me| us)? (?:{_COUNT} )*"
)
_REST = r"(?:(?: that| which)? (?:is|are|was|were|would be)\b)?"
WISHES: tuple[tuple[str, str], ...] = (
    (
        "quiz",
        rf"(?:{_GIVE})?(?:practice |pop |little |short |multiple[- ]choice )*(?:quiz(?:zes)?|(?:practice|multiple[- ]choice"
        r"|test|exam) questions)(?: me| us)?\b(?: (?:on|about|for))?"
        rf"|\b(?:(?:can|could) you )?(?:test|examine) (?:me|us)(?: (?:on|about|in))?\b"
        rf"|\bask (?:me|us) (?:{_COUNT} )*questions?(?: (?:on|about))?\b",
    ),
    (
        "analogy",
        rf"(?:(?:is|are) there |what(?:'?s| is| would be) |with |using |by |(?:{_GIVE}))?(?:an? )?(?:(?:good|simple|nice"
        r"|everyday|real[- ]life) )*\b(?:analog(?:y|ies)|metaphors?)(?: from \w+(?: life)?)?"
        r"(?: that helps (?:me|us) (?:to )?understand)?(?: (?:for|of|to explain))?\b"
        r"|\b(?:like |to |with )?(?:something|things) (?:from|in) (?:everyday|daily|normal|real) life",
    ),
    (
        "simpler",
        r"\b(?:much |more |very )?(?:simply|simpler|easier|plainer)\b(?! (?:than|to)\b)|\bsimplify\b"
        r"|\b(?:in |using |with )?(?:more )?(?:simpler?|plain|easy|easier|kid|layman'?s?|your own) (?:words?|terms?"
        r"|english|language)\b|\beli ?\d+\b|\bdumb (?:it |this |that )?down\b|\bwithout (?:the )?jargon\b"
        r"|\b(?:just )?(?:as if|as though|like) (?:i(?:'|’)?m|i am|i were|i was|to) (?:an? )?\w+(?:[- ]years?[- ]olds?)?"
        r"|\b(?:say |explain )?(?:it |this )?so (?:that )?(?:even )?(?:an? |my )?[\w -]{2,30} (?:understands?|gets?)(?: it)?\b"
        r"|\b(?:(?<!and )for|to) (?:an? )?(?:complete |total |absolute )?(?:child|beginners?|kids?|dummies|newbie"
        r"|\w+[- ]years?[- ]olds?)\b|\btoo (?:hard|complicated|difficult)\b",
    ),
    (
        "summary",
        rf"(?:{_GIVE})?(?:(?:short|brief|quick|one[- ]line) )*\b(?:summar(?:y|ies)|overview|recap)(?: (?:of|on|about))?\b"
        r"|\b(?:please )?(?:summari[sz]e|sum up|recap)\b|\btl;?dr(?: of)?(?!\w)|\bin a nutshell\b"
        rf"|(?:what (?:are|is) |(?:{_GIVE}))?(?:the )?\b(?:key|main|most important) (?:points?|ideas?|takeaways?|facts?)"
        r"\b(?: (?:of|about|in|from))?",
    ),
    (
        "steps",
        r"\b(?:with |as )?step[- ]by[- ]step\b(?: (?:instructions?|guide))?(?: (?:for|to|on))?|\bin steps\b"
        r"|\bwalk (?:me|us) through\b|\b(?:in )?(?:what|which) (?:order|sequence)\b"
        rf"|(?:what (?:are|is) |(?:{_GIVE}))?(?:the )?\b(?:steps|instructions|procedure)(?: (?:to|for|of|in))\b",
    ),
    (
        "example",
        rf"(?:(?:are|is) there |what(?:'?s| is| are| would be) |(?:can|could) you (?:give|show)(?: me)? |with |(?:{_GIVE}))?"
        rf"(?:{_COUNT} )+(?:(?:good|simple|real[- ]life|real[- ]world|real|concrete|practical|everyday) )*\bexamples?"
        r"(?: (?:of|for))?\b|^(?:for )?examples?(?: (?:of|for))?\b|\bfor instance\b",
    ),
    (
        "code",
        rf"(?:{_GIVE})(?:\w+ ){{0,2}}(?:code|snippet|script|program|function|command|query)(?: (?:snippet|example))?"
        r"(?: (?:for|to|of|that|which))?\b"
        r"|^(?:code|snippet|script|program|command)(?: (?:for|to))\b|\bwhat(?:'?s| is) the (?:command|code|syntax)"
        r"(?: (?:for|to|of))?\b",
    ),
)
"""What a reader asks for besides the subject, tried in this order; the words that match go, the rest is the subject."""
_NUMBER_NOUN = (
    r"(?:number|rate|frequency|speed|range|cost|price|size|mass|weight|height|length|width|depth|voltage|current|power"
    r"|torque|capacity|resolution|accuracy|angle|distance|temperature|percent(?:age)?|latency|point|year|age|radius"
    r"|value|pressure|density|population)"
)
_VERB = "is|are|was|were|do|does|did|can|could|may|must|should|would|will|has|have|had"
SHAPES: tuple[tuple[str, str], ...] = (
    (
        "why",
        r"^(?:(?:and|but|so) )?why\b|\bhow come\b|\bfor what reason\b|^what(?:'?s| is) the (?:point|reason|purpose)\b",
    ),
    (
        "compare",
        r"\b(?:compared?|comparison|versus|vs\.?|differs?|different (?:from|to|about|between)|diff(?:erences?)? between"
        r"|differences?|pros and cons)\b|\badvantages? of .* over\b|\b(?:better|worse|faster|slower|stronger|safer"
        r"|cheaper|heavier|more \w+)\b.*(?: than |, ?\w+| or )|^when .*\band when\b",
    ),
    (
        "number",
        r"\bhow (?:much|many|fast|slow|long|far|heavy|big|large|small|tall|high|deep|wide|often|hot|cold|close|old|thick"
        r"|strong|loud|tight)\b|^(?:at |in |on |to )?(?:what|which|whats|what's)(?: (?:is|are|was|should))?(?: the)?"
        rf"(?: \w+){{0,2}} {_NUMBER_NOUN}\b|\b(?:in )?(?:what|which) year\b|^when (?:was|were|did)\b|^at what\b",
    ),
    (
        "code",
        r"\b(?:command|snippet|syntax|one[- ]liner)\b|\b(?:python|bash|c\+\+|java|sql|rust) (?:code|function|script)\b"
        r"|^(?:the )?code\b|\bhow (?:do|can|would|to) (?:(?:i|you|we) )?(?:write|call|import|declare) (?:an? )?"
        r"(?:\w+ )?(?:loop|function|class|script|query|method|test|struct|module)\b",
    ),
    (
        "list",
        r"^(?:name|list)\b|^list of\b|\b(?:kinds?|types?|parts|components|sorts) of\b|^what are (?:all )?(?:the )?\w+s\b"
        r"|^(?:which|what) (?:\w+ ){0,2}?(?!is\b|was\b|does\b|this\b|has\b)\w+[^s\W]s (?:are|do|does|can|should|must|make"
        r"|belong|exist|have|were)\b|\ball (?:the )?(?:ways|kinds|types|parts)\b",
    ),
    (
        "how",
        rf"^how\b|^(?:in )?(?:what|which) way\b|\bhow to\b|\b(?:right|best|safest|easiest|quickest|good) way to\b"
        r"|, how\b",
    ),
    (
        "definition",
        rf"^what(?: (?:exactly|really|actually|even|on earth))?(?: ?['’]?s| is| are)?(?: (?:exactly|really|actually))?"
        rf" (?:meant by|an? [^,]+|(?!the\b|that\b|this\b|it\b|{_VERB})[\w-]+(?: [\w-]+)?)[\s?.!]*$"
        rf"|^what (?:an? )?[\w -]+ (?:is|are|means?)[\s?.!]*$|\b(?:meaning|definition) of\b|^(?:define|definition)\b"
        r"|\bwhat (?:do|does|did) .* (?:mean|stand for)\b|\b(?:what|the word|the term) .* means?\b"
        r"|\bwhat (?:is|are|was) (?:that|it|this|they)(?: supposed to (?:be|mean))?[\s?.!]*$| (?:meaning|definition)$",
    ),
)
"""What the words of a question itself ask for, tried in this order; nothing is taken away."""
COMPUTE = (
    r"^(?:please )?(?:calculate|compute|work out|convert)\b|\b\d[\d.]*\s*[^\W\d_]{0,3}\s*(?:[*x×/+÷]|times|plus|minus"
    r"|divided by)\s*\d|^(?:if|how|what)\b(?=.*\d).*\d[\d.]*\s*[^\W\d_]{1,3}\b.*\b\d"
)
ABOUT = (
    r"^(?:(?:which|what|how many|list(?: all)?|show)(?: me)?(?: the| all)?(?: the)? (?:chapters?|parts|modules|units|table of"
    r" contents|contents)(?: (?:are there|are in|does|do|has|have|is|in)\b.*)?|table of contents"
    r"|what topics (?:does|do|are)\b.*(?:book|textbook|covers?|in here)|(?:what|which) (?:are the )?(?:chapters|topics))"
    r"[\s?.!]*(?:please|plz|pls)?[\s?.!]*$(?P<contents>)"
    r"|^(?:what(?:'?s| is| does| do| will| can)?|tell|describe)\b.*\b(?:this|the|your) (?:text)?book"
    r"(?: (?:all )?(?:about|cover|teach|contain|talk about|for))?[\s?.!]*$(?P<book>)"
    r"|^(?:hi |hello |hey )?(?:who|what) (?:are|r) (?:you|u)\b|^are you (?:an? )?(?:robot|human|ai|person|bot|real|chatgpt)\b"
    r"|^what can (?:you|u) (?:do|help)\b.*$(?P<self>)|^how (?:do|can) (?:you|i) (?:use|help) (?:you|me)[\s?.!]*$"
    r"|^(?:what(?:'?s| is| does| do)?|describe|tell me)(?: in| about)?(?: is)?(?: the)? (?:chapter|module|unit|part)"
    r"(?: (?:on|about|called))? (?P<chapter>[\w][\w &'’-]*?)(?: (?:all )?(?:about|cover|contain|say|teach|talk about))?[\s?.!]*$"
)
"""A question about the book itself: its chapters, its subject, the tutor."""
CHAPTER = r"\b(?:chapter|module|unit|part)(?: (?:on|about|called))? (?P<chapter>\d+|[\w-]+(?: [\w-]+)?)"
_SOMEBODY = "(?:you|u|someone|somebody|anyone|anybody)"
LEAD = (
    r"(?:(?:hi|hey|hello|hiya|ok(?:ay)?|so|well|um+|basically|please|plz|pls|quick question)\b[\s,:;.!-]*"
    rf"|(?:can|could|would|will) {_SOMEBODY} (?:please |pls |plz )?(?:help me |help )?(?:to )?"
    r"(?:explain|tell|show|describe|give|say|define|remind|understand|know)\b"
    r"(?: (?:to )?(?:me|us))?(?: about)?\s*|(?:explain|describe|tell|clarify|define|show|give|remind)\b"
    r"(?: (?:to )?(?:me|us)\b)?(?: about| again)?[\s:,]*"
    r"|.{0,80}?\bi(?:'d| would)? (?:still )?(?:do ?n['o’]?t|can ?['’]?n?o?t|did ?n['o’]?t|want to|need to|wanna|like to)"
    r" (?:really |quite |fully )?(?:get|understand|know|see|learn)(?: about)?\s+(?=(?:what|how|why|when|where|which|if|the)\b)"
    r"|(?:do|does) (?:you|u|anyone) know\s+(?=(?:what|how|why|when|where|which|who|if)\b))+"
)
"""What stands before a question and asks nothing."""
PLEA = (
    r"[\s,;.!?-]*\b(?:for me|(?:i|we) (?:have|got) an? (?:test|exam|quiz)\b[\w ]*|please|plz|pls|thanks(?: a lot)?|thank you"
    r"|thx|ty|asap|exactly|actually)[\s?.!]*$"
)
"""What stands after it and asks nothing."""
ASKS = (
    r"(?:(?:and|but|so|then|now|ok|please|pls|plz)\b[\s,]*)*(?:what|whats|which|how|hows|why|where|when|who|whom|whose|is|are|was"
    r"|were|does|do|did|can|could|should|must|may|might|will|would|has|have|had|name|list|explain|describe|define"
    r"|compare|tell|give|show|summari[sz]e|calculate|convert|quiz|test me|write|walk)\b"
)
"""How a sentence begins that asks."""
DEFINES = r"(?:.*\b)?(?:explain|define|describe|clarify|understand|tell me about)\b"
"""How a sentence begins that wants a term explained."""
GOES_ON = r"(?:and|but|so|then|also|or|what about|how about|same (?:for|with|question))\b[\s,]*"
"""How a question begins that goes on from the one before."""
CORRECTS = (
    r"(?:(?:no|nope|sorry|oops|oh|wait|i)\b[\s,.!-]*)+(?:i |we )?(?:(?:actually |really )?(?:meant?|wanted to (?:say|ask))"
    r"(?: to (?:say|ask))?|not (?:that|this|it)[\s,]+)(?: about)?\s+|^\*"
)
"""How a reader begins who mends the question before: "Sorry, I meant the P gain"."""
ORDINALS = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4,
    "last": -1,
}  # fmt: skip
NTH = rf"\b(?:the )?({'|'.join(ORDINALS)})(?: (?:one|option|point|item|step|type|kind|method|reason|thing|part))\b"
"""One of several things that the last answer named."""
ELLIPTIC = (
    r"^(?:why (?:not|no|only|so|just|always|never|bother)\b"
    r"|(?:not|no|only|even|for|from|at|in|into|on|by|with|without|under|over|after|before|during|until)\b"
    rf"(?!.*\b(?:{_VERB})\b)|(?:why|how|which|what|when|where|who)\b(?! (?:to|about)\b)(?!.*\b(?:{_VERB}|causes?|makes?)\b)"
    r"|(?:which|what|how (?:much|many))\b[\w -]* (?:do|does|did|should|must|can) (?:we|you|i) (?:use|need|take|have|want"
    r"|buy|choose|pick)\W*$|what if\b|what (?:happens|do you mean)\b)"
)
"""A question that lacks its verb, or whose verb lacks what it is said of: it stands on the one before."""
JOINT = (
    r",?\s+(?:and|but|or)\s+(?=(?:(?:about|after|at|by|for|from|in|of|on|since|to|until|under|with)\s+)?"
    rf"(?:what|which|how|why|where|when|who)\b[^?;]*\b(?:{_VERB}|to)\b|(?:what|how|why|which)\b)"
    rf"|,\s+(?:and|but|or)\s+(?=(?:{_VERB})\s+\w)|(?<=\?)\s+(?=\w)|;\s+"
)
"""Where a second question begins inside a question."""
SAYS = rf"\b(?:{_VERB}|to|it|they|i|you|we)\b"
"""What a question has that could stand alone."""
_ENDINGS = r"(?=(?:e|ed|er|ers|es|ing|able|ation|ations)$)"
SPELLING_RULES: tuple[tuple[str, str], ...] = (
    (rf"is{_ENDINGS}", "iz"),
    (rf"iz{_ENDINGS}", "is"),
    (rf"ys{_ENDINGS}", "yz"),
    (rf"yz{_ENDINGS}", "ys"),
    (r"(?<=\w\w)our", "or"),
    (r"(?<=\w\w)or", "our"),
    (r"(?<=[bt])re(?=s?$)", "er"),
    (r"(?<=[bt])er(?=s?$)", "re"),
    (r"(?<=[bt])re(?=d$)", "ere"),
    (r"(?<=[bt])ere(?=d$)", "re"),
    (r"ogue", "og"),
    (r"og(?=s?$|ed$|ing$)", "ogue"),
    (r"ll(?=(?:ed|er|ers|ing)$)", "l"),
    (r"(?<=[aeo])l(?=(?:ed|er|ers|ing)$)", "ll"),
    (r"ence(?=s?$)", "ense"),
    (r"ense(?=s?$)", "ence"),
    (r"[ao]e(?=.{5})", "e"),
    (r"e(?=.{5})", "ae"),
    (r"e(?=.{5})", "oe"),
)
"""What differs between British and American spelling, in both directions. A rule may give words that do not exist: only
what the book has is taken."""
SPELLING_PAIRS: tuple[tuple[str, str], ...] = (
    ("aging", "ageing"), ("airplane", "aeroplane"), ("aluminum", "aluminium"), ("artifact", "artefact"),
    ("curb", "kerb"), ("draft", "draught"), ("gage", "gauge"), ("gray", "grey"), ("jewelry", "jewellery"),
    ("judgment", "judgement"), ("mold", "mould"), ("plow", "plough"), ("program", "programme"),
    ("skeptic", "sceptic"), ("sulfur", "sulphur"), ("tire", "tyre"),
)  # fmt: skip
