"""Excerpts: the contiguous runs of the book that most likely answer, whole where the book is whole.

The units of a section are joined into atoms that never part: a procedure, a small table, a code block with what
announces it, a warning. Of all runs of atoms within a budget of words the one with the largest sum of probabilities
(of the reader, over its units) is shown; a second one if it is about as likely, or something else is asked.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from lutrin.answer.hostile import gives_orders
from lutrin.language.words import word_count
from lutrin.query.followup import refers
from lutrin.query.frames import Frame
from lutrin.records import SELECTED, Chunk, Unit
from lutrin.search.reader import ScoredPassage, log_sum
from lutrin.search.search import Part

FIRST_WORDS, SECOND_WORDS, MOST_WORDS = 60, 90, 150
"""Of the first excerpt, of a second one, of all, besides code."""
STEPS_WORDS = 200
"""A procedure of no more words is never cut: with half of its steps it misleads."""
LONGEST_WORDS = 120
"""Of one excerpt besides code, where two are joined, or what stands around a selection is wanted."""
PASSAGES = 12
"""Passages in which excerpts are looked for."""
SECOND_SHARE = 0.15
"""A second excerpt is shown if it is at least so likely as the first: a larger share loses facts on one half of
the shelf (bench/RESULTS.md)."""
LEADING_SHARE = 0.1
"""The sentence before what is said first leads to it if it is at least so likely."""
MARKED_SHARE = 0.35
"""Units at least so likely as the best of their excerpt are marked as what answers."""
SMALL_TABLE_WORDS = 60
"""A table of at most so many words is chosen whole; of a longer one the likeliest rows are, and then the rest is added
up to `LONGEST_WORDS`, so that no length speaks for it."""
STANDS_OUT = 0.5
"""Share of what the items of a list or the rows of a table have together: one that has less is no answer alone."""
LABEL_WORDS = 4
MOST_EXCERPTS = 2
MOST_CODE = 2
"""Code blocks in one excerpt."""
FORM_BONUS = 1.0
"""Added to the score of a run that has the form which is asked for: code, steps."""
GAP_CHARS = 400
"""Between neighbours; more means that a passage between them was not found."""
DRAWN = frozenset({"mermaid", "plantuml", "dot", "graphviz"})
"""Languages of figures; their source answers nothing."""
_BLOCKS = frozenset({"list_item", "table_row"})
_NUMBERED = re.compile(r"\d+[.)] ")


@dataclass(frozen=True, slots=True)
class UnitRun:
    """Neighbouring units of one section, shown together."""

    chunk: Chunk
    """That holds the best of them."""
    units: tuple[Unit, ...]
    scores: tuple[float, ...]
    score: float
    """Logarithm of the sum of what `scores` are logarithms of."""
    cut_before: bool
    cut_after: bool
    """Whether text of the section stands before the first unit, and behind the last."""

    @property
    def span(self) -> tuple[int, int]:
        """Offsets in the source file."""
        return self.units[0].char_start, max(unit.char_end for unit in self.units)

    @property
    def words(self) -> int:
        """Number of words, not counting code."""
        return sum(word_count(unit.text) for unit in self.units if unit.kind != "code")

    @property
    def marked(self) -> tuple[Unit, ...]:
        """The units that answer."""
        least = max(self.scores) + float(np.log(MARKED_SHARE))
        return tuple(unit for unit, score in zip(self.units, self.scores, strict=True) if score >= least)


@dataclass(frozen=True, slots=True)
class _Section:
    """The units of one section that were found, in the order of the book."""

    chunk: Chunk
    units: tuple[Unit, ...]
    scores: tuple[float, ...]


def choose(parts: Sequence[Part], frame: Frame = "plain") -> list[UnitRun]:
    """Choose at most two excerpts for the question, best first, without repeats.

    Args:
        parts: Each thing that is asked, with the passages found for it; those that the book does not answer are left
            out by the caller.
        frame: What is asked for; a run in that form is preferred.
    """
    chosen: list[UnitRun] = []
    for number, part in enumerate(parts):
        left = MOST_WORDS - sum(run.words for run in chosen)
        room = min(FIRST_WORDS, max(left // (len(parts) - number), SECOND_WORDS // 2))
        # Whoever marks a passage and asks about it wants all that it says on that.
        is_marked = any(item.chunk.chunk_id == SELECTED for item in part.passages)
        room = LONGEST_WORDS if part.around or is_marked else room
        sections = _sections(part.passages[:PASSAGES])
        first = _best(sections, room, chosen, frame)
        if first is None:
            continue
        first = _complete(sections, first)
        chosen.append(first)
        if len(parts) > 1 or part.around or first.words >= MOST_WORDS:
            continue
        second = _best(sections, min(SECOND_WORDS, MOST_WORDS - first.words), chosen)
        if second is not None and second.score >= first.score + np.log(SECOND_SHARE):
            second = _complete(sections, second, first)
            joined = _join(sections, first, second)
            chosen = [*chosen[:-1], joined] if joined is not None else [*chosen, second]
    return chosen[:MOST_EXCERPTS]


def _join(sections: Sequence[_Section], first: UnitRun, second: UnitRun) -> UnitRun | None:
    """Two runs as one, where nothing of their section stands between them."""
    early, late = sorted((first, second), key=lambda run: run.span)
    if early.words + late.words > LONGEST_WORDS:
        return None
    for section in sections:
        starts = [unit.char_start for unit in section.units]
        if section.chunk.filename == early.chunk.filename == late.chunk.filename and early.span[0] in starts:
            begin, end = starts.index(early.span[0]), starts.index(early.span[0]) + len(early.units)
            if starts[end : end + 1] == [late.span[0]]:
                return replace(_run(section, begin, end + len(late.units)), chunk=first.chunk)
    return None


def _complete(sections: Sequence[_Section], run: UnitRun, beside: UnitRun | None = None) -> UnitRun:
    """A run with what it is not understood without, where that is not too long or quoted `beside` it.

    All rows of the table in which it begins or ends, and the sentences at which its first one points.
    """
    taken = beside.units if beside is not None and beside.chunk.filename == run.chunk.filename else ()
    for section in sections:
        starts = [unit.char_start for unit in section.units]
        first = starts.index(run.span[0]) if run.span[0] in starts else 0
        last = first + len(run.units) - 1
        # The same words stand in the section of each tab.
        if section.chunk.filename != run.chunk.filename or section.units[first : last + 1] != run.units:
            continue
        antecedent = _antecedent(section.units, first)
        first = first if section.units[antecedent] in taken else antecedent
        while first and _is_of_table(before := section.units[first - 1], section.units[first]) and before not in taken:
            first -= 1
        while last + 1 < len(starts) and _is_of_table(behind := section.units[last + 1], section.units[last]):
            if behind in taken:
                break
            last += 1
        whole = replace(_run(section, first, last + 1), chunk=run.chunk)
        if whole.words <= LONGEST_WORDS:
            return whole
    return run


def _antecedent(units: Sequence[Unit], place: int) -> int:
    """The place of a sentence, or of the one before in its paragraph if it points at something ("It does, too")."""
    points = place > 0 and _follows(units[place - 1], units[place]) and refers(units[place].text)
    return place - 1 if points else place


def _follows(unit: Unit, other: Unit) -> bool:
    """Whether one sentence of a paragraph follows another, which tells something."""
    return unit.kind == other.kind == "sentence" and unit.block == other.block and not asks(unit)


def _is_of_table(unit: Unit, other: Unit) -> bool:
    return (unit.kind, unit.block) == (other.kind, other.block) and unit.kind == "table_row"


def _best(
    sections: Sequence[_Section], budget: int, chosen: Sequence[UnitRun], frame: Frame = "plain"
) -> UnitRun | None:
    """The likeliest run within a budget of words that shares no unit with what is chosen, and repeats none of it.

    Books for several boards say the same on each board's page.
    """
    taken = {(run.chunk.filename, unit.char_start) for run in chosen for unit in run.units}
    said = {
        (run.chunk.filename, unit.text) for run in chosen for unit in run.units if len(unit.text.split()) > LABEL_WORDS
    }
    best: tuple[tuple[float, int], UnitRun] | None = None
    bonus = FORM_BONUS if frame in FORMS else 0.0
    for section in sections:
        # No run is likelier than all units of its section together.
        if best is not None and log_sum(section.scores) + bonus < best[0][0]:
            continue
        elsewhere = {text for filename, text in said if filename != section.chunk.filename}
        for run in _runs(section, budget):
            places = ((section.chunk.filename, unit.char_start) for unit in run.units)
            if not taken.isdisjoint(places) or not elsewhere.isdisjoint(unit.text for unit in run.units):
                continue
            if all(is_drawn(unit) or asks(unit) for unit in run.units):
                continue
            worth = (run.score + (bonus if bonus and FORMS[frame](run.units) else 0.0), -run.words)
            if best is None or worth > best[0]:
                best = worth, run
    return best[1] if best is not None else None


def _sections(passages: Sequence[ScoredPassage]) -> list[_Section]:
    """Passages of one section joined: what the end of one begins, the next one goes on with.

    What stands in a tab is joined with what the section says outside of its tabs, not with other tabs.
    """
    groups: dict[tuple[str, tuple[str, ...], str, str], list[ScoredPassage]] = {}
    for item in passages:
        chunk = item.chunk
        groups.setdefault((chunk.filename, chunk.heading_path, chunk.anchor, chunk.variant), []).append(item)
    sections = []
    for key, own in groups.items():
        group = [*own, *groups.get((*key[:3], ""), ())] if key[3] else own
        known: dict[int, tuple[Unit, float]] = {}
        for item in group:
            for unit, score in zip(item.chunk.units, item.scores.tolist(), strict=True):
                if unit.char_start not in known or known[unit.char_start][1] < score:
                    known[unit.char_start] = (unit, score)
        ordered = [known[start] for start in sorted(known)]
        sections.append(
            _Section(group[0].chunk, tuple(unit for unit, _ in ordered), tuple(score for _, score in ordered))
        )
    return sections


def _runs(section: _Section, budget: int) -> Iterator[UnitRun]:
    """Every run of atoms within the budget; one atom alone may take more."""
    marked = section.chunk.chunk_id == SELECTED
    atoms = list(atoms_of(section.units, STEPS_WORDS if marked else LONGEST_WORDS))
    costs = [sum(word_count(u.text) for u in section.units[a:b] if u.kind != "code") for a, b in atoms]
    codes = [sum(u.kind == "code" for u in section.units[a:b]) for a, b in atoms]
    for first in range(len(atoms)):
        words, blocks, last = costs[first], codes[first], first
        if words > STEPS_WORDS:
            continue
        while last + 1 < len(atoms):
            gap = section.units[atoms[last + 1][0]].char_start - section.units[atoms[last][1] - 1].char_end
            words += costs[last + 1]
            blocks += codes[last + 1]
            if words > budget or blocks > MOST_CODE or gap > GAP_CHARS:
                break
            last += 1
        yield _run(section, atoms[first][0], atoms[last][1])


def _run(section: _Section, start: int, stop: int) -> UnitRun:
    # The title of a box, the label of a tab or the source of a figure at either end says nothing there.
    while stop - start > 1 and (_is_label(section.units, stop - 1) or is_drawn(section.units[stop - 1])):
        stop -= 1
    while stop - start > 1 and (_is_title(section.units, start) or is_drawn(section.units[start])):
        start += 1
    scores = section.scores[start:stop]
    return UnitRun(
        chunk=section.chunk,
        units=section.units[start:stop],
        scores=scores,
        score=log_sum(scores),
        cut_before=start > 0,
        cut_after=stop < len(section.units),
    )


def proof_of(chunk: Chunk, units: Sequence[Unit], places: Collection[int], near: UnitRun | None) -> UnitRun:
    """The excerpt that proves sentences of a model: the units on which they rest, with what stands between them.

    Args:
        chunk: The passage that is cited.
        units: Of the section that the model read.
        places: Where the units begin on which the sentences rest; they are marked.
        near: The reader's excerpt of that section, which is shown as well where both are short; None: there is none.
    """
    section = _Section(chunk, tuple(units), tuple(0.0 if one.char_start in places else -inf for one in units))
    atoms = list(atoms_of(units))
    own = [place for place, (a, b) in enumerate(atoms) if any(units[i].char_start in places for i in range(a, b))]
    shown = {unit.char_start for unit in near.units} if near is not None else set()
    with_near = own + [
        place for place, (a, b) in enumerate(atoms) if any(units[i].char_start in shown for i in range(a, b))
    ]

    def words(first: int, last: int) -> int:
        between = units[atoms[first][0] : atoms[last][1]]
        return sum(word_count(unit.text) for unit in between if unit.kind != "code")

    chosen = with_near if words(min(with_near), max(with_near)) <= LONGEST_WORDS else own
    while len(chosen) > 1 and words(min(chosen), max(chosen)) > LONGEST_WORDS:
        chosen = sorted(chosen)[:-1]
    return _run(section, atoms[min(chosen)][0], atoms[max(chosen)][1])


def part_of(run: UnitRun, start: int, stop: int) -> UnitRun:
    """Some of the units of a run, from the first of them up to one behind the last."""
    part = _run(_Section(run.chunk, run.units, run.scores), start, stop)
    return replace(part, cut_before=run.cut_before or part.cut_before, cut_after=run.cut_after or part.cut_after)


def atoms_of(units: Sequence[Unit], longest: int = LONGEST_WORDS) -> Iterator[tuple[int, int]]:
    """Pairs of first unit and unit after the last, in order: what never parts.

    Args:
        units: Of one section.
        longest: Words of a list that is not cut.
    """
    start = 0
    while start < len(units):
        stop = _end(units, start, longest)
        # What announces a list, a table, code or a formula stays with it.
        while stop < len(units) and _announces(units[stop - 1], units[stop]):
            stop = _end(units, stop, longest)
        yield start, stop
        start = stop


def _end(units: Sequence[Unit], start: int, longest: int) -> int:
    """The end of what stands together from a unit on."""
    unit = units[start]
    if start and (units[start - 1].kind, units[start - 1].block) == (unit.kind, unit.block):
        return start + 1  # of a block that is too long to stand together
    stop = start + 1
    while stop < len(units) and (units[stop].kind, units[stop].block) == (unit.kind, unit.block):
        stop += 1
    whole = units[start:stop]
    most = {"list_item": longest, "table_row": SMALL_TABLE_WORDS}.get(unit.kind, 0)
    if is_procedure(whole) or unit.warning:
        most = STEPS_WORDS
    return stop if sum(word_count(item.text) for item in whole) <= most else start + 1


def _is_label(units: Sequence[Unit], place: int) -> bool:
    """Whether a unit is a short label: alone in its block, and not a sentence."""
    unit = units[place]
    alone = all(other.block != unit.block for other in units[max(0, place - 1) : place + 2] if other is not unit)
    return (
        unit.kind in {"sentence", "caption"}
        and alone
        and len(unit.text.split()) <= LABEL_WORDS
        and not unit.text.rstrip().endswith((".", "!", "?", ":", "$"))
    )


def _is_title(units: Sequence[Unit], place: int) -> bool:
    """Whether a unit is a label that the next one does not go on with."""
    return _is_label(units, place) and units[place + 1].block != units[place].block


def lead_of(run: UnitRun, frame: Frame = "plain") -> tuple[tuple[Unit, ...], UnitRun]:
    """The units of an excerpt that answer best, alone, and the excerpt without them.

    A sentence, list item, row or block of code; of a procedure all steps, and of a list or table everything where
    nothing in it stands out. Where code or steps are asked for, the best of them. What announces others or asks does
    not answer, and what speaks to the machine is quoted in its place only.
    """
    speaking = [
        place
        for place, unit in enumerate(run.units)
        if not gives_orders(f"{unit.lead} {unit.text}") and not is_drawn(unit)
    ]
    if not speaking:
        return (), run
    places = [
        place
        for place in speaking
        if not _is_label(run.units, place)
        and not asks(run.units[place])
        and not run.units[place].text.rstrip().endswith(":")
    ] or speaking
    if frame in FORMS and FORMS[frame](run.units):
        kind = "code" if frame == "code" else "list_item"
        places = [place for place in places if run.units[place].kind == kind] or places
    best = max(places, key=run.scores.__getitem__)
    block = [place for place in range(len(run.units)) if run.units[place].block == run.units[best].block]
    own = block if _is_whole(run, best, block) else _answering(run, best, block)
    left = [place for place in range(len(run.units)) if place not in own]
    rest = replace(
        run, units=tuple(run.units[place] for place in left), scores=tuple(run.scores[place] for place in left)
    )
    return tuple(run.units[place] for place in own), rest


def _answering(run: UnitRun, best: int, block: Sequence[int]) -> list[int]:
    """The best sentence with those beside it in its paragraph that answer as well, and one that leads to it.

    They stand in the book's order, and begin with what the first of them points at.
    """
    least, leading = (run.scores[best] + float(np.log(share)) for share in (MARKED_SHARE, LEADING_SHARE))
    first = last = best
    if run.units[best].kind == "sentence":
        tells = [place for place in block if not asks(run.units[place])]
        while first - 1 in tells and run.scores[first - 1] >= least:
            first -= 1
        while last + 1 in tells and run.scores[last + 1] >= least:
            last += 1
        first -= first - 1 in tells and run.scores[first - 1] >= leading
        first = _antecedent(run.units, first)
    return list(range(first, last + 1))


def _is_whole(run: UnitRun, best: int, block: Sequence[int]) -> bool:
    """Whether all units of a block answer together, and not the best one of them alone."""
    if run.units[best].kind not in _BLOCKS or len(block) == 1:
        return False
    stands_out = run.scores[best] - log_sum([run.scores[place] for place in block]) >= np.log(STANDS_OUT)
    is_step = run.units[best].kind == "list_item" and is_procedure([run.units[place] for place in block])
    return is_step or not stands_out


def is_drawn(unit: Unit) -> bool:
    """Whether a unit is the source of a figure, which readers see drawn."""
    return unit.kind == "code" and unit.language.lower() in DRAWN


def asks(unit: Unit) -> bool:
    """Whether a unit is a question of the book, which answers none."""
    return unit.kind in {"sentence", "list_item"} and unit.text.rstrip().endswith("?")


def is_procedure(units: Sequence[Unit]) -> bool:
    """Whether units hold steps in an order: two numbered items at least."""
    return sum(unit.kind == "list_item" and bool(_NUMBERED.match(unit.text)) for unit in units) > 1


def _has_code(units: Sequence[Unit]) -> bool:
    return any(unit.kind == "code" and not is_drawn(unit) for unit in units)


FORMS: Mapping[Frame, Callable[[Sequence[Unit]], bool]] = {"code": _has_code, "steps": is_procedure}
"""Whether units have the form that is asked for, by frame."""


def _announces(unit: Unit, following: Unit) -> bool:
    """Whether a unit is only understood with the one behind it."""
    if unit.kind != "sentence":
        return False
    leads = following.kind != "sentence" and following.lead == unit.text
    return leads or unit.text.rstrip().endswith(":") or following.text.startswith("$$")
