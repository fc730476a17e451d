"""Comma-separated values that a spreadsheet shows and never computes."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

MARK = "\ufeff"
"""Without it, spreadsheets on Windows take UTF-8 for the machine's old encoding."""
_FORMULA = re.compile(r"(^|[;,|\t\r\n\v\f\x85\u2028\u2029])([\s\"']*)(?=[=+\-@\uff0b\uff0d\uff1d\uff20])")
"""The beginning of a cell that a spreadsheet computes; also behind what another one takes for the end of a cell."""


def comma_separated(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with its header. A cell that would be a formula gets an apostrophe before it, and is text.

    Every cell stands in quotes, so that none ends where a spreadsheet in another country expects semicolons.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([as_text(cell) for cell in row] for row in rows)
    return MARK + out.getvalue()


def as_text(cell: str) -> str:
    r"""A cell that no spreadsheet computes.

    >>> as_text("=1+1"), as_text("a;\t=1"), as_text("a - b")
    ("'=1+1", "a;\t'=1", 'a - b')
    """
    return _FORMULA.sub(r"\1\2'", cell)
