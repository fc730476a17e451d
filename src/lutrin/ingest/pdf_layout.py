"""From the text runs of a PDF page to lines in reading order, cells of a table apart.

A PDF knows where each run of text is painted, not what it means. Everything here is geometry in points, the page turned
so that its text runs from left to right.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Runs whose baselines differ by less than this share of their size stand on one line.
_SAME_LINE = 0.45
# A gap of this many sizes between two runs of a line is the border of a table's column.
_CELL_GAP = 1.6
_WORD_GAP = 0.16
# Average width of a character in sizes; PDFs rarely embed simpler truths, and only gaps are judged by it.
_CHAR_WIDTH = 0.5
_MIN_COLUMN_LINES = 4
# Headers and footers stand in this share of the printed height at its upper and lower edge.
_MARGIN = 0.06


@dataclass(frozen=True, slots=True)
class Run:
    """Text painted in one go: `x` and `y` of its start, `y` growing upwards."""

    x: float
    y: float
    size: float
    text: str
    bold: bool = False
    mono: bool = False
    angle: int = 0
    """Degrees, a multiple of 90, by which it is turned anticlockwise."""

    @property
    def right(self) -> float:
        """Where it ends, as far as can be told."""
        width = 0.6 if self.mono else _CHAR_WIDTH
        return self.x + width * self.size * len(self.text.rstrip())


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a column, its cells from left to right; running text has one cell."""

    x: float
    y: float
    right: float
    size: float
    cells: tuple[str, ...]
    starts: tuple[float, ...]
    """Where each cell begins."""
    bold: bool
    mono: bool

    @property
    def text(self) -> str:
        """The cells joined by blanks."""
        return " ".join(self.cells)


def page_lines(runs: Sequence[Run]) -> list[Line]:
    """The lines of a page in reading order: full-width ones in place, columns one after the other between them."""
    upright = _upright([run for run in runs if run.text.strip()])
    if not upright:
        return []
    gutter = _gutter(upright)
    if gutter is None:
        return _lines(upright)
    ordered: list[Line] = []
    left: list[Run] = []
    right: list[Run] = []
    for run in sorted(upright, key=lambda run: -run.y):
        if run.x < gutter - run.size and run.right > gutter + run.size:
            ordered += _lines(left) + _lines(right)
            left, right = [], []
            ordered += _lines([run])
        else:
            (left if run.x < gutter else right).append(run)
    return ordered + _lines(left) + _lines(right)


def _upright(runs: list[Run]) -> list[Run]:
    """Turn the page so that most of its text is level; text that is turned otherwise comes after it."""
    if not runs:
        return []
    weights: Counter[int] = Counter()
    for run in runs:
        weights[run.angle] += len(run.text)
    main = weights.most_common(1)[0][0]
    turned = [_turn(run, main) for run in runs if run.angle == main]
    lowest = min(run.y for run in turned)
    for index, run in enumerate(other for other in runs if other.angle != main):
        turned.append(replace(run, x=0.0, y=lowest - 3 * run.size * (index + 1), angle=0))
    return turned


def _turn(run: Run, angle: int) -> Run:
    x, y = {0: (run.x, run.y), 90: (run.y, -run.x), 180: (-run.x, -run.y), 270: (-run.y, run.x)}[angle]
    return replace(run, x=x, y=y, angle=0)


def _gutter(runs: Sequence[Run]) -> float | None:
    """Where a second column of running text starts; None if there is one column, or a table."""
    left_edge = min(run.x for run in runs)
    right_edge = max(run.right for run in runs)
    width = right_edge - left_edge
    starts: Counter[int] = Counter(round(run.x / 4) for run in runs)
    best: float | None = None
    for key, count in starts.most_common(12):
        x = key * 4.0
        if count < _MIN_COLUMN_LINES or not left_edge + 0.3 * width < x < left_edge + 0.7 * width:
            continue
        before = [run for run in runs if run.x < x - 6 and run.right <= x + run.size]
        crossing = [run for run in runs if run.x < x - 6 and run.right > x + run.size]
        after = [run for run in runs if abs(run.x - x) <= 6]
        if len(before) < _MIN_COLUMN_LINES or len(crossing) > 0.5 * len(runs):
            continue
        # Running text fills its column, the cells of a table do not.
        filled_left = statistics.median(run.right - run.x for run in before) / (x - left_edge)
        filled_right = statistics.median(run.right - run.x for run in after) / max(1.0, right_edge - x)
        if filled_left > 0.55 and filled_right > 0.55 and (best is None or x < best):
            best = x
    return None if best is None else best - 3


def _lines(runs: Sequence[Run]) -> list[Line]:
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (-run.y, run.x)):
        if rows and abs(rows[-1][0].y - run.y) < _SAME_LINE * max(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [_line(sorted(row, key=lambda run: run.x)) for row in rows]


def _line(row: Sequence[Run]) -> Line:
    cells: list[str] = []
    starts: list[float] = []
    previous: Run | None = None
    for run in row:
        text = run.text.strip() if not run.mono else run.text.rstrip()
        gap = math.inf if previous is None else (run.x - previous.right) / run.size
        if previous is None or gap > _CELL_GAP:
            cells.append(text)
            starts.append(run.x)
        else:
            spaced = gap > _WORD_GAP or previous.text[-1:].isspace() or run.text[:1].isspace()
            cells[-1] += (" " if spaced else "") + text
        previous = run
    largest = max(row, key=lambda run: len(run.text))
    return Line(
        x=row[0].x,
        y=row[0].y,
        right=max(run.right for run in row),
        size=round(largest.size, 1),
        cells=tuple(cells),
        starts=tuple(starts),
        bold=all(run.bold for run in row),
        mono=all(run.mono for run in row),
    )


def running_titles(pages: Sequence[Sequence[Line]]) -> list[set[int]]:
    """Which lines of each page are headers, footers or page numbers: alike on many pages, at their upper or lower edge.

    Returns:
        For each page the indices of such lines.
    """
    heights = [line.y for lines in pages for line in lines]
    if not heights:
        return [set() for _ in pages]
    low, high = min(heights), max(heights)
    margin = _MARGIN * (high - low)
    edges = [[i for i in _edges(lines) if lines[i].y >= high - margin or lines[i].y <= low + margin] for lines in pages]
    pages_of: defaultdict[str, set[int]] = defaultdict(set)
    for number, indices in enumerate(edges):
        for index in indices:
            pages_of[_pattern(pages[number][index].text)].add(number)
    needed = max(3, len(pages) // 4)
    found: list[set[int]] = []
    for number, indices in enumerate(edges):
        texts = {index: _pattern(pages[number][index].text) for index in indices}
        numbers = {index for index, text in texts.items() if _is_number(text)}
        repeated = {index for index, text in texts.items() if len(pages_of[text]) >= needed}
        found.append(numbers | repeated if len(pages[number]) > 1 else set())
    return found


def _edges(lines: Sequence[Line]) -> list[int]:
    """Indices of the two highest and two lowest lines."""
    order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
    return sorted({*order[:2], *order[-2:]})


def _pattern(text: str) -> str:
    return "".join("#" if c.isdigit() else c for c in text.casefold()).replace("##", "#").replace("##", "#").strip()


def _is_number(pattern: str) -> bool:
    """Whether a line is a page number and nothing else: `12`, `- iv -`, `Page 3 of 9`."""
    bare = pattern.replace("page", "").replace("of", "").strip(" -–—|/.")
    return 0 < len(bare) <= 8 and not bare.strip("#ivxlc /")
