"""From the text runs of a PDF page to lines in reading order, cells of a table apart.

A PDF knows where each run of text is painted, not what it means. Everything here is geometry in points, the page turned
so that its text runs from left to right.
"""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

# Runs belong to one line if their baselines differ by less than this share of their size.
_SAME_LINE = 0.45
# A gap of this many sizes between two runs of a line is the border of a table's column.
_CELL_GAP = 1.6
WORD_GAP = 0.16
"""Sizes between two letters from which on they belong to two words."""
_MIN_COLUMN_LINES = 4
# A stretch with so many blanks is text rather than the cell of a table.
_PROSE_BLANKS = 4
# Rows of a table stand at least so many sizes apart, lines of text less.
_TABLE_PITCH = 1.45
# A column of a table is known by the cells of so many rows, among so many on either side.
_ROWS_ALIKE, _ROWS_NEAR = 2, 4
# Points around the border of two columns in which lines of the second one start.
_COLUMN_START = 8.0
_NUMBER = re.compile(r"\d+")
# Headers and footers stand in this share of the printed height at its upper and lower edge.
_MARGIN = 0.06


@dataclass(frozen=True, slots=True)
class Run:
    """Text painted in one go: `x` and `y` of its start, `y` growing upwards."""

    x: float
    y: float
    size: float
    text: str
    length: float
    """Points along its baseline, as the font's widths and the file's spacing give them."""
    bold: bool = False
    mono: bool = False
    angle: int = 0
    """Degrees, a multiple of 90, by which it is turned anticlockwise."""

    @property
    def right(self) -> float:
        """Where it ends, on a page whose text is level."""
        return self.x + self.length


Segment = list[Run]
"""Runs of one line without a wide gap between them, from left to right."""


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
    run_in: int = 0
    """Characters of bold text at the start of a line that goes on in another weight."""

    @property
    def text(self) -> str:
        """The cells joined by blanks."""
        return " ".join(self.cells)


def page_lines(runs: Sequence[Run]) -> list[Line]:
    """The lines of a page in reading order: full-width ones in place, columns one after the other between them."""
    upright = _upright([run for run in runs if run.text.strip()])
    if not upright:
        return []
    rows = _cells([_segments(row) for row in _rows(upright)])
    gutter = _gutter([segment for row in rows for segment in row])
    if gutter is None:
        return [_line(row) for row in rows]
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for row in (_parted(row, gutter) for row in rows):
        spans = [s for s in row if s[0].x < gutter - s[0].size and s[-1].right > gutter + 2 * s[0].size]
        if spans:
            ordered += [*left, *right, _line(row)]
            left, right = [], []
            continue
        for column, segments in (
            (left, [segment for segment in row if segment[0].x < gutter]),
            (right, [segment for segment in row if segment[0].x >= gutter]),
        ):
            if segments:
                column.append(_line(segments))
    return ordered + left + right


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


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs by baseline, from the top down, each row from left to right."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (-run.y, run.x)):
        if rows and abs(rows[-1][0].y - run.y) < _SAME_LINE * max(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.x) for row in rows]


def _segments(row: Sequence[Run]) -> list[Segment]:
    segments: list[Segment] = []
    for run in row:
        if segments and run.x - segments[-1][-1].right <= _CELL_GAP * run.size:
            segments[-1].append(run)
        else:
            segments.append([run])
    return segments


def _cells(rows: Sequence[Sequence[Segment]]) -> list[list[Segment]]:
    """Rows of tables, parted also where a cell is so full that no wide gap is left before the next.

    Such a cell ends where a run starts just below the cells of two other rows close by.
    """
    parted: list[list[Segment]] = []
    for number, row in enumerate(rows):
        near = [*rows[max(0, number - _ROWS_NEAR) : number], *rows[number + 1 : number + 1 + _ROWS_NEAR]]
        columns = [{segment[0].x for segment in other} for other in near if len(other) > 1]
        parted.append([])
        for segment in row:
            starts = [
                place
                for place, run in enumerate(segment)
                if place and len(row) > 1 and sum(any(abs(run.x - x) < 1 for x in xs) for xs in columns) >= _ROWS_ALIKE
            ]
            parted[-1] += [segment[start:end] for start, end in pairwise([0, *starts, len(segment)])]
    return parted


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Where a second column of running text starts; None if there is one column, or a table."""
    prose = [segment for segment in segments if _blanks(segment) >= _PROSE_BLANKS]
    if not prose:
        return None
    left_edge = min(segment[0].x for segment in segments)
    right_edge = max(segment[-1].right for segment in segments)
    width = right_edge - left_edge
    best: float | None = None
    for key, count in Counter(round(segment[0].x / 4) for segment in prose).most_common(12):
        x = key * 4.0
        if count < _MIN_COLUMN_LINES or not left_edge + 0.3 * width < x < left_edge + 0.7 * width:
            continue
        before = [s for s in prose if s[0].x < x - 6 and s[-1].right <= x + s[0].size]
        crossing = [s for s in prose if s[0].x < x - 6 and s[-1].right > x + s[0].size]
        after = [s for s in prose if s[0].x >= x - 6]
        if len(before) < _MIN_COLUMN_LINES or len(crossing) > 0.3 * len(prose):
            continue
        # Running text fills its column, the cells of a table seldom do.
        filled = _filled(before, x - left_edge)
        if filled < 0.8 and _side_by_side(segments, x):
            continue
        if min(filled, _filled(after, right_edge - x)) > 0.5 and (best is None or x < best):
            best = x
    return None if best is None else best - 3


def _blanks(segment: Segment) -> int:
    """Gaps between words, painted as a letter or left by the pen."""
    return len(segment) - 1 + sum(run.text.strip().count(" ") for run in segment)


def _parted(row: Sequence[Segment], gutter: float) -> list[Segment]:
    """A line's segments, parted where the second column starts: beside a large heading its gap is no wide one."""
    parted: list[Segment] = []
    for segment in row:
        starts = [
            number
            for number, (left, right) in enumerate(pairwise(segment), 1)
            if abs(right.x - gutter) <= _COLUMN_START and right.x - left.right > min(left.size, right.size)
        ]
        parted += [segment[start:end] for start, end in pairwise([0, *starts, len(segment)])]
    return parted


def _side_by_side(segments: Sequence[Segment], x: float) -> bool:
    """Whether what starts at `x` are cells: as good as each has one to its left, and their lines stand apart."""
    left = {round(segment[0].y) for segment in segments if segment[0].x < x - 6}
    cells = [segment[0] for segment in segments if abs(segment[0].x - x) <= 6]
    gaps = [(above.y - below.y) / below.size for above, below in pairwise(cells)]
    apart = bool(gaps) and statistics.median(gaps) > _TABLE_PITCH
    return apart and sum(round(cell.y) in left for cell in cells) > 0.8 * len(cells)


def _filled(segments: Sequence[Segment], width: float) -> float:
    """How much of its column's width the median of the segments takes."""
    return statistics.median(segment[-1].right - segment[0].x for segment in segments) / max(1.0, width)


def _line(segments: Sequence[Segment]) -> Line:
    runs = [run for segment in segments for run in segment]
    letters: Counter[float] = Counter()
    for run in runs:
        letters[round(run.size, 1)] += len(run.text)
    return Line(
        x=runs[0].x,
        y=runs[0].y,
        right=max(run.right for run in runs),
        size=letters.most_common(1)[0][0],
        cells=tuple(_joined(segment) for segment in segments),
        starts=tuple(segment[0].x for segment in segments),
        bold=all(run.bold for run in runs),
        mono=all(run.mono for run in runs),
        run_in=_run_in(segments[0]),
    )


def _run_in(segment: Segment) -> int:
    bold = list(takewhile(lambda run: run.bold, segment))
    return len(_joined(bold)) if bold and len(bold) < len(segment) else 0


def _joined(segment: Segment) -> str:
    text = segment[0].text
    for previous, run in pairwise(segment):
        spaced = (run.x - previous.right) / run.size > WORD_GAP or text[-1:].isspace() or run.text[:1].isspace()
        text = f"{text.rstrip()}{' ' if spaced else ''}{run.text.lstrip()}"
    return text.rstrip() if segment[0].mono else text.strip()


def running_titles(pages: Sequence[Sequence[Line]]) -> list[set[int]]:
    """Which lines of each page are headers, footers or page numbers: alike on many pages, at their upper or lower edge.

    Returns:
        For each page the indices of such lines.
    """
    # Lines that were turned stand below the page, where they were put.
    heights = [line.y for lines in pages for line in lines if line.y >= 0]
    if not heights:
        return [set() for _ in pages]
    low, high = min(heights), max(heights)
    margin = _MARGIN * (high - low)
    edges = [[i for i in _edges(lines) if lines[i].y >= high - margin or lines[i].y <= low + margin] for lines in pages]
    # The title on the first page has the words of the header, in larger letters.
    pages_of: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for number, indices in enumerate(edges):
        for index in indices:
            line = pages[number][index]
            for pattern in _patterns(line):
                pages_of[pattern, round(line.size)].add(number)
    needed = max(3, len(pages) // 4)
    found: list[set[int]] = []
    for number, indices in enumerate(edges):
        texts = {index: _patterns(pages[number][index]) for index in indices}
        numbers = {index for index, patterns in texts.items() if all(map(_is_number, patterns))}
        sizes = {index: round(pages[number][index].size) for index in indices}
        repeated = {i for i, found in texts.items() if any(len(pages_of[text, sizes[i]]) >= needed for text in found)}
        # The header of a page that lies on its side was turned with it, to anywhere.
        turned = {
            index
            for index, line in enumerate(pages[number])
            if line.y < 0
            and any(text != "#" and len(pages_of[text, round(line.size)]) >= needed for text in _patterns(line))
        }
        dropped = numbers | repeated | turned
        # What stands beside a running title belongs to it, even if it seemed to be in another column.
        beside = {i for i in indices for j in dropped if abs(pages[number][i].y - pages[number][j].y) < 2}
        found.append(dropped | beside if len(pages[number]) > 1 else set())
    return found


def _edges(lines: Sequence[Line]) -> list[int]:
    """Indices of the two highest and two lowest lines."""
    order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
    return sorted({*order[:2], *order[-2:]})


def _patterns(line: Line) -> list[str]:
    """The cells of a line with every number as one sign: a header often has the book's title and the chapter's."""
    return [_NUMBER.sub("#", cell.casefold()).strip() for cell in line.cells]


def _is_number(pattern: str) -> bool:
    """Whether a line is a page number and nothing else: `12`, `- iv -`, `Page 3 of 9`."""
    bare = pattern.replace("page", "").replace("of", "").strip(" -–—|/.")
    return 0 < len(bare) <= 8 and not bare.strip("#ivxlc /")
