"""Explains a selected block of code line by line, from its comments and from what the book says about its names.

The book's text on a name is the unit that answers "What is ...?" best, among those that contain the name and are not
code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import msgspec
import numpy as np

from lutrin import messages
from lutrin.answer.evidence import Evidence
from lutrin.answer.plan import Plan, quote_runs
from lutrin.answer.program import Statement, statements_of
from lutrin.answer.render import citation, table
from lutrin.answer.runs import PASSAGES, Run, announced, whole
from lutrin.index.generation import OpenGeneration
from lutrin.ports import likeness
from lutrin.query.conversation import refers
from lutrin.query.understand import Query, alone
from lutrin.records import NEVER_AN_ANSWER, Chunk, Question, Sentence, Unit
from lutrin.search.fits import load_fit
from lutrin.search.marked import marked_code
from lutrin.search.result import Part, chance_of
from lutrin.search.search import Searcher

MOST_CODE_CHARS = 16_000
"""Characters of a block to explain: as many as a selection may have."""
MOST_NEAREST = 3
"""Examples of each kind to compare a question with."""
MOST_ROWS = 40
"""Rows of a listing that a reader will still read."""
MOST_NAMES = 12
"""Names to look up, in the order of the code; each costs a search without the cross-encoder."""
MOST_STATED = 8
"""Names whose text is shown; each becomes a source."""
MOST_MEANINGLESS = 2
"""Least letters of a name to look up: `x` is everywhere."""
MOST_HOLDING = 8
"""Passages in which a name is looked for before the book is searched."""
_NUMBERED = re.compile(r"^\d+[.)] ")


class Wishes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The examples: questions that readers ask about selected code."""

    whole: tuple[str, ...]
    """Questions about how it works."""
    one: tuple[str, ...]
    """Questions about one thing in it."""


@cache
def load_wishes() -> Wishes:
    """The examples that ship with Lutrin."""
    return load_fit("lutrin.answer", "listing.json", Wishes)


async def wants_listing(searcher: Searcher, query: Query) -> bool:
    """Whether the nearest examples ask how the selection works, rather than about one thing in it."""
    wishes = load_wishes()
    cosines = await likeness(searcher.encode, query.typed, [*wishes.whole, *wishes.one])
    count = len(wishes.whole)
    of_all, of_one = (np.sort(own)[-MOST_NEAREST:].mean() for own in (cosines[:count], cosines[count:]))
    return bool(of_all > of_one)


@dataclass(slots=True)
class _Row:
    """Adjacent statements, and the text about them."""

    statements: list[Statement]
    sayings: list[str]

    @property
    def is_open(self) -> bool:
        """Whether a statement without text joins this row: it does if the row's comment stands above it."""
        first = self.statements[0]
        return not self.sayings or first.last > first.first == self.statements[-1].first

    def cells(self) -> list[str]:
        """Line numbers, code and text."""
        first, last = self.statements[0].first, self.statements[-1].last
        code = next((one.code for one in self.statements if one.code), "")
        more = " …" if sum(bool(one.code) for one in self.statements) > 1 else ""
        number = str(first) if first == last else f"{first}\u2013{last}"
        return [number, f"{_in_code(code)}{more}" if code else "", " ".join(self.sayings)]


def _in_code(text: str) -> str:
    """Format code within a line of Markdown."""
    mark = "`" * (1 + max((len(one) for one in re.findall(r"`+", text)), default=0))
    return f"{mark}{text}{mark}" if len(mark) == 1 else f"{mark} {text} {mark}"


def rows_of(statements: Sequence[Statement], stated: Mapping[str, str]) -> list[list[str]]:
    """The rows of a listing: line numbers, code, and the text of comments and book.

    Args:
        statements: In order.
        stated: The book's text on a name, with its marker; used once, at the first occurrence of the name.
    """
    rows: list[_Row] = []
    left = dict(stated)
    for one in statements:
        sayings = [
            *(f"\u201c{comment}\u201d" for comment in one.comments),
            *(left.pop(name.text) for name in one.names if name.text in left),
        ]
        goes_on = rows and rows[-1].is_open and rows[-1].statements[-1].last + 1 == one.first
        if goes_on and not sayings and one.code:
            rows[-1].statements.append(one)
        else:
            rows.append(_Row([one], sayings))
    return [row.cells() for row in rows]


@dataclass(frozen=True, slots=True)
class Saying:
    """The book's text on a name."""

    run: Run
    """Excerpt of one unit."""
    chance: float
    """Probability that its passage answers what the name is."""

    def text(self, number: int) -> str:
        """The text in a row, with its marker."""
        return f"{_NUMBERED.sub('', ' '.join(self.run.units[0].text.split()))} [{number}]"


async def sayings_of(
    searcher: Searcher, generation: OpenGeneration, names: Mapping[str, bool], shown: set[tuple[str, int]]
) -> dict[str, Saying]:
    """Look up names in the book; skip those that it does not explain.

    Args:
        searcher: Ranks what is found.
        generation: The book.
        names: In order, with whether the code calls each.
        shown: File and start of the units that are shown anyway.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    known: list[str] = []
    for name in names:
        near = await generation.matching_chunks(name, MOST_HOLDING)
        if len(known) < MOST_NAMES and any([await _having(generation, chunk, name) for chunk in near]):
            known.append(name)
    if not known:
        return {}
    texts = tuple(f"What does {name} do?" if names[name] else f"What is {name}?" for name in known)
    query = replace(alone(Question(text=texts[0], book=generation.book.slug)), parts=texts)
    result = await searcher.search([generation], query, k=1, again=False)
    found: dict[str, Saying] = {}
    taken = set(shown)
    for name, part in zip(known, result.parts, strict=True):
        saying = await _best_of(searcher, generation, name, part) if part.verdict == "answers" else None
        if saying is not None and saying.run.places.isdisjoint(taken) and len(found) < MOST_STATED:
            found[name] = saying
            taken |= saying.run.places
    return found


async def _best_of(searcher: Searcher, generation: OpenGeneration, name: str, part: Part) -> Saying | None:
    """The unit that answers best among those that contain a name."""
    best: Saying | None = None
    for item in part.passages[:PASSAGES]:
        for place in await _having(generation, item.chunk, name):
            score = float(item.scores[place])
            if best is None or score > best.run.score:
                run = Run(item.chunk, (item.chunk.units[place],), (score,))
                best = Saying(run, chance_of(item.score, searcher.embedder.reading))
    return best


async def _having(generation: OpenGeneration, chunk: Chunk, name: str) -> list[int]:
    """Indices of a passage's units that can stand alone and contain a name; `Node` also matches *node*.

    A plain word occurs in any text; set off by markup (`tick`, **tick**), it is the name.
    """
    if chunk.role in NEVER_AN_ANSWER:
        return []
    forms = "|".join(map(re.escape, {name, name.lower()} if name.istitle() else {name}))
    pattern = re.compile(rf"(?<!\w)(?:{forms})(?!\w)")
    if name.isalpha() and (name.islower() or name.istitle()):
        pattern = re.compile(rf"(?<=[`*_/.:])(?:{forms})(?=[`*_/.:(])")
    source = await generation.source(chunk.filename)
    return [
        place
        for place, unit in enumerate(chunk.units)
        if unit.kind != "code"
        and not (unit.asks or unit.warning or unit.text.endswith(":") or refers(unit.text))
        and pattern.search(source, unit.char_start, unit.char_end)
    ]


async def listing_plan(
    searcher: Searcher, generations: Sequence[OpenGeneration], query: Query, *, sections: int
) -> Plan | None:
    """The answer on selected code: the book's warning, the announcement of the code, and the code line by line.

    None if no code is selected or the question asks something else, if the book has no warning for code that moves a
    machine, or if there is no text on any line.

    Args:
        searcher: Ranks what is found.
        generations: The books.
        query: The question.
        sections: Reading sections that a model is shown; 0 without a model.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    for generation in generations if query.selected_text else ():
        marked = await marked_code(generation, query.selected_text)
        if marked is not None and await wants_listing(searcher, query):
            return await _listing_of(searcher, generation, query, *marked, sections=sections)
    return None


async def _listing_of(
    searcher: Searcher, generation: OpenGeneration, query: Query, home: Chunk, code: Unit, *, sections: int
) -> Plan | None:
    """The passage and code block that contain the selected lines."""
    query = replace(query, topic="", parts=("",), frame="plain", leans=True)
    result = await searcher.search([generation], query, k=1)
    found = Evidence(query, result)
    page = await generation.chunks_of(home.filename)
    is_alone = query.mode == "selection"
    run = whole(result.parts[0].passages[0].chunk) if is_alone else announced(page, home, code)
    plan = await quote_runs(found, [run], result.parts[:1], sections)
    if messages.CODE_WITHHELD in plan.warnings or len(code.text) > MOST_CODE_CHARS:
        return None
    return await _with_lines(searcher, generation, plan, code, _language_of(page, code))


def _language_of(page: Sequence[Chunk], code: Unit) -> str:
    """The language of a block of code: from its fence, else the nearest one named on its page."""
    codes = [unit for chunk in page for unit in chunk.units if unit.language]
    nearest = min(codes, key=lambda unit: abs(unit.char_start - code.char_start), default=code)
    return code.language or nearest.language


async def _with_lines(
    searcher: Searcher, generation: OpenGeneration, plan: Plan, code: Unit, language: str
) -> Plan | None:
    selected = plan.query.selected_text
    is_part = " ".join(selected.split()) in " ".join(code.text.split())
    statements = statements_of(selected if is_part else code.text, language)
    own = {name.text for one in statements_of(code.text, language) for name in one.names if name.is_own}
    used = [name for one in statements for name in one.names if sum(map(str.isalpha, name.text)) > MOST_MEANINGLESS]
    names = {name.text: name.is_called for name in used if name.text.partition(".")[0] not in own}
    shown = set[tuple[str, int]]().union(*(run.places for run in plan.runs))
    is_alone = plan.query.mode == "selection"
    found = {} if is_alone else await sayings_of(searcher, generation, names, shown)
    sources = list(plan.sources)
    stated: dict[str, str] = {}
    for name, saying in found.items():
        chunk = saying.run.chunk
        source = await generation.source(chunk.filename)
        sources.append(citation(saying.run, len(sources) + 1, source, {chunk.chunk_id: saying.chance}))
        stated[name] = saying.text(len(sources))
    rows = rows_of(statements, stated)
    if not any(cells[-1] for cells in rows):
        return None
    lead = [Sentence(text=said, citations=(number,)) for said, number in plan.guards]
    lead += _announcements(plan)
    # The names' sources are marked in the rows.
    lead.append(Sentence(text=table(messages.LISTING, rows[:MOST_ROWS]), citations=(len(plan.sources),)))
    text = "\n\n".join([*plan.notices, plan.text])
    procedural = any(run.steps for run in plan.runs)
    return replace(plan, text=text, lead=tuple(lead), rest="", sources=tuple(sources), procedural=procedural)


def _announcements(plan: Plan) -> Iterator[Sentence]:
    """The book's sentences right before the code, which is the last block of an excerpt."""
    guards = " ".join(text for text, _ in plan.guards)
    for number, run in enumerate(plan.runs, 1):
        told = [unit for unit in run.units if unit.kind == "sentence" and not unit.warning and unit.text not in guards]
        if any(unit.kind == "code" for unit in run.units) and told:
            yield Sentence(text=" ".join(unit.text for unit in told), citations=(number,))
