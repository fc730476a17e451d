"""Whether a question is asked in a language that the book can answer.

Short questions full of product names and code look like any language; so only words are judged, common English words
speak for English, and a doubt is decided in the reader's favour.
"""

import unicodedata
from collections.abc import Collection

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from lutrin.retrieve.words import STOP_WORDS, identifiers, words

# Languages that a class is likely to ask in; a smaller choice makes fewer mistakes on short texts.
CANDIDATES = (
    "ar bn cs da de el en es fa fi fr he hi hu id it ja ko nl no pl pt ro ru sv sw ta th tr uk ur vi zh".split()
)
SURE = 0.6
"""Probability from which another language is believed."""


class LanguageCheck:
    """Decides whether texts are in one of the accepted languages.

    Args:
        accepted: ISO 639-1 codes.
    """

    def __init__(self, accepted: Collection[str]) -> None:
        self._accepted = frozenset(accepted)
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self._identifier.set_languages(sorted({*CANDIDATES, *accepted}))

    def accepts(self, text: str) -> bool:
        """Whether a question may be answered as far as its language is concerned."""
        letters = [character for character in text if character.isalpha()]
        if not letters:
            return True
        latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
        code = set(identifiers(text))
        plain = [word for word in words(text) if word not in code and not word.isupper() and not word.isdigit()]
        if latin * 2 < len(letters):
            return self._best(text)[0] in self._accepted
        if "en" in self._accepted and sum(word.lower() in STOP_WORDS for word in plain) * 5 >= len(plain):
            return not self._is_foreign(plain, sure=0.9)
        return len(plain) < 2 or not (self._is_foreign(plain) or self._is_foreign([text], sure=0.75))

    def _is_foreign(self, plain: list[str], *, sure: float = SURE) -> bool:
        language, probability = self._best(" ".join(plain))
        return language not in self._accepted and probability >= sure

    def _best(self, text: str) -> tuple[str, float]:
        language, probability = self._identifier.classify(text)
        return str(language), float(probability)
