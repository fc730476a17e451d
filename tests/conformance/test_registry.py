"""The registry itself: complete, true to what exists, and printed."""

import re

from .registry import HERE, ROOT, figures, functions_of, marks, specifications
from .table import page

ROWS = {name: row for one in specifications() for name, row in one.rows.items()}
COUNTS = {
    "A-US1": 3, "A-US2": 3, "A-US3": 2, "A-EC": 8, "A-FR": 22, "A-SC": 8, "A-CON": 7,
    "B-US1": 3, "B-US2": 3, "B-US3": 3, "B-US4": 3, "B-US5": 3, "B-EC": 7, "B-FR": 31, "B-SC": 8,
    "C-US1": 3, "C-US2": 3, "C-US3": 2, "C-FR": 20, "C-NFR": 9, "C-SC": 7, "C-EC": 6,
    "D-MODE": 2, "D-CHUNK": 4, "D-RAG": 7, "D-API": 3, "D-FR": 7, "D-NFR": 4, "D-SS": 3,
    "E-US1": 2, "E-US2": 2, "E-EC": 3, "E-FR": 6, "E-SC": 4, "E-CODE": 2,
}  # fmt: skip
"""How many rows of each kind the specifications have."""
WITH_DIGITS = ("A-FR", "A-SC", "B-FR", "B-SC", "C-FR", "C-NFR", "C-SC", "E-FR", "E-SC")
"""Kinds that their specifications number with three digits."""
SECRET = re.compile(
    r"(?:AIza[\w-]{30,}|sk-[\w-]{20,}|(?:api_key|admin_token|chat_key|password)\s*=\s*[\"'][^\"'{}]{8,}[\"'])"
)


def test_every_row_of_the_specifications_is_there() -> None:
    """Identifiers are numbered without a gap, and there are as many of each kind as the specifications have."""
    expected = {"D-META"}
    for kind, count in COUNTS.items():
        width = 3 if kind in WITH_DIGITS else 1
        expected |= {f"{kind}-{number:0{width}}" for number in range(1, count + 1)}
    assert set(ROWS) == expected


def test_every_row_has_a_test_a_figure_or_a_reason() -> None:
    """What nothing shows is open, with the name of what delivers it; a mark of a test leads to a row that exists."""
    assert [name for name, row in ROWS.items() if not row.asks or row.state == "nothing"] == []
    assert set(marks()) <= set(ROWS)


def test_named_tests_exist() -> None:
    """Every node id of the registry is a test function of its module."""
    wanted = {tuple(test.split("::")) for row in ROWS.values() for test in row.tests}
    known = {(name, test.name) for name, _ in wanted if (ROOT / name).is_file() for test in functions_of(ROOT / name)}
    assert sorted(wanted - known) == []


def test_named_browser_tests_exist() -> None:
    """Every title of the registry is in its file as a test."""
    missing = []
    for row in ROWS.values():
        for test in row.browser:
            name, _, title = test.partition(": ")
            text = (ROOT / name).read_text("utf-8") if (ROOT / name).is_file() else ""
            missing += [] if f"test('{title}'" in text else [test]
    assert missing == []


def test_named_benchmarks_exist() -> None:
    """The program and the files of every command are in the repository, and every figure is known."""
    assert {name for row in ROWS.values() for name in row.figure} == set(figures())
    for figure in figures().values():
        assert figure.recorded or figure.waits, figure.command
        program, *words = figure.command.split()
        assert program in {"python", "lutrin"}
        for word in words:
            assert "/" not in word or (ROOT / word).is_file(), word


def test_modules_hold_their_own_rows() -> None:
    """A module's tests carry identifiers of its own specification."""
    for one in specifications():
        assert (HERE / one.module).is_file()
        letter = one.title[0]
        assert all(name.startswith(f"{letter}-") for name in one.rows)
        stem = one.module.removesuffix(".py")
        for name, row in one.rows.items():
            assert all(f"/{stem}" in test for test in row.here), name


def test_the_page_is_up_to_date() -> None:
    """`docs/conformance.md` is what `python -m tests.conformance.table` prints now."""
    assert (ROOT / "docs" / "conformance.md").read_text("utf-8") == page()


def test_no_secret_stands_in_the_source() -> None:
    """No line of the program looks like a key, and `.env.example` gives none a value."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        assert not SECRET.findall(path.read_text("utf-8")), path
    secrets = re.findall(r"^#? ?(\w*(?:KEY|TOKEN))=(.*)$", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
    assert {"GEMINI_API_KEY", "QDRANT_API_KEY", "LUTRIN_ADMIN_TOKEN"} <= {name for name, _ in secrets}
    assert [name for name, value in secrets if value] == []
