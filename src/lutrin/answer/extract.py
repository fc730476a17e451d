"""The extractive answer: the book's own sentences that answer this question, chosen and ordered.

It is what a reader gets first, what stands if the model is away or late, and what the model may build on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from lutrin.answer.fitting import fitting, is_within
from lutrin.answer.kinds import Form, QuestionKind
from lutrin.answer.lists import LONG_STEPS_WORDS, complete_lists, short_list, with_total
from lutrin.answer.quote import (
    Quote,
    cells_of,
    is_open,
    joined,
    merged,
    titled,
    with_formula,
    with_leaning,
)
from lutrin.answer.reasons import out_of_place
from lutrin.answer.steps import best_steps, drop_torn_steps, exceptions
from lutrin.answer.wanted import Wanted, defines, wanted
from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.search import Part
from lutrin.retrieve.words import content_stems, topic_stems, word_count

KEEP_SHARE = 0.82
KEEP_BY_KIND: dict[QuestionKind, float] = {"definition": 0.88, "compare": 0.80}
"""A unit is worth quoting if it scores at least this share of the best one. A definition is soon complete; of two
things that are compared, one mostly answers in better words than the other."""
DEFINED_SHARE = 0.95
"""The same where the best unit is the sentence that defines what is asked for: little is left to say."""
EXPLAIN_SHARE = 0.72
"""The same where selected code is explained: nothing near it is in the question's words."""
NEIGHBOUR_SHARE = 0.55
"""The same for a neighbour of a unit that is quoted: a paragraph that answers once mostly answers on."""
SIDE_SHARE = 0.6
"""The same for the best unit on a compared thing of which nothing else speaks."""
SIDE_WORDS = 40
"""What the other side of a comparison may add to the answer's words."""
NEIGHBOURS = (1, -1, 2, -2)
"""Places, from a quoted unit, of those that may join it; what follows explains more often than what stands before."""
WIDENED = 3
"""The best so many units bring their neighbours."""
WIDENED_SHARE = 0.9
"""As long as they score at least this share of the best: what stands beside a poor unit is further off."""
SAME_WORDS = 0.8
"""Two units with this share of content words in common say the same."""
CODE_SHARE, CODE_PASSAGES = 0.5, 3
"""Where code is asked for and none is chosen: share of the best score that it needs, and how many passages are looked
through for it."""
MAX_CODE = 2
"""Code blocks in one answer."""
SHOWS_CODE: frozenset[QuestionKind] = frozenset({"code", "steps", "other"})
"""Kinds of answer in which code may stand after the sentence that announces it."""
SHORT = 0.57
SHORT_SHARE = 0.7
"""As long as an answer has less than this share of its words, units from this share of the best score on are quoted."""
STEPS_BONUS = 0.12
"""For the numbered list that answers best as a whole, where a way is asked for."""
TEARS_NO_LIST: frozenset[QuestionKind] = frozenset({"steps", "other", "definition", "list", "why"})
"""Kinds of answer in which no step stands without the others; "Leave for 12 hours." is a number all the same."""
_DRAWN = frozenset({"mermaid", "plantuml", "dot", "graphviz"})
"""Languages of figures; their source is not an answer."""


def choose_parts(
    parts: Sequence[Part], *, budget_words: int, asked: str = "", typed: str = "", selected_text: str = "",
    form: Form | None = None,
) -> list[Quote]:  # fmt: skip
    """Choose for each thing that is asked, with an equal share of the words; no part repeats another.

    Args:
        parts: What was searched for, with what was found.
        budget_words: Words of the whole answer, code not counted.
        asked: What is asked, if something else was searched for.
        typed: What of it the reader typed; the rest completes it from the conversation.
        selected_text: What the reader has marked on the page, if the rest of the book may be quoted too.
        form: In which form the answer is wanted; None: as the question says.
    """
    quotes: list[Quote] = []
    firsts: list[Quote] = []
    alone = len(parts) == 1
    for number, part in enumerate(parts):
        wants = wanted(
            part.text, evidence=part.evidence, asked=asked if alone else "", typed=typed if alone else "",
            selected_text=selected_text, form=form,
        )  # fmt: skip
        widened = 1 if not alone or wants.kind == "number" else WIDENED
        # What one part leaves of its share is for those after it.
        left = budget_words - sum(word_count(quote.text) for quote in quotes)
        # What has been said answers another part; this one gets the next best.
        said = {(quote.chunk.chunk_id, unit.char_start) for quote in quotes for unit in quote.units}
        fresh = [item for item in part.evidence if (item.chunk.chunk_id, item.unit.char_start) not in said]
        chosen = choose(wants, fresh, budget_words=left // (len(parts) - number), widened=widened, alone=alone)
        quotes = [*(quote for quote in quotes if not is_within(quote, chosen, strictly=True)), *chosen]
        weakest_first = sorted(chosen, key=lambda quote: quote.score)
        sides = wants.kind == "compare"
        firsts += {quote.chunk.is_simulation if sides else None: quote for quote in weakest_first}.values()
    once = [quote for number, quote in enumerate(quotes) if not is_within(quote, quotes[:number])]
    return titled(fitting(merged(once), firsts, budget_words=budget_words))


def choose(
    wants: Wanted, evidence: Iterable[Evidence], *, budget_words: int, widened: int = WIDENED, alone: bool = True
) -> list[Quote]:
    """Choose what to quote.

    Args:
        wants: What the question wants.
        evidence: Units of the found passages, the best passage's first.
        budget_words: Words of the whole answer, code not counted.
        widened: How many of the best units bring their neighbours.
        alone: Whether nothing else is asked, whose words a completed list would take.

    Returns:
        Quotes, the one that answers best first; those of one passage stand together in the order of the book.
    """
    found = [item for item in evidence if item.unit.language not in _DRAWN]
    code = {item.place: item.score for item in found if item.unit.kind == "code"}
    steps = best_steps(found) if wants.asks_way else frozenset()
    lost = out_of_place(found) if wants.asks_reason else {}
    ranked = sorted(
        (
            (_worth(item, wants, code, in_steps=item.place in steps) - lost.get(item.place, 0.0), item)
            for item in found
            if wants.admits(item.unit)
        ),
        key=lambda pair: (-pair[0], pair[1].chunk.chunk_id, pair[1].position),
    )
    if not ranked:
        return []
    best = ranked[0][0]
    known = {item.place: score for score, item in ranked}
    is_complete = _is_complete(wants, ranked[0][1])
    floor = best * _keep_share(wants, ranked[0][1])
    low = floor if is_complete else min(floor, best * SHORT_SHARE)
    own_code = wants.kind == "code" or ranked[0][1].unit.kind == "code"
    taken = _Taken(budget_words, code_left=_code_blocks(wants, own_code=own_code))
    for score, item in ranked:
        if score < (low if taken.spent < budget_words * SHORT else floor) or taken.spent >= budget_words:
            break
        if item.unit.kind == "code" and not own_code:
            continue
        group = _with_context(item, wants, whole=item.place in steps)
        if taken.add(score, item.chunk, group) and item.place in steps and group:
            taken.add(score, item.chunk, exceptions(item.chunk, [place for place, _ in group], wants.topics))
        # What came as the neighbour of a better one has neighbours of its own.
        if item.place not in taken.units or score < best * WIDENED_SHARE:
            continue
        if taken.groups <= widened and not is_complete:
            _widen(taken, score, item, {key: other for key, other in known.items() if other >= best * NEIGHBOUR_SHARE})
    if wants.kind == "compare":
        _hear_both(taken, wants, [pair for pair in ranked if pair[0] >= best * SIDE_SHARE])
    if wants.kind == "code":
        _show_code(taken, wants, found, [pair for pair in ranked if pair[0] >= best * CODE_SHARE])
    if wants.kind == "steps":
        drop_torn_steps(taken.units, best * WIDENED_SHARE)
    added = complete_lists(taken.units, whole=wants.kind == "steps" or (alone and wants.kind in TEARS_NO_LIST))
    _drop_announcements(taken)
    return joined(taken.units.values(), added, first=found[0].chunk.chunk_id)


def _keep_share(wants: Wanted, best: Evidence) -> float:
    """From which share of the best score on a unit is quoted."""
    if wants.explains_code:
        return EXPLAIN_SHARE
    if wants.form:
        return KEEP_SHARE
    if _is_complete(wants, best):
        return DEFINED_SHARE
    return KEEP_BY_KIND.get(wants.kind, KEEP_SHARE)


def _is_complete(wants: Wanted, best: Evidence) -> bool:
    """Whether the best unit says all that is asked: a definition does, if nothing but the definition is wanted."""
    return wants.kind == "definition" and not wants.form and defines(best.chunk, best.unit, wants.topics, wants.head)


def _code_blocks(wants: Wanted, *, own_code: bool) -> int:
    """Code blocks that an answer may hold; where how to do it is asked, one that a sentence announces."""
    if wants.kind == "code":
        return MAX_CODE
    return int(own_code or wants.kind in SHOWS_CODE)


@dataclass(slots=True)
class _Taken:
    """What has been chosen so far."""

    budget_words: int
    code_left: int
    units: dict[tuple[str, int], tuple[float, Evidence]] = field(default_factory=dict)
    """By chunk and position."""
    said: list[frozenset[str]] = field(default_factory=list)
    spent: int = 0
    groups: int = 0

    def add(self, score: float, chunk: Chunk, group: Sequence[tuple[int, Unit]]) -> bool:
        """Take units that belong together, unless they are said already or too long; whether they were taken."""
        new = [(position, unit) for position, unit in group if (chunk.chunk_id, position) not in self.units]
        stems = frozenset().union(*(_said_by(unit) for _, unit in new))
        is_code = any(unit.kind == "code" for _, unit in new)
        cost = self._cost(chunk, new)
        if not new or (is_code and not self.code_left) or _repeats(stems, self.said):
            return False
        if self.units and self.spent + cost > self.budget_words:
            return False
        self.said.append(stems)
        self.spent += cost
        self.groups += 1
        self.code_left -= is_code
        for position, _ in new:
            item = Evidence(chunk=chunk, position=position, score=score)
            self.units[chunk.chunk_id, position] = (score, item)
        return True

    def _cost(self, chunk: Chunk, group: Sequence[tuple[int, Unit]]) -> int:
        """Words that units add to the answer; the lead of a table or list is paid for once."""
        begun = {chunk.units[position].block for name, position in self.units if name == chunk.chunk_id}
        lead = next(
            (unit.lead for _, unit in group if unit.lead and unit.block not in begun and unit.kind != "code"), ""
        )
        return word_count(lead) + sum(word_count(unit.text) for _, unit in group if unit.kind != "code")


def _widen(taken: _Taken, score: float, item: Evidence, known: dict[tuple[str, int], float]) -> None:
    """Let the neighbours of a quoted sentence or item join it: causes, conditions and consequences stand there."""
    units, groups = item.chunk.units, taken.groups
    for step in NEIGHBOURS:
        position = item.position + step
        if not 0 <= position < len(units) or (item.chunk.chunk_id, position) not in known:
            continue
        unit = units[position]
        if unit.kind in {"sentence", "list_item"} and (unit.kind, unit.block) == (item.unit.kind, item.unit.block):
            taken.add(min(score, known[item.chunk.chunk_id, position]), item.chunk, [(position, unit)])
    # Neighbours are not counted among the best.
    taken.groups = groups


def _show_code(
    taken: _Taken, wants: Wanted, found: Sequence[Evidence], ranked: Sequence[tuple[float, Evidence]]
) -> None:
    """Where code is asked for and none was chosen: the best of a passage that is quoted, else of the first ones."""
    if any(item.unit.kind == "code" for _, item in taken.units.values()):
        return
    quoted = {name for name, _ in taken.units}
    first = [*dict.fromkeys(item.chunk.chunk_id for item in found)][:CODE_PASSAGES]
    for names in (quoted, first):
        for score, item in ranked:
            if item.unit.kind == "code" and item.chunk.chunk_id in names:
                taken.add(score, item.chunk, _with_context(item, wants))
                return


def _hear_both(taken: _Taken, wants: Wanted, ranked: Sequence[tuple[float, Evidence]]) -> None:
    """Add the best unit on each compared thing of which nothing quoted speaks, by its words or its headings.

    Where all that is quoted is on simulation, or all on real hardware, the other side is heard, too.
    """
    taken.budget_words += SIDE_WORDS

    def hear(speaks: Callable[[Evidence], bool]) -> None:
        if not any(speaks(item) for _, item in taken.units.values()):
            for score, item in [pair for pair in ranked if speaks(pair[1])][:1]:
                taken.add(score, item.chunk, _with_context(item, wants))

    for topic in sorted(wants.topics):
        hear(lambda item, topic=topic: topic in _subject(item))  # type: ignore[misc]  # a default binds the loop's value
    for world in {item.chunk.is_simulation for _, item in taken.units.values()} - {None}:
        hear(lambda item, world=world: item.chunk.is_simulation is (not world))  # type: ignore[misc]  # likewise


def _subject(item: Evidence) -> frozenset[str]:
    """What a unit speaks of."""
    return topic_stems(" ".join((*item.chunk.heading_path, item.unit.text)))


def _drop_announcements(taken: _Taken) -> None:
    """Take out sentences that announce what does not come, unless nothing else is left."""
    for (name, position), (_, item) in list(taken.units.items()):
        announces = item.unit.kind == "sentence" and (
            item.unit.text.endswith(":") or is_open(item.chunk.units, position)
        )
        if announces and (name, position + 1) not in taken.units and len(taken.units) > 1:
            del taken.units[name, position]


def _worth(item: Evidence, wants: Wanted, code: Mapping[tuple[str, int], float], *, in_steps: bool) -> float:
    """A unit's score by match and form.

    Where a way is asked for, one that announces code is worth as much as that, and a step as much as all steps.
    """
    place = _announced(item, wants) if wants.kind == "steps" else None
    score = max(item.score, code.get(place, 0.0)) if place else item.score
    score = max(score, item.whole) + STEPS_BONUS if in_steps else score
    return score + wants.bonus(item.chunk, item.unit)


def _announced(item: Evidence, wants: Wanted) -> tuple[str, int] | None:
    """Where the code stands that a sentence announces, if the answer may show it."""
    after = item.position + 1
    code = item.chunk.units[after : after + 1]
    announces = wants.kind in SHOWS_CODE and bool(code) and code[0].kind == "code" and code[0].lead == item.unit.text
    return (item.chunk.chunk_id, after) if announces and code[0].language not in _DRAWN else None


def _with_context(item: Evidence, wants: Wanted, *, whole: bool = False) -> list[tuple[int, Unit]]:
    """The unit with what it needs to be understood; nothing if that cannot be had.

    A caption stands back for its table. A sentence brings the one that it leans on; one that announces a list brings
    the list, or the code where code or a way to do something is asked for; one that runs into a formula brings the
    formula, and is brought by it; an item brings the rest of its list where a list is asked for, a row that of a table
    which compares what is.
    """
    units = item.chunk.units
    unit = item.unit
    if whole or wants.is_procedure(item.chunk, unit):
        return short_list(units, item.position, most=LONG_STEPS_WORDS) or [(item.position, unit)]
    asks_list = wants.kind in {"list", "steps"} and bool(wants.topics & topic_stems(unit.lead))
    if unit.kind == "list_item" and asks_list:
        return short_list(units, item.position) or [(item.position, unit)]
    if unit.kind == "table_row" and wants.kind == "compare" and _compares(unit.lead, wants.topics):
        return short_list(units, item.position) or [(item.position, unit)]
    if (
        unit.kind == "table_row"
        and wants.kind == "number"
        and (summed := with_total(units, item.position, wants.topics))
    ):
        return summed
    beside = [place for place in (item.position + 1, item.position - 1) if 0 <= place < len(units)]
    rows = [place for place in beside if units[place].kind == "table_row"]
    if unit.kind == "caption" and rows:
        return short_list(units, rows[0])
    if formula := with_formula(units, item.position):
        return formula
    after = item.position + 1
    if _announced(item, wants):
        return [(item.position, unit), (after, units[after])]
    if unit.kind == "sentence" and unit.text.endswith(":"):
        has_list = after < len(units) and units[after].kind == "list_item"
        return short_list(units, after) if has_list else []
    return with_leaning(units, item.position)


def _compares(header: str, topics: AbstractSet[str]) -> bool:
    """Whether two columns of a table, besides the first, are headed by what is asked about."""
    cells = cells_of(header.partition("\n")[0])[1:]
    return sum(bool(topics & topic_stems(cell)) for cell in cells) > 1


def _said_by(unit: Unit) -> frozenset[str]:
    """What a unit says, as what may be compared: words, of a row with the column of each."""
    if unit.kind != "table_row":
        return frozenset(content_stems(unit.text))
    return frozenset(
        f"{column}: {stem}" for column, cell in enumerate(cells_of(unit.text)) for stem in content_stems(cell)
    )


def _repeats(stems: frozenset[str], said: Iterable[frozenset[str]]) -> bool:
    """Whether a unit says what another has said."""
    return any(stems and len(stems & other) / len(stems) >= SAME_WORDS for other in said)
