"""Read files with one JSON object of a kind on each line."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

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
