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

from lutrin.ingest.wording import looks_like_note_mark, signs_around

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
# A note's or raised sign's letters are at most of this share of their line's size, raised or lowered by at least so
# many sizes, and hang on a word that is at most so many sizes away.
_SMALL = 0.82
_SHIFTED = 0.07
_HANGS = 0.6
# A title of which the letters stand apart has at least so many runs of one letter, and hardly any others.
_LEAST_SPACED = 4
_MOSTLY_SPACED = 0.7
# The letters of notes below the text are at most of this share of the text's size.
_NOTE_SIZE = 0.92
_UNIT = re.compile(r"\d\s?[^\W\d_]{1,2}\Z")
"""What is raised behind a unit is its power, even if a note has the same mark."""
_NOTE_CELLS = 2
"""A note's mark and its text, where they stand apart."""
NOTE = re.compile(r"[\[(]?(\d{1,3}|[*\u2020\u2021\u00a7]{1,3}|[a-z](?=[\])]?\s+[A-Z]))[\])]?[.:]?\s*(?=[^\W\d_])")
"""The mark before a note; a letter only where a sentence begins behind it."""
# Headers and footers stand in this share of the printed height at its upper and lower edge.
_MARGIN = 0.06
_APART = 1.6
"""Pitches between what stands above a page's text and the text."""
_FEW_PAGES = 8
"""Of these a line above the text may be their own."""


@dataclass(frozen=True, slots=True)
class TextRun:
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
    """Degrees by which it is turned anticlockwise; most text is level or turned by a right angle."""

    @property
    def right(self) -> float:
        """Where it ends, on a page whose text is level."""
        return self.x + self.length


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
    """Where each cell begins."""
    bold: bool
    mono: bool
    run_in: int = 0
    """Characters of bold text at the start of a line that goes on in another weight."""
    note: bool = False
    """Whether it belongs to a note below the text."""

    @property
    def text(self) -> str:
        """The cells joined by blanks."""
        return " ".join(self.cells)


def page_lines(runs: Sequence[TextRun]) -> list[Line]:
    """The lines of a page in reading order: full-width ones in place, columns one after the other between them.

    Notes below the text are marked as such; they are last in their column.
    """
    upright = _upright([run for run in runs if run.text.strip()])
    if not upright:
        return []
    rows = _cells([_segments(row) for row in _rows(upright)])
    gutter = _gutter([segment for row in rows for segment in row])
    body = body_size(upright)
    marks = _marks(rows, body)
    if gutter is None:
        return _with_notes([_line(row, marks) for row in rows], body)
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for row in (_part_columns(row, gutter) for row in rows):
        spans = [s for s in row if s[0].x < gutter - s[0].size and s[-1].right > gutter + 2 * s[0].size]
        if spans:
            ordered += [*left, *right, _line(row, marks)]
            left, right = [], []
            continue
        for column, segments in (
            (left, [segment for segment in row if segment[0].x < gutter]),
            (right, [segment for segment in row if segment[0].x >= gutter]),
        ):
            if segments:
                column.append(_line(segments, marks))
    return ordered + _with_notes(left, body) + _with_notes(right, body)


def _marks(rows: Sequence[Sequence[Segment]], body: float) -> frozenset[str]:
    """The marks of the notes below a page's text."""
    found = set()
    for row in rows:
        runs = [run for segment in row for run in segment]
        match = NOTE.match(" ".join(run.text for run in runs[:2])) if body_size(runs) <= _NOTE_SIZE * body else None
        if match is not None:
            found.add(match[1])
    return frozenset(found)


def _with_notes(lines: Sequence[Line], body: float) -> list[Line]:
    """Mark the notes at the end of a column: small letters, from the first line with a mark on; no rows of a table."""
    first = len(lines)
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        is_above = place + 1 < len(lines) and line.y < lines[place + 1].y
        if line.size > _NOTE_SIZE * body or is_above or len(line.cells) > _NOTE_CELLS:
            break
        if NOTE.match(line.text):
            first = place
    return [*lines[:first], *(replace(line, note=True) for line in lines[first:])]


def _upright(runs: list[TextRun]) -> list[TextRun]:
    """Turn the page so that most of its text is level; text that is turned otherwise comes after it."""
    if not runs:
        return []
    weights: Counter[int] = Counter()
    for run in runs:
        if run.angle % 90 == 0:
            weights[run.angle] += len(run.text)
    main = weights.most_common(1)[0][0] if weights else 0
    turned = [_turn(run, main) for run in runs if run.angle == main]
    lowest = min(run.y for run in turned)
    for index, run in enumerate(other for other in runs if other.angle != main):
        turned.append(replace(run, x=0.0, y=lowest - 3 * run.size * (index + 1), angle=0))
    return turned


def _turn(run: TextRun, angle: int) -> TextRun:
    x, y = {0: (run.x, run.y), 90: (run.y, -run.x), 180: (-run.x, -run.y), 270: (-run.y, run.x)}[angle]
    return replace(run, x=x, y=y, angle=0)


def _rows(runs: Sequence[TextRun]) -> list[list[TextRun]]:
    """Runs by baseline, from the top down, each row from left to right; what is raised or lowered is with its word."""
    least = _SMALL * body_size(runs)
    rows = _level([run for run in runs if run.size >= least])
    apart: list[TextRun] = []
    for run in sorted((run for run in runs if run.size < least), key=lambda run: run.x):
        row = next((row for row in rows if any(_hangs_on(run, other) for other in row)), None)
        row = row or next((row for row in rows if abs(row[0].y - run.y) < _SHIFTED * run.size), None)
        (apart if row is None else row).append(run)
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
    """Whether a small run stands right behind or before another one, above or below its baseline at most."""
    near = _HANGS * max(run.size, other.size)
    touches = -near <= run.x - other.right <= near or -near <= other.x - run.right <= near
    return touches and abs(run.y - other.y) <= _HANGS * max(run.size, other.size)


def body_size(runs: Sequence[TextRun]) -> float:
    """The size of most letters."""
    letters: Counter[float] = Counter()
    for run in runs:
        letters[round(run.size, 1)] += len(run.text)
    return letters.most_common(1)[0][0]


def _segments(row: Sequence[TextRun]) -> list[Segment]:
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
        filled = _filled_share(before, x - left_edge)
        if filled < 0.8 and _side_by_side(segments, x):
            continue
        if min(filled, _filled_share(after, right_edge - x)) > 0.5 and (best is None or x < best):
            best = x
    return None if best is None else best - 3


def _blanks(segment: Segment) -> int:
    """Gaps between words, painted as a letter or left by the pen."""
    return len(segment) - 1 + sum(run.text.strip().count(" ") for run in segment)


def _part_columns(row: Sequence[Segment], gutter: float) -> list[Segment]:
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


def _filled_share(segments: Sequence[Segment], width: float) -> float:
    """How much of its column's width the median of the segments takes."""
    return statistics.median(segment[-1].right - segment[0].x for segment in segments) / max(1.0, width)


def _line(segments: Sequence[Segment], marks: frozenset[str] = frozenset()) -> Line:
    runs = [run for segment in segments for run in segment]
    size = body_size(runs)
    first = next((run for run in runs if run.size >= _SMALL * size), runs[0])
    return Line(
        x=runs[0].x,
        y=first.y,
        right=max(run.right for run in runs),
        size=size,
        cells=tuple(_join(segment, marks) for segment in segments),
        starts=tuple(segment[0].x for segment in segments),
        bold=all(run.bold for run in runs),
        mono=all(run.mono for run in runs),
        run_in=_run_in(segments[0], marks),
    )


def _run_in(segment: Segment, marks: frozenset[str]) -> int:
    bold = list(takewhile(lambda run: run.bold, segment))
    return len(_join(bold, marks)) if bold and len(bold) < len(segment) else 0


def _join(segment: Segment, marks: frozenset[str]) -> str:
    level = next((run for run in segment if run.size >= _SMALL * max(run.size for run in segment)), segment[0])
    text = ""
    plain: Segment = []
    for run, following in zip(segment, [*segment[1:], None], strict=True):
        shift = (run.y - level.y) / level.size
        if run.size > _SMALL * level.size or -_SHIFTED < shift < _SHIFTED:
            plain.append(run)
            level = run if run.size > _SMALL * level.size else level
            continue
        text = _behind(text, plain, run)
        inside = run.text.strip()
        if not text and not plain:
            text = f"{inside} "  # the mark before a note
        elif shift < 0 or _UNIT.search(text) or not (inside in marks or looks_like_note_mark(text, inside)):
            before, behind = signs_around(
                "sup" if shift > 0 else "sub", text, inside, following.text if following else ""
            )
            text = f"{text}{before}{inside}{behind}"
        plain = [replace(run, text="")]
    text = _behind(text, plain, None)
    return text.rstrip() if segment[0].mono else text.strip()


def _behind(text: str, plain: Segment, following: TextRun | None) -> str:
    """A text with runs behind it that stand on the line."""
    if not plain:
        return text
    spelled = _spell(plain, _spacing(plain))
    return f"{text}{spelled}" if following is None or not text else f"{text}{spelled}".rstrip()


def _spell(segment: Segment, gap: float) -> str:
    text = segment[0].text
    for previous, run in pairwise(segment):
        spaced = (run.x - previous.right) / run.size > gap or text[-1:].isspace() or run.text[:1].isspace()
        text = f"{text.rstrip()}{' ' if spaced else ''}{run.text.lstrip()}"
    return text


def _spacing(segment: Segment) -> float:
    """Sizes between two runs from which on they are two words: more where all letters of a title stand apart."""
    letters = [run for run in segment if run.text]
    single = [run for run in letters if len(run.text.strip()) == 1 and run.text.strip().isalpha()]
    if len(single) < _LEAST_SPACED or len(single) < _MOSTLY_SPACED * len(letters):
        return WORD_GAP
    gaps = sorted((after.x - before.right) / after.size for before, after in pairwise(letters))
    usual = gaps[len(gaps) // 2]
    return usual * 1.5 if usual > WORD_GAP else WORD_GAP


def running_titles(pages: Sequence[Sequence[Line]]) -> list[set[int]]:
    """Indices of each page's headers, footers and page numbers: lines alike on many pages, at their edges."""
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
    top_of = _heads(pages)
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
        dropped = numbers | repeated | turned | ({top_of[number]} if number in top_of else set())
        # What stands beside a running title belongs to it, even if it seemed to be in another column.
        beside = {i for i in indices for j in dropped if abs(pages[number][i].y - pages[number][j].y) < 2}
        found.append(dropped | beside if len(pages[number]) > 1 else set())
    return found


def _heads(pages: Sequence[Sequence[Line]]) -> dict[int, int]:
    """Index of the line above the text of a page that names its chapter or section, by the number of the page.

    On most pages a line stands at the same height, apart from the text and in letters that are no larger, and most of
    these lines have the words of another page's.
    """
    tops: dict[int, int] = {}
    for number, lines in enumerate(pages):
        order = sorted(range(len(lines)), key=lambda index: -lines[index].y)
        gaps = sorted(lines[a].y - lines[b].y for a, b in pairwise(order) if lines[a].y - lines[b].y > 1)
        beside = [index for index in order if lines[order[0]].y - lines[index].y < 1] if order else []
        below = [index for index in order if index not in beside]
        if below and gaps and lines[order[0]].y - lines[below[0]].y > _APART * gaps[len(gaps) // 4]:
            tops[number] = order[0]
    if not tops:
        return {}
    heights = Counter(round(pages[number][index].y) for number, index in tops.items())
    height = heights.most_common(1)[0][0]
    sizes = Counter(round(line.size, 1) for lines in pages for line in lines for _ in line.text)
    body = sizes.most_common(1)[0][0]
    same = {
        number: index
        for number, index in tops.items()
        if abs(pages[number][index].y - height) < 2 and pages[number][index].size < 1.05 * body
    }
    words = Counter(pattern for number, index in same.items() for pattern in set(_patterns(pages[number][index])))
    shared = [
        number for number, index in same.items() if any(words[one] > 1 for one in _patterns(pages[number][index]))
    ]
    return same if 2 * len(same) > len(pages) > _FEW_PAGES and 2 * len(shared) > len(same) else {}


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
