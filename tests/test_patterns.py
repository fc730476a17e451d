"""No regular expression lets a book or a reader keep the server busy: each is attacked with inputs made from itself."""

import ast
from pathlib import Path

import pytest

import lutrin

from .attacks import BOUNDS, LIMIT_S, Job, all_patterns, jobs, searched, slowest

SERVED = ("lutrin.query", "lutrin.language", "lutrin.search", "lutrin.answer")
"""What meets a reader's words in the server itself."""


def slow_ones(work: list[Job], limit_s: float = LIMIT_S) -> dict[str, tuple[float, str]]:
    """The patterns that take longer than the limit, with the worst time and its input."""
    results = [slowest(job) for job in work]
    return {place: (worst, text) for place, worst, text in results if worst > limit_s}


@pytest.mark.nightly
@pytest.mark.parametrize("room", SERVED)
def test_no_reader_s_words_are_slow_to_match(room: str) -> None:
    """Not one pattern of these stages takes a second for the longest text that may meet it."""
    assert not slow_ones(jobs(room))


@pytest.mark.nightly
def test_no_book_s_words_are_slow_to_match() -> None:
    """No pattern of any module is slow on 64 kB, or on the longest text that it can meet."""
    assert not slow_ones([job for job in jobs() if not job[0].startswith(SERVED)])


@pytest.mark.slow("some two hundred inputs for each of sixty patterns")
def test_short_attacks_show_what_grows_fast() -> None:
    """The same for 2,000 characters in a thirtieth of the time: what grows with a power shows there already."""
    work = [job for job in jobs(chars=2_000, limit_s=LIMIT_S / 30) if job[0].startswith(SERVED)]
    assert len(work) > 50
    assert not slow_ones(work, LIMIT_S / 30)


def test_the_bounds_are_those_of_the_code() -> None:
    """Where a text is cut before it meets a pattern, by the length that the code has."""
    values: dict[str, object] = {}
    for path in Path(*lutrin.__path__).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                values |= {f"{path.stem}.{ast.unparse(target)}": node.value.value for target in node.targets}
    for chars, by in BOUNDS.values():
        if by in values or (by.count(".") == 1 and " " not in by):
            assert values[by] == chars, by


def test_an_attack_finds_what_it_is_for() -> None:
    """Quadratic, cubic and exponential ones; a linear one passes; what is matched at the beginning alone, too."""
    for pattern in (r"\s+x", r"\w*\s*\w*!", r"(a+)+b", r"“[^”]*”"):
        assert slowest(("here", pattern, 0, 65_536, 0.2, True))[1] > 0.2, pattern
    for pattern, searches in ((r"(?<!\s)\s++x", True), (r"\s+x", False), (r"“[^“”]*”", True)):
        assert slowest(("here", pattern, 0, 65_536, 0.2, searches))[1] < 0.2, pattern
    assert "lutrin.language.words._IDENTIFIER" in searched(all_patterns())
