"""Turns the text runs of a PDF page into lines in reading order, with separate table cells.

A PDF gives the position of each run of text, not its meaning. Everything here is geometry in points, on a page rotated
so that its text runs from left to right.
"""

import math
import re
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, takewhile

from lutrin.ingest.wording import looks_like_note_mark, signs_around

# Runs belong to one line if their baselines differ by less than this share of their size.
_SAME_LINE = 0.45
# A gap of this many sizes between two runs of a line is the border of a table's column.
_CELL_GAP = 1.6
WORD_GAP = 0.16
"""Sizes between two letters above which they belong to two words."""
_MIN_COLUMN_LINES = 4
_APART_ROWS = 1.8
"""Most sizes between two lines of one column."""
_WIDE_CELLS = 2
"""Least cells of a row across two columns: two cells may be a line of each."""
# A stretch with this many blanks is text rather than the cell of a table.
_PROSE_BLANKS = 4
# Rows of a table are at least this many sizes apart, lines of text less.
_TABLE_PITCH = 1.45
# A table column is recognised by the cells of this many rows, among this many on either side.
_ROWS_ALIKE, _ROWS_NEAR = 2, 4
# Points around the border of two columns in which lines of the second one start.
_COLUMN_START = 8.0
_NUMBER = re.compile(r"\d+")
# The letters of a note or raised sign are at most this share of their line's size, raised or lowered by at least this
# many sizes, and attached to a word at most this many sizes away.
_SMALL = 0.82
_SHIFTED = 0.07
_HANGS = 0.6
# A letter-spaced title has at least this many runs of one letter, and hardly any others.
_LEAST_SPACED = 4
_MOSTLY_SPACED = 0.7
# The letters of notes, below the text or beside it, are at most this share of the text's size.
_NOTE_SIZE = 0.92
_UNIT = re.compile(r"\d\s?[^\W\d_]{1,2}\Z")
"""A raised figure after a unit is its power, even if a note has the same mark."""
_NOTE_CELLS = 2
"""A note's mark and its text, if they are separate."""
NOTE = re.compile(r"[\[(]?(\d{1,3}|[*\u2020\u2021\u00a7]{1,3}|[a-z](?=[\])]?\s+[A-Z]))[\])]?[.:]?\s*(?=[^\W\d_])")
"""The mark before a note; a letter counts only if a sentence begins after it."""
# Headers and footers are in this share of the printed height at its upper and lower edge.
_MARGIN = 0.06
_HEAD_PITCHES = 1.6
"""Pitches between the text of a page and a line above it."""
_FEW_PAGES = 8
"""Share of pages whose line above the text may be their own."""
TWICE = 0.15
"""Sizes between two paintings of one text: an imitation of bold letters, or a shadow."""
_INITIAL = 1.7
"""Least size of an initial relative to its text."""
_LEVEL_STROKE, _LEAST_DRAWING, _LABEL_REACH = 2.0, 40.0, 16.0
"""Points: most height of a level stroke; least of a figure; most from a label to its subject."""
_WATERMARK, _CROSSED = 1.5, 2
"""Least size of a watermark's letters relative to the text's, and lines of text that a level one crosses."""
_LEAST_NUMBERS = 4
_APART = 0.6
_MOST_OF = 0.7
_HEADED, _ACROSS = 1.6, 2
"""Rows above a column of numbers that may have its heading, and lines across it, such as a title and a footer, allowed
on a page of numbered lines."""
_PRESENTED = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]")
"""Letters of Hebrew and Arabic in their positional forms."""
_SIGNS = re.compile(".[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]*", re.DOTALL)
"""A letter with the marks on it."""
_MIRRORED = str.maketrans("()[]{}<>", ")(][}{><")
Box = tuple[float, float, float, float]
"""Left, lower, right and upper edge in points."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text painted in one go: `x` and `y` of its start, `y` growing upwards."""

    x: float
    y: float
    size: float
    text: str
    length: float
    """Points along its baseline, from the font's widths and the file's spacing."""
    bold: bool = False
    mono: bool = False
    angle: int = 0
    """Degrees of anticlockwise rotation; most text is level or at a right angle."""

    @property
    def right(self) -> float:
        """Its right end, on a page with level text."""
        return self.x + self.length

    @property
    def blanks(self) -> int:
        """Gaps between its words."""
        return self.text.strip().count(" ")


Segment = list[TextRun]
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
    """Left edge of each cell."""
    bold: bool
    mono: bool
    run_in: int = 0
    """Characters of bold text at the start of a line that continues in another weight."""
    note: bool = False
    """Whether it belongs to a note below the text."""
    drawn: bool = False
    """Whether shapes surround it, as in a figure."""

    @property
    def text(self) -> str:
        """The cells joined by blanks."""
        return " ".join(self.cells)


def page_lines(runs: Iterable[TextRun], visible: Box | None = None) -> list[Line]:
    """The lines of a page, or of its visible box, in reading order.

    Full-width lines stay in place, with columns one after the other between them. Notes below the text are marked as
    such; they come last in their column.
    """
    upright = _upright(_running_text(runs, visible))
    if not upright:
        return []
    rows = _cells([_segments(row) for row in _rows(upright)])
    body = body_size(upright)
    return _in_order(rows, _marks(rows, body), body)


def with_drawings(lines: Sequence[Line], shapes: Iterable[tuple[float, float]]) -> list[Line]:
    """Mark each line that has a drawing at its height, or as near as a label is to its axis.

    Args:
        shapes: Lower and upper edge of each shape; level strokes, such as below a table's head, do not count.
    """
    areas: list[tuple[float, float]] = []
    for low, high in sorted(shape for shape in shapes if shape[1] - shape[0] > _LEVEL_STROKE):
        if areas and low <= areas[-1][1] + _LABEL_REACH:
            areas[-1] = (areas[-1][0], max(high, areas[-1][1]))
        else:
            areas.append((low, high))
    drawings = [(low - _LABEL_REACH, high + _LABEL_REACH) for low, high in areas if high - low >= _LEAST_DRAWING]
    return [replace(line, drawn=any(low <= line.y <= high for low, high in drawings)) for line in lines]


def _in_order(rows: list[list[Segment]], marks: frozenset[str], body: float) -> list[Line]:
    gutter = _gutter([segment for row in rows for segment in row]) if rows else None
    first, end, columns = _narrow_columns(rows)
    if len(columns) > (2 if gutter is not None else 1):
        inside = [_line([segment], marks) for column in columns for segment in column]
        return [*_in_order(rows[:first], marks, body), *inside, *_in_order(rows[end:], marks, body)]
    if gutter is None:
        return _with_notes([_line(row, marks) for row in rows], body)
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    parted = [_part_columns(row, gutter) for row in rows]
    wide = _wide_rows(parted, gutter)
    for number, row in enumerate(parted):
        if number in wide or any(s[0].x < gutter - s[0].size and s[-1].right > gutter + 2 * s[0].size for s in row):
            caption = _caption_above(left, right) if number in wide else len(left)
            ordered += [*left[:caption], *right, *left[caption:], _line(row, marks)]
            left, right = [], []
            continue
        for column, segments in (
            (left, [segment for segment in row if segment[0].x < gutter]),
            (right, [segment for segment in row if segment[0].x >= gutter]),
        ):
            if segments:
                column.append(_line(segments, marks))
    return ordered + _with_notes(left, body) + _with_notes(right, body)


def body_size(texts: Sequence[TextRun | Line]) -> float:
    """The size of most letters."""
    letters: Counter[float] = Counter()
    for text in texts:
        letters[round(text.size, 1)] += len(text.text)
    return letters.most_common(1)[0][0]


# What of a page is its running text ----------------------------------------------------------------------------------


def _running_text(runs: Iterable[TextRun], visible: Box | None) -> list[TextRun]:
    """The visible running text of a page, in painting order, margin notes last."""
    seen: list[TextRun] = []
    painted: defaultdict[str, list[TextRun]] = defaultdict(list)
    for run in runs:
        near = TWICE * run.size
        again = any(abs(run.x - old.x) < near and abs(run.y - old.y) < near for old in painted[run.text])
        if run.text.strip() and (visible is None or _is_inside(run, visible)) and not again:
            painted[run.text].append(run)
            seen.append(run)
    seen = _without_line_numbers(seen)
    if not seen:
        return []
    body = body_size(seen)
    seen = _with_initials([run for run in seen if not _is_watermark(run, seen, body)], body)
    notes = _margin_notes(seen, body)
    if not notes:
        return seen
    below = max(run.y for run in notes) - min(run.y for run in seen) + 3 * max(run.size for run in notes)
    return [run for run in seen if run not in notes] + [replace(run, y=run.y - below) for run in notes]


def _is_inside(run: TextRun, box: Box) -> bool:
    """Whether at least the start of a run, half a letter above its baseline, is shown."""
    left, lower, right, upper = box
    middle = run.y + 0.3 * run.size if run.angle == 0 else run.y
    return left - 1 <= run.x <= right + 1 and lower - 1 <= middle <= upper + 1


def _is_watermark(run: TextRun, runs: Sequence[TextRun], body: float) -> bool:
    """Whether a text in large letters is askew, or crosses lines of text."""
    if run.size < _WATERMARK * body:
        return False
    if run.angle % 90:
        return True
    crossed = {
        round(other.y)
        for other in runs
        if other.size < run.size / 2
        and run.angle == other.angle == 0
        and run.y <= other.y <= run.y + 0.7 * run.size
        and other.x < run.right
        and other.right > run.x
    }
    return len(crossed) >= _CROSSED


def _without_line_numbers(runs: list[TextRun]) -> list[TextRun]:
    """Drop a column of numbers that count up by the same step and are separate from all text."""
    columns: defaultdict[int, list[TextRun]] = defaultdict(list)
    for run in runs:
        if run.text.strip().isdigit() and run.angle == 0:
            columns[round(run.x / 4)].append(run)
            columns[round(run.right / 4)].append(run)
    for column in sorted(columns.values(), key=len, reverse=True):
        if len(column) < _LEAST_NUMBERS:
            break
        left, right = min(run.x for run in column), max(run.right for run in column)
        zone = [run for run in runs if run.x <= right + _APART * run.size and run.right >= left - _APART * run.size]
        counted = sorted((run for run in zone if run.text.strip().isdigit()), key=lambda run: -run.y)
        steps = {int(after.text) - int(before.text) for before, after in pairwise(counted)}
        gap = (counted[0].y - counted[-1].y) / (len(counted) - 1)
        others = [run for run in zone if not run.text.strip().isdigit()]
        # Line numbers have no heading of their own, and are separate from the text of the whole page.
        beside = [run for run in others if counted[-1].y - gap <= run.y <= counted[0].y + _HEADED * gap]
        across = sum(run.blanks >= 2 for run in others)
        if len(steps) == 1 and steps <= {1, 2, 5, 10} and not beside and across <= _ACROSS and _has_text(counted, runs):
            return [run for run in runs if not (run.text.strip().isdigit() and run in counted)]
    return runs


def _has_text(counted: Sequence[TextRun], runs: Sequence[TextRun]) -> bool:
    """Whether most of the numbers have a line of text with several words beside them."""
    lines = [run for run in runs if run.blanks >= 2]
    near = [any(abs(line.y - number.y) < 0.4 * line.size for line in lines) for number in counted]
    return sum(near) >= _MOST_OF * len(counted)


def _with_initials(runs: list[TextRun], body: float) -> list[TextRun]:
    """Join an initial of several lines' height to the word that it begins."""
    words = {word for run in runs for word in run.text.lower().split()}
    for initial in [run for run in runs if run.size >= _INITIAL * body and len(run.text.strip()) == 1]:
        beside = [
            run
            for run in runs
            if run.size < initial.size / _INITIAL
            and 0 <= run.x - initial.x <= initial.length + initial.size
            and initial.y - 0.2 * initial.size <= run.y <= initial.y + initial.size
        ]
        letter = initial.text.strip()
        if len({round(run.y) for run in beside}) < 2 or not letter.isalpha():
            continue
        first = max(beside, key=lambda run: (round(run.y), -run.x))
        rest = first.text.lstrip()
        word = (rest.split() or [""])[0].lower()
        alone = letter.lower() in {"a", "i", "o"} and word in words and f"{letter.lower()}{word}" not in words
        joined = replace(first, text=f"{letter}{' ' if alone and rest[:1].islower() else ''}{rest}")
        runs = [joined if run is first else run for run in runs if run is not initial]
    return runs


def _margin_notes(runs: Sequence[TextRun], body: float) -> list[TextRun]:
    """Small text entirely beside the text column."""
    text = [run for run in runs if abs(run.size - body) <= 0.1 * body and run.blanks >= 3]
    if len(text) < _LEAST_NUMBERS:
        return []
    left, right = min(run.x for run in text), max(run.right for run in text)
    top, bottom = max(run.y for run in text), min(run.y for run in text)
    return [
        run
        for run in runs
        if run.size <= _NOTE_SIZE * body
        and bottom - body <= run.y <= top + body
        and (run.right < left - _APART * body or run.x > right + _APART * body)
    ]


def _upright(runs: list[TextRun]) -> list[TextRun]:
    """Turn the page so that most of its text is level; text at other angles comes after it."""
    weights: Counter[int] = Counter()
    for run in runs:
        if run.angle % 90 == 0:
            weights[run.angle] += len(run.text)
    main = weights.most_common(1)[0][0] if weights else 0
    turned = [_turn(run, main) for run in runs if run.angle == main]
    lowest = min((run.y for run in turned), default=0.0)
    others = [run for run in runs if run.angle != main]
    return turned + [
        replace(run, x=0.0, y=lowest - 3 * run.size * (index + 1), angle=0) for index, run in enumerate(others)
    ]


def _turn(run: TextRun, angle: int) -> TextRun:
    x, y = {0: (run.x, run.y), 90: (run.y, -run.x), 180: (-run.x, -run.y), 270: (-run.y, run.x)}[angle]
    return replace(run, x=x, y=y, angle=0)


# Rows, cells and columns ---------------------------------------------------------------------------------------------


def _rows(runs: Sequence[TextRun]) -> list[list[TextRun]]:
    """Runs by baseline, from the top down, each row from left to right, raised and lowered runs with their word."""
    least = _SMALL * body_size(runs)
    rows = _level([run for run in runs if run.size >= least])
    apart: list[TextRun] = []
    for run in sorted((run for run in runs if run.size < least), key=lambda run: run.x):
        row = next((row for row in rows if any(_hangs_on(run, other) for other in row)), None)
        row = row or next((row for row in rows if abs(row[0].y - run.y) < _SHIFTED * run.size), apart)
        row.append(run)
    rows = sorted([*rows, *_level(apart)], key=lambda row: -row[0].y)
    return [sorted(row, key=lambda run: run.x) for row in rows]


def _level(runs: Sequence[TextRun]) -> list[list[TextRun]]:
    rows: list[list[TextRun]] = []
    for run in sorted(runs, key=lambda run: (-run.y, run.x)):
        if rows and abs(rows[-1][0].y - run.y) < _SAME_LINE * max(run.size, rows[-1][0].size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return rows


def _hangs_on(run: TextRun, other: TextRun) -> bool:
    """Whether a small run is right after or before another one, at most above or below its baseline."""
    near = _HANGS * max(run.size, other.size)
    touches = abs(run.x - other.right) <= near or abs(other.x - run.right) <= near
    return touches and abs(run.y - other.y) <= near


def _part(runs: Sequence[TextRun], starts: Iterable[int]) -> list[Segment]:
    return [list(runs[start:end]) for start, end in pairwise([0, *starts, len(runs)])]


def _segments(row: Sequence[TextRun]) -> list[Segment]:
    return _part(row, [n for n, (a, b) in enumerate(pairwise(row), 1) if b.x - a.right > _CELL_GAP * b.size])


def _cells(rows: Sequence[Sequence[Segment]]) -> list[list[Segment]]:
    """Split rows of tables also where a cell is so full that no wide gap is left before the next.

    Such a cell ends where a run starts just below the cells of two other rows close by.
    """
    parted: list[list[Segment]] = []
    for number, row in enumerate(rows):
        near = [*rows[max(0, number - _ROWS_NEAR) : number], *rows[number + 1 : number + 1 + _ROWS_NEAR]]
        columns = [{segment[0].x for segment in other} for other in near if len(other) > 1 and len(row) > 1]
        parted.append([])
        for segment in row:
            starts = [
                place
                for place, run in enumerate(segment)
                if place and sum(any(abs(run.x - x) < 1 for x in xs) for xs in columns) >= _ROWS_ALIKE
            ]
            parted[-1] += _part(segment, starts)
    return parted


def _gutter(segments: Sequence[Segment]) -> float | None:
    """Left edge of a second column of running text; None if there is one column, or a table."""
    prose = [segment for segment in segments if _is_prose(segment)]
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
        # Running text fills its column; table cells seldom do.
        filled = _filled_share(before, x - left_edge)
        if filled < 0.8 and _side_by_side(segments, x):
            continue
        if min(filled, _filled_share(after, right_edge - x)) > 0.5 and (best is None or x < best):
            best = x
    return None if best is None else best - 3


def _is_prose(segment: Segment) -> bool:
    # Gaps between words are painted as a letter, or left by the pen.
    return len(segment) - 1 + sum(run.blanks for run in segment) >= _PROSE_BLANKS


def _narrow_columns(rows: Sequence[Sequence[Segment]]) -> tuple[int, int, list[list[Segment]]]:
    """The first rows that are lines of adjacent columns of running text, as in a leaflet, column by column."""
    text_of = cache(lambda row, place: _join(rows[row][place], frozenset()))
    for first, row in enumerate(rows):
        starts = [segment[0].x for segment in row]
        columns: list[list[tuple[int, int]]] = [[] for _ in row]
        end = first
        while len(row) > 1 and end < len(rows) and (places := _columns_of(rows[end], starts)):
            above = rows[end - 1][0][0] if end > first else rows[end][0][0]
            if above.y - rows[end][0][0].y > _APART_ROWS * above.size:
                break
            for number, place in enumerate(places):
                columns[place].append((end, number))
            end += 1
        if end - first >= _MIN_COLUMN_LINES and all(_reads_on([text_of(*at) for at in column]) for column in columns):
            return first, end, [[rows[row][place] for row, place in column] for column in columns]
    return 0, 0, []


def _columns_of(row: Sequence[Segment], starts: Sequence[float]) -> list[int]:
    """The column of each segment of a row; none if one is as wide as two columns, or two are in one."""
    places = [sum(segment[0].x >= start - segment[0].size for start in starts) - 1 for segment in row]
    ends = [*starts[1:], math.inf]
    fit = all(place >= 0 and segment[-1].right < ends[place] for place, segment in zip(places, row, strict=True))
    return places if fit and len({*places}) == len(places) else []


def _reads_on(lines: Sequence[str]) -> bool:
    """Whether the lines of a column are continuous sentences: lower case from line to line, up to a full stop."""
    ends = [line for line in lines if re.search(r"[.!?](?:\s|\Z)", line)]
    on = [line for above, line in pairwise(lines) if above[-1:] not in ".!?:" and line[:1].islower()]
    words = sum(len(line.split()) for line in lines)
    return (
        len(lines) >= _MIN_COLUMN_LINES - 1 and bool(ends) and 2 * len(on) >= len(lines) - 1 and words > 2 * len(lines)
    )


def _wide_rows(rows: Sequence[Sequence[Segment]], gutter: float) -> set[int]:
    """Numbers of the rows of tables that span both columns: cells, not prose, like the row beside them."""
    wide: set[int] = set()
    for number, (row, below) in enumerate(pairwise(rows)):
        sides = [segment[0].x >= gutter for segment in row]
        is_two = sum(sides) > 1 and sides.count(False) > 1 and any(abs(s[0].x - gutter) < _COLUMN_START for s in row)
        alike = len(row) == len(below) and all(
            abs(one[0].x - other[0].x) < _COLUMN_START for one, other in zip(row, below, strict=True)
        )
        is_wide = alike and len(row) > _WIDE_CELLS and len({*sides}) > 1 and not is_two
        if is_wide and not any(map(_is_prose, [*row, *below])):
            wide |= {number, number + 1}
    return wide


def _caption_above(left: Sequence[Line], right: Sequence[Line]) -> int:
    """Start, in the left column, of the caption above a wide table: a line apart, below the right column."""
    if len(left) < 2 or not right:
        return len(left)
    last, above = left[-1], left[-2]
    return len(left) - (above.y - last.y > _APART_ROWS * last.size and last.y < right[-1].y)


def _part_columns(row: Sequence[Segment], gutter: float) -> list[Segment]:
    """A line's segments, split where the second column starts: beside a large heading, its gap looks narrow."""
    parted: list[Segment] = []
    for segment in row:
        starts = [
            number
            for number, (left, right) in enumerate(pairwise(segment), 1)
            if abs(right.x - gutter) <= _COLUMN_START and right.x - left.right > min(left.size, right.size)
        ]
        parted += _part(segment, starts)
    return parted


def _side_by_side(segments: Sequence[Segment], x: float) -> bool:
    """Whether the segments from `x` are cells: nearly each has one to its left, and their lines are apart."""
    left = {round(segment[0].y) for segment in segments if segment[0].x < x - 6}
    cells = [segment[0] for segment in segments if abs(segment[0].x - x) <= 6]
    gaps = [(above.y - below.y) / below.size for above, below in pairwise(cells)]
    apart = bool(gaps) and statistics.median(gaps) > _TABLE_PITCH
    return apart and sum(round(cell.y) in left for cell in cells) > 0.8 * len(cells)


def _filled_share(segments: Sequence[Segment], width: float) -> float:
    """Share of its column's width that the median segment takes."""
    return statistics.median(segment[-1].right - segment[0].x for segment in segments) / max(1.0, width)


# Lines and their notes -----------------------------------------------------------------------------------------------


def _marks(rows: Sequence[Sequence[Segment]], body: float) -> frozenset[str]:
    """The marks of the notes below a page's text."""
    lines = [[run for segment in row for run in segment] for row in rows]
    starts = [" ".join(run.text for run in runs[:2]) for runs in lines if body_size(runs) <= _NOTE_SIZE * body]
    return frozenset(match[1] for match in map(NOTE.match, starts) if match)


def _with_notes(lines: Sequence[Line], body: float) -> list[Line]:
    """Mark the notes at the end of a column: small letters, starting at the first line with a mark; not table rows."""
    first = len(lines)
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        is_above = place + 1 < len(lines) and line.y < lines[place + 1].y
        if line.size > _NOTE_SIZE * body or is_above or len(line.cells) > _NOTE_CELLS:
            break
        if NOTE.match(line.text):
            first = place
    return [*lines[:first], *(replace(line, note=True) for line in lines[first:])]


def _line(segments: Sequence[Segment], marks: frozenset[str]) -> Line:
    runs = [run for segment in segments for run in segment]
    size = body_size(runs)
    bold = list(takewhile(lambda run: run.bold, segments[0]))
    return Line(
        x=runs[0].x,
        y=next((run for run in runs if run.size >= _SMALL * size), runs[0]).y,
        right=max(run.right for run in runs),
        size=size,
        cells=tuple(in_reading_order(_join(segment, marks)) for segment in segments),
        starts=tuple(segment[0].x for segment in segments),
        bold=all(run.bold for run in runs),
        mono=all(run.mono for run in runs),
        run_in=len(_join(bold, marks)) if 0 < len(bold) < len(segments[0]) else 0,
    )


def _join(segment: Segment, marks: frozenset[str]) -> str:
    """The text of a cell, with signs for raised and lowered parts."""
    level = next(run for run in segment if run.size >= _SMALL * max(run.size for run in segment))
    text = ""
    plain: Segment = []
    for run, following in zip(segment, [*segment[1:], None], strict=True):
        shift = (run.y - level.y) / level.size
        if run.size > _SMALL * level.size or -_SHIFTED < shift < _SHIFTED:
            plain.append(run)
            level = run if run.size > _SMALL * level.size else level
            continue
        spelled = f"{text}{_spell(plain)}"
        text = spelled.rstrip() if text and plain else spelled
        inside = run.text.strip()
        if not text and not plain:
            text = f"{inside} "  # the mark before a note
        elif shift < 0 or _UNIT.search(text) or not (inside in marks or looks_like_note_mark(text, inside)):
            sign = "sup" if shift > 0 else "sub"
            before, behind = signs_around(sign, text, inside, following.text if following else "")
            text = f"{text}{before}{inside}{behind}"
        plain = [replace(run, text="")]
    text = f"{text}{_spell(plain)}"
    return text.rstrip() if segment[0].mono else text.strip()


def in_reading_order(text: str) -> str:
    """A line painted from the left, in reading order: reverses Unicode's bidirectional algorithm (UAX 9).

    >>> in_reading_order("\u05dd\u05d5\u05dc\u05e9 2020"), in_reading_order("say (\u05d1\u05d0) now")
    ('2020 \u05e9\u05dc\u05d5\u05dd', 'say (\u05d0\u05d1) now')
    """
    if text.isascii() or not any(map(_is_right, text)):
        return text
    text = "".join(unicodedata.normalize("NFKC", c) if _PRESENTED.match(c) else c for c in text)
    signs = _SIGNS.findall(text)
    ways = ["R" if _is_right(sign[0]) else "L" if sign[0].isalnum() else "" for sign in signs]
    base = "R" if ways.count("R") >= ways.count("L") else "L"
    runs: list[tuple[str, list[str]]] = []
    for place, (sign, way) in enumerate(zip(signs, ways, strict=True)):
        before = runs[-1][0] if runs else base
        after = next((one for one in ways[place:] if one), base)
        own = way or (before if before == after else base)
        if not runs or runs[-1][0] != own:
            runs.append((own, []))
        runs[-1][1].append(sign)
    read = ["".join(run) if way == "L" else "".join(run[::-1]).translate(_MIRRORED) for way, run in runs]
    return "".join(read if base == "L" else read[::-1])


def _is_right(sign: str) -> bool:
    return unicodedata.bidirectional(sign) in {"R", "AL"}


def _spell(segment: Segment) -> str:
    """Join runs on the line into words."""
    gap = _spacing(segment)
    text = segment[0].text if segment else ""
    for previous, run in pairwise(segment):
        spaced = (run.x - previous.right) / run.size > gap or text[-1:].isspace() or run.text[:1].isspace()
        text = f"{text.rstrip()}{' ' if spaced else ''}{run.text.lstrip()}"
    return text


def _spacing(segment: Segment) -> float:
    """Sizes between two runs above which they are two words: more for a letter-spaced title."""
    letters = [run for run in segment if run.text]
    single = [run for run in letters if len(run.text.strip()) == 1 and run.text.strip().isalpha()]
    if len(single) < _LEAST_SPACED or len(single) < _MOSTLY_SPACED * len(letters):
        return WORD_GAP
    gaps = sorted((after.x - before.right) / after.size for before, after in pairwise(letters))
    usual = gaps[len(gaps) // 2]
    return usual * 1.5 if usual > WORD_GAP else WORD_GAP


# Running titles ------------------------------------------------------------------------------------------------------


def without_running_titles(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Pages without headers, footers and page numbers: similar lines on many pages, at their edges."""
    # Rotated lines are below the page, where they were moved.
    heights = [line.y for lines in pages for line in lines if line.y >= 0]
    if not heights:
        return list(pages)
    margin = _MARGIN * (max(heights) - min(heights))
    low, high = min(heights) + margin, max(heights) - margin
    edges = [{i for i in _edges(lines) if not low < lines[i].y < high} for lines in pages]
    # The title on the first page has the words of the header, in larger letters.
    counts = Counter(
        key
        for lines, edge in zip(pages, edges, strict=True)
        for key in {(pattern, round(lines[i].size)) for i in edge for pattern in _patterns(lines[i])}
    )
    needed = max(3, len(pages) // 4)
    heads = _heads(pages)
    bodies = []
    for number, (lines, edge) in enumerate(zip(pages, edges, strict=True)):
        dropped = {heads[number]} if number in heads else set()
        for index, line in enumerate(lines):
            patterns = _patterns(line) if index in edge or line.y < 0 else []
            repeated = [one for one in patterns if counts[one, round(line.size)] >= needed]
            # The header of a page on its side was rotated with it, to any place.
            turned = line.y < 0 and any(one != "#" for one in repeated)
            if turned or (index in edge and (repeated or all(map(_is_number, patterns)))):
                dropped.add(index)
        # Text beside a running title belongs to it, even if it seemed to be in another column.
        dropped |= {i for i in edge for j in dropped if abs(lines[i].y - lines[j].y) < 2}
        bodies.append([line for i, line in enumerate(lines) if i not in dropped or len(lines) == 1])
    return bodies


def _heads(pages: Sequence[Sequence[Line]]) -> dict[int, int]:
    """Index of the line above a page's text that names its chapter or section, by page number.

    On most pages there is a line at the same height, apart from the text and in letters no larger, and most of these
    lines share their words with another page's.
    """
    tops: dict[int, int] = {}
    for number, lines in enumerate(pages):
        order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
        drops = [lines[order[0]].y - lines[index].y for index in order]
        gaps = sorted(after - before for before, after in pairwise(drops) if after - before > 1)
        if gaps and next(drop for drop in drops if drop >= 1) > _HEAD_PITCHES * gaps[len(gaps) // 4]:
            tops[number] = order[0]
    if not tops:
        return {}
    height = Counter(round(pages[number][index].y) for number, index in tops.items()).most_common(1)[0][0]
    body = body_size([line for lines in pages for line in lines])
    same = {
        number: index
        for number, index in tops.items()
        if abs(pages[number][index].y - height) < 2 and pages[number][index].size < 1.05 * body
    }
    patterns = [_patterns(pages[number][index]) for number, index in same.items()]
    words = Counter(pattern for line in patterns for pattern in set(line))
    shared = sum(any(words[one] > 1 for one in line) for line in patterns)
    return same if 2 * len(same) > len(pages) > _FEW_PAGES and 2 * shared > len(same) else {}


def _edges(lines: Sequence[Line]) -> set[int]:
    """Indices of the two highest and two lowest lines."""
    order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
    return {*order[:2], *order[-2:]}


def _patterns(line: Line) -> list[str]:
    """The cells of a line with every number as one sign: a header often combines the titles of book and chapter."""
    return [_NUMBER.sub("#", cell.casefold()).strip() for cell in line.cells]


def _is_number(pattern: str) -> bool:
    """Whether a line is only a page number: `12`, `- iv -`, `Page 3 of 9`."""
    bare = pattern.replace("page", "").replace("of", "").strip(" -–—|/.")
    return 0 < len(bare) <= 8 and not bare.strip("#ivxlc /")
