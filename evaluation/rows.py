"""Files with one JSON object of a kind on each line: collected from a model, book by book, and read again."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from evaluation.shelf import DATA, SHELF, ShelvedBook, read_shelf
from lutrin.errors import InvalidInput

T = TypeVar("T")


def read_rows(files: Sequence[Path], kind: type[T], none: str) -> list[T]:
    """The lines of several files, in order.

    Args:
        files: Files in UTF-8.
        kind: Type of each line.
        none: Message if there are no lines.

    Raises:
        InvalidInput: A line has another form, or there are no lines.
    """
    found: list[T] = []
    for path in files:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                found.append(msgspec.json.decode(line, type=kind))
            except msgspec.MsgspecError as error:
                raise InvalidInput(f"{path}, line {number}: {error}.") from error
    if not found:
        raise InvalidInput(none)
    return found


def row_options(description: str | None, acts: Sequence[str], rows: Path) -> argparse.ArgumentParser:
    """The command line of a module that collects rows from a model and works on them.

    Args:
        description: What the module is for.
        acts: What it does; the first is `collect`.
        rows: Folder of the rows.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=acts)
    parser.add_argument("--book", action="append", default=[], help="this book only; may be repeated")
    parser.add_argument("--model", default="medium", help="tier of the model")
    parser.add_argument("--shelf", type=Path, default=SHELF, help="with books/ and questions/")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the books' data folders")
    parser.add_argument("--rows", type=Path, default=rows, help="folder of the rows")
    parser.add_argument("--write", action="store_true", help="write what was fitted")
    return parser


def collect_rows(
    given: argparse.Namespace, collect: Callable[[ShelvedBook, Path, str], Awaitable[Sequence[object]]]
) -> None:
    """Collect the rows of each book that the options name, a file for each."""

    async def all_rows(book: ShelvedBook) -> Sequence[object]:
        return await collect(book, given.data / book.name, given.model)

    given.rows.mkdir(parents=True, exist_ok=True)
    for book in read_shelf(given.shelf, given.book):
        rows = asyncio.run(all_rows(book))
        (given.rows / f"{book.name}.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
