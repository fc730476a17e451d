"""Marked code line by line: what is asked of it is told by examples, and its rows are read in order."""

from pathlib import Path

import pytest

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.answer.listing import load_wishes, rows_of, wants_listing
from lutrin.answer.program import statements_of
from lutrin.query.understand import alone
from lutrin.records import Question
from lutrin.search.search import Searcher

WHOLE = [
    "what is happening in these lines?", "can u explain this code to me step by step", "Tell me what every line means",
    "Go through the code", "how does this command work", "what's the purpose of this function",
]  # fmt: skip
ONE = [
    "why does it use spin?", "What is the speed limit?", "what does the 10 mean", "Where is the callback defined?",
    "Who calls tick?", "can i use it for kestrel", "what's the rate",
]  # fmt: skip


async def test_how_all_of_it_works_is_told_from_one_question_about_it(models_dir: Path) -> None:
    """None of these is an example word for word."""
    local = FastembedEmbedder(models_dir / "reader", threads=1)
    searcher = Searcher(local)
    assert not {*load_wishes().whole, *load_wishes().one} & {*WHOLE, *ONE}
    told = [text for text in [*WHOLE, *ONE] if await wants_listing(searcher, alone(Question(text=text)))]
    local.close()
    assert told == WHOLE


def rows(text: str, stated: dict[str, str] | None = None) -> list[list[str]]:
    """The rows of a program in Python."""
    return rows_of(statements_of(text, "python"), stated or {})


def test_each_line_of_which_something_is_said_is_a_row() -> None:
    """Its comment in quotation marks, what the book says behind it."""
    assert rows("heat(90)  # degrees\nstir()  # slowly\n", {"stir": "Stirring spreads heat. [2]"}) == [
        ["1", "`heat(90)`", "\u201cdegrees\u201d"],
        ["2", "`stir()`", "\u201cslowly\u201d Stirring spreads heat. [2]"],
    ]


def test_lines_of_which_nothing_is_said_stand_together() -> None:
    """Up to an empty line, or the next one of which something is said."""
    assert rows("a()\nb()\n\nc()\nd()  # loud\n") == [
        ["1\u20132", "`a()` \u2026", ""], ["4", "`c()`", ""], ["5", "`d()`", "\u201cloud\u201d"],
    ]  # fmt: skip


def test_a_comment_above_speaks_of_the_lines_below() -> None:
    """Until something else is said."""
    assert rows("# Set up.\na()\nb()\nc()  # loud\n") == [
        ["1\u20133", "`a()` \u2026", "\u201cSet up.\u201d"], ["4", "`c()`", "\u201cloud\u201d"],
    ]  # fmt: skip


def test_a_name_is_explained_where_it_comes_first() -> None:
    """And once."""
    said = [cells[2] for cells in rows("spin()\nstop()\nspin()\n", {"spin": "Spin waits. [1]"})]
    assert said == ["Spin waits. [1]", ""]


@pytest.mark.parametrize(("code", "cell"), [("a | b", "`a | b`"), ("print(`x`)", "`` print(`x`) ``")])
def test_code_in_a_cell_keeps_its_signs(code: str, cell: str) -> None:
    """A mark of code in it does not end it."""
    assert rows_of(statements_of(code, "text"), {}) == [["1", cell, ""]]
