"""Lets a teacher read a book's companion, approve, hide, correct and pin entries, and pin answers.

Decisions take effect at once, on every server of the catalogue that stores them. The text of an entry is changed only
there, never in the file beside the book, which belongs to its authors.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import msgspec

from lutrin import messages
from lutrin.errors import InvalidInput, NotFound
from lutrin.guest_ports import Companions
from lutrin.prepared import THE_TEACHER, Entry, Kind, PreparedEntry, State, id_of

Act = Literal["approve", "hide", "show", "pin", "unpin", "mend", "add", "cut", "list", "unlist", "undo"]
Proof = tuple[str, str]
"""Id of a passage, and its words that prove an answer; empty words: all of it."""
MOST_TOPIC = 500
"""Characters of a question that an answer is pinned to."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change that a teacher makes to an entry."""

    act: Act
    text: str = ""
    """For `mend`: the new text; key points one a line. For `add` and `cut`: a wording."""
    choices: str = ""
    """For `mend` of a quiz: one a line."""
    answer: int | None = None
    """For `mend` of a quiz: the place of the right choice, counted from 1."""


class EntryFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects the entries that a teacher wants to see."""

    kind: Kind | None = None
    state: State | None = None
    pinned: bool = False
    words: str = ""
    """Words that must all be in topic or text, ignoring case."""
    page: int = 1


class EntryList(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of a book, listed for a teacher."""

    title: str
    entries: Sequence[tuple[str, PreparedEntry]]
    """Ids and entries of one page."""
    total: int
    """Number of entries on all pages."""
    pages: int
    states: Mapping[str, int]
    """Number of entries of the whole companion in each state."""
    pinned: int
    touched: Collection[str]
    """Ids of the entries with a decision."""


ENTRIES_A_PAGE = 40
OWN_ACTS = frozenset({"mend", "add", "cut", "list", "unlist"})
"""Changes to more than an entry's state."""
MOST_WORDINGS = 40
"""Wordings of one answer, and as many that it does not answer."""


class Editor:
    """The companions of the books on a shelf, for editing by a teacher.

    Each call raises NotFound if there is no such book or entry.
    """

    def __init__(self, companions: Companions) -> None:
        self._companions = companions

    async def list_entries(self, slug: str, criteria: EntryFilter) -> EntryList:
        """The selected entries, in the order of the book."""
        touched = frozenset(await self._companions.decisions(slug))
        title, entries = await self._companions.companion(slug)
        matches = [(id_of(item.entry), item) for item in entries if _is_wanted(item.entry, criteria)]
        first = (max(criteria.page, 1) - 1) * ENTRIES_A_PAGE
        return EntryList(
            title=title,
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
            InvalidInput: The new text does not fit such an entry.
        """
        _, entries = await self._companions.companion(slug)
        item = next((one for one in entries if id_of(one.entry) == name), None)
        if item is None:
            raise NotFound(messages.NOTHING_HERE)
        if change.act == "undo":
            await self._companions.withdraw(slug, name)
            return
        before = (await self._companions.decisions(slug)).get(name)
        is_own = change.act in OWN_ACTS or (before is not None and before.is_own)
        entry = apply_change(item.entry, change, self._companions.key)
        asked_anew = change.act in {"add", "cut"}
        await self._companions.decide(slug, item, entry, is_own=is_own, asked_anew=asked_anew)

    async def approve(self, slug: str, names: Collection[str]) -> None:
        """Approve those of some entries that are still unreviewed; missing ones are skipped."""
        _, entries = await self._companions.companion(slug)
        for item in entries:
            name = id_of(item.entry)
            if name in names and item.entry.state == "proposed":
                await self.change(slug, name, Change(act="approve"))

    async def pinned_questions(self, slug: str) -> Sequence[str]:
        """The questions with a pinned answer."""
        return [question for item in await self._answers_of(slug) for question in item.asked]

    async def pinned_answers(self, slug: str) -> Sequence[tuple[str, Entry]]:
        """The pinned answers, with their ids."""
        pinned = [item.entry for item in await self._answers_of(slug) if item.entry.kind == "question"]
        return [(id_of(entry), entry) for entry in pinned]

    async def _answers_of(self, slug: str) -> Sequence[PreparedEntry]:
        _, entries = await self._companions.companion(slug)
        return [item for item in entries if item.entry.pinned and item.entry.state != "hidden"]

    async def pin_answer(
        self, slug: str, question: str, text: str, proofs: Sequence[Proof], *, listed: bool = False
    ) -> str:
        """Answer a question with this text from now on, and with these words of the book below it; return its id.

        Args:
            listed: Whether the question, which may be in a pupil's words, is offered to others.

        Raises:
            InvalidInput: Nothing in the book proves it, or it is too long.
        """
        entry = msgspec.structs.replace(
            await self._companions.quote(slug, proofs),
            topic=" ".join(question.split()),
            text=text.strip(),
            author=THE_TEACHER,
            state="approved",
            pinned=True,
            unlisted=not listed,
        )
        problem = entry.problem or (messages.LONG_QUESTION if len(entry.topic) > MOST_TOPIC else "")
        if problem:
            raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=problem))
        item = await self._companions.fit(slug, entry)
        await self._companions.decide(slug, item, item.entry, is_own=True, asked_anew=True)
        return id_of(item.entry)


def apply_change(entry: Entry, change: Change, key: Callable[[str], str]) -> Entry:
    """Apply a change to an entry; `key` is equal for questions with the same words.

    Raises:
        InvalidInput: The new text does not fit such an entry.
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
            return _apply_wording(entry, " ".join(change.text.split()), key, is_met=change.act == "add")
        case "list" | "unlist":
            return msgspec.structs.replace(entry, unlisted=change.act == "unlist")
        case "undo":
            return entry


def _apply_wording(entry: Entry, wording: str, key: Callable[[str], str], *, is_met: bool) -> Entry:
    """Let an answer match a wording, or never match it again; its own question always matches."""
    if entry.kind != "question" or not wording or len(wording) > MOST_TOPIC:
        raise InvalidInput(messages.WORDING_TOO_LONG.format(most=MOST_TOPIC))
    new, own = key(wording), key(entry.topic)
    if new == own and not is_met:
        raise InvalidInput(messages.WRITTEN_TO)
    met, unlike = ([one for one in group if key(one) != new] for group in (entry.aka, entry.unlike))
    if new != own:
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
    if mended.problem:
        raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=mended.problem))
    return mended


def _is_wanted(entry: Entry, criteria: EntryFilter) -> bool:
    text = " ".join((entry.topic, *entry.points, *entry.choices)).casefold()
    return (
        (criteria.kind is None or entry.kind == criteria.kind)
        and (criteria.state is None or entry.state == criteria.state)
        and (entry.pinned or not criteria.pinned)
        and all(word in text for word in criteria.words.casefold().split())
    )
