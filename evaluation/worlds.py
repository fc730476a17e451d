"""Evaluate the world assigned to sections against labels by hand: `python -m evaluation.worlds DATA...`.

`worlds.jsonl` has 200 sections of five books whose authors say nothing in front matter: whether a section is about a
simulation (true), about real hardware (false), or about neither or both (null). DATA are folders of indexes of these
books, as `lutrin ingest` and `evaluation.shelf` make them; what the book's settings say of a whole book counts, too.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from lutrin.index.shelf import Shelf
from lutrin.runtime.profile import open_store
from lutrin.settings import load_settings

LABELS = Path(__file__).with_name("worlds.jsonl")
World = bool | None
NAMES: Mapping[World, str] = {True: "simulation", False: "real", None: "not said"}


class LabelledSection(msgspec.Struct, frozen=True):
    """A section and what its reader says of it."""

    book: str
    filename: str
    heading_path: tuple[str, ...]
    is_simulation: World

    @property
    def key(self) -> tuple[str, str, tuple[str, ...]]:
        """Its place."""
        return self.book, self.filename, self.heading_path


def read_labels() -> list[LabelledSection]:
    """All labelled sections."""
    return [msgspec.json.decode(line, type=LabelledSection) for line in LABELS.read_bytes().splitlines()]


async def worlds_of(data: Path) -> dict[tuple[str, str, tuple[str, ...]], World]:
    """The world of each section of an index's books."""
    settings = load_settings(profile="local", data_dir=data, model="none", log_level="error")
    said: dict[tuple[str, str, tuple[str, ...]], World] = {}
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings)) as shelf:
        for book in shelf.books():
            async with shelf.lease(book.book.slug) as generation:
                for chunk in await generation.all_chunks():
                    said.setdefault((chunk.book, chunk.filename, chunk.heading_path), chunk.is_simulation)
    return said


def table(labels: Iterable[LabelledSection], said: Mapping[tuple[str, str, tuple[str, ...]], World]) -> str:
    """Counts: what a reader says in rows, what Lutrin says in columns."""
    counts = Counter((one.is_simulation, said[one.key]) for one in labels if one.key in said)
    lines = ["| read as | said simulation | said real | not said |", "|---|--:|--:|--:|"]
    for label, name in NAMES.items():
        lines.append(f"| {name} | {' | '.join(str(counts[label, world]) for world in NAMES)} |")
    missing = sum(one.key not in said for one in labels)
    return "\n".join([*lines, f"{missing} sections are not in these indexes." if missing else ""]).strip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    said: dict[tuple[str, str, tuple[str, ...]], World] = {}
    for folder in parser.parse_args().data:
        said |= asyncio.run(worlds_of(folder))
    print(table(read_labels(), said))


if __name__ == "__main__":
    main()
