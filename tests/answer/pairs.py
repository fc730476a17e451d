"""Labelled pairs of a sentence and a passage, made from the sample book: true ones, and false mutations of them.

A mutation changes one thing that matters: a number, a name, a denial, the sides of a comparison. Everything is drawn
with a fixed seed, so that the pairs are the same on every machine.
"""

import functools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import scan

CORPUS = Path(__file__).parents[2] / "corpus" / "physical-ai"
NAMES = ("Kestrel", "Wren", "Gazebo", "Jetson", "RealSense", "Nav2")
SIDES = (("more", "less"), ("higher", "lower"), ("faster", "slower"), ("larger", "smaller"), ("before", "after"))


@dataclass(frozen=True)
class Pair:
    """A sentence, the passage that is to support it, and whether it does."""

    kind: str
    sentence: str
    passage: str
    true: bool


@functools.cache
def paragraphs() -> Sequence[tuple[str, list[str]]]:
    """Headings and sentences of each paragraph of the sample book."""
    found = []
    (book,) = find_books(CORPUS)
    for file in scan(CORPUS):
        for section in read_document(file, book).sections:
            blocks: dict[int, list[str]] = {}
            for unit in section.units:
                if unit.kind == "sentence":
                    blocks.setdefault(unit.block, []).append(unit.text)
            heading = " > ".join(section.heading_path)
            found += [(heading, sentences) for sentences in blocks.values()]
    return found


def pairs(seed: int = 0, each: int = 25) -> list[Pair]:
    """`each` true pairs for every one of four mutations, and `each` false ones: 200 in all by default."""
    rng = random.Random(seed)
    found = list(paragraphs())
    rng.shuffle(found)
    made: list[Pair] = []
    for kind, mutate in MUTATIONS.items():
        taken = 0
        for heading, sentences in found:
            sentence = rng.choice(sentences)
            wrong = mutate(sentence, rng)
            if wrong is None or wrong == sentence or not 6 <= len(sentence.split()) <= 40:
                continue
            passage = f"{heading}\n{' '.join(sentences)}"
            if wrong in passage:
                continue
            made += [Pair(kind, sentence, passage, true=True), Pair(kind, wrong, passage, true=False)]
            taken += 1
            if taken == each:
                break
    return made


def _number(sentence: str, rng: random.Random) -> str | None:
    places = list(re.finditer(r"(?<![\w.,])\d+(?:\.\d+)?(?![\w,]|\.\d)", sentence))
    if not places:
        return None
    place = rng.choice(places)
    return f"{sentence[: place.start()]}{float(place.group()) * 3 + 1:g}{sentence[place.end() :]}"


def _name(sentence: str, rng: random.Random) -> str | None:
    here = [name for name in NAMES if re.search(rf"\b{name}\b", sentence)]
    others = [name for name in NAMES if name not in sentence]
    return re.sub(rf"\b{rng.choice(here)}\b", rng.choice(others), sentence, count=1) if here else None


def _denial(sentence: str, _: random.Random) -> str | None:
    if re.search(r"\b(?:not|no|never|cannot|without|none|nothing|neither)\b|n't", sentence):
        return (
            re.sub(r"\b(?:does not|do not) (\w+)", r"\1", sentence)
            if re.search(r"\bdo(?:es)? not\b", sentence)
            else None
        )
    match = re.search(r"\b(is|are|can|must|may)\b", sentence)
    return f"{sentence[: match.end()]} not{sentence[match.end() :]}" if match else None


def _side(sentence: str, _: random.Random) -> str | None:
    for left, right in SIDES:
        for word, other in ((left, right), (right, left)):
            if re.search(rf"\b{word}\b", sentence) and not re.search(rf"\b{other}\b", sentence):
                return re.sub(rf"\b{word}\b", other, sentence)
    return None


MUTATIONS: dict[str, Callable[[str, random.Random], str | None]] = {
    "number": _number,
    "name": _name,
    "denial": _denial,
    "side": _side,
}
