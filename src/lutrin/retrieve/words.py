"""Words as search, scope and grounding compare them: stems, numbers, identifiers, names.

Pure functions; the same text always gives the same words.
"""

import re
from functools import lru_cache

import snowballstemmer

# Function words and the words that questions are made of; what is left says what a text is about.
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
_ANY_QUESTION = STOP_WORDS | QUESTION_WORDS
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

_THIS_TOPIC = re.compile(
    r"\b(?:this|that|the|these|those|same|other|another|my|your|main|whole|next) topics?\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\W\d_]")
# A run of characters that a programmer would copy as a whole: /cmd_vel, rclcpp::Node, use_sim_time, D435i, --ros-args.
_IDENTIFIER = re.compile(
    r"(?<![\w/])(?:--?[a-zA-Z][\w-]*|/[\w./-]*\w|\w+(?:(?:::|->|\.|_|/)\w+)+(?:\(\))?|[A-Za-z]*\d+[A-Za-z]\w*|[A-Za-z]+\d\w*)"
)
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}\w*|[A-Z][\w-]+)\b")

REMEMBERED = 16_384
"""Texts, mostly sentences, whose words are kept at hand."""
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word (Porter 2, as the Snowball project defines it), lower case."""
    lowered = word.lower().replace("’", "'")
    stemmed: str = _STEMMER.stemWord(lowered)
    return stemmed


def words(text: str) -> list[str]:
    """Words and numbers of a text in order, as they stand."""
    return _WORD.findall(text)


@lru_cache(maxsize=REMEMBERED)
def plain(text: str) -> str:
    """The words of a text alone, lower case."""
    return " ".join(words(text.lower()))


@lru_cache(maxsize=REMEMBERED)
def content_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in order."""
    return tuple(stem(word) for word in words(text) if word.lower() not in STOP_WORDS)


@lru_cache(maxsize=REMEMBERED)
def stem_set(text: str) -> frozenset[str]:
    """The same without order, of a text of a book, kept at hand."""
    return frozenset(content_stems(text))


def topic_words(text: str) -> list[str]:
    """Words that say what a question asks about, in order: its content words without those that any question may hold.

    "This topic" is what is spoken of; "a topic" and "topic against service" may be what a book is about.
    """
    return [word for word in words(_THIS_TOPIC.sub(" ", text)) if word.lower() not in _ANY_QUESTION]


@lru_cache(maxsize=REMEMBERED)
def topic_stems(text: str) -> frozenset[str]:
    """Stems of the words that say what a question asks about."""
    return frozenset(stem(word) for word in topic_words(text))


def numbers(text: str) -> list[str]:
    """Numbers of a text in one notation: no thousands separators, no sign of plus, hyphen for minus."""
    return [match.replace(",", "").replace("−", "-").lstrip("+") for match in _NUMBER.findall(text)]


def identifiers(text: str) -> list[str]:
    """Names from code: topics, paths, flags, qualified names, part numbers."""
    return _IDENTIFIER.findall(text)


def names(sentence: str) -> list[str]:
    """Capitalised words that are not merely the sentence's first: products, people, abbreviations."""
    start = len(sentence) - len(sentence.lstrip("*_`\"'([ "))
    return [
        match.group()
        for match in _NAME.finditer(sentence)
        if match.start() > start or not re.fullmatch(r"[A-Z][a-z-]*", match.group())
    ]


def is_negated(text: str) -> bool:
    """Whether a text denies something."""
    lowered = text.lower().replace("’", "'")
    return "n't" in lowered or any(word in NEGATIONS for word in words(lowered))


@lru_cache(maxsize=REMEMBERED)
def word_count(text: str) -> int:
    """Words of a text outside fenced code."""
    return len(re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE).split())
