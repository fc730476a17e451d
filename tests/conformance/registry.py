"""The registry of rows: what five specifications ask, and what shows that it is so.

A row is in `rows/*.toml`. It is met by tests of this folder that carry its identifier in the mark `row`, by tests
elsewhere in the repository, or by tests in a browser. A row that asks for a figure names the benchmark that prints it,
whatever else tests show of it. What is not shown yet is open, and says what it waits for.

A test of this folder that takes one of `TWICE` runs once under each profile.
"""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
RESULTS = ROOT / "bench" / "RESULTS.md"
TWICE = {"profile", "house", "reader", "growth", "outside"}
"""Fixtures that stand for both profiles in turn."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One requirement."""

    asks: str
    tests: tuple[str, ...] = ()
    """Node ids of tests elsewhere."""
    browser: tuple[str, ...] = ()
    """`file: title` of tests in a browser."""
    figure: tuple[str, ...] = ()
    """Names in `figures.toml`."""
    open: str = ""
    """What it waits for."""
    note: str = ""
    here: tuple[str, ...] = ()
    """Node ids of tests of this folder that carry the identifier; found, not written down."""
    twice: bool = False
    """Whether one of these runs under both profiles; found, too."""

    @property
    def state(self) -> str:
        """The state of the requirement."""
        if self.open:
            return "open"
        if self.figure:
            recorded = all(figures()[name].recorded for name in self.figure)
            return "benchmark" if recorded else "benchmark, figure not recorded"
        if self.here or self.tests:
            return "test"
        return "browser test" if self.browser else "nothing"


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark that prints figures."""

    command: str
    recipe: str
    waits: str = ""
    """For what, if the figure is not recorded yet."""

    @property
    def recorded(self) -> bool:
        """Whether `bench/RESULTS.md` holds figures of it."""
        text = RESULTS.read_text("utf-8") if RESULTS.exists() else ""
        return self.command in text or self.recipe in text


class Specification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One specification with its rows, by identifier."""

    module: str
    title: str
    rows: dict[str, Row]


def figures() -> dict[str, Figure]:
    """The benchmarks, by name."""
    known = tomllib.loads((HERE / "figures.toml").read_text("utf-8"))
    return msgspec.convert(known["figures"], dict[str, Figure])


def specifications() -> list[Specification]:
    """All specifications, each row with the tests of this folder that carry its identifier."""
    marked = marks()
    twice = {test for path in sorted(HERE.glob("test_*.py")) for test in _run_twice(path)}
    found = []
    for path in sorted((HERE / "rows").glob("*.toml")):
        read = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Specification)
        rows = {
            name: msgspec.structs.replace(row, here=here, twice=not twice.isdisjoint(here))
            for name, row in read.rows.items()
            for here in [marked.get(name, ())]
        }
        found.append(msgspec.structs.replace(read, rows=rows))
    return found


@cache
def marks() -> Mapping[str, tuple[str, ...]]:
    """Node ids of this folder's tests by the identifiers that they carry."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(HERE.glob("test_*.py")):
        for test in functions_of(path):
            for name in _identifiers(test):
                found[name].append(_node(path, test))
    return {name: tuple(tests) for name, tests in found.items()}


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The test functions of a module."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _node(path: Path, test: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return f"{path.relative_to(ROOT).as_posix()}::{test.name}"


def _run_twice(path: Path) -> Iterator[str]:
    for test in functions_of(path):
        if not TWICE.isdisjoint(argument.arg for argument in test.args.args):
            yield _node(path, test)


def _identifiers(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.row":
            yield from (str(ast.literal_eval(argument)) for argument in mark.args)
