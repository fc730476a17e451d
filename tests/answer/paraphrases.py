"""True sentences in other words than the book's, made by rules: what verification should let pass.

Four rules keep the meaning: a word for another of a closed list, a passive for an active sentence, a clause in another
place, a remark left out. Drawn with a fixed seed from the sample book.
"""

import random
import re
from collections.abc import Callable

from tests.answer.pairs import Pair, paragraphs

SYNONYMS = {
    "needs": "requires", "need": "require", "shows": "displays", "begins": "starts", "begin": "start",
    "big": "large", "small": "little", "uses": "employs", "quickly": "rapidly", "often": "frequently",
    "about": "roughly", "nearly": "almost", "because": "since", "must": "has to", "called": "named",
    "keeps": "holds", "gives": "provides", "sends": "transmits", "tells": "informs", "makes": "produces",
    "happens": "occurs", "enough": "sufficient", "whole": "entire", "wrong": "incorrect", "hard": "difficult",
}  # fmt: skip
PARTICIPLES = {
    "measures": "measured", "sends": "sent", "reads": "read", "uses": "used", "moves": "moved", "holds": "held",
    "needs": "needed", "turns": "turned", "tells": "told", "describes": "described", "publishes": "published",
    "computes": "computed", "controls": "controlled", "carries": "carried", "joins": "joined", "stores": "stored",
}  # fmt: skip


def paraphrases(seed: int = 0, each: int = 25) -> list[Pair]:
    """`each` true pairs for every rule that finds so many sentences."""
    rng = random.Random(seed)
    found = list(paragraphs())
    rng.shuffle(found)
    made: list[Pair] = []
    for kind, rewrite in RULES.items():
        taken = 0
        for heading, sentences in found:
            sentence = rng.choice(sentences)
            other = rewrite(sentence) if 6 <= len(sentence.split()) <= 30 else None
            if other is None or other == sentence:
                continue
            made.append(Pair(kind, other, f"{heading}\n{' '.join(sentences)}", true=True))
            taken += 1
            if taken == each:
                break
    return made


def _synonym(sentence: str) -> str | None:
    """One word for another that means the same."""
    for word, other in SYNONYMS.items():
        if re.search(rf"\b{word}\b", sentence):
            return re.sub(rf"\b{word}\b", other, sentence, count=1)
    return None


def _passive(sentence: str) -> str | None:
    """The camera measures the distance. -> The distance is measured by the camera."""
    match = re.fullmatch(rf"((?:The|A|An) [\w -]+?) ({'|'.join(PARTICIPLES)}) ((?:the|a|an) [^,;:]+)\.", sentence)
    if match is None:
        return None
    agent, verb, patient = match.groups()
    return f"{patient[0].upper()}{patient[1:]} is {PARTICIPLES[verb]} by {agent[0].lower()}{agent[1:]}."


def _moved(sentence: str) -> str | None:
    """If the floor is wet, the robot slips. -> The robot slips if the floor is wet."""
    match = re.fullmatch(r"(If|When|Because|While|After|Before|With|In|On|At) ([^,]+), ([a-z][^,]+)\.", sentence)
    if match is None:
        return None
    opening, clause, rest = match.groups()
    return f"{rest[0].upper()}{rest[1:]} {opening.lower()} {clause}."


def _shortened(sentence: str) -> str | None:
    """A remark behind a comma that begins with which, so or for example is left out."""
    match = re.fullmatch(r"([^,]{25,}), (?:which|so|for example|such as) [^,]+\.", sentence)
    return f"{match[1]}." if match else None


RULES: dict[str, Callable[[str], str | None]] = {
    "synonym": _synonym,
    "passive": _passive,
    "moved": _moved,
    "shortened": _shortened,
}
