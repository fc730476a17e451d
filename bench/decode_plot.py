"""The figures of bench/decode.py as one SVG: tokens a second and the wait for the first text, by readers."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 860, 360
PANEL = 330
LEFT, TOP, BOTTOM, GAP = 60, 54, 280, 100
COLOURS = {"lutrin": "#0b6e4f", "locked": "#b3541e", "xllamacpp": "#3d5a98"}
NAMES = {"lutrin": "Lutrin", "locked": "llama_cpp.Llama, locked", "xllamacpp": "llama.cpp's server loop"}


class Point(NamedTuple):
    """An engine at one number of readers."""

    engine: str
    """`NAME, tuned` or `NAME, as shipped`."""
    readers: int
    tokens_per_s: float
    first_p95_s: float


def svg(points: Sequence[Point], note: str) -> str:
    """The picture; readable on light and dark pages, without any script.

    Args:
        points: All engines at all numbers of readers.
        note: What was measured, in one line below it.
    """
    readers = sorted({point.readers for point in points})
    body = [
        _panel(points, readers, 0, "tokens/s, all readers together", [point.tokens_per_s for point in points]),
        _panel(points, readers, 1, "seconds to the first text, p95", [point.first_p95_s for point in points]),
    ]
    for number, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + number * 210
        body.append(f'<path d="M{x} 22h24" stroke="{colour}" stroke-width="3"/>')
        body.append(f'<text x="{x + 30}" y="26">{escape(NAMES[name])}</text>')
    body.append(f'<text x="{LEFT + 640}" y="26" class="small">dashed: file as shipped</text>')
    body.append(f'<text x="{LEFT}" y="{HEIGHT - 12}" class="small">{escape(note)}</text>')
    style = "text{font:13px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#666}.grid{stroke:#ddd}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Lutrin beside its peers, by number of readers"><style>{style}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(body)}</svg>\n'
    )


def _panel(points: Sequence[Point], readers: Sequence[int], number: int, title: str, values: Sequence[float]) -> str:
    """One diagram: readers on a logarithmic axis, values on a plain one."""
    left = LEFT + number * (PANEL + GAP)
    top = _round_up(max(values))

    def x(count: int) -> float:
        return left + PANEL * math.log(count) / math.log(max(readers))

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP - 16) * value / top

    parts = [f'<text x="{left}" y="{TOP}">{escape(title)}</text>']
    for step in range(5):
        value = top * step / 4
        parts.append(f'<path class="grid" d="M{left} {y(value):.1f}h{PANEL}"/>')
        parts.append(f'<text class="small" x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts += [
        f'<text class="small" x="{x(count):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{count}</text>'
        for count in readers
    ]
    parts.append(f'<text class="small" x="{left + PANEL / 2}" y="{BOTTOM + 36}" text-anchor="middle">readers</text>')
    chosen = dict(zip(points, values, strict=True))
    for engine in dict.fromkeys(point.engine for point in points):
        line = sorted((point.readers, value) for point, value in chosen.items() if point.engine == engine)
        path = " ".join(f"{x(count):.1f},{y(value):.1f}" for count, value in line)
        name, _, kind = engine.partition(", ")
        dash = "" if kind == "tuned" else ' stroke-dasharray="5 4"'
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2.5"{dash}/>')
    return "".join(parts)


def _round_up(value: float) -> float:
    """The next value that reads well at the top of an axis with four parts."""
    size = 10 ** math.floor(math.log10(value))
    return next(size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value)
