"""The table of conformance, made from the registry: `python -m tests.conformance.table > docs/conformance.md`."""

import sys
from collections import Counter
from collections.abc import Iterator

from .registry import Row, Specification, figures, specifications

HEAD = """# Conformance

Lutrin does what five specifications ask, on one stack. Each row is one acceptance scenario (US), requirement (FR, NFR),
success criterion (SC), edge case (EC) or further demand of a specification, in our words. Rows that name another
provider are met by the stack in the same role.

State: *test* and *browser test* mean that the named tests show it; *benchmark* that a figure of it stands in
`bench/RESULTS.md`; *open* that something of it is not shown yet, with what it waits for.

Both profiles: *yes* means that at least one of its tests asks a server twice, under `LUTRIN_PROFILE=local` and under
`remote`, the latter with a PostgreSQL, a Qdrant and a model on the loopback interface (CONTRIBUTING.md). The other rows
are shown once: in a browser, by tests of single parts, on files, or by a benchmark.

This page is generated: `python -m tests.conformance.table > docs/conformance.md`.
"""


def page() -> str:
    """The page, in Markdown."""
    found = specifications()
    return "\n".join([HEAD, *_summary(found), *(line for one in found for line in _section(one))]) + "\n"


def _summary(found: list[Specification]) -> Iterator[str]:
    states = ["test", "browser test", "benchmark", "benchmark, figure not recorded", "open"]
    counts = {one.title: Counter(row.state for row in one.rows.values()) for one in found}
    counts["all"] = sum(counts.values(), Counter[str]())
    twice = {one.title: sum(row.twice for row in one.rows.values()) for one in found}
    twice["all"] = sum(twice.values())
    yield f"| specification | rows | {' | '.join(states)} | both profiles |"
    yield "|---" * (len(states) + 3) + "|"
    for title, count in counts.items():
        yield f"| {title} | {count.total()} | {' | '.join(str(count[state]) for state in states)} | {twice[title]} |"


def _section(one: Specification) -> Iterator[str]:
    yield f"\n## {one.title}\n"
    yield "| row | asks | state | both profiles | shown by |"
    yield "|---|---|---|---|---|"
    for name, row in one.rows.items():
        twice = "yes" if row.twice else ""
        yield f"| {name} | {_cell(row.asks)} | {row.state} | {twice} | {'<br>'.join(_shown(row))} |"


def _shown(row: Row) -> Iterator[str]:
    yield from (f"`{test}`" for test in (*row.here, *row.tests))
    yield from (f"{_cell(test)}" for test in row.browser)
    for name in row.figure:
        figure = figures()[name]
        missing = f"`{figure.command}` prints it; waits for {figure.waits}"
        yield f"`{figure.recipe}`, see bench/RESULTS.md" if figure.recorded else missing
    if row.open:
        yield f"**waits for** {_cell(row.open)}"
    if row.note:
        yield f"*{_cell(row.note)}*"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
