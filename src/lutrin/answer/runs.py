"""Runs of units: the excerpts that a reader sees, and the reading sections that a language model reads.

The units of a section are joined into atoms that are never split: a procedure, a small table, a code block with its
announcement, a warning. For each thing in the question, the first excerpt is the run of atoms within a budget of words
with the largest sum of probabilities (from the reader, over its units). Further excerpts answer what these leave open,
in a greedy cover of the question's tokens: late interaction measures how well a unit or its heading matches each token,
and an excerpt gains by matching one better than all before it. `python -m evaluation.further` fits how much gain and
likelihood count, and writes `cover.json`.

A model reads fixed runs, cut the same way for every question, so that their keys and values in its memory are computed
once and used for every reader. Consecutive runs overlap by one unit, so that a sentence at a cut keeps its
introduction.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import inf

import numpy as np

from lutrin.answer.hostile import gives_orders
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import content_stems, is_negated, word_count, words
from lutrin.query.conversation import refers
from lutrin.query.frames import Frame
from lutrin.records import NEVER_AN_ANSWER, SELECTED, Chunk, Unit
from lutrin.search.fits import Float, Logistic, load_fit
from lutrin.search.result import Part, ScoredPassage, log_sum

FIRST_WORDS, SECOND_WORDS, MOST_WORDS = 60, 90, 150
"""Words of the first excerpt, of a second one, and of all, not counting code."""
READING_WORDS = 160
"""Words of one reading section; a small model reads this much at 40 tokens a second before a reader loses patience."""
CODE_CHARS_PER_WORD = 5
"""Characters that count as a word of code in a reading section, because code has more tokens for each blank."""
STEPS_WORDS = 200
"""A procedure of at most this many words is never cut: half of its steps would mislead."""
LONG_STEPS_WORDS = 400
"""The same for a question on how to do something; a longer procedure is shown from its first step up to this length."""
LONGEST_WORDS = 120
"""Words of one excerpt, not counting code, that joins two or shows the text around a selection."""
PASSAGES = 12
"""Passages searched for excerpts."""
JOINED_SHARE = 0.15
"""Share of an excerpt's probability above which the text beside it in its section extends it: a larger share loses
facts on one half of the shelf (bench/RESULTS.md)."""
MOST_BELOW = 6.0
"""A further run whose log likelihood is lower than the first one's by more than this is skipped, to save time."""
LEADING_SHARE = 0.1
"""Share of likelihood above which the sentence before the first one shown introduces it."""
MARKED_SHARE = 0.35
"""Share of the best unit's likelihood above which units of an excerpt are marked as answering."""
SMALL_TABLE_WORDS = 60
"""A table of at most this many words is chosen whole. Of a longer one the likeliest rows are chosen, then the rest is
added up to `LONGEST_WORDS`, so that its length does not count in its favour."""
STANDS_OUT = 0.5
"""Share of the total of a list's items or a table's rows; one with less does not answer alone."""
LABEL_WORDS = 4
MOST_EXCERPTS = 3
MOST_CODE = 2
"""Code blocks in one excerpt."""
FORM_BONUS = 1.0
"""Bonus for a run in the requested form: code, steps."""
GAP_CHARS = 400
"""Characters between neighbours; a larger gap means that a passage between them was not found."""
WAYS: frozenset[Frame] = frozenset({"how", "steps"})
"""Frames that ask how to do something."""
SIGNALS = ("likelihood", "gain", "other parts")
"""Log likelihood ratio to the first excerpt of its part; gain; number of further parts with an excerpt."""
Places = Iterable[tuple[str, int]]
"""Files and offsets of units."""
_STEP = re.compile(r"(?P<name>(?<![^\W\d_])[^\W\d_]++ )?(?P<number>(?<!\d)\d++)[.):](?: |$)")
"""Beginning of a step, as an item of a list or a paragraph of its own: "2. ", "Step 2: "."""


@dataclass(frozen=True, slots=True)
class Run:
    """Units of one section in the order of the book, mostly neighbours."""

    chunk: Chunk
    """The passage to cite: it holds the best of them."""
    units: tuple[Unit, ...]
    scores: tuple[float, ...]
    """The reader's log probability of each unit; -inf for one that was not found."""
    cut_before: bool = False
    cut_after: bool = False
    """Whether the section has text before the first unit, and after the last."""

    @property
    def score(self) -> float:
        """Log probability that it answers, up to a constant."""
        return log_sum(self.scores)

    @property
    def span(self) -> tuple[int, int]:
        """Offsets in the source file."""
        return self.units[0].char_start, max(unit.char_end for unit in self.units)

    @property
    def key(self) -> tuple[str, int, int]:
        """File and offsets: equal for the same run of one generation."""
        return self.chunk.filename, self.units[0].char_start, self.units[-1].char_end

    @property
    def words(self) -> int:
        """Number of words, not counting code."""
        return _words(self.units)

    @property
    def steps(self) -> Sequence[Unit]:
        """The units from the first step of a procedure to the end of the last one; empty if there are no steps."""
        return steps_of(self.units) if is_procedure(self.units) else ()

    @property
    def places(self) -> set[tuple[str, int]]:
        """File and beginning of each unit."""
        return {(self.chunk.filename, unit.char_start) for unit in self.units}

    @property
    def readable(self) -> tuple[str, Sequence[Unit]]:
        """Headings and units, without those that give orders to a model."""
        titles = [title for title in self.chunk.heading_path if not gives_orders(title)]
        return " > ".join(titles), [unit for unit in self.units if not gives_orders(unit.text)]

    @property
    def answering_units(self) -> tuple[Unit, ...]:
        """The units that answer."""
        least = max(self.scores) + float(np.log(MARKED_SHARE))
        return tuple(unit for unit, score in zip(self.units, self.scores, strict=True) if score >= least)

    def part(self, start: int, stop: int) -> "Run":
        """Units between two places, trimmed of a box's title, a tab's label or a figure's source at either end."""
        while stop - start > 1 and (is_label(self.units, stop - 1) or self.units[stop - 1].is_drawn):
            stop -= 1
        while stop - start > 1 and (_is_title(self.units, start) or self.units[start].is_drawn):
            start += 1
        return Run(
            self.chunk,
            self.units[start:stop],
            self.scores[start:stop],
            cut_before=self.cut_before or start > 0,
            cut_after=self.cut_after or stop < len(self.units),
        )


class Fit(Logistic, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m evaluation.further` writes, on `SIGNALS`.

    A yes means that an excerpt answers a part of the question that those before it leave open.
    """

    least: float
    """Log odds from which a further excerpt is shown."""


@cache
def cover_fit() -> Fit:
    """The fitted weights."""
    return load_fit("lutrin.answer", "cover.json", Fit)


class Cover:
    """How well the units found for one part of a question match its tokens."""

    def __init__(self, part: Part) -> None:
        self._share = np.array(part.share, dtype=np.float32)
        self._matches: dict[tuple[str, int], Float] = {}
        for item in part.passages:
            for unit, row in zip(item.chunk.units, item.matches, strict=False):
                place = (item.chunk.filename, unit.char_start)
                known = self._matches.get(place)
                self._matches[place] = row if known is None else np.maximum(known, row)

    def met(self, places: Places) -> Float:
        """(Q,): the best match of each token in these units."""
        rows = [self._matches[place] for place in places if place in self._matches]
        return np.max(rows, axis=0) if rows else np.zeros(len(self._share), dtype=np.float32)

    def gain(self, places: Places, met: Float) -> float:
        """How much better these units match the question than those behind `met`."""
        return float(self._share @ np.maximum(self.met(places) - met, 0.0))


def whole(chunk: Chunk) -> Run:
    """A complete passage as one run."""
    return Run(chunk, chunk.units, (0.0,) * len(chunk.units))


def announced(page: Sequence[Chunk], home: Chunk, code: Unit) -> Run:
    """A block of code with the text before it in its section, from the last paragraph that is not a warning.

    Args:
        page: Every passage of the file.
        home: The one that holds the block.
        code: The block.
    """
    own = [one for one in page if one.heading_key == home.heading_key]
    placed = {unit.char_start: unit for one in own for unit in one.units if unit.variant in {"", code.variant}}
    units = [placed[start] for start in sorted(placed) if start <= code.char_start]
    told = [place for place, unit in enumerate(units) if unit.kind == "sentence" and not unit.warning]
    told = [place for place in told if not is_label(units, place)]
    block = [place for place in told if units[place].block == units[told[-1]].block]
    shown = units[block[0] :] if block and _words(units[block[0] :]) <= LONGEST_WORDS else [code]
    return Run(home, tuple(shown), (0.0,) * len(shown), cut_before=len(shown) < len(units), cut_after=True)


def choose(parts: Sequence[Part], frame: Frame = "plain", fit: Fit | None = None) -> list[Run]:
    """Choose at most three excerpts for the answered parts of a question, without repeats.

    Each part gets its likeliest run, followed by runs that answer what these leave open (`Cover`).
    """
    fit = fit or cover_fit()
    chosen, found = firsts(parts, frame)
    if len(parts) == 1 and found:
        chosen = [_grown(found[0].sections, chosen[0])]
    while len(chosen) < MOST_EXCERPTS and (best := _further(found, chosen, fit)) is not None:
        further = _complete(best.sections, best.run, chosen[-1])
        joined = {run.key: one for run in chosen if (one := _join(best.sections, run, further)) is not None}
        if joined:
            chosen = [joined.get(run.key, run) for run in chosen]
        else:
            chosen.append(further)
    return chosen


def _grown(sections: list[Run], first: Run) -> Run:
    """Extend a run by the next likeliest one if the section has nothing between them."""
    second = _best(sections, min(SECOND_WORDS, MOST_WORDS - first.words), [first]) if first.words < MOST_WORDS else None
    if second is None or second.score < first.score + np.log(JOINED_SHARE):
        return first
    return _join(sections, first, _complete(sections, second, first)) or first


def firsts(parts: Sequence[Part], frame: Frame) -> tuple[list[Run], list["Found"]]:
    """The likeliest run for each part of a question, in the requested form, and the search results of the parts."""
    chosen: list[Run] = []
    found: list[Found] = []
    for number, part in enumerate(parts[:MOST_EXCERPTS]):
        left = MOST_WORDS - sum(run.words for run in chosen)
        room = min(FIRST_WORDS, max(left // (len(parts) - number), SECOND_WORDS // 2))
        # A question about a selection wants everything that it says on the subject.
        is_marked = any(item.chunk.chunk_id == SELECTED for item in part.passages)
        room = LONGEST_WORDS if part.around or is_marked else room
        sections = _sections(part.passages[:PASSAGES])
        first = _best(sections, room, chosen, frame)
        if first is not None:
            first = _complete(sections, first)
            chosen.append(first)
            found += [] if part.around else [Found(sections, Cover(part), first.score)]
    return chosen, found


@dataclass(frozen=True, slots=True)
class Found:
    """Search results of one part of a question."""

    sections: list[Run]
    cover: Cover
    best: float
    """Score of the run chosen for it."""


def _further(found: Sequence[Found], chosen: Sequence[Run], fit: Fit) -> "Candidate | None":
    """The run likeliest to answer what is still open; None if nothing is."""
    rated = [(fit.odds(np.array(one.signals, dtype=np.float32)), one) for one in candidates(found, chosen)]
    odds, best = max(rated, key=lambda pair: (pair[0], -pair[1].run.words), default=(-inf, None))
    return best if odds >= fit.least else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that may answer what is still open."""

    run: Run
    sections: list[Run]
    signals: tuple[float, ...]


def candidates(found: Sequence[Found], chosen: Sequence[Run]) -> Iterator[Candidate]:
    """The runs that may follow the chosen ones, with their signals (`SIGNALS`)."""
    places = frozenset[tuple[str, int]]().union(*(run.places for run in chosen))
    budget = min(SECOND_WORDS, MOST_WORDS - sum(run.words for run in chosen))
    for one in found:
        met = one.cover.met(places)
        for section in one.sections:
            if section.score < one.best - MOST_BELOW:
                continue
            for run in _allowed(section, budget, chosen):
                likelihood = run.score - one.best
                # An atom may be long, but not as a third excerpt.
                if likelihood >= -MOST_BELOW and (run.words <= budget or len(chosen) == 1):
                    yield Candidate(run, one.sections, (likelihood, one.cover.gain(run.places, met), len(found) - 1.0))


def _join(sections: Sequence[Run], first: Run, second: Run) -> Run | None:
    """Join two runs if the section has nothing between them."""
    early, late = sorted((first, second), key=lambda run: run.span)
    if early.words + late.words > LONGEST_WORDS:
        return None
    for section in sections:
        begin = _place_in(section, early)
        if begin is not None and _place_in(section, late) == (end := begin + len(early.units)):
            return replace(section.part(begin, end + len(late.units)), chunk=first.chunk)
    return None


def _place_in(section: Run, run: Run) -> int | None:
    """Start of a run in a section; None if it belongs elsewhere: the sections of several tabs may share their words."""
    if section.chunk.filename != run.chunk.filename or run.units[0] not in section.units:
        return None
    first = section.units.index(run.units[0])
    return first if section.units[first : first + len(run.units)] == run.units else None


def _complete(sections: Sequence[Run], run: Run, beside: Run | None = None) -> Run:
    """Add to a run what a reader needs to understand it, unless that is too long or quoted `beside` it.

    That is all rows of the table in which it begins or ends, and the sentences that its first one refers to.
    """
    neighbours = beside.units if beside is not None and beside.chunk.filename == run.chunk.filename else ()
    for section in sections:
        units, first = section.units, _place_in(section, run)
        if first is None:
            continue
        stop = first + len(run.units)
        antecedent = _antecedent(units, first)
        first = first if units[antecedent] in neighbours else antecedent
        while first and _of_one_table(units[first - 1], units[first]) and units[first - 1] not in neighbours:
            first -= 1
        while stop < len(units) and _of_one_table(units[stop], units[stop - 1]) and units[stop] not in neighbours:
            stop += 1
        complete = replace(section.part(first, stop), chunk=run.chunk)
        if complete.words <= LONGEST_WORDS:
            return complete
    return run


def _antecedent(units: Sequence[Unit], place: int) -> int:
    """The place of a sentence, or of its predecessor in the paragraph if it refers to one ("It does, too")."""
    if not place:
        return place
    before, unit = units[place - 1], units[place]
    follows = before.kind == unit.kind == "sentence" and before.block == unit.block and not before.asks
    return place - (follows and refers(unit.text))


def _of_one_table(unit: Unit, other: Unit) -> bool:
    return (unit.kind, unit.block) == (other.kind, other.block) and unit.kind == "table_row"


def _best(sections: Sequence[Run], budget: int, chosen: Sequence[Run], frame: Frame = "plain") -> Run | None:
    """The likeliest run within a budget of words."""
    best: tuple[tuple[float, int], Run] | None = None
    bonus = FORM_BONUS if frame in FORMS else 0.0
    for section in sections:
        # No run is likelier than its whole section.
        if best is not None and section.score + bonus < best[0][0]:
            continue
        for run in _allowed(section, budget, chosen):
            worth = (run.score + (bonus if bonus and FORMS[frame](run.units) else 0.0), -run.words)
            if best is None or worth > best[0]:
                best = worth, run
    return best[1] if best is not None else None


def _allowed(section: Run, budget: int, chosen: Sequence[Run]) -> Iterator[Run]:
    """The runs of a section within a budget of words that share no unit with the chosen ones and repeat none of them.

    Books for several boards repeat text on each board's page.
    """
    places = frozenset[tuple[str, int]]().union(*(run.places for run in chosen))
    elsewhere = {
        unit.text
        for run in chosen
        for unit in run.units
        if run.chunk.filename != section.chunk.filename and len(unit.text.split()) > LABEL_WORDS
    }
    for run in _runs(section, budget):
        if not places.isdisjoint(run.places) or not elsewhere.isdisjoint(unit.text for unit in run.units):
            continue
        if not all(unit.is_drawn or unit.asks for unit in run.units):
            yield run


def section_of(chunk: Chunk) -> tuple[str, tuple[str, ...], str, str]:
    """What identifies a section: its file, headings, address, and tab."""
    return chunk.filename, chunk.heading_path, chunk.anchor, chunk.variant


def _sections(passages: Sequence[ScoredPassage]) -> list[Run]:
    """Join passages of one section: each may begin with the end of the one before.

    Text in a tab is joined with the section's text outside of its tabs, not with other tabs.
    """
    groups: dict[tuple[str, tuple[str, ...], str, str], list[ScoredPassage]] = {}
    for item in passages:
        groups.setdefault(section_of(item.chunk), []).append(item)
    sections = []
    for section, own in groups.items():
        best: dict[int, tuple[Unit, float]] = {}
        for item in (*own, *(groups.get((*section[:3], ""), ()) if section[3] else ())):
            for unit, score in zip(item.chunk.units, item.scores.tolist(), strict=True):
                if unit.char_start not in best or best[unit.char_start][1] < score:
                    best[unit.char_start] = (unit, score)
        ordered = [best[start] for start in sorted(best)]
        sections.append(Run(own[0].chunk, tuple(unit for unit, _ in ordered), tuple(score for _, score in ordered)))
    return sections


def _runs(section: Run, budget: int) -> Iterator[Run]:
    """Every run of atoms within the budget; a single atom may exceed it."""
    units, is_marked = section.units, section.chunk.chunk_id == SELECTED
    atoms = list(atoms_of(units, STEPS_WORDS if is_marked else LONGEST_WORDS))
    for place, (start, first_stop) in enumerate(atoms):
        stop = first_stop
        if _words(units[start:stop]) > STEPS_WORDS:
            continue
        for begin, end in atoms[place + 1 :]:
            gap = units[begin].char_start - units[stop - 1].char_end
            codes = sum(unit.kind == "code" for unit in units[start:end])
            if _words(units[start:end]) > budget or codes > MOST_CODE or gap > GAP_CHARS:
                break
            stop = end
        yield section.part(start, stop)


def _words(units: Sequence[Unit]) -> int:
    return sum(word_count(unit.text) for unit in units if unit.kind != "code")


def proof_of(section: Run, places: Collection[int], near: Run | None) -> Run:
    """The excerpt that supports a model's sentences: the units behind them, and the text in between.

    Args:
        section: The section that the model read.
        places: Starts of the units that support the sentences; these are marked.
        near: The reader's excerpt of that section, shown as well if both are short; None if there is none.
    """
    units, atoms = section.units, list(atoms_of(section.units))

    def atoms_with(starts: Collection[int]) -> list[int]:
        return [n for n, (a, b) in enumerate(atoms) if any(unit.char_start in starts for unit in units[a:b])]

    def stretch(chosen: Collection[int]) -> tuple[int, int]:
        return atoms[min(chosen)][0], atoms[max(chosen)][1]

    proving = atoms_with(places)
    chosen = proving + atoms_with({unit.char_start for unit in near.units} if near is not None else ())
    if _words(units[slice(*stretch(chosen))]) > LONGEST_WORDS:
        chosen = proving
    while len(chosen) > 1 and _words(units[slice(*stretch(chosen))]) > LONGEST_WORDS:
        chosen = chosen[:-1]
    scores = tuple(0.0 if unit.char_start in places else -inf for unit in units)
    return replace(section, scores=scores).part(*stretch(chosen))


def atoms_of(units: Sequence[Unit], longest: int = LONGEST_WORDS) -> Iterator[tuple[int, int]]:
    """Half-open ranges of units that are never split, in order, such as a list of up to `longest` words."""
    start = 0
    procedures = dict(procedures_of(units))
    while start < len(units):
        stop = _end(units, start, longest, procedures)
        # The announcement of a list, a table, code or a formula stays with it.
        while stop < len(units) and _announces(units[stop - 1], units[stop]):
            stop = _end(units, stop, longest, procedures)
        yield start, stop
        start = stop


def _announces(unit: Unit, following: Unit) -> bool:
    """Whether a unit makes sense only with the next one."""
    if unit.kind != "sentence":
        return False
    leads = following.kind != "sentence" and following.lead == unit.text
    return leads or unit.text.rstrip().endswith(":") or following.text.startswith("$$")


def _end(units: Sequence[Unit], start: int, longest: int, procedures: Mapping[int, int]) -> int:
    """End of the atom that starts at a unit; `procedures` maps first units to their ends."""
    unit = units[start]
    if start in procedures and _words(units[start : procedures[start]]) <= STEPS_WORDS:
        return procedures[start]
    if start and (units[start - 1].kind, units[start - 1].block) == (unit.kind, unit.block):
        return start + 1  # the block is too long for one atom
    stop = start + 1
    while stop < len(units) and (units[stop].kind, units[stop].block) == (unit.kind, unit.block):
        stop += 1
    block = units[start:stop]
    most = {"list_item": longest, "table_row": SMALL_TABLE_WORDS}.get(unit.kind, 0)
    if is_procedure(block) or unit.warning:
        most = STEPS_WORDS
    return stop if sum(word_count(item.text) for item in block) <= most else start + 1


def is_label(units: Sequence[Unit], place: int) -> bool:
    """Whether a unit is a short label: alone in its block, and not a sentence."""
    unit = units[place]
    alone = all(other.block != unit.block for other in units[max(0, place - 1) : place + 2] if other is not unit)
    is_short = unit.kind in {"sentence", "caption"} and len(unit.text.split()) <= LABEL_WORDS
    return alone and is_short and not unit.text.rstrip().endswith((".", "!", "?", ":", "$"))


def _is_title(units: Sequence[Unit], place: int) -> bool:
    """Whether a unit is a label whose text the next unit does not continue."""
    return is_label(units, place) and units[place + 1].block != units[place].block


def lead_of(run: Run, frame: Frame = "plain") -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """The units of an excerpt that answer best, on their own, and its other units.

    That is a sentence, list item, row or block of code with its announcement; of a procedure all steps, and of a list
    or table everything if no part stands out. If the question asks for code or steps, the best of them; how to do
    something, by code or a list, is told in the book's order. Announcements and questions do not answer, and text that
    addresses the machine is only quoted in its place.
    """
    units = run.units
    speaking = [
        place for place, unit in enumerate(units) if not gives_orders(f"{unit.lead} {unit.text}") and not unit.is_drawn
    ]
    if not speaking:
        return (), units
    is_listed = any(unit.kind in {"code", "list_item"} for unit in units)
    if frame in WAYS and is_listed and not run.steps and len(speaking) == len(units):
        return units, ()

    def tells(place: int) -> bool:
        ends = units[place].text.rstrip().endswith(":")
        return not ends and not units[place].asks and not is_label(units, place)

    places = list(filter(tells, speaking)) or speaking
    if frame in FORMS and FORMS[frame](units):
        kind = "code" if frame == "code" else "list_item"
        places = [place for place in places if units[place].kind == kind] or places
    best = max(places, key=run.scores.__getitem__)
    for start, stop in procedures_of(units):
        if start <= best < stop and _words(units[start:stop]) <= most_steps(frame):
            return units[start:stop], (*_without_announcement(units, start), *units[stop:])
    block = [place for place, unit in enumerate(units) if unit.block == units[best].block]
    own = block if _is_whole(run, best, block) else _answering(run, best, block)
    before = _without_announcement(units, own[0])
    if units[own[0]].kind == "code" and len(before) < own[0]:
        # A command alone does not say what it is for: to update, or to uninstall.
        own = [own[0] - 1, *own]
    return tuple(units[place] for place in own), (
        *before,
        *(units[n] for n in range(own[0], len(units)) if n not in own),
    )


def denies(announcement: str) -> bool:
    """Whether an announcement negates what follows, which must not be shown without it: "We can't use:"."""
    return announcement.rstrip().endswith(":") and is_negated(announcement)


def _without_announcement(units: Sequence[Unit], place: int) -> Sequence[Unit]:
    """The units before a place, without one that only announces what follows there."""
    is_announced = place > 0 and _announces(units[place - 1], units[place])
    is_announced = is_announced and units[place - 1].text.rstrip().endswith((":", "?"))
    return units[: place - is_announced]


def _answering(run: Run, best: int, block: Sequence[int]) -> Sequence[int]:
    """The best sentence with its neighbours in the paragraph that answer as well, and one that introduces it.

    They keep the book's order, and start with the sentence that the first one refers to.
    """
    least, leading = (run.scores[best] + float(np.log(share)) for share in (MARKED_SHARE, LEADING_SHARE))
    first = last = best
    if run.units[best].kind == "sentence":
        tells = [place for place in block if not run.units[place].asks]
        while first - 1 in tells and run.scores[first - 1] >= least:
            first -= 1
        while last + 1 in tells and run.scores[last + 1] >= least:
            last += 1
        first -= first - 1 in tells and run.scores[first - 1] >= leading
        first = _antecedent(run.units, first)
    return range(first, last + 1)


def _is_whole(run: Run, best: int, block: Sequence[int]) -> bool:
    """Whether all units of a block answer together, rather than the best one alone."""
    kind = run.units[best].kind
    if kind not in {"list_item", "table_row"} or len(block) == 1:
        return False
    stands_out = run.scores[best] - log_sum([run.scores[place] for place in block]) >= np.log(STANDS_OUT)
    return not stands_out


def is_procedure(units: Sequence[Unit]) -> bool:
    """Whether units are steps in order: at least two numbered ones, one after the other."""
    numbers = [step for unit in units if (step := _step_of(unit)) is not None]
    return any((name, number + 1) == other for (name, number), other in pairwise(numbers))


def steps_of(units: Sequence[Unit]) -> Sequence[Unit]:
    """The units from the first step to the end of the last one."""
    places = [place for place, unit in enumerate(units) if _step_of(unit) is not None]
    return units[places[0] : _end_of_step(units, places[-1])] if places else ()


def tells_to_act(units: Sequence[Unit]) -> bool:
    """Whether imperative steps are at least half as many as the others; otherwise the list states facts.

    Of the sample books' lists that name something hazardous, all 16 procedures reach that, and 6 of 20 others, half of
    them checklists.

    >>> step = lambda text: Unit(text=text, kind="list_item", char_start=0, char_end=9)
    >>> tells_to_act([step("1. Hang Kestrel in its gantry."), step("2. Press the button.")])
    True
    >>> tells_to_act([step("1. Electric actuators turn energy into motion."), step("2. The jaws close.")])
    False
    """
    steps = [words(_STEP.sub("", unit.text, count=1)) for unit in units if _step_of(unit) is not None]
    orders = sum(map(_is_order, steps))
    return 2 * orders >= len(steps) - orders


def _is_order(step: Sequence[str]) -> bool:
    """Whether a step begins with its verb: after it, names apart, comes no verb and no noun, as after a subject."""
    following = next((word for word in step[1:] if not word[0].isupper()), "")
    return bool(content_stems(" ".join(step[:1]))) and not content_stems(following)


def procedures_of(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Half-open ranges of units of each procedure, including any text between its steps.

    A procedure starts at step 1 and continues with the next number under the same label.
    """
    spans: list[tuple[int, int]] = []
    start, wanted, last = 0, None, 0
    for place, unit in enumerate(units):
        step = _step_of(unit)
        if step is not None and step == wanted:
            last = place
        elif step is not None and step[1] == 1:
            spans += [(start, _end_of_step(units, last))] if last > start else []
            start = last = place
        else:
            continue
        wanted = step[0], step[1] + 1
    return [*spans, (start, _end_of_step(units, last))] if last > start else spans


def _step_of(unit: Unit) -> tuple[str, int] | None:
    """The label and number of a step, "Step" or empty; None if the unit is not a step."""
    match = _STEP.match(unit.text) if unit.kind in {"sentence", "list_item"} else None
    if match is None or (unit.kind == "sentence" and match["name"] is None):
        return None
    return match["name"] or "", int(match["number"])


def _end_of_step(units: Sequence[Unit], place: int) -> int:
    """The end of a last step: after its paragraph, or after the list that it ends."""
    stop = place + 1
    while stop < len(units) and (units[stop].kind, units[stop].block) == (units[place].kind, units[place].block):
        stop += 1
    return stop


def most_steps(frame: Frame) -> int:
    """Longest procedure, in words, that is shown whole."""
    return LONG_STEPS_WORDS if frame in WAYS else STEPS_WORDS


async def choose_whole(generation: OpenGeneration, parts: Sequence[Part], frame: Frame) -> list[Run]:
    """The excerpts of `choose`, with all steps of the procedures that they touch.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    runs = await _with_whole_procedures(generation, choose(parts, frame), frame)
    if not runs or frame not in WAYS:
        return runs
    complete: list[Run] = []
    for run in runs:
        shown = frozenset[tuple[str, int]]().union(*(one.places for one in complete))
        if (left := _without(run, shown)) is not None:
            extended = await _with_what_follows(generation, left, frame)
            complete.append(extended if extended.places.isdisjoint(shown) else left)
    return complete


async def _with_what_follows(generation: OpenGeneration, run: Run, frame: Frame) -> Run:
    """Extend a run by the code that follows in its section, within `STEPS_WORDS`: a paragraph may introduce each block.

    Steps that follow in the same way are shown like any procedure.
    """
    section = await _section_around(generation, run)
    units, begin = section.units, _place_in(section, run)
    if begin is None or run.chunk.chunk_id == SELECTED or run.steps:
        return run
    stop = begin + len(run.units)

    for place in range(stop, len(units)):
        between = [at for at in range(stop, place) if not is_label(units, at)]
        if _words(units[begin:place]) > STEPS_WORDS or len({units[at].block for at in between}) > 1:
            break
        if _step_of(units[place]) is not None:
            return await _with_procedure(generation, section.part(begin, place + 1), frame)
        if units[place].kind == "code" and not units[place].is_drawn:
            stop = place + 1
    return section.part(begin, stop) if stop - begin > len(run.units) else run


def _without(run: Run, places: Collection[tuple[str, int]]) -> Run | None:
    """The rest of a run, from the first unit that is not at one of these places; None if there is none."""
    left = (at for at, unit in enumerate(run.units) if (run.chunk.filename, unit.char_start) not in places)
    start = next(left, None)
    return run.part(start, len(run.units)) if start else run if start == 0 else None


async def _with_whole_procedures(generation: OpenGeneration, runs: Sequence[Run], frame: Frame) -> list[Run]:
    """Complete the procedures that runs touch, from the first step, including steps that were not found."""
    complete: list[Run] = []
    for run in runs:
        steps = any(_step_of(unit) is not None for unit in run.units)
        whole_run = await _with_procedure(generation, run, frame) if steps and run.chunk.chunk_id != SELECTED else run
        if not any(whole_run.places <= other.places for other in complete):
            complete = [other for other in complete if not other.places <= whole_run.places] + [whole_run]
    return complete


async def _with_procedure(generation: OpenGeneration, run: Run, frame: Frame) -> Run:
    section = await _section_around(generation, run)
    units, found = section.units, {unit.char_start for unit in run.units}
    first = next((place for place, unit in enumerate(units) if unit.char_start in found), None)
    if first is None:
        return run
    stop = max(place for place, unit in enumerate(units) if unit.char_start in found) + 1
    for start, end in procedures_of(units):
        is_long = _words(units[start:end]) > most_steps(frame)
        if end <= first or stop <= start or (is_long and frame not in WAYS):
            continue
        is_announced = start > 0 and _announces(units[start - 1], units[start])
        first, stop = (start if is_long else min(first, start - is_announced)), max(stop, end)
    while stop - first > 1 and _words(units[first:stop]) > LONG_STEPS_WORDS:
        stop -= 1
    return section.part(first, stop)


async def _section_around(generation: OpenGeneration, run: Run) -> Run:
    """The whole section of a run, including text that was not found."""
    own = [chunk for chunk in await generation.section_chunks(run.chunk) if chunk.variant == run.chunk.variant]
    placed = {unit.char_start: unit for chunk in own for unit in chunk.units}
    scores = dict(zip((unit.char_start for unit in run.units), run.scores, strict=True))
    units = tuple(placed[start] for start in sorted(placed))
    return Run(run.chunk, units, tuple(scores.get(unit.char_start, -inf) for unit in units))


def _has_code(units: Sequence[Unit]) -> bool:
    return any(unit.kind == "code" and not unit.is_drawn for unit in units)


FORMS: Mapping[Frame, Callable[[Sequence[Unit]], bool]] = {"code": _has_code, "steps": is_procedure}
"""Whether units have the requested form, by frame."""


async def reading_sections(generation: OpenGeneration, passages: Sequence[ScoredPassage], most: int = 1) -> list[Run]:
    """The likeliest reading sections among the results, best first; they share no unit.

    A selection is read unchanged.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    scores: dict[tuple[str, int], float] = {}
    by_file: dict[str, set[tuple[str, tuple[str, ...], str, str]]] = {}
    candidates: list[Run] = []
    for item in passages:
        run = Run(item.chunk, item.chunk.units, tuple(item.scores.tolist()))
        if item.chunk.chunk_id == SELECTED:
            candidates.append(run)
            continue
        by_file.setdefault(item.chunk.filename, set()).add(section_of(item.chunk))
        for unit, score in zip(run.units, run.scores, strict=True):
            place = (item.chunk.filename, unit.char_start)
            scores[place] = max(score, scores.get(place, score))
    for filename, sections in by_file.items():
        chunks = await generation.chunks_of(filename)
        for section in sections:
            candidates += _cut_section([chunk for chunk in chunks if section_of(chunk) == section], scores)
    chosen: list[Run] = []
    for one in sorted((one for one in candidates if one.units), key=lambda one: (-one.score, one.key)):
        if len(chosen) < most and all(one.places.isdisjoint(other.places) for other in chosen):
            chosen.append(one)
    return chosen


async def sections_of_page(generation: OpenGeneration, filename: str, most: int) -> list[Run]:
    """The first reading sections of a page, in its order, cut as later questions will cut them.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    chunks = [chunk for chunk in await generation.chunks_of(filename) if chunk.role not in NEVER_AN_ANSWER]
    scores = {(filename, unit.char_start): 0.0 for chunk in chunks for unit in chunk.units}
    runs: list[Run] = []
    for section in dict.fromkeys(map(section_of, chunks)):
        runs += _cut_section([chunk for chunk in chunks if section_of(chunk) == section], scores)
    return runs[:most]


def _cut_section(chunks: Sequence[Chunk], scores: Mapping[tuple[str, int], float]) -> Iterator[Run]:
    """The reading sections of one section that contain a unit of the results."""
    owners: dict[int, tuple[Unit, Chunk]] = {}
    for chunk in chunks:
        for unit in chunk.units:
            owners.setdefault(unit.char_start, (unit, chunk))
    for units in cut([owners[place][0] for place in sorted(owners)]):
        own = tuple(scores.get((chunks[0].filename, unit.char_start), -inf) for unit in units)
        best = max(range(len(units)), key=own.__getitem__)
        if own[best] > -inf:
            yield Run(owners[units[best].char_start][1], units, own)


def cut(units: Sequence[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Cut the units of a section into runs of at most `READING_WORDS`; a longer atom forms its own run."""
    atoms = list(atoms_of(units))
    costs = [sum(map(_reading_words, units[begin:end])) for begin, end in atoms]
    start = 0
    while start < len(atoms):
        stop = start + 1
        while stop < len(atoms) and sum(costs[start : stop + 1]) <= READING_WORDS:
            stop += 1
        yield tuple(units[atoms[start][0] : atoms[stop - 1][1]])
        if stop == len(atoms):
            return
        # The last atom also starts the next run if both fit together.
        start = stop - 1 if stop - start > 1 and costs[stop - 1] + costs[stop] <= READING_WORDS else stop


def _reading_words(unit: Unit) -> int:
    code = len(unit.text) // CODE_CHARS_PER_WORD if unit.kind == "code" else 0
    return max(word_count(unit.text), code)
