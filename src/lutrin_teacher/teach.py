"""Lets a teacher read a book's companion, approve, hide, correct and pin entries, and pin answers.

Decisions are kept in the catalogue (`lutrin.index.decisions`) and hold at once, for every server on it. The text of an
entry is changed only in the catalogue, never in the file beside the book: that is its authors'.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from lutrin import messages
from lutrin.errors import InvalidInput, NotFound
from lutrin.index import companion, decisions
from lutrin.index.catalog import Catalog
from lutrin.index.decisions import StoredDecision
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ingest.companion_file import Fitting, MisfitError, problem_of
from lutrin.ports import Embedder
from lutrin.prepared import THE_TEACHER, Decision, Entry, Kind, PreparedEntry, State, id_of
from lutrin.query.understand import normalize

Act = Literal["approve", "hide", "show", "pin", "unpin", "mend", "add", "cut", "list", "unlist", "undo"]
T = TypeVar("T")
Proof = tuple[str, str]
"""Id of a passage, and its words that prove an answer; empty words: all of it."""
MOST_TOPIC = 500
"""Characters of a question that an answer is pinned to."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change that a teacher makes to an entry."""

    act: Act
    text: str = ""
    """Of `mend`: the new text, of key points one a line. Of `add` and `cut`: a wording."""
    choices: str = ""
    """Of `mend`, for a quiz: one a line."""
    answer: int | None = None
    """Of `mend`, for a quiz: the place of the right choice, counted from 1."""


class EntryFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries a teacher wants to see."""

    kind: Kind | None = None
    state: State | None = None
    pinned: bool = False
    words: str = ""
    """All of them stand in topic or text, in any case of letters."""
    page: int = 1


class EntryList(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of a book, listed for a teacher."""

    title: str
    entries: Sequence[tuple[str, PreparedEntry]]
    """Ids and entries of one page."""
    total: int
    """How many there are on all pages."""
    pages: int
    states: Mapping[str, int]
    """How many entries of the whole companion are in which state."""
    pinned: int
    touched: Collection[str]
    """Ids of the entries about which something was decided."""


ENTRIES_A_PAGE = 40
OWN_ACTS = frozenset({"mend", "add", "cut", "list", "unlist"})
"""What changes more of an entry than its state."""
MOST_WORDINGS = 40
"""Of one answer, and as many that it does not answer."""


class Companions:
    """The companions of the books on a shelf, as a teacher works on them.

    Each call raises NotFound if there is no such book or entry.
    """

    def __init__(self, shelf: Shelf, catalog_path: Path, embedder: Embedder, now: Callable[[], datetime]) -> None:
        self._shelf = shelf
        self._catalog_path = catalog_path
        self._embedder = embedder
        self._now = now

    async def list_entries(self, slug: str, criteria: EntryFilter) -> EntryList:
        """The entries that a teacher wants to see, in the order of the book."""
        touched = frozenset(await self._decisions(slug))
        async with self._shelf.lease(slug) as generation:
            entries = generation.companion.entries
            matches = [(id_of(item.entry), item) for item in entries if _is_wanted(item.entry, criteria)]
            first = (max(criteria.page, 1) - 1) * ENTRIES_A_PAGE
            return EntryList(
                title=generation.book.title,
                entries=matches[first : first + ENTRIES_A_PAGE],
                total=len(matches),
                pages=max(1, -(-len(matches) // ENTRIES_A_PAGE)),
                states=Counter(item.entry.state for item in entries),
                pinned=sum(item.entry.pinned for item in entries),
                touched=touched,
            )

    async def change(self, slug: str, name: str, change: Change) -> None:
        """Apply a teacher's change to an entry, for every later answer and page.

        Raises:
            InvalidInput: The new text cannot be that of such an entry.
        """
        async with self._shelf.lease(slug) as generation:
            item = generation.companion.find(name)
        if item is None:
            raise NotFound(messages.NOTHING_HERE)
        if change.act == "undo":
            await self._in_catalog(lambda catalog: decisions.withdraw(catalog, slug, name))
            await self._shelf.refresh()
            return
        before = (await self._decisions(slug)).get(name)
        is_own = change.act in OWN_ACTS or (before is not None and before.decision.is_own)
        entry = apply_change(item.entry, change)
        embedded = (before.embedder, before.wordings) if before is not None else ("", ())
        if change.act in {"add", "cut"}:
            item = msgspec.structs.replace(item, asked=companion.wordings(entry))
            encoded = await companion.encoded_texts(item.asked, self._embedder)
            embedded = (self._embedder.name, tuple(encoded))
        decision = Decision(item=msgspec.structs.replace(item, entry=entry), is_own=is_own)
        await self._keep(slug, name, StoredDecision(decision, *embedded))

    async def approve(self, slug: str, names: Collection[str]) -> None:
        """Approve those of some entries that nobody has read yet; one that is gone is left out."""
        async with self._shelf.lease(slug) as generation:
            entries = [(id_of(item.entry), item) for item in generation.companion.entries]
        for name, item in entries:
            if name in names and item.entry.state == "proposed":
                await self.change(slug, name, Change(act="approve"))

    async def pinned_questions(self, slug: str) -> Sequence[str]:
        """The questions to which an answer is pinned."""
        async with self._shelf.lease(slug) as generation:
            return [question for item in generation.companion.pinned_entries for question in item.asked]

    async def pinned_answers(self, slug: str) -> Sequence[tuple[str, Entry]]:
        """The answers that are pinned to questions, with their ids."""
        async with self._shelf.lease(slug) as generation:
            pinned = [item.entry for item in generation.companion.pinned_entries if item.entry.kind == "question"]
            return [(id_of(entry), entry) for entry in pinned]

    async def pin_answer(
        self, slug: str, question: str, text: str, proofs: Sequence[Proof], *, listed: bool = False
    ) -> str:
        """From now on, answer a question with this text and, below it, these words of the book; return its id.

        Args:
            listed: Whether the question, which may stand in a pupil's words, is offered to others.

        Raises:
            InvalidInput: Nothing of the book proves it, or it is too long.
        """
        async with self._shelf.lease(slug) as generation:
            item = await _fit(generation, " ".join(question.split()), text.strip(), proofs, listed=listed)
            wordings = await companion.encoded_texts(item.asked, self._embedder)
        decided = StoredDecision(Decision(item=item, is_own=True), self._embedder.name, tuple(wordings))
        name = id_of(item.entry)
        await self._keep(slug, name, decided)
        return name

    async def _keep(self, slug: str, name: str, decided: StoredDecision) -> None:
        when = self._now().isoformat()
        await self._in_catalog(lambda catalog: decisions.decide(catalog, slug, name, decided, when=when))
        await self._shelf.refresh()

    async def _decisions(self, slug: str) -> dict[str, StoredDecision]:
        """What was decided about the entries of a book, by their ids."""
        rows = await self._in_catalog(lambda catalog: decisions.decisions(catalog, slug))
        return {id_of(one.decision.item.entry): one for one in rows}

    async def _in_catalog(self, work: Callable[[Catalog], T]) -> T:
        def run() -> T:
            with Catalog(self._catalog_path) as catalog:
                return work(catalog)

        return await asyncio.to_thread(run)


def apply_change(entry: Entry, change: Change) -> Entry:
    """Apply a change to an entry.

    Raises:
        InvalidInput: The new text cannot be that of such an entry.
    """
    match change.act:
        case "approve" | "show":
            return msgspec.structs.replace(entry, state="approved")
        case "hide":
            return msgspec.structs.replace(entry, state="hidden", pinned=False)
        case "pin":
            return msgspec.structs.replace(entry, state="approved", pinned=True)
        case "unpin":
            return msgspec.structs.replace(entry, pinned=False)
        case "mend":
            return _apply_edit(entry, change)
        case "add" | "cut":
            return _apply_wording(entry, " ".join(change.text.split()), is_met=change.act == "add")
        case "list" | "unlist":
            return msgspec.structs.replace(entry, unlisted=change.act == "unlist")
        case "undo":
            return entry


def _apply_wording(entry: Entry, wording: str, *, is_met: bool) -> Entry:
    """Let an answer be met in a wording, or never again in it; the question that it was written to always meets it."""
    if entry.kind != "question" or not wording or len(wording) > MOST_TOPIC:
        raise InvalidInput(messages.WORDING_TOO_LONG.format(most=MOST_TOPIC))
    key = normalize(wording)
    if key == normalize(entry.topic) and not is_met:
        raise InvalidInput(messages.WRITTEN_TO)
    met, unlike = ([one for one in group if normalize(one) != key] for group in (entry.aka, entry.unlike))
    if key != normalize(entry.topic):
        (met if is_met else unlike).append(wording)
    return msgspec.structs.replace(entry, aka=tuple(met[-MOST_WORDINGS:]), unlike=tuple(unlike[-MOST_WORDINGS:]))


def _apply_edit(entry: Entry, change: Change) -> Entry:
    lines = tuple(line.strip() for line in change.text.splitlines() if line.strip())
    mended = msgspec.structs.replace(
        entry,
        text=lines if entry.kind == "keypoints" else change.text.strip(),
        choices=tuple(line.strip() for line in change.choices.splitlines() if line.strip()),
        answer=change.answer - 1 if change.answer is not None else None,
        author=THE_TEACHER,
        state="approved",
    )
    if problem := problem_of(mended):
        raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=problem))
    return mended


async def _fit(
    generation: OpenGeneration, question: str, text: str, proofs: Sequence[Proof], *, listed: bool
) -> PreparedEntry:
    """An answer as an entry, with its places in the book; something of the book must prove it."""
    chunks = {chunk.chunk_id: chunk for chunk in await generation.chunks([name for name, _ in proofs])}
    if not chunks:
        raise InvalidInput(messages.NOTHING_TO_PIN)
    home = chunks[next(name for name, _ in proofs if name in chunks)]
    source = await generation.source(home.filename)
    entry = Entry(
        kind="question",
        file=home.filename,
        heading=home.section_title,
        anchor=home.anchor,
        topic=question,
        text=text,
        quotes=tuple(
            words or source[chunks[name].char_start : chunks[name].char_end]
            for name, words in proofs
            if name in chunks and chunks[name].filename == home.filename
        ),
        author=THE_TEACHER,
        state="approved",
        pinned=True,
        unlisted=not listed,
    )
    problem = problem_of(entry) or (messages.LONG_QUESTION if len(question) > MOST_TOPIC else "")
    if problem:
        raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=problem))
    try:
        return Fitting({home.filename: (source, await generation.chunks_of(home.filename))}.get, [home.filename]).fit(
            entry, draft=True
        )
    except MisfitError as misfit:
        raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=misfit)) from misfit


def _is_wanted(entry: Entry, criteria: EntryFilter) -> bool:
    text = " ".join((entry.topic, *entry.points, *entry.choices)).casefold()
    return (
        (criteria.kind is None or entry.kind == criteria.kind)
        and (criteria.state is None or entry.state == criteria.state)
        and (entry.pinned or not criteria.pinned)
        and all(word in text for word in criteria.words.casefold().split())
    )
