"""The answers of a run as a picture: when each was asked for, how long it took, what it was."""

from collections.abc import Sequence
from html import escape

from loadtests.targets import Sample, percentile

WIDTH, HEIGHT = 900, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
COLOURS = {
    "generated": "#5b3a1e",
    "extractive": "#c08a4b",
    "refusal": "#8a9a5b",
    "retrieve": "#9aa5b1",
    "failed": "#c0392b",
}
OTHER = "#333333"
TICKS = 5


def label(sample: Sample) -> str:
    """What a sample is drawn as."""
    return "failed" if sample.failed else sample.kind or sample.what


def svg(title: str, samples: Sequence[Sample], limit_s: float, shaded: Sequence[tuple[float, float]] = ()) -> str:
    """A scatter plot.

    Args:
        title: Heading of the plot.
        samples: One point each.
        limit_s: Drawn as a line: the goal.
        shaded: Spans of time in seconds that are marked.
    """
    end_s = max([sample.at_s for sample in samples] + [1.0])
    top_s = max([sample.seconds for sample in samples] + [limit_s]) * 1.05

    def x(at_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at_s / end_s

    def y(seconds: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * seconds / top_s

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fffdf8"/>',
        f'<text x="{LEFT}" y="20">{escape(title)}</text>',
    ]
    tall = HEIGHT - TOP - BOTTOM
    for start_s, stop_s in shaded:
        left, right = x(start_s), x(min(stop_s, end_s))
        parts.append(f'<rect x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{tall}" fill="#f0e4d0"/>')
    for step in range(TICKS + 1):
        seconds, at_s, low = top_s * step / TICKS, end_s * step / TICKS, HEIGHT - BOTTOM + 18
        parts += [
            _across(y(seconds), "#e5ddcf"),
            f'<text x="{LEFT - 8}" y="{y(seconds) + 4:.1f}" font-size="12" text-anchor="end">{seconds:.2g} s</text>',
            f'<text x="{x(at_s):.1f}" y="{low}" font-size="12" text-anchor="middle">{at_s:.0f} s</text>',
        ]
    marks = [("goal", limit_s, "#c0392b"), ("p95", percentile((item.seconds for item in samples), 0.95), "#5b3a1e")]
    for name, seconds, colour in marks if samples else marks[:1]:
        high = y(seconds)
        parts.append(_across(high, colour, dashed=True))
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{high - 4:.1f}" text-anchor="end" fill="{colour}">{name}</text>')
    for sample in samples:
        colour = COLOURS.get(label(sample), OTHER)
        parts.append(f'<circle cx="{x(sample.at_s):.1f}" cy="{y(sample.seconds):.1f}" r="3" fill="{colour}"/>')
    shown = sorted({label(sample) for sample in samples})
    for number, name in enumerate(shown):
        at = LEFT + 130 * number
        parts += [
            f'<circle cx="{at}" cy="{HEIGHT - 14}" r="4" fill="{COLOURS.get(name, OTHER)}"/>',
            f'<text x="{at + 10}" y="{HEIGHT - 10}">{escape(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _across(high: float, colour: str, *, dashed: bool = False) -> str:
    """A horizontal line."""
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{high:.1f}" y2="{high:.1f}" stroke="{colour}"{dashes}/>'
