"""The conversations of all readers, encrypted at rest: implements `ports.ChatStore`.

`ChatTables` works on the tables of any database; `SqlChatStore` keeps them in an encrypted file. A row has the columns
of `tables.py` as its attributes, whichever driver read it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from lutrin import records, sqlite
from lutrin.chats import sql
from lutrin.chats.engine import Database, Execute, SqlCipher, Values, migrate
from lutrin.chats.key import Seal
from lutrin.chats.tally import AssignmentTables
from lutrin.errors import ChatStoreError, ChatStoreFull, NotFound
from lutrin.messages import CONVERSATION, CONVERSATION_FULL, NOTHING_HERE, READER_FULL, SPEAKERS
from lutrin.records import OF_CONTENTS, AskedQuestion, Certainty, ChatMessage, ChatOrigin, ChatSession
from lutrin.settings import Settings

TITLE_CHARS = 80
USER_AGENT_CHARS = 300


class StoredParts(records.AnswerParts, frozen=True, kw_only=True, omit_defaults=True):
    """The stored form of an answer's parts."""


_shown = msgspec.json.Decoder(StoredParts)
_citations = msgspec.json.Decoder(tuple[records.Citation, ...])
_ids = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Room:
    """Limits on stored data."""

    conversation_bytes: int
    """Most bytes in one conversation."""
    reader_bytes: int
    """Most bytes in all conversations of one browser."""

    @classmethod
    def of(cls, settings: Settings) -> "Room":
        """Return the limits of the settings."""
        return cls(settings.conversation_kb << 10, settings.reader_kb << 10)


def iso(moment: datetime) -> str:
    """Format a time in ISO 8601, UTC, always with microseconds, so that the texts sort like the times."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def title_of(messages: Sequence[records.ChatMessage]) -> str:
    """Return the beginning of the first question, cut between words."""
    text = " ".join(next((message.text for message in messages if message.role == "user"), "").split())
    if len(text) <= TITLE_CHARS:
        return text
    return text[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def new_session(
    key: str, origin: records.ChatOrigin, messages: Sequence[records.ChatMessage], now: datetime, seal: Seal
) -> dict[str, str | int]:
    """Return the columns of a new conversation."""
    return {
        "key": key,
        "id": origin.session_id,
        "owner": origin.owner,
        "title": seal.close(title_of(messages)),
        "created": iso(now),
        "updated": iso(now),
        "book": origin.book,
        "generation": origin.generation,
        "user_agent": seal.close(origin.user_agent[:USER_AGENT_CHARS]),
        "message_count": 0,
        "stored_bytes": 0,
    }


def new_message(key: str, message: records.ChatMessage, seal: Seal) -> dict[str, str | None]:
    """Return the columns of a message in the conversation `key`."""
    certainty = message.made if isinstance(message, records.KeptMessage) else None
    parts = StoredParts(**message.parts())
    return {
        "id": message.id,
        "session": key,
        "role": message.role,
        "text": seal.close(message.text),
        "created": message.created,
        "mode": message.mode,
        "kind": message.kind,
        "selected_text": seal.close(message.selected_text),
        "chunk_ids": msgspec.json.encode(message.chunk_ids).decode(),
        "citations": seal.close(msgspec.json.encode(message.citations).decode()),
        "shown": seal.close(msgspec.json.encode(parts).decode()) if parts != StoredParts() else "",
        "made": seal.close(msgspec.json.encode(certainty).decode()) if certainty is not None else "",
    }


MESSAGE_COLUMNS = (
    "id", "session", "role", "text", "created", "mode", "kind",
    "selected_text", "chunk_ids", "citations", "shown", "made",
)  # fmt: skip
"""Columns of a row from `new_message`."""


def size_of(row: dict[str, str | None]) -> int:
    """Return the bytes of the texts of a row."""
    return sum(len(value.encode("utf-8", "surrogatepass")) for value in row.values() if value)


def visible_parts(stored: str, seal: Seal) -> records.AnswerParts:
    """Return the parts of an answer that a page shows; none if they were not stored."""
    return _shown.decode(seal.open(stored)) if stored else StoredParts()


def chat_message(row: Any, session_id: str, seal: Seal) -> records.ChatMessage:  # noqa: ANN401 - a row of either driver
    """Make the message of a row; `session_id` is the browser's own id."""
    return records.ChatMessage(
        id=row.id,
        session_id=session_id,
        role=row.role,
        text=seal.open(row.text),
        created=row.created,
        mode=row.mode,
        kind=row.kind,
        selected_text=seal.open(row.selected_text),
        chunk_ids=_ids.decode(row.chunk_ids),
        citations=_citations.decode(seal.open(row.citations)),
        **msgspec.structs.asdict(visible_parts(row.shown, seal)),
    )


def chat_session(row: Any, seal: Seal) -> records.ChatSession:  # noqa: ANN401 - a row of sqlite3 or asyncpg
    """Make the record of a conversation that its reader sees."""
    columns = {name: getattr(row, name) for name in records.ChatSession.__struct_fields__}
    return records.ChatSession(**columns | {"title": seal.open(row.title)})


_signals = msgspec.json.Decoder(Certainty)


def asked_questions(rows: Sequence[Any], seal: Seal) -> list[AskedQuestion]:
    """Make the records of rows of `sql.ANSWERS`."""
    questions: list[AskedQuestion] = []
    later: set[tuple[str, str]] = set()
    for row in rows:
        question = _asked_question(row, seal)
        place = (row.session, question.key)
        questions.append(msgspec.structs.replace(question, again=place in later))
        later.add(place)
    return questions


def _asked_question(row: Any, seal: Seal) -> AskedQuestion:  # noqa: ANN401 - a row of either driver
    message = chat_message(row, "", seal)
    certainty = _signals.decode(seal.open(row.made)) if row.made else Certainty()
    cited = message.citations[0] if message.citations else None
    return AskedQuestion(
        text=" ".join(seal.open(row.question).split()),
        created=message.created,
        kind=message.kind,
        book=cited.book if cited else "",
        chapter=cited.chapter or cited.section_title if cited else "",
        filename=cited.filename if cited else "",
        thumb=row.value or "",
        comment=seal.open(row.comment) if row.comment else "",
        searched=certainty.searched,
        chunk_ids=message.chunk_ids,
        answer=message.explanation or message.text,
        refusal=message.refusal,
        closest=message.closest,
        prepared_by=message.prepared_by,
        odds=certainty.odds or None,
        yes=certainty.yes,
        head=certainty.head,
    )


T = TypeVar("T")
OWNER_CHARS = 64
"""Length of the hash of a browser's secret."""
ANONYMOUS = "nobody"
"""Hash of an owner that has no conversation."""
LAST_OF_DAY = "U"
"""Appended to a day, it sorts after every time of that day, since those continue with `T`."""


def utc_now() -> datetime:
    """Return the current time, UTC."""
    return datetime.now(UTC)


class ChatTables:
    """Conversations in the tables of `tables.py`.

    An argument `key` is always a `key.conversation_key`: for a conversation without an owner, the id itself. Methods
    that take the key of one conversation raise NotFound if there is none. Each call raises ChatStoreError if the
    database cannot be read, or nothing was stored.
    """

    trouble: tuple[type[Exception], ...] = (sqlite.DatabaseError,)
    """Errors that the database raises."""
    reason: ChatStoreError | None = None
    """Why the conversations could not be opened; None if they are open."""

    def __init__(
        self, database: Database, seal: Seal, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> None:
        self._database = database
        self._seal = seal
        self._now = now
        self._room = room
        self.assignments = AssignmentTables(self, seal, now)

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one transaction; see `ports.ChatStore`. A message with a known id is replaced."""
        await self.record(session_id, ChatOrigin(session_id=session_id), messages)

    async def record(
        self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], *, is_begun: bool = False
    ) -> None:
        """Store messages and their conversation's data in one transaction; messages with known ids are replaced.

        Raises:
            ChatStoreFull: The conversation, or its reader, has no room left; nothing was stored.
            NotFound: The conversation `is_begun`, but has been deleted; nothing was stored.
        """
        now = self._now()
        session = new_session(key, origin, messages, now, self._seal)
        rows = [new_message(key, item, self._seal) for item in messages]

        async def work(execute: Execute) -> None:
            if is_begun:
                _only(await execute(sql.SESSION, {"of": key}))
            added = sum(map(size_of, rows))
            for item in rows:
                added -= await self._size_before(execute, key, str(item["id"]))
            await self._check_room(execute, key, origin.owner, added)
            await execute(sql.UPSERT_SESSION, session)
            for item in rows:
                if not await execute(sql.UPSERT_MESSAGE, item):
                    raise ChatStoreError("A message with that id belongs to another conversation.")
            await execute(sql.RECOUNT, {"of": key, "added": added})

        await self.write(work)

    async def take_back(self, key: str, ids: Sequence[str]) -> None:
        """Delete messages of a question that could not be asked, and their conversation if it has no others."""

        async def work(execute: Execute) -> None:
            freed = 0
            for id_ in ids:
                freed += await self._size_before(execute, key, id_)
                await execute(sql.DELETE_MESSAGE, {"id": id_, "of": key})
            await execute(sql.RECOUNT, {"of": key, "added": -freed})
            await execute(sql.DELETE_EMPTY, {"of": key})

        await self.write(work)

    @staticmethod
    async def _size_before(execute: Execute, key: str, id_: str) -> int:
        rows = await execute(sql.MESSAGE, {"id": id_, "of": key})
        return sum(size_of({name: getattr(row, name) for name in MESSAGE_COLUMNS}) for row in rows)

    async def _check_room(self, execute: Execute, key: str, owner: str, added: int) -> None:
        if self._room is None:
            return
        # An owner that is not the hash of a secret is shared by many readers, and has no quota.
        whose = owner if len(owner) == OWNER_CHARS else ANONYMOUS
        (sizes,) = await execute(sql.SIZES, {"of": key, "whose": whose})
        if sizes.conversation + added > self._room.conversation_bytes:
            raise ChatStoreFull(CONVERSATION_FULL)
        if whose != ANONYMOUS and sizes.reader + added > self._room.reader_bytes:
            raise ChatStoreFull(READER_FULL)

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """Return the newest `limit` messages of a conversation, oldest first; none if it is unknown."""
        rows = await self.read(sql.HISTORY, {"of": session_id, "most": limit})
        return [chat_message(row, row.public, self._seal) for row in reversed(rows)]

    async def sessions(self, owner: str, most: int, past: int = 0) -> list[ChatSession]:
        """Return an owner's conversations after the first `past`, the last used first; the empty owner has none."""
        rows = await self.read(sql.SESSIONS, {"whose": owner, "most": most, "past": past}) if owner else []
        return [chat_session(row, self._seal) for row in rows]

    async def refusals(self) -> list[ChatMessage]:
        """Return the questions that the books did not answer, oldest first, without their authors."""
        return [
            chat_message(row, "", self._seal)
            for row in await self.read(sql.REFUSALS, {})
            if visible_parts(row.reply, self._seal).refusal in OF_CONTENTS
        ]

    async def recent_questions(self, most: int) -> list[AskedQuestion]:
        """Return the newest questions that were answered or refused, newest first, without their authors."""
        return asked_questions(await self.read(sql.ANSWERS, {"most": most}), self._seal)

    async def session(self, key: str) -> ChatSession:
        """Return one conversation's record."""
        return chat_session(_only(await self.read(sql.SESSION, {"of": key})), self._seal)

    async def rename(self, key: str, title: str) -> ChatSession:
        """Give a conversation a name of the reader's own."""
        rows = await self._change(sql.RENAME, {"of": key, "named": self._seal.close(title)})
        return chat_session(_only(rows), self._seal)

    async def delete(self, key: str) -> None:
        """Delete a conversation for good."""
        _only(await self._change(sql.DELETE, {"of": key}))
        await self.erase_traces()

    async def judge(self, message_id: str, owner: str, value: str, comment: str = "") -> None:
        """Store a reader's judgement of an answer; a second one replaces the first.

        Raises:
            NotFound: There is no such answer, or it belongs to another browser's conversation.
        """
        created, sealed = iso(self._now()), self._seal.close(comment)
        judgement = {"message": message_id, "value": value, "comment": sealed, "created": created}

        async def work(execute: Execute) -> None:
            _only(await execute(sql.ANSWER_OF, {"answer": message_id, "whose": owner}))
            await execute(sql.UPSERT_FEEDBACK, judgement)

        await self.write(work)

    async def forget(
        self, *, session_id: str | None = None, older_than: timedelta | None = None, everything: bool = False
    ) -> int:
        """Delete conversations by id, by age, or all, no matter who owns them; return how many."""
        if session_id is not None:
            deleted = await self._change(sql.DELETE_ID, {"id": session_id})
        elif older_than is not None:
            deleted = await self._change(sql.DELETE_BEFORE, {"before": iso(self._now() - older_than)})
        elif everything:
            deleted = await self._change(sql.DELETE_ALL, {})
        else:
            return 0
        if deleted:
            await self.erase_traces()
        return len(deleted)

    async def retain(self, days: int) -> int:
        """Delete conversations not used in the last days on which the database was in use; return how many.

        Only days on which the database was used are counted, today included. So a clock that jumps ahead by years
        adds one day.
        """
        now = self._now()
        today = iso(now)[:10]
        before = iso(now - timedelta(days=days))

        async def work(execute: Execute) -> int:
            await execute(sql.KEEP_DAY, {"day": today})
            seen = await execute(sql.DAYS, {"today": today, "most": days + 1})
            if len(seen) <= days:
                return 0
            doomed = {"before": min(before, seen[-1].day + LAST_OF_DAY)}
            return len(await execute(sql.DELETE_BEFORE, doomed))

        if deleted := await self.write(work):
            await self.erase_traces()
        return deleted

    async def close(self) -> None:
        """Release files and handles. Make no call afterwards."""
        await self._database.close()

    async def erase_traces(self) -> None:
        """Erase traces of deleted rows. Databases that do not overwrite them extend this."""

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of a read-only statement."""
        with self._translating_errors():
            return await self._database.read(statement, values)

    async def _change(self, statement: str, values: Values) -> list[Any]:
        return await self.write(lambda execute: execute(statement, values))

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """Run some work in one transaction."""
        with self._translating_errors():
            return await self._database.write(work)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Turn errors of the database into ours, without the values of a statement."""
        try:
            yield
        except self.trouble as error:
            raise ChatStoreError(
                f"The conversations cannot be read or written ({type(error).__name__}).",
                remedy="See `lutrin doctor`: disk space, permissions, integrity.",
            ) from error


def _only(rows: Sequence[Any]) -> Any:  # noqa: ANN401 - a row of either driver
    if not rows:
        raise NotFound(NOTHING_HERE)
    return rows[0]


class SqlChatStore(ChatTables):
    """Conversations in one SQLCipher file; open it with `SqlChatStore.open`."""

    def __init__(
        self, database: SqlCipher, path: Path, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> None:
        super().__init__(database, Seal(), now, room)
        self._file = database
        self._path = path

    @classmethod
    async def open(
        cls, path: Path, key: str, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> "SqlChatStore":
        """Migrate the database, or create it, and open it."""
        await asyncio.to_thread(migrate, path, key)
        return cls(await SqlCipher.open(path, key), path, now, room)

    async def erase_traces(self) -> None:
        """Empty the log file and remove the migrations' backups, which still contain deleted data."""
        with self._translating_errors():
            await self._file.empty_log()
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink(missing_ok=True)


class AbsentChats(ChatTables):
    """Conversations that could not be opened: its own `Database`, whose every call fails with this reason."""

    def __init__(self, reason: ChatStoreError) -> None:
        super().__init__(self, Seal())
        self.reason = self._absence = reason

    async def read(self, statement: str, values: Values) -> NoReturn:
        """Fail."""
        del statement, values
        raise ChatStoreError(self._absence.detail, remedy=self._absence.remedy)

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> NoReturn:
        """Fail."""
        del work
        raise ChatStoreError(self._absence.detail, remedy=self._absence.remedy)

    async def close(self) -> None:
        """Do nothing: no file is open."""


def as_markdown(session: ChatSession, messages: Sequence[ChatMessage]) -> str:
    """Return the conversation with its sources, a heading for each message."""
    began = session.created[:16].replace("T", " ")
    parts = [f"# {session.title or CONVERSATION}\n", f"{began} UTC, {session.book}\n"]
    for message in messages:
        parts.append(f"## {SPEAKERS[message.role]}, {message.created[:16].replace('T', ' ')}\n")
        if message.selected_text:
            parts.append("".join(f"> {line}\n" for line in message.selected_text.splitlines()))
        parts.append(message.text + "\n")
        parts.extend(
            f"- [{citation.n}] {citation.chapter}, {citation.section_title}: “{citation.quote}”"
            for citation in message.citations
        )
        if message.citations:
            parts.append("")
    return "\n".join(parts)


def as_json(session: ChatSession, messages: Sequence[ChatMessage]) -> bytes:
    """Return `{"session": ..., "messages": [...]}`, indented."""
    return msgspec.json.format(msgspec.json.encode({"session": session, "messages": messages}), indent=2)
