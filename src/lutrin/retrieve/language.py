"""Whether a question is asked in a language that the book can answer.

Short questions full of product names and code look like any language; so only words are judged. Function words tell
languages apart more surely than a statistical guess over three words does: one that only another language has, without
an English one beside it, is believed. A letter that English words lack, or a function word that two languages share,
makes the statistics' word count at less certainty. A doubt is decided in the reader's favour.
"""

import unicodedata
from collections.abc import Collection, Sequence

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from lutrin.retrieve.words import STOP_WORDS, identifiers, words

# Languages that a class is likely to ask in; a smaller choice makes fewer mistakes on short texts.
CANDIDATES = (
    "ar bn cs da de el en es fa fi fr he hi hu id it ja ko nl no pl pt ro ru sv sw ta th tr uk ur vi zh".split()
)
SURE = 0.6
"""Probability from which another language is believed."""
ENGLISH_SIGNS = frozenset(
    """about and are can could did does doing explain for from give had has have how if its of should that the their
    them there these they this what when where which who whom whose why will with would you your""".split()
)
"""Function words that hardly stand in a question of another language."""
SIGNS = {
    "cs": "co jak proč kde kdy je jsou jaký jaká jaké",
    "da": "hvad hvordan hvorfor hvor hvilken er og",
    "de": "bedeutet das dem den der die ein eine einen erkläre gibt ist sind und von wann warum was welche welcher "
    "welches wer wie wieso wird wozu wurde zum zur",
    "es": "cómo como cuál cuándo cuánto del dónde es funciona para por qué que se un una",
    "fi": "mikä mitä miksi miten missä kuinka on ja",
    "fr": "combien comment des du est et l'est les pourquoi qu'est quel quelle quelles quels que sont une",
    "hu": "mi hogyan miért mennyi melyik egy az",
    "id": "apa apakah bagaimana mengapa berapa siapa yang arti itu",
    "it": "che cos'è cosa come della è funziona il nel perché quale quali quando quanto sono una",
    "nl": "een hoe het hoeveel is van waarom wanneer wat welke werkt",
    "no": "hva hvordan hvorfor hvor hvilken er og",
    "pl": "co jest jak jaka jaki jakie dlaczego czym jest gdzie kiedy się są",
    "pt": "como é o que quais qual quando quanto são uma por para um",
    "ro": "ce cum este de care când sunt și",
    "sv": "vad hur varför vilken är och det en",
    "sw": "nini jinsi gani kwa ya ni",
    "tr": "nedir nasıl neden niçin hangi kaç kim mi mı ne ve",
    "vi": "là gì như thế nào tại sao của",
}
"""Question and function words of languages in the Latin script."""
HOMOGRAPHS = frozenset(
    """an as co come das de den des die du en er es for gani hoe il is kim les mi no o on per se un van was wat
    ya""".split()
)
"""Of those, what English texts and names hold as well; they are a mere hint."""
HINTED = 0.45
"""Probability from which another language is believed after a hint."""


class LanguageCheck:
    """Decides whether texts are in one of the accepted languages.

    Args:
        accepted: ISO 639-1 codes.
    """

    def __init__(self, accepted: Collection[str]) -> None:
        self._accepted = frozenset(accepted)
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self._identifier.set_languages(sorted({*CANDIDATES, *accepted}))
        self._identifier._full_model = ()  # noqa: SLF001 - the languages left out would hold 20 MB for ever
        known = {word for code in accepted for word in SIGNS.get(code, "").split()}
        self._foreign = [frozenset(signs.split()) - known for code, signs in SIGNS.items() if code not in accepted]

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
        if "en" in self._accepted:
            lowered = [word.lower().replace("’", "'") for word in plain]
            signs = sum(word in ENGLISH_SIGNS for word in lowered)
            if not signs and self._has_signs(lowered):
                return False
            if not signs and len(plain) > 1 and self._has_hints(plain, lowered):
                return not self._is_foreign(plain, sure=HINTED)
            if sum(word in STOP_WORDS for word in lowered) * 5 >= len(plain):
                return not self._is_foreign(plain, sure=0.9)
        return len(plain) < 2 or not (self._is_foreign(plain) or self._is_foreign([text], sure=0.75))

    def _has_signs(self, lowered: Sequence[str]) -> bool:
        """Whether a function word stands in a text that only other languages have."""
        return any((signs - HOMOGRAPHS) & set(lowered) for signs in self._foreign)

    def _has_hints(self, plain: Sequence[str], lowered: Sequence[str]) -> bool:
        """Whether letters or the first word of a text are as in another language, names aside."""
        letters = any(not word.isascii() and not word[0].isupper() for word in plain)
        return letters or any(lowered[0] in signs for signs in self._foreign)

    def _is_foreign(self, plain: Sequence[str], *, sure: float = SURE) -> bool:
        language, probability = self._best(" ".join(plain))
        return language not in self._accepted and probability >= sure

    def _best(self, text: str) -> tuple[str, float]:
        language, probability = self._identifier.classify(text)
        return str(language), float(probability)
