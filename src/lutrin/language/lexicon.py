"""The language that readers and books speak: words, patterns and spellings, as `english.toml` lists them.

Another language is another such file, named here.
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
    """A pattern with its parts filled in; a part may hold those that stand after it."""
    text = "".join(pattern)
    for name, part in _PARTS.items():
        text = text.replace(f"{{{name}}}", "".join(part))
    return text


def _compile(alternatives: list[str | list[str]]) -> re.Pattern[str]:
    return re.compile("|".join(map(_expand, alternatives)), re.IGNORECASE)


def pattern(name: str) -> re.Pattern[str]:
    """One pattern of all alternatives in a list."""
    return _compile(_DATA[name])


def patterns(name: str) -> dict[str, re.Pattern[str]]:
    """One pattern for each list of a table, in its order."""
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
"""With their short forms, as they are written and as they are typed: what's, what’s, whats."""
QUESTION_WORDS, COMMON_WORDS, NEGATIONS = map(_words, ("question_words", "common_words", "negations"))
JOINING, COMPARING = map(_words, ("joining", "comparing"))
TOTAL, WHOLE = map(_words, ("total", "whole"))
REFERENCES, POINTING, ONE_AFTER, COURTESIES = map(_words, ("references", "pointing", "one_after", "courtesies"))
ASKING, BEFORE_ASKING, DEFINING = map(_words, ("asking", "before_asking", "defining"))
SAYING = frozenset(f"{_DATA['parts']['verb']}|to|it|they|i|you|we".split("|"))
"""What a question has that could stand alone."""
COUNTS_IN_ORDER: list[str] = _DATA["counts_in_order"].split()
GOES_ON: tuple[str, ...] = tuple(_DATA["goes_on"])
CHAT_SPELLINGS: dict[str, str] = _DATA["chat_spellings"]
ORDINALS: dict[str, int] = _DATA["ordinals"]
SPELLING_PAIRS = [tuple(pair.split("/")) for pair in _DATA["spelling"]["pairs"].split()]
SPELLING_RULES = [(_expand(pattern), other) for pattern, other in _DATA["spelling"]["rules"]]
KEYBOARD, SOUNDS = (_DATA["spelling"][name].split() for name in ("keyboard", "sounds"))
WISHED_TOPICS: dict[str, str] = _DATA["wished_topics"]
"""By form of answer, what is searched for; the subject has its place."""
REQUESTS: dict[str, list[str]] = _DATA["requests"]
"""Plain requests by what they want."""
