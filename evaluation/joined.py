"""Compare retrieved sections with joined passages on the books of a shelf: `python -m evaluation.joined [FOLDER]`.

Both are of the same search, five each: their length, whether they hold all facts that a question asks for, and whether
the first is of the right file. Folders as for `evaluation.shelf`.
"""

import argparse
import asyncio
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.asking import ingest
from evaluation.measures import TOP, measure_retrieval
from evaluation.pipeline import ANY, complete
from evaluation.shelf import DATA, ROOT, SHELF, ShelvedBook, read_shelf
from lutrin.errors import LutrinError
from lutrin.query.understand import understand
from lutrin.records import Question
from lutrin.runtime.wiring import open_runtime
from lutrin.search.joined import SECTIONS_EACH
from lutrin.settings import load_settings

KINDS = ("sections", "joined")
SHORT = 300
"""Tokens: a specification asks for 300 to 500."""


@dataclass(slots=True)
class Found:
    """Retrieval results for the questions of a book, in one form."""

    tokens: list[int] = field(default_factory=list)
    measures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def row(self, book: str, kind: str) -> str:
        """A line of the table."""
        means = [f"{statistics.fmean(self.measures[name]):.3f}" for name in (f"facts@{TOP}", "file@1", f"file@{TOP}")]
        short = sum(size < SHORT for size in self.tokens) / len(self.tokens)
        return f"| {book} | {kind} | {statistics.fmean(self.tokens):.0f} | {short:.2f} | {' | '.join(means)} |"


async def retrieve_both(book: ShelvedBook, data: Path) -> dict[str, Found]:
    """Ask what the book answers, and measure both forms of what is found."""
    settings = load_settings(
        profile="local", data_dir=data, models_dir=ROOT / "models", model="none", log_level="error"
    )
    await ingest(settings, book.folder)
    results = {kind: Found() for kind in KINDS}
    async with open_runtime(settings, with_model=False) as house:
        for question in (one for one in book.questions if one.in_book):
            text = complete(question.question, question.previous_question)
            query = understand(
                Question(text=text, selected_text=question.selected_text),
                history=(),
                language=ANY,
                embedder=house.searcher.embedder,
            )
            async with house.shelf.lease_books() as generations:
                found = await house.searcher.search(generations, query, k=SECTIONS_EACH * TOP)
                joined = await house.joiner.join(found.generation, found.passages, TOP)
            for kind, passages in zip(KINDS, (found.passages[:TOP], joined), strict=True):
                results[kind].tokens += [passage.chunk.token_count for passage in passages]
                for name, (value, _) in measure_retrieval(question, passages).items():
                    results[kind].measures[name].append(value)
    return results


async def compare(books: Sequence[ShelvedBook], data: Path) -> None:
    """Print the table book by book, and the rows of all."""
    print("| book | passages | tokens | under 300 | facts@5 | file@1 | file@5 |\n|---|---|--:|--:|--:|--:|--:|")
    whole = {kind: Found() for kind in KINDS}
    for book in books:
        for kind, found in (await retrieve_both(book, data / book.name)).items():
            print(found.row(book.name, kind), flush=True)
            whole[kind].tokens += found.tokens
            for name, values in found.measures.items():
                whole[kind].measures[name] += values
    print("\n".join(found.row("all", kind) for kind, found in whole.items()))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SHELF)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--book", action="append", default=[])
    options = parser.parse_args()
    try:
        asyncio.run(compare(read_shelf(options.folder, options.book), options.data))
    except LutrinError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
