"""Whether a question is asked in a language that the book can answer.

Only function words and scripts count. Names, quotations, code and technical terms look alike in every language, and
three typed words are too few for statistics. A question is in another language if it contains more function words of
that language than of the accepted ones. If all of them could also be English, they must make up half of the question,
and it must contain no word that is only English. In doubt, the question is accepted.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection
from importlib import resources

from lutrin.language.lexicon import QUESTION_WORDS, STOP_WORDS
from lutrin.language.words import identifiers

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^“”]*”|«[^«»]*»|„[^„“”]*[“”]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_DATA = tomllib.loads(resources.files("lutrin.language").joinpath("others.toml").read_text(encoding="utf-8"))
_ALSO_ENGLISH = frozenset(_DATA["also_english"].split())
SIGN, HINT = 1.0, 0.5
"""Weights of a function word that only another language has, and of one that is also English or a likely typo."""


class LanguageGate:
    """Decides whether questions are in one of the accepted languages (ISO 639-1 codes)."""

    def __init__(self, accepted: Collection[str]) -> None:
        self._accepted = frozenset(accepted)
        function_words = {code: frozenset(words.split()) for code, words in _DATA["function_words"].items()}
        self._own = frozenset().union(*(function_words.get(code, ()) for code in accepted))
        if "en" in accepted:
            self._own |= STOP_WORDS | QUESTION_WORDS
        self._others = [words for code, words in function_words.items() if code not in accepted]

    def accepts(self, text: str) -> bool:
        """Whether the language of a question allows an answer.

        >>> gate = LanguageGate(["en"])
        >>> gate.accepts("Explain quantisation simply."), gate.accepts("Wat is een costmap?")
        (True, False)
        """
        plain = whole = _QUOTED.sub(" ", text)
        for name in identifiers(plain):
            plain = plain.replace(name, " ")
        # Without blanks between words, what looks like a name may be the whole question.
        script = _foreign_script(plain) or _foreign_script(whole)
        if script is not None:
            return bool(self._accepted & set(script))
        words = [
            word.lower().replace("’", "'") for word in _WORD.findall(plain) if not word.isupper() or len(word) == 1
        ]
        own = _signs(_find_known(words, self._own))
        for vocabulary in self._others:
            hits = _find_known(words, vocabulary)
            is_sure = any(word not in _ALSO_ENGLISH for word in hits)
            if _signs(hits) > own and (is_sure or (own == 0 and len(set(hits)) > 1 and 2 * len(hits) >= len(words))):
                return False
        return True


def _find_known(words: list[str], vocabulary: frozenset[str]) -> list[str]:
    """The function words of a language among these, including compounds of such words: "dis-moi"."""
    forms = ([word] if word in vocabulary else word.split("-") for word in words)
    return [part for parts in forms if vocabulary.issuperset(parts) for part in parts]


def _signs(words: list[str]) -> float:
    return sum(HINT if word in _ALSO_ENGLISH else SIGN for word in words)


def _foreign_script(text: str) -> list[str] | None:
    """The languages of the most common script; None for Latin letters or no letters."""
    letters = (unicodedata.name(one, "LATIN").split()[0].partition("-")[0] for one in text if one.isalpha())
    counts = Counter(letters)
    foreign = counts.keys() - {"LATIN"}
    if counts.total() >= 2 * (counts.total() - counts["LATIN"]):
        return None
    languages = [code for script in foreign for code in _DATA["scripts"].get(script, "").split()]
    return ["ja"] if {"HIRAGANA", "KATAKANA"} & foreign else languages
