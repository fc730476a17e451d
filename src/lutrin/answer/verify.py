"""Checks whether the book states a generated sentence. When in doubt, the sentence is dropped.

Two things decide. Numbers with their units, names, commands and "all" or "never" must stand in the passages literally
(`literals`). What the sentence says must follow from the passages that it cites, together: a support model judges that
by meaning. Without one nothing that a model says of the book is shown.
"""

import re
from collections.abc import Sequence

from lutrin.answer.calculate import calculations
from lutrin.answer.hostile import gives_orders, headings
from lutrin.answer.literals import keeps_names, keeps_numbers, literals_stand
from lutrin.answer.render import cells_of
from lutrin.language.words import content_stems, numbers, plain, stem_set
from lutrin.ports import Support
from lutrin.records import Chunk, Unit

Shown = Sequence[tuple[int, Chunk]]
"""Passages with the numbers by which they are cited."""

MARKER = re.compile(r"\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]")
EVIDENCE_WORDS = 220
"""Words that the support model reads beside a claim; about what it was trained on."""
MOST_TRIES = 3
"""So many passages, or groups of them, are tried; each costs a pass of the support model."""
FEW_WORDS = 3
"""Beside a calculation so many words say only what it is of."""
_LIST_SIGN = re.compile(r"^(?:[-*+]|\d{1,2}[.)])\s+")
_FRAGMENT = re.compile(r"[a-z]+[ ,]")
"""How a sentence begins that is none; one may begin with a name of code."""


class Verifier:
    """Checks sentences against passages.

    Args:
        support: Judges meaning; None: no sentence counts as stated.
    """

    def __init__(self, support: Support | None = None) -> None:
        self._support = support

    async def cited(
        self, text: str, shown: Shown, question: str, said: Sequence[str], sums: list[str] | None = None
    ) -> tuple[str, tuple[int, ...]] | None:
        """The sentence without its markers and the numbers of the passages that state it, or None if none do.

        A copy of the book is an excerpt and no sentence of the model's.

        Args:
            text: As it was generated.
            shown: What the model was shown.
            question: Names that stand in it may stand in the answer.
            said: What was let through before, lower-cased.
            sums: Calculations that were found right before; those of this sentence are added.

        Raises:
            ModelMissing: A file of the support model is not here.
        """
        named, sentence = marked(text)
        known = sums if sums is not None else []
        if not is_sentence(sentence) or sentence.casefold() in said:
            return None
        for group in _groups(named, shown, sentence)[:MOST_TRIES]:
            if await self.states([chunk for _, chunk in group], sentence, question, known):
                known += [one.text for one in calculations(sentence)]
                copied = any(f" {plain(sentence)} " in f" {plain(chunk.text)} " for _, chunk in group)
                return None if copied else (sentence, tuple(number for number, _ in group))
        return None

    async def states(self, passages: Sequence[Chunk], claim: str, question: str = "", sums: Sequence[str] = ()) -> bool:
        """Whether passages, taken together, state a claim.

        Args:
            passages: The evidence; sentences in it that give a model orders prove nothing.
            claim: One sentence without markers.
            question: Names that stand in it may stand in the claim.
            sums: Calculations that count as evidence, too.

        Raises:
            ModelMissing: A file of the support model is not here.
        """
        evidence = "\n".join([*map(told, passages), *sums])
        own = calculations(claim)
        held = {*numbers(evidence), *numbers(question)}
        if any(not one.is_right or not held.issuperset(one.operands) for one in own):
            return False
        counted = [*sums, *(one.text for one in own)]
        if not literals_stand(claim, "\n".join([evidence, *counted]), question):
            return False
        rest = claim
        for one in own:
            rest = rest.replace(one.text, " ")
        if own and len(content_stems(rest)) <= FEW_WORDS:
            return True
        if self._support is None:
            return False
        read = "\n".join([evidence_for(passages, claim), *counted])
        (probability,) = await self._support.probabilities([(claim, read)])
        return bool(probability >= self._support.threshold)

    def may_be_own(self, sentence: str, passages: Sequence[Chunk], question: str) -> bool:
        """Whether a sentence may be shown as the model's own words: no number, name or command that is not the book's.

        Args:
            sentence: Without markers; an analogy, say, that no passage states.
            passages: That the model was shown.
            question: Names that stand in it may stand in the sentence.
        """
        evidence = "\n".join(map(told, passages))
        fits = keeps_numbers(sentence, evidence) and keeps_names(sentence, evidence, question)
        return is_sentence(sentence) and fits and not gives_orders(sentence)


def marked(text: str) -> tuple[list[int], str]:
    """The numbers that a sentence cites, each once in order, and the sentence without them.

    >>> marked("- **Smoke** calms the bees [2], [1].")
    ([2, 1], 'Smoke calms the bees.')
    """
    named = [int(number) for group in MARKER.findall(text) for number in re.findall(r"\d+", group)]
    bare = re.sub(r"\s*[,;]+(?=[.!?]*$)", "", MARKER.sub("", text).strip())
    return list(dict.fromkeys(named)), _LIST_SIGN.sub("", bare.replace("**", ""))


def is_sentence(text: str) -> bool:
    """Whether a text says something by itself: no announcement, no fragment."""
    return bool(text) and not text.endswith(":") and not _FRAGMENT.match(text)


def _groups(named: Sequence[int], shown: Shown, sentence: str) -> list[list[tuple[int, Chunk]]]:
    """What may prove a sentence: the cited passages together, then each other one, the likeliest first.

    Without a marker the likeliest come alone first, then two of them together.
    """
    cited = [pair for pair in shown if pair[0] in named]
    own = set(content_stems(sentence))
    others = sorted(
        (pair for pair in shown if pair not in cited), key=lambda pair: -len(own & stem_set(pair[1].embedded_text()))
    )
    singles = [[pair] for pair in (*cited, *others)]
    return [cited, *singles] if len(cited) > 1 else [*singles, others[:2]] if not cited and len(others) > 1 else singles


def told(chunk: Chunk) -> str:
    """A passage with its headings as evidence, without anything that gives orders to a model."""
    units = [
        _row(unit) if unit.kind == "table_row" else unit.text for unit in chunk.units if not gives_orders(unit.text)
    ]
    return "\n".join([" > ".join(headings(chunk.heading_path)), *units])


def evidence_for(passages: Sequence[Chunk], claim: str) -> str:
    """Return the evidence for the support model: each passage, or its stretch nearest to the claim if too long."""
    room = EVIDENCE_WORDS // max(1, len(passages))
    return "\n".join(_stretch(told(chunk), claim, room) for chunk in passages)


def _stretch(text: str, claim: str, room: int) -> str:
    """The headings, and the consecutive lines of at most `room` words that share most words with a claim."""
    heading, *lines = text.split("\n")
    counts = [len(line.split()) for line in lines]
    if sum(counts) <= room:
        return text
    own = set(content_stems(claim))
    best, found = (-1.0, 0), (0, 0)
    for first in range(len(lines)):
        last, used, shared = first, 0, set[str]()
        while last < len(lines) and (used + counts[last] <= room or last == first):
            used += counts[last]
            shared |= own & set(content_stems(lines[last]))
            last += 1
        if (len(shared), -used) > best:
            best, found = (len(shared), -used), (first, last)
    return "\n".join([heading, *lines[slice(*found)]])


def _row(unit: Unit) -> str:
    """A row with the name of each column before its cell, so that a number stays with what it measures."""
    header, cells = cells_of(unit.lead), cells_of(unit.text)
    names = [*header, *[""] * (len(cells) - len(header))]
    return "; ".join(f"{name} | {cell}".strip(" |") for name, cell in zip(names, cells, strict=False))
