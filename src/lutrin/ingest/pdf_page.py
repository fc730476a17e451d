"""Which of a page's runs are its running text, before lines are made of them.

What a reader does not see or does not read as a part of the text goes or moves: text outside the page's visible box,
letters painted twice, numbers of lines. A large initial joins its word; notes in the margin come after the text.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from lutrin.ingest.pdf_layout import TextRun, body_size

Box = tuple[float, float, float, float]
"""Left, lower, right and upper edge in points."""
_TWICE = 0.15
"""Sizes between two paintings of one text: an imitation of bold letters, or a shadow."""
_SMALL = 0.92
"""Size of a note's letters to those of the text, at most."""
_INITIAL = 1.7
"""Size of an initial to that of its text, at least."""
_WATERMARK, _CROSSED = 1.5, 2
"""Size of a watermark's letters to those of the text, at least, and lines of text that a level one crosses."""
_LEAST_NUMBERS = 4
_APART = 0.6
_MOST_OF = 0.7
_HEADED, _ACROSS = 1.6, 2
"""Rows above the first of a column of numbers in which its heading stands, and lines across it, such as a title and a
footer, that a page of numbered lines may have."""


def settle_runs(runs: Sequence[TextRun], visible: Box | None) -> list[TextRun]:
    """The runs of a page, or of its box that viewers show, in the order of painting, notes of the margin last."""
    seen = [run for run in runs if run.text.strip() and (visible is None or _is_inside(run, visible))]
    kept = _without_line_numbers(_once(seen))
    if not kept:
        return []
    body = body_size(kept)
    kept = [run for run in kept if not _is_watermark(run, kept, body)]
    kept = _with_initials(kept, body)
    notes = _margin_notes(kept, body)
    apart = {id(run) for run in notes}
    return [run for run in kept if id(run) not in apart] + _below(kept, notes)


def _is_inside(run: TextRun, box: Box) -> bool:
    """Whether at least the start of a run, half a letter above its baseline, is shown."""
    left, lower, right, upper = box
    middle = run.y + 0.3 * run.size if run.angle == 0 else run.y
    return left - 1 <= run.x <= right + 1 and lower - 1 <= middle <= upper + 1


def _is_watermark(run: TextRun, runs: Sequence[TextRun], body: float) -> bool:
    """Whether a text in large letters is painted askew, or across lines of text."""
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


def _once(runs: Sequence[TextRun]) -> list[TextRun]:
    kept: list[TextRun] = []
    painted: defaultdict[str, list[TextRun]] = defaultdict(list)
    for run in runs:
        near = _TWICE * run.size
        if any(abs(run.x - old.x) < near and abs(run.y - old.y) < near for old in painted[run.text]):
            continue
        painted[run.text].append(run)
        kept.append(run)
    return kept


def _without_line_numbers(runs: Sequence[TextRun]) -> list[TextRun]:
    """Leave out a column of numbers that count up by the same step and stand apart from all text."""
    numbers = [run for run in runs if run.text.strip().isdigit() and run.angle == 0]
    if len(numbers) < _LEAST_NUMBERS:
        return list(runs)
    columns: defaultdict[int, list[TextRun]] = defaultdict(list)
    for run in numbers:
        columns[round(run.x / 4)].append(run)
        columns[round(run.right / 4)].append(run)
    for column in sorted(columns.values(), key=len, reverse=True):
        if len(column) < _LEAST_NUMBERS:
            break
        left, right = min(run.x for run in column), max(run.right for run in column)
        zone = [run for run in runs if run.x <= right + _APART * run.size and run.right >= left - _APART * run.size]
        counted = sorted((run for run in zone if run.text.strip().isdigit()), key=lambda run: -run.y)
        values = [int(run.text) for run in counted]
        steps = {after - before for before, after in pairwise(values)}
        gap = (counted[0].y - counted[-1].y) / (len(counted) - 1)
        others = [run for run in zone if not run.text.strip().isdigit()]
        # Numbers of lines have no heading of their own, and stand apart from the text of the whole page.
        beside = [run for run in others if counted[-1].y - gap <= run.y <= counted[0].y + _HEADED * gap]
        across = sum(run.text.strip().count(" ") >= 2 for run in others)
        if len(steps) == 1 and steps <= {1, 2, 5, 10} and not beside and across <= _ACROSS and _has_text(counted, runs):
            gone = {id(run) for run in counted}
            return [run for run in runs if id(run) not in gone]
    return list(runs)


def _has_text(counted: Sequence[TextRun], runs: Sequence[TextRun]) -> bool:
    """Whether a line of text with several words stands beside most of the numbers."""
    lines = [run for run in runs if run.text.strip().count(" ") >= 2]
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
        first = max(beside, key=lambda run: (round(run.y), -run.x), default=None)
        if first is None or len({round(run.y) for run in beside}) < 2 or not initial.text.strip().isalpha():
            continue
        letter, rest = initial.text.strip(), first.text.lstrip()
        word = (rest.split() or [""])[0].lower()
        alone = letter.lower() in {"a", "i", "o"} and word in words and f"{letter.lower()}{word}" not in words
        joined = replace(first, text=f"{letter}{' ' if alone and rest[:1].islower() else ''}{rest}")
        runs = [joined if run is first else run for run in runs if run is not initial]
    return runs


def _margin_notes(runs: Sequence[TextRun], body: float) -> list[TextRun]:
    """Small text that stands wholly beside the column of the text."""
    text = [run for run in runs if abs(run.size - body) <= 0.1 * body and run.text.strip().count(" ") >= 3]
    if len(text) < _LEAST_NUMBERS:
        return []
    left, right = min(run.x for run in text), max(run.right for run in text)
    top, bottom = max(run.y for run in text), min(run.y for run in text)
    return [
        run
        for run in runs
        if run.size <= _SMALL * body
        and bottom - body <= run.y <= top + body
        and (run.right < left - _APART * body or run.x > right + _APART * body)
    ]


def _below(runs: Sequence[TextRun], notes: Sequence[TextRun]) -> list[TextRun]:
    """Put notes under the text of the page, in their own order."""
    if not notes:
        return []
    shift = max(run.y for run in notes) - min(run.y for run in runs) + 3 * max(run.size for run in notes)
    return [replace(run, y=run.y - shift) for run in notes]
