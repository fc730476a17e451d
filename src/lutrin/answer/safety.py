"""The tutor's duties.

Code and steps that move, charge, heat or open real hardware never appear without the book's own warning, and simulation
is never passed off as reality. Hazards are data: `hazards.toml`, plus a book's additions.
"""

import tomllib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import groupby

import msgspec

from lutrin import messages
from lutrin.answer.program import without_comments
from lutrin.answer.runs import Run, tells_to_act
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import topic_stems, words
from lutrin.records import SELECTED, Chunk, Unit
from lutrin.search.marked import marked_code
from lutrin.search.result import CONSIDERED, Part

ENDS = (".", "!", "?", ":", ";", ")")
"""A block whose units all lack these endings is a heading, not warning text."""


class Hazards(msgspec.Struct, frozen=True):
    """Code and words that mark hardware hazards; see `hazards.toml`."""

    code: tuple[str, ...]
    harmless: tuple[str, ...]
    describes: frozenset[str]
    words: frozenset[str]


@cache
def default_hazards() -> Hazards:
    """The hazards that ship with Lutrin."""
    text = resources.files("lutrin.answer").joinpath("hazards.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Hazards)


def hazards_of(generation: OpenGeneration) -> Hazards:
    """The hazards of a book: those that ship with Lutrin, and its additions."""
    base, added = default_hazards(), generation.book.hazards
    return msgspec.structs.replace(base, code=(*base.code, *added.code), words=base.words.union(added.words))


def without_other_machines(generation: OpenGeneration, parts: Sequence[Part]) -> list[Part]:
    """Drop code that moves a different machine from the one in the question.

    Of two sections with such code, the question means the one that contains all of its words that the other contains,
    and more, if that one is among the best: a program of the arm does not start the walking controller.
    """
    hazards = hazards_of(generation)
    return [_without_other_machines(part, hazards) for part in parts]


def _without_other_machines(part: Part, hazards: Hazards) -> Part:
    places = [(item.chunk.filename, item.chunk.heading_path) for item in part.passages]
    texts: dict[Hashable, str] = {}
    moving: set[Hashable] = set()
    for place, item in zip(places, part.passages, strict=True):
        texts[place] = f"{texts.get(place, '')} {item.chunk.embedded_text()}"
        if any(moves(item.chunk, unit, hazards) for unit in item.chunk.units):
            moving.add(place)
    question_stems = topic_stems(part.text)
    matches = {place: question_stems & topic_stems(texts[place]) for place in moving}
    best = moving.intersection(places[:CONSIDERED])
    other = {place for place in moving if any(matches[place] < matches[better] for better in best)}
    passages = [item for place, item in zip(places, part.passages, strict=True) if place not in other]
    return replace(part, passages=tuple(passages))


async def secure_runs(generation: OpenGeneration, runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Put the book's warnings before excerpts that need them, and drop hazardous code that has no warning.

    Returns the excerpts, warnings first, and notices for the reader.
    """
    hazards = hazards_of(generation)
    safe: list[Run] = []
    boxes: dict[tuple[str, int], Run] = {}
    notices: list[str] = []
    for excerpt in runs:
        if not (excerpt.steps or any(_runs(excerpt.chunk, unit, hazards) for unit in excerpt.units)):
            safe.append(excerpt)
            continue
        in_book = await _in_book(generation, excerpt)
        chunk = in_book.chunk
        same_file = [chunk] if chunk.chunk_id == SELECTED else await generation.chunks_of(chunk.filename)
        run = excerpt if in_book is not excerpt else _with_warnings_between(excerpt, same_file)
        moving = any(moves(chunk, unit, hazards) for unit in run.units)
        warned = moving or _names_hazard(run, hazards) or _is_warned_of(in_book, same_file, hazards)
        box = _warning_for(in_book, same_file, anywhere=moving) if warned else None
        if box is not None and not box.places <= run.places:
            boxes.setdefault((chunk.filename, box.units[0].char_start), box)
        elif box is None and moving:
            notices.append(messages.CODE_WITHHELD)
            safe += _without_code(run, hazards) or _announcing(in_book)
            continue
        elif box is None and warned:
            notices.append(messages.CAUTION)
        safe.append(run)
    first = [box for box in boxes.values() if not any(box.places <= run.places for run in safe)]
    return [*first, *safe], list(dict.fromkeys(notices))


async def _in_book(generation: OpenGeneration, run: Run) -> Run:
    """Locate a selection's code in the book, whose warnings govern it; return any other run unchanged."""
    codes = [unit for unit in run.units if unit.kind == "code"] if run.chunk.chunk_id == SELECTED else []
    for unit in codes:
        if (found := await marked_code(generation, unit.text)) is not None:
            home, code = found
            return Run(home, (code,), (0.0,))
    return run


def _with_warnings_between(run: Run, same_file: Sequence[Chunk]) -> Run:
    """Restore the book's warnings between the units of a run, which the search may have skipped."""
    start, stop = run.span
    starts = {unit.char_start for unit in run.units}
    between = {
        unit.char_start: unit
        for chunk in same_file
        for unit in chunk.units
        if unit.warning and start < unit.char_start < stop and unit.char_start not in starts
    }
    if not between:
        return run
    scored = [*zip(run.units, run.scores, strict=True), *((unit, min(run.scores)) for unit in between.values())]
    units, scores = zip(*sorted(scored, key=lambda pair: pair[0].char_start), strict=True)
    return replace(run, units=units, scores=scores)


def _without_code(run: Run, hazards: Hazards) -> list[Run]:
    """The parts of a run without code that moves something: the text around it."""
    stretches = groupby(range(len(run.units)), key=lambda place: moves(run.chunk, run.units[place], hazards))
    places = [list(group) for moving, group in stretches if not moving]
    return [run.part(group[0], group[-1] + 1) for group in places]


def _announcing(run: Run) -> list[Run]:
    """The sentence before code in its passage, by which a reader can find it; none if there is none."""
    told = (unit for unit in run.chunk.units if unit.kind != "code" and not unit.warning and unit.text.endswith(ENDS))
    before = [unit for unit in told if unit.char_start < run.units[0].char_start]
    return [Run(run.chunk, (before[-1],), (0.0,), cut_before=len(before) > 1, cut_after=True)] if before else []


def _runs(chunk: Chunk, unit: Unit, hazards: Hazards) -> bool:
    return unit.kind == "code" and unit.language.lower() not in hazards.describes and not chunk.is_simulation


def moves(chunk: Chunk, unit: Unit, hazards: Hazards) -> bool:
    """Whether a unit is code that moves a real machine when a reader runs it, judging by its names.

    Names in comments do not count: they run nothing.
    """

    def names(command: str, parts: Iterable[str]) -> bool:
        return any(part in command for part in parts)

    if not _runs(chunk, unit, hazards) or not names(unit.text.lower(), hazards.code):
        return False
    commands = without_comments(unit.text, unit.language).lower().replace("\\\n", " ").splitlines()
    return any(names(command, hazards.code) and not names(command, hazards.harmless) for command in commands)


def _names_hazard(run: Run, hazards: Hazards) -> bool:
    """Whether a procedure of the real world has imperative steps that name something hazardous."""
    steps = run.steps if not run.chunk.is_simulation else ()
    return any(word in hazards.words for unit in steps for word in words(unit.text.lower())) and tells_to_act(steps)


def _is_warned_of(run: Run, same_file: Sequence[Chunk], hazards: Hazards) -> bool:
    """Whether the book itself warns right before the code or the procedure, in its section.

    The announcement and other code may come in between.
    """
    section = {
        unit.char_start: unit
        for chunk in same_file
        if chunk.heading_key == run.chunk.heading_key
        for unit in chunk.units
    }
    for unit in run.units:
        if not (_runs(run.chunk, unit, hazards) or unit.kind == "list_item"):
            continue
        lead = unit.lead
        for start in sorted((start for start in section if start < unit.char_start), reverse=True):
            before = section[start]
            if before.warning:
                return True
            if before.kind == "code":
                lead = before.lead
            elif before.kind not in {"caption", unit.kind} and before.text != lead:
                break
    return any(unit.warning for unit in run.units)


def _warning_for(run: Run, same_file: Sequence[Chunk], *, anywhere: bool) -> Run | None:
    """The nearest warning before a run, or the first one after it, with its whole box.

    With `anywhere`, any warning of the file; otherwise one that governs the run's section: under its headings.
    """
    boxes: list[Run] = []
    seen: set[int] = set()
    for chunk in same_file:
        if not anywhere and chunk.heading_path != run.chunk.heading_path[: len(chunk.heading_path)]:
            continue
        for warns, group in groupby(chunk.units, key=lambda unit: unit.warning and unit.kind != "code"):
            box = tuple(group)
            if warns and box[0].char_start not in seen and any(one.text.rstrip().endswith(ENDS) for one in box):
                boxes.append(Run(chunk, box, (0.0,) * len(box)))
            seen.update(unit.char_start for unit in box if warns)
    boxes.sort(key=lambda box: box.units[0].char_start)
    before = [box for box in boxes if box.units[0].char_start <= run.units[0].char_start]
    return next(iter([*before[-1:], *boxes]), None)


def simulation_note(chunks: Iterable[Chunk]) -> str | None:
    """A sentence that separates simulated from real, if the answer's passages mix them."""
    titles: dict[bool | None, dict[str, None]] = {True: {}, False: {}, None: {}}
    for chunk in chunks:
        titles[chunk.is_simulation][chunk.section_title] = None
    simulated, real = ", ".join(titles[True]), ", ".join(titles[False])
    return messages.SIMULATION_MIXED.format(simulated=simulated, real=real) if simulated and real else None
