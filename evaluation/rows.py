"""Files of what is judged: one JSON object a line, all of one kind."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from lutrin.errors import InvalidInput

T = TypeVar("T")


def read_rows(files: Sequence[Path], kind: type[T], none: str) -> list[T]:
    """The lines of several files, in order.

    Args:
        files: In UTF-8.
        kind: What each line is.
        none: What is said where there is no line at all.

    Raises:
        InvalidInput: A line is no such thing, or there is none.
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
