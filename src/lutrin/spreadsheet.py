"""Tables for spreadsheets: CSV in which no cell is a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

MARK = "\ufeff"
"""Byte order mark, without which spreadsheets on Windows take UTF-8 for the machine's old encoding."""
_SIGNS = frozenset("=+-@\uff0b\uff0d\uff1d\uff20")
_ENDS = frozenset(";,|\t\r\n\v\f\x85\u2028\u2029")
"""Characters that some spreadsheet takes for the end of a cell."""
_GAP = re.compile(r"\A[\s\"';,|]*|[\s\"';,|]+")


def to_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table with its header. A cell that would be a formula gets an apostrophe before it, which makes it text.

    Every cell is quoted, so that none ends where a spreadsheet in another country expects semicolons.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([as_text(cell) for cell in row] for row in rows)
    return MARK + out.getvalue()


def as_text(cell: str) -> str:
    r"""Protect a cell from being computed by a spreadsheet.

    >>> as_text("=1+1"), as_text("a;\t=1"), as_text("a - b")
    ("'=1+1", "a;\t'=1", 'a - b')
    """

    def guard(gap: re.Match[str]) -> str:
        begins = not gap.start() or not _ENDS.isdisjoint(gap[0])
        return f"{gap[0]}'" if begins and cell[gap.end() : gap.end() + 1] in _SIGNS else gap[0]

    return _GAP.sub(guard, cell)
