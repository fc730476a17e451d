"""Whether selections answer: labelled pairs of a question and a passage, made of the question files and their books.

    python -m evaluation.studies.selections [--indexes DIR]

Of each question the one to three paragraphs of its expected page that hold all key facts answer it; another paragraph
of the page, one beside, and one of another page do not. DIR holds an index for each shelf of `bench/books` by its name.
Every second book, by name, is of the half on which the weights of `lutrin.retrieve.selected` were fitted
(docs/decisions/0024, whose pairs were drawn in another order, with single sentences besides).
"""

import argparse
import asyncio
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.command_line import ROOT, finish, machine
from evaluation.questions import EvalQuestion, read_questions
from evaluation.show import aligned
from evaluation.studies.conversations import SEED, Talk, mean, talking
from evaluation.text import stands
from lutrin.retrieve.passages import leased
from lutrin.retrieve.selection import search_selection

LEAST_WORDS = 12
"""Of a paragraph that a reader would mark."""
MOST = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a text."""

    book: str
    question: str
    text: str
    what: str
    """`answer`, or where a text that does not answer stands."""


def paragraphs(path: Path) -> list[str]:
    """The paragraphs, lists, tables and code blocks of a page, in order."""
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    fenced = re.split(r"^(`{3}.*?^`{3})", text, flags=re.DOTALL | re.MULTILINE)
    blocks = [block for n, part in enumerate(fenced) for block in ([part] if n % 2 else re.split(r"\n\s*\n", part))]
    found = [block.strip("\n") for block in blocks]
    return [block for block in found if not block.lstrip().startswith("#") and len(block.split()) >= LEAST_WORDS]


def pairs_of(item: EvalQuestion, shelf: Path, book: str, chance: random.Random) -> Iterator[Pair]:
    """The pairs of one question; none if no few paragraphs hold its facts."""
    for path in (shelf / name for name in item.expected_files):
        blocks = paragraphs(path)
        windows = [(first, first + size) for size in range(1, MOST + 1) for first in range(len(blocks) - size + 1)]
        for first, end in windows:
            text = "\n\n".join(blocks[first:end])
            if all(stands(fact, text) for fact in item.key_facts):
                yield Pair(book, item.question, text, "answer")
                for what, other in others(item, blocks, (first, end), path, chance):
                    yield Pair(book, item.question, other, what)
                return


def others(
    item: EvalQuestion, blocks: list[str], place: tuple[int, int], path: Path, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Where paragraphs stand that hold none of the facts, and these."""

    def free(block: str) -> bool:
        return not any(stands(fact, block) for fact in item.key_facts)

    first, end = place
    rest = [n for n, block in enumerate(blocks) if not first <= n < end and free(block)]
    beside = [n for n in rest if n in {first - 1, end}]
    pages = [page for page in sorted(path.parent.parent.rglob("*.md*")) if page != path]
    away = [block for block in paragraphs(chance.choice(pages)) if free(block)] if pages else []
    for what, found in (
        ("same page", [blocks[n] for n in rest]),
        ("beside", [blocks[n] for n in beside]),
        ("other page", away),
    ):
        if found:
            yield what, chance.choice(found)


async def judged(talk: Talk, pair: Pair) -> bool:
    """Whether a selection is taken to answer."""
    async with leased(talk.house.shelf, pair.book) as generations:
        found = await search_selection(talk.house.searcher.embedder, generations[0], pair.question, pair.text)
    return bool(found.parts)


async def selections(indexes: Path) -> None:
    """Judge every pair; print the share that is taken to answer, by half and by what the text is."""
    chance = random.Random(SEED)  # noqa: S311 - draws a sample, guards nothing
    files = sorted((ROOT / "bench" / "questions").glob("*/*.jsonl"))
    fitted = set(sorted(path.stem for path in files)[::2])
    found: dict[tuple[str, str], list[bool]] = {}
    for shelf in sorted({path.parent.name for path in files}):
        async with talking(indexes / shelf) as talk:
            for path in (path for path in files if path.parent.name == shelf):
                for item in read_questions([path]):
                    if not item.in_book or not item.key_facts or item.previous_question:
                        continue
                    for pair in pairs_of(item, ROOT / "bench" / "books" / shelf, path.stem, chance):
                        half = "fitted on" if path.stem in fitted else "tested on"
                        found.setdefault((half, pair.what), []).append(await judged(talk, pair))
    table = [["books", "selection", "answered", "pairs"]]
    table += [[*key, f"{mean(values):.3f}", str(len(values))] for key, values in sorted(found.items())]
    finish("Selections", [aligned(table)], {" ".join(key): mean(values) for key, values in found.items()}, machine())


def main() -> None:
    """Read the options and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--indexes", type=Path, default=ROOT / "bench" / "out" / "books", help="one folder a shelf")
    asyncio.run(selections(parser.parse_args().indexes))


if __name__ == "__main__":
    main()
