"""Extracts the words that search, scope and grounding compare: stems, numbers, identifiers, names.

All functions are pure.
"""

import re
from functools import lru_cache
from itertools import pairwise, takewhile

import snowballstemmer

from lutrin.language.lexicon import COMMON_WORDS, COMPARING, NEGATIONS, QUESTION_WORDS, STEMMER, STOP_WORDS

_ANY_QUESTION = STOP_WORDS | QUESTION_WORDS
_THIS_TOPIC = re.compile(
    r"\b(?:this|that|the|these|those|same|other|another|my|your|main|whole|next) topics?\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\W\d_]")
# A run of characters that a programmer would copy as a whole: /cmd_vel, rclcpp::Node, use_sim_time, D435i, --ros-args.
_IDENTIFIER = re.compile(
    r"(?<![\w/])(?:--?[a-zA-Z][\w-]*|/(?:[./-]{0,9}\w++)++|\w+(?:(?:::|->|\.|_|/)\w+)+(?:\(\))?|[A-Za-z]*\d+[A-Za-z]\w*|[A-Za-z]+\d\w*)"
)
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NAME = re.compile(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}\w*|[A-Z][\w-]+)\b")

# A word with everything that a mark joins to it: E-207, 3.11, pick-up.
_TOKEN = re.compile(r"[^\W_]+(?:[-_.'’/][^\W_]+)*")

# Signs of code that stand alone, such as | or &&, but no punctuation.
_SIGN = re.compile(r"(?<!\S)[^\w\s.,;:?!'\"()\[\]…–—’“”-]+(?=[\s.,;:?!]|$)")

REMEMBERED = 16_384
"""Number of texts, mostly sentences, whose words are cached."""
_STEMMER = snowballstemmer.stemmer(STEMMER)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word (Porter 2 of the Snowball project), in lower case."""
    lowered = word.lower().replace("’", "'")
    stemmed: str = _STEMMER.stemWord(lowered)
    return stemmed


def words(text: str) -> list[str]:
    """Words and numbers of a text, in order, unchanged."""
    return _WORD.findall(text)


@lru_cache(maxsize=REMEMBERED)
def plain(text: str) -> str:
    """The words of a text without punctuation, in lower case."""
    return " ".join(words(text.lower()))


@lru_cache(maxsize=REMEMBERED)
def content_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in order."""
    return tuple(stem(word) for word in words(text) if word.lower() not in STOP_WORDS)


@lru_cache(maxsize=REMEMBERED)
def stem_set(text: str) -> frozenset[str]:
    """The content stems as a set."""
    return frozenset(content_stems(text))


def topic_words(text: str) -> list[str]:
    """Words that name the topic of a question, in order: its content words except those of any question.

    "This topic" refers to the conversation, while "a topic" and "topic against service" may be subjects of a book. A
    question without topic words may ask about a sign.

    >>> topic_words("What is the difference between > and >>?")
    ['>', '>>']
    """
    rest = [word for word in words(_THIS_TOPIC.sub(" ", text)) if word.lower() not in _ANY_QUESTION]
    return rest or _SIGN.findall(text)


@lru_cache(maxsize=REMEMBERED)
def topic_stems(text: str) -> frozenset[str]:
    """Stems of the topic words."""
    return frozenset(stem(word) for word in topic_words(text))


def numbers(text: str) -> list[str]:
    """Numbers of a text in a uniform notation: no thousands separators, no plus sign, a hyphen for minus."""
    return [match.replace(",", "").replace("−", "-").lstrip("+") for match in _NUMBER.findall(text)]


def identifiers(text: str) -> list[str]:
    """Names from code: topics, paths, flags, qualified names, part numbers."""
    return _IDENTIFIER.findall(text)


def names(sentence: str) -> list[str]:
    """Capitalised words, except a plain one that begins the sentence: products, people, abbreviations."""
    start = len(sentence) - len(sentence.lstrip("*_`\"'([ "))
    return [
        match.group()
        for match in _NAME.finditer(sentence)
        if match.start() > start or not re.fullmatch(r"[A-Z][a-z-]*", match.group())
    ]


def is_negated(text: str) -> bool:
    """Whether a text contains a negation."""
    lowered = text.lower().replace("’", "'")
    return "n't" in lowered or any(word in NEGATIONS for word in words(lowered))


@lru_cache(maxsize=REMEMBERED)
def word_count(text: str) -> int:
    """Number of words outside fenced code."""
    return len(re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE).split())


def subject_words(text: str) -> list[str]:
    """Topic words except everyday words, numbers and single letters, in order.

    >>> subject_words("How long does the longest flight of the drone take?")
    ['flight', 'drone']
    """
    return [
        word for word in topic_words(text) if not word.isdigit() and len(word) > 1 and stem(word) not in _common_stems()
    ]


def name_tokens(text: str) -> list[str]:
    """Subject words with their numbers, codes and versions, in order.

    A number belongs to the word right before it, even to an everyday one.

    >>> name_tokens("What does rule 3 of E-207 mean for a pump?")
    ['rule', '3', 'E-207', 'pump']
    """
    return [token[0] for token in _name_matches(text)]


def name_phrase(text: str) -> str:
    """The text from the first to the last name token, with the words right before it that qualify it.

    >>> name_phrase("What is a closed loop in Windows 11?")
    'closed loop in Windows 11'
    """
    named = _name_matches(text)
    if not named:
        return ""
    before = list(takewhile(lambda token: token.start() < named[0].start(), _TOKEN.finditer(text)))
    start = named[0].start()
    while before and _is_content(before[-1][0]) and text[before[-1].end() : start].isspace():
        start = before.pop().start()
    return text[start : named[-1].end()]


def name_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each name in a text: runs of content words separated by blanks only.

    >>> text = "Is a closed loop better than a servo?"
    >>> [text[slice(*span)] for span in name_spans(text)]
    ['closed loop', 'servo']
    """
    named = {token.start() for token in _name_matches(text)}
    spans: list[list[re.Match[str]]] = []
    for token in _TOKEN.finditer(text):
        if token[0].lower() in COMPARING or (not _is_content(token[0]) and token.start() not in named):
            continue
        if spans and _touch(text, spans[-1][-1], token):
            spans[-1].append(token)
        else:
            spans.append([token])
    found = []
    for tokens in spans:
        while tokens and tokens[-1].start() not in named:
            tokens.pop()
        if tokens:
            found.append((tokens[0].start(), tokens[-1].end()))
    return found


@lru_cache(maxsize=REMEMBERED)
def numbered_names(text: str) -> tuple[str, ...]:
    """Words with the number after them, and codes with a mark, both in the form of `plain`.

    >>> numbered_names("Does Rule 3 hold for E-207 after 12 hours?")
    ('rule 3', 'e 207')
    """
    tokens = [(token, any(map(str.isdigit, token[0]))) for token in _name_matches(text)]
    pairs = [
        (one[0], other[0])
        for (one, _), (other, has_digit) in pairwise(tokens)
        if has_digit and _touch(text, one, other)
    ]
    codes = [
        token[0] for token, has_digit in tokens if has_digit and len(words(token[0])) > 1 and not token[0][0].isdigit()
    ]
    return tuple(plain(" ".join(one)) for one in (*pairs, *((code,) for code in codes)))


def _touch(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return text[one.end() : other.start()].isspace()


def _name_matches(text: str) -> list[re.Match[str]]:
    subjects = set(subject_words(text))
    named: dict[int, re.Match[str]] = {}
    before: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        has_digit = any(character.isdigit() for character in token[0])
        follows = before is not None and _is_content(before[0]) and _touch(text, before, token)
        if has_digit and before is not None and follows:
            named[before.start()] = before
        if (has_digit and (follows or not token[0].isdigit())) or not subjects.isdisjoint(words(token[0])):
            named[token.start()] = token
        before = token
    return list(named.values())


def _is_content(token: str) -> bool:
    return token.lower() not in _ANY_QUESTION and not token.isdigit()


def subject_stems(text: str) -> frozenset[str]:
    """Stems of the subject words."""
    return frozenset(map(stem, subject_words(text)))


@lru_cache(maxsize=1)
def _common_stems() -> frozenset[str]:
    forms = {form for word in COMMON_WORDS for form in (word, *_superlatives(word))}
    return frozenset(map(stem, forms | STOP_WORDS | QUESTION_WORDS))


def _superlatives(word: str) -> tuple[str, ...]:
    """Possible superlatives of a word, which stems do not reveal: longest, largest, easiest, biggest."""
    return f"{word}est", f"{word}st", f"{word.removesuffix('y')}iest", f"{word}{word[-1]}est"
