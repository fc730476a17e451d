"""Text that knows the source offset of each of its characters."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

Range = tuple[int, int]
_BLANKS = re.compile(r"[ \t\ufeff]*")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text assembled from stretches of a source, its lines joined by line feeds.

    A paragraph in a nested list is one: its lines in the file follow indentation that does not belong to it.
    """

    text: str
    starts: tuple[int, ...]
    """Index in `text` of the start of each stretch, ascending from 0."""
    origins: tuple[int, ...]
    """Offset in the source of the start of each stretch."""

    @classmethod
    def of(cls, source: str, ranges: Sequence[Range]) -> "PlacedText":
        """Join stretches `source[a:b]` by line feeds; no ranges give an empty text at offset 0."""
        starts, origins, length = [], [], 0
        for start, end in ranges or [(0, 0)]:
            starts.append(length)
            origins.append(start)
            length += end - start + 1
        return cls("\n".join(source[a:b] for a, b in ranges), tuple(starts), tuple(origins))

    def at(self, index: int) -> int:
        """Offset in the source of the character at `index`."""
        piece = bisect_right(self.starts, index) - 1
        return self.origins[piece] + index - self.starts[piece]

    def end(self, index: int) -> int:
        """Offset in the source right after the character before `index`."""
        return self.at(index - 1) + 1 if index else self.origins[0]

    @property
    def place(self) -> Range:
        """Offsets in the source of its first character and of the end of its last."""
        return self.at(0), self.end(len(self.text))

    def cut(self, start: int, end: int) -> "PlacedText":
        """The part from `start` to `end`, with its places."""
        if (start, end) == (0, len(self.text)):
            return self
        first = bisect_right(self.starts, start) - 1
        last = max(first + 1, bisect_right(self.starts, max(start, end - 1)))
        return PlacedText(
            self.text[start:end],
            tuple(max(0, value - start) for value in self.starts[first:last]),
            (self.at(start), *self.origins[first + 1 : last]),
        )

    def strip(self) -> "PlacedText":
        """The text without white space at its ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))


def join(parts: Sequence[PlacedText]) -> PlacedText:
    """Concatenate several texts."""
    text, starts, origins = "", list[int](), list[int]()
    for part in parts:
        starts += [len(text) + start for start in part.starts]
        origins += part.origins
        text += part.text
    return PlacedText(text, tuple(starts), tuple(origins))


def trim(source: str, start: int, end: int) -> Range:
    """Trim white space at both ends of a range; empty at the end if there is nothing else."""
    text = source[start:end]
    left = len(text) - len(text.lstrip())
    return start + left, max(start + left, start + len(text.rstrip()))


def line_ranges(source: str) -> list[Range]:
    """Start and end (without its line ending) of each line; CR, LF and CRLF end lines, nothing else does."""
    ranges, start = [], 0
    for match in _LINE_END.finditer(source):
        ranges.append((start, match.start()))
        start = match.end()
    if start < len(source):
        ranges.append((start, len(source)))
    return ranges


def line_number(source: str, offset: int) -> int:
    """One-based line number of an offset."""
    return sum(1 for _ in _LINE_END.finditer(source, 0, offset)) + 1


def indentation(source: str, begin: int, pos: int, end: int) -> tuple[int, int]:
    """Return the offset of the first non-blank from `pos` and the columns up to it, with tab stops of four."""
    match = _BLANKS.match(source, pos, end)
    at = match.end() if match else pos
    blanks = source[pos:at]
    if "\t" not in blanks:
        return at, len(blanks) - blanks.count("\ufeff")
    return at, len(source[begin:at].expandtabs(4)) - len(source[begin:pos].expandtabs(4))


def skip_columns(source: str, begin: int, pos: int, end: int, columns: int) -> int:
    """Offset after at most this many columns of blanks from `pos`; `begin` and `end` as for `indentation`."""
    if source.startswith(" " * columns, pos, end):
        return pos + columns
    column = first = len(source[begin:pos].expandtabs(4))
    while column - first < columns and pos < end and source[pos] in " \t":
        column += 4 - column % 4 if source[pos] == "\t" else 1
        pos += 1
    return pos


def behind_line_end(source: str, pos: int) -> int:
    """Offset after the line ending at `pos`, or `pos` if there is none."""
    for ending in ("\r\n", "\n", "\r"):
        if source.startswith(ending, pos):
            return pos + len(ending)
    return pos
