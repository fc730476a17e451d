"""Whether a question is asked in a language that the book can answer.

Only function words and scripts count. Names, quotations, code and technical terms look alike in every language, and
three typed words are too few for statistics. A question is in another language when it holds more of that language's
function words than of the accepted one's. Where all of these could be English, too, half of the question must be such
words, without a single one that is only English. In doubt, the question is accepted.
"""

import re
import unicodedata
from collections.abc import Collection

from lutrin.language.spoken import QUESTION_WORDS, STOP_WORDS
from lutrin.language.words import identifiers

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SIGN, HINT = 1.0, 0.5
"""Weights of a function word: one found only in another language, and one also found in English or as a typing slip."""


class LanguageGate:
    """Decides whether questions are in one of the accepted languages (ISO 639-1 codes)."""

    def __init__(self, accepted: Collection[str]) -> None:
        self._accepted = frozenset(accepted)
        self._own = frozenset().union(*(FUNCTION_WORDS.get(code, "").split() for code in accepted))
        if "en" in accepted:
            self._own |= STOP_WORDS | QUESTION_WORDS
        self._others = [frozenset(known.split()) for code, known in FUNCTION_WORDS.items() if code not in accepted]

    def accepts(self, text: str) -> bool:
        """Whether the language of a question allows an answer.

        >>> gate = LanguageGate(["en"])
        >>> gate.accepts("Explain quantisation simply."), gate.accepts("Wat is een costmap?")
        (True, False)
        """
        plain = said = _QUOTED.sub(" ", text)
        for name in identifiers(plain):
            plain = plain.replace(name, " ")
        # Where no blank stands between words, what looks like a name may be the whole question.
        script = _foreign_script(plain) or _foreign_script(said)
        if script is not None:
            return bool(self._accepted & set(script))
        words = [
            word.lower().replace("’", "'") for word in _WORD.findall(plain) if not word.isupper() or len(word) == 1
        ]
        own = _signs(_known(words, self._own))
        for known in self._others:
            found = _known(words, known)
            is_sure = any(word not in ALSO_ENGLISH for word in found)
            if _signs(found) > own and (is_sure or (own == 0 and len(set(found)) > 1 and 2 * len(found) >= len(words))):
                return False
        return True


def _known(words: list[str], known: frozenset[str]) -> list[str]:
    """Return the words that are function words of a language, also those of which each part is one: "dis-moi"."""
    found = []
    for word in words:
        if word in known:
            found.append(word)
        elif "-" in word and known.issuperset(parts := word.split("-")):
            found += parts
    return found


def _signs(found: list[str]) -> float:
    return sum(HINT if word in ALSO_ENGLISH else SIGN for word in found)


def _foreign_script(text: str) -> list[str] | None:
    """Return the languages of the most common script; None for Latin letters or no letters."""
    counts: dict[str, int] = {}
    for character in text:
        if character.isalpha():
            script = unicodedata.name(character, "LATIN").split()[0].partition("-")[0]
            counts[script] = counts.get(script, 0) + 1
    foreign = {script: count for script, count in counts.items() if script != "LATIN"}
    if not foreign or 2 * sum(foreign.values()) <= sum(counts.values()):
        return None
    languages = [code for script in foreign for code in SCRIPTS.get(script, "").split()]
    return ["ja"] if {"HIRAGANA", "KATAKANA"} & foreign.keys() else languages


FUNCTION_WORDS = {
    "cs": "co jak jaký jaká jaké proč kde kdy kdo je jsou jsem není se si na do ze pro při který která které nebo "
    "když může mi mám jaky proc vysvětli čeho kolik",
    "da": "hvad hvordan hvorfor hvor hvornår hvem hvilken hvilke er og ikke jeg det den en et til af på med som kan "
    "man betyder forklar mellem",
    "de": "was wie viele warum wieso weshalb wo wann wer welche welcher welches welchen wozu ist sind war wird werden "
    "wurde der die das dem den des ein eine einen einem einer und oder nicht ich du man es sich von vom zum "
    "zur mit für im auf bei zwischen kann gibt bedeutet bitte mir erkläre erklär erklaere heißt funktioniert "
    "unterschied fur kein keine auch noch mein meine wenn dass",
    "es": "qué que cómo como cuál cual cuáles cuándo cuando cuánto cuanto cuántos dónde donde quién por para es son "
    "está el la los las un una unos de del al y o en con se su lo porqué sirve significa explica explícame "
    "entre hay puedo puede cuantos tiene diferencia funciona",
    "fi": "mikä mitä miksi miten missä milloin kuka kuinka mitkä on ovat ja tai ei se että kun voi minä mita mika "
    "toimii tarkoittaa välillä",
    "fr": "qu'est qu'est-ce est-ce quoi que quel quelle quels quelles comment pourquoi où quand qui combien est "
    "sont le la les un une des du de et ou dans pour avec sur ce cette il elle on je se au aux à c'est ne pas "
    "peut fait expliquez explique moi entre sert l'on l'eau différence quest",
    "hu": "mi mit mik miért hogyan hogy hol mikor ki mennyi melyik milyen az egy és van vagy nem között jelent "
    "működik hány",
    "id": "apa apakah bagaimana mengapa kenapa siapa dimana kapan berapa yang adalah itu ini dan dari untuk dengan "
    "di ke pada jelaskan antara cara kerja perbedaan saya",
    "it": "che cosa cos'è cos come perché perche quale quali quando quanto quanti dove chi è sono il lo la gli le "
    "un una uno di del della dei delle dello e o in con per si non posso può tra fra serve significa spiega "
    "spiegami funziona c'è qual differenza l'uso",
    "nl": "wat hoe waarom waar wanneer wie welke welk hoeveel is een het de en van zijn wordt werkt niet ik je met "
    "voor op bij dat die dit betekent kan leg uit tussen naar verschil moet",
    "no": "hva hvordan hvorfor hvor når hvem hvilken hvilke er og ikke jeg det den en et til av på med som kan man "
    "betyr forklar mellom",
    "pl": "co jak jaki jaka jakie dlaczego gdzie kiedy kto ile czym czy jest są to się nie na do w z i od dla po "
    "przy który która które lub oraz między działa oznacza wyjaśnij mi",
    "pt": "que como qual quais quando quanto quantos onde quem por porque é são está o a os as um uma de do da dos "
    "das e ou em no na com para se não posso pode entre explique significa funciona serve diferença quê",
    "ro": "ce cum de când unde cine care cât este sunt un o și sau în din la cu pentru nu se pe că dintre înseamnă "
    "funcționează explică",
    "sv": "vad hur varför var när vem vilken vilket vilka är och inte jag det den en ett till av på med som kan man "
    "betyder förklara mellan fungerar",
    "sw": "nini jinsi gani kwa ya ni wa na kwanini vipi wapi lini nani hii katika la inafanyaje",
    "tr": "nedir ne nasıl neden niçin niye hangi kaç kim nerede mi mı mu mü ve bir bu için ile çalışır arasındaki "
    "nasil demek açıkla fark",
    "vi": "là gì như thế nào tại sao của và có được cho với trong một các những khi để",
}
"""By ISO 639-1 code, of languages in the Latin script."""
ALSO_ENGLISH = frozenset(
    """a al as at c'est come con cos cum da das data de dem den der des di die do du e ei el en er es et fur gibt go
    hall hat hay ich ii il im in is it just ki kim la las le les lit lo long los ma man me mein mi mit mu na nah ne
    ni no non not o ob of on op or os par para per po quest qui rang si sin site so son sort sous sur te the ti to
    tom tu un und uno van var via vis von vs w wa war was wat we wie x y z case pas si que som bei die fra her here if
    cara kerja on min per ton pad pan main do se on se to ya i on such non et en met hoe kan till till unter dit vers
    wird ie ve hangi kart me wer pro chi li pi ile moi ette het zur gani leg moet die rot mut tag serve
    comment aux""".split()
)
"""Of the words above and their like, those that English texts, names and typing slips hold as well: half a sign."""
SCRIPTS = {
    "ARABIC": "ar fa ur", "BENGALI": "bn", "CJK": "zh ja", "CYRILLIC": "ru uk bg sr", "DEVANAGARI": "hi mr",
    "GREEK": "el", "HANGUL": "ko", "HEBREW": "he", "HIRAGANA": "ja", "KATAKANA": "ja", "TAMIL": "ta", "THAI": "th",
    "LATIN": "",
}  # fmt: skip
"""Languages by the script of their letters, as Unicode names it."""
