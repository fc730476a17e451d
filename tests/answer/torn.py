"""Sentences as a model makes them that says a passage in fewer words: every word is the passage's, the sense is not.

Nearly all are false, some by accident true or no sentence at all. Four rules: the subject of one clause with what
another clause says, a condition left out, `only` left out, half of a compound sentence with the other half's end. Drawn
with a fixed seed from the sample book.
"""

import random
import re
from collections.abc import Callable

from tests.answer.pairs import Pair, paragraphs

_SAYS = r"(?:is|are|was|were|has|have|can|must|may|needs|gives|makes|moves|uses|sends|holds|turns|measures)"


def torn(seed: int = 0, each: int = 25) -> list[Pair]:
    """At most `each` false pairs for every rule."""
    rng = random.Random(seed)
    found = list(paragraphs())
    rng.shuffle(found)
    made: list[Pair] = []
    for kind, rewrite in RULES.items():
        pairs = []
        for heading, sentences in found:
            sentence = rng.choice(sentences)
            wrong = rewrite(sentence) if 6 <= len(sentence.split()) <= 40 else None
            passage = f"{heading}\n{' '.join(sentences)}"
            if wrong is not None and wrong not in passage:
                pairs.append(Pair(kind, wrong, passage, true=False))
        made += pairs[:each]
    return made


def _subject(sentence: str) -> str | None:
    """The rule: a stream is a topic, a quick question is a service. -> The rule is a service."""
    first = rf"([A-Z][\w' -]+?)(?: {_SAYS} |[:,;] )"
    match = re.fullmatch(rf"{first}.*[,;:](?: and| but)? ([\w' -]+?) ({_SAYS}) (.+)", sentence)
    if match is None or match[1].lower() in match[2].lower() or re.match(r"(?:which|who|that|it|they)\b", match[2]):
        return None
    return f"{match[1]} {match[3]} {match[4]}"


def _condition(sentence: str) -> str | None:
    """A joint is stiff if it has no play. -> A joint is stiff."""
    match = re.fullmatch(r"([A-Z][^,;:]{20,}?) (?:if|unless|until|except) [^;:]+\.", sentence)
    return f"{match[1]}." if match else None


def _only(sentence: str) -> str | None:
    """The wheel turns only in sand. -> The wheel turns in sand."""
    return re.sub(r"\bonly ", "", sentence, count=1) if re.search(r"\w \bonly \b(?!if)", sentence) else None


def _ends(sentence: str) -> str | None:
    """The arm lifts a cup with two fingers, and the base carries the long arm. -> The arm lifts the long arm."""
    second = r"(?:and|but|whereas|so) [\w -]+? ((?:the|a|an) [\w -]+\.)"
    match = re.fullmatch(rf"(\w+(?: \w+){{2,4}}) [\w -]+, {second}", sentence)
    return f"{match[1]} {match[2]}" if match else None


RULES: dict[str, Callable[[str], str | None]] = {
    "subject": _subject,
    "condition": _condition,
    "only": _only,
    "ends": _ends,
}
