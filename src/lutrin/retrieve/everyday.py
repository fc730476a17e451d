"""Words of everyday English that name no subject: what is done to things, how things are, people and occasions.

A reader says "the longest break it takes" where the book says "pauses up to five minutes". That a book lacks such words
says little about whether it speaks of what is asked; that it lacks "hurricane" says much. The list holds what is said
of anything whatever, irregular forms, and who asks or is asked for; nouns for things, and verbs of a trade, are left
out. Forms of words that questions are made of (gets, meant) are everyday, too.
"""

from functools import lru_cache

from lutrin.retrieve.words import QUESTION_WORDS, STOP_WORDS, stem

WORDS = frozenset(
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
    aunt boss brother classmate colleague cousin customer dad grownup mum sister teacher tutor uncle""".split()
)


@lru_cache(maxsize=1)
def _stems() -> frozenset[str]:
    forms = {form for word in WORDS for form in (word, *_highest(word))}
    return frozenset(map(stem, forms | STOP_WORDS | QUESTION_WORDS))


def _highest(word: str) -> tuple[str, ...]:
    """What may be the superlative of a word; a stem does not tell: longest, largest, easiest, biggest."""
    return f"{word}est", f"{word}st", f"{word.removesuffix('y')}iest", f"{word}{word[-1]}est"


def is_everyday(stemmed: str) -> bool:
    """Whether a word, given by its stem, names no subject."""
    return stemmed in _stems()
