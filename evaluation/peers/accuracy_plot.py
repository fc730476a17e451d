"""Share of key facts against seconds, for reports of `lutrin eval --save` and `evaluation/peers/llamaindex.py --save`.

    python -m evaluation.peers.accuracy_plot REPORT.json... [--out docs/accuracy.svg] [--table]

All reports must be about the same questions; the picture says how many. Lutrin's tiers are joined by a line.
"""

import argparse
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from evaluation.report import Report, read_report
from evaluation.show import side_by_side

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 720, 40, 310
OURS, PEERS = "#0b6e4f", "#b3541e"
TICKS_S = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
STYLE = "text{font:13px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#666}.grid{stroke:#ddd}"


class Point(NamedTuple):
    """One pipeline: how long an answer takes and how much of what matters it holds."""

    name: str
    seconds: float
    facts: float

    @property
    def ours(self) -> bool:
        """Whether it is Lutrin."""
        return self.name.startswith("lutrin")


def point(report: Report) -> Point:
    """The point of a report.

    Raises:
        ValueError: It has no answers.
    """
    facts, seconds = report.value("facts"), report.value("latency median")
    if facts is None or seconds is None:
        raise ValueError(f"{report.name} has no answers")
    return Point(report.name, seconds.value, facts.value)


def svg(points: Sequence[Point], note: str) -> str:
    """The picture; seconds on a logarithmic axis; readable on light and dark pages, without any script."""
    low, high = _edges([item.seconds for item in points])

    def x(seconds: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(seconds / low) / math.log(high / low)

    def y(share: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * share

    body = [f'<text x="{LEFT}" y="24">share of key facts in the answer, by seconds to the whole answer</text>']
    for step in range(6):
        body.append(f'<path class="grid" d="M{LEFT} {y(step / 5):.1f}H{RIGHT}"/>')
        body.append(
            f'<text class="small" x="{LEFT - 8}" y="{y(step / 5) + 4:.1f}" text-anchor="end">{step / 5:g}</text>'
        )
    body += [
        f'<text class="small" x="{x(tick):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{tick:g} s</text>'
        for tick in TICKS_S
        if low <= tick <= high
    ]
    line = " ".join(f"{x(p.seconds):.1f},{y(p.facts):.1f}" for p in sorted(points, key=lambda p: p.seconds) if p.ours)
    body.append(f'<polyline points="{line}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    for item in points:
        left = x(item.seconds) > (LEFT + RIGHT) / 2
        body.append(
            f'<circle cx="{x(item.seconds):.1f}" cy="{y(item.facts):.1f}" r="5" fill="{OURS if item.ours else PEERS}"/>'
        )
        body.append(
            f'<text class="small" x="{x(item.seconds) + (-9 if left else 9):.1f}" y="{y(item.facts) + 16:.1f}"'
            f' text-anchor="{"end" if left else "start"}">{escape(item.name)}</text>'
        )
    body.append(f'<text class="small" x="{LEFT}" y="{HEIGHT - 14}">{escape(note)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Key facts against seconds, Lutrin beside its peers"><style>{STYLE}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(body)}</svg>\n'
    )


def _edges(seconds: Sequence[float]) -> tuple[float, float]:
    """The ticks that enclose all values."""
    low = max((tick for tick in TICKS_S if tick <= min(seconds)), default=TICKS_S[0])
    high = min((tick for tick in TICKS_S if tick >= max(seconds)), default=TICKS_S[-1])
    return low, high


def draw(reports: Sequence[Report], path: Path) -> None:
    """Write the picture of some reports."""
    asked = {len(report.outcomes) for report in reports}
    note = f"{' or '.join(map(str, sorted(asked)))} questions on the sample books; one reader, two cores"
    path.write_text(svg([point(report) for report in reports], note), encoding="utf-8")


def main() -> None:
    """Read, draw, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reports", nargs="+", type=Path, help="saved reports")
    parser.add_argument("--out", type=Path, default=Path("docs/accuracy.svg"), help="the picture")
    parser.add_argument("--table", action="store_true", help="print all figures side by side")
    arguments = parser.parse_args()
    reports = [read_report(path) for path in arguments.reports]
    draw(reports, arguments.out)
    if arguments.table:
        print(side_by_side(reports))


if __name__ == "__main__":
    main()
