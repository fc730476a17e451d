"""No regular expression lets a book or a reader keep the server busy: each is attacked with inputs made from itself."""

import ast
from pathlib import Path

import pytest

import lutrin

from .attacks import BOUNDS, LIMIT_S, Job, all_patterns, jobs, searched, slowest

IN_THE_LIMITED_CHILD = frozenset(
    f"lutrin.ingest.{name}"
    for name in """
    anchors._EXPLICIT blocks._DASHED blocks._DEFINITION blocks._MODULE blocks._RULE blocks._SETEXT
    dialects._ABBREVIATION dialects._ABBREVIATIONS dialects._ALONE dialects._CELL_CAPTION dialects._INCLUDE
    directives._INDENTED directives._LABEL directives._LIST_CELL frontmatter._LINE_END frontmatter._TOML
    html_view._DELIMITED html_view._MEDIA html_view._NOTE_TARGET html_view._RENDERER html_view._RULE
    html_view._WRAPPED hypertext._HEADING inline._STRUCK masks._BLANKED masks._CLOSERS masks._FENCE
    masks._HIDDEN[2] masks._OPENING masks._TAG roles._NUMBER script._KEY script._MEMBER script._NUMBER_MEMBER
    script._PATH_CALL script._SCALAR script._START script._STRING["'"] script._STRING['"'] script._TEMPLATE
    script._TOKEN sentences._WHOLE_WORD sites._TITLE_IN_SCRIPT strict._IN_BRACES wording._CODES wording._FILE
    wording._NAME wording._NOTED wording._PROGRAMS
""".split()
)
"""Patterns of the parsers that take over a second, or nearly, for 64 kB made for them. Files are parsed in a process
with limits of processor time (`tests/ingest/test_limited.py`); such a file costs an error line. Mend one, and take it
from this list; none may be added."""
IN_THE_RENDERER = frozenset(
    f"lutrin.serve.{name}"
    for name in """
    diagrams.DIAGRAM diagrams._HEAD diagrams._ID diagrams._LINK rendering.CODE rendering.FORMULA
    rendering.JOINED rendering.LINKED rendering.SECTION rendering.TAG rendering.TITLE
""".split()
)
"""As above, of the process that renders pages (`tests/serve/test_cost.py`). Those of `rendering` meet HTML that Lutrin
has written, which closes what it opens, so that no book brings them the texts that they are slow for."""
SLOW = IN_THE_LIMITED_CHILD | IN_THE_RENDERER
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
def test_no_pattern_is_slow_but_those_that_are_known() -> None:
    """Each pattern of each module; what is known to be slow works within limits of processor time."""
    work = [job for job in jobs() if job[0] not in SLOW and not job[0].startswith(SERVED)]
    assert not slow_ones(work)


@pytest.mark.slow("some two hundred inputs for each of sixty patterns")
def test_short_attacks_show_what_grows_fast() -> None:
    """The same for 2,000 characters in a thirtieth of the time: what grows with a power shows there already."""
    work = [job for job in jobs(chars=2_000, limit_s=LIMIT_S / 30) if job[0].startswith(SERVED)]
    assert len(work) > 50
    assert not slow_ones(work, LIMIT_S / 30)


def test_what_is_known_to_be_slow_is_there() -> None:
    """A pattern that is mended or gone leaves the list; the bounds are those of the code."""
    assert set(all_patterns()) >= SLOW
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
