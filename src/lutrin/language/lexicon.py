"""The language of readers and books: words, patterns and spellings from `english.toml`.

For another language, write another such file and name it here.
"""

import re
import tomllib
from importlib import resources
from typing import Any

LANGUAGE = "english"
_DATA: dict[str, Any] = tomllib.loads(
    resources.files("lutrin.language").joinpath(f"{LANGUAGE}.toml").read_text(encoding="utf-8")
)
_PARTS = {**_DATA["parts"], "ordinals": "|".join(_DATA["ordinals"])}


def _words(name: str) -> frozenset[str]:
    return frozenset(_DATA[name].split())


def _expand(pattern: str | list[str]) -> str:
    """Fill in the parts of a pattern; a part may refer to later parts."""
    text = "".join(pattern)
    for name, part in _PARTS.items():
        text = text.replace(f"{{{name}}}", "".join(part))
    return text


def _compile(alternatives: list[str | list[str]]) -> re.Pattern[str]:
    return re.compile("|".join(map(_expand, alternatives)), re.IGNORECASE)


def pattern(name: str) -> re.Pattern[str]:
    """Compile the alternatives of a list into one pattern."""
    return _compile(_DATA[name])


def patterns(name: str) -> dict[str, re.Pattern[str]]:
    """Compile each list of a table into one pattern, in order."""
    return {key: _compile(alternatives) for key, alternatives in _DATA[name].items()}


_SHORT_FORMS = {f"{word}n't" for word in _words("denied")} | {
    f"{word}'{end}" for end, bases in _DATA["joined"].items() for word in bases.split()
}
STEMMER: str = _DATA["stemmer"]
STOP_WORDS = (
    _words("function_words")
    | _SHORT_FORMS
    | {form.replace("'", "’") for form in _SHORT_FORMS}
    | {form.replace("'", "") for form in _SHORT_FORMS} - _words("other_words")
)
"""Function words with their short forms, as written and as typed: what's, what’s, whats."""
QUESTION_WORDS, COMMON_WORDS, NEGATIONS = map(_words, ("question_words", "common_words", "negations"))
JOINING, COMPARING = map(_words, ("joining", "comparing"))
TOTAL, WHOLE = map(_words, ("total", "whole"))
REFERENCES, POINTING, ONE_AFTER, COURTESIES = map(_words, ("references", "pointing", "one_after", "courtesies"))
ASKING, BEFORE_ASKING, DEFINING = map(_words, ("asking", "before_asking", "defining"))
SAYING = frozenset(f"{_DATA['parts']['verb']}|to|it|they|i|you|we".split("|"))
"""Words that let a short part stand alone as a question."""
COUNTS_IN_ORDER: list[str] = _DATA["counts_in_order"].split()
GOES_ON: tuple[str, ...] = tuple(_DATA["goes_on"])
CHAT_SPELLINGS: dict[str, str] = _DATA["chat_spellings"]
ORDINALS: dict[str, int] = _DATA["ordinals"]
SPELLING_PAIRS = [tuple(pair.split("/")) for pair in _DATA["spelling"]["pairs"].split()]
SPELLING_RULES = [(_expand(pattern), other) for pattern, other in _DATA["spelling"]["rules"]]
KEYBOARD, SOUNDS = (_DATA["spelling"][name].split() for name in ("keyboard", "sounds"))
WISHED_TOPICS: dict[str, str] = _DATA["wished_topics"]
"""Search text for each form of answer, with a placeholder for the subject."""
REQUESTS: dict[str, list[str]] = _DATA["requests"]
"""Example requests for each form of answer."""
