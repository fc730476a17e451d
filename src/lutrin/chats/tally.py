"""Assignments and their results: counts alone, no reader, no time of a result.

Each submission of results has its own random mark, a *receipt*. It is stored so that results which a phone sends again,
because it got no reply, count once. Two submissions of one browser have nothing in common.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from lutrin.chats import sql
from lutrin.chats.engine import Execute, Values
from lutrin.chats.key import Seal
from lutrin.errors import ChatStoreFull, NotFound
from lutrin.messages import ASSIGNMENT_FULL, ASSIGNMENT_OVER
from lutrin.records import CardCount, StoredAssignment

T = TypeVar("T")
MOST_RECEIPTS = 20_000
"""Most results for one assignment: some hundred classes. More come from a script."""


class TableAccess(Protocol):
    """Reads and writes the tables of conversations; raises ChatStoreError as they do."""

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of a read-only statement."""

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """Run some work in one transaction."""

    async def erase_traces(self) -> None:
        """Erase traces of deleted rows."""


class AssignmentTables:
    """The assignments of a server, in the database of its conversations.

    Methods that take an id raise NotFound if there is no such assignment; each call raises ChatStoreError as
    `ChatTables`.
    """

    def __init__(self, access: TableAccess, seal: Seal, now: Callable[[], datetime]) -> None:
        self._access = access
        self._seal = seal
        self._now = now

    async def add(self, id_: str, body: str) -> None:
        """Store a new assignment."""
        created = self._now().isoformat(timespec="seconds")
        row = {"id": id_, "created": created, "body": self._seal.close(body), "opened": 0, "finished": 0, "sent": 0}
        await self._access.write(lambda execute: execute(sql.ADD_ASSIGNMENT, row))

    async def all(self) -> Sequence[StoredAssignment]:
        """Return all assignments, the newest first."""
        return [self._record(row) for row in await self._access.read(sql.ASSIGNMENTS, {})]

    async def get(self, id_: str) -> StoredAssignment:
        """Return one assignment."""
        return self._record(_only(await self._access.read(sql.ASSIGNMENT, {"id": id_})))

    async def card_counts(self, id_: str) -> Mapping[str, CardCount]:
        """Return the counts of an assignment's answered cards, by card id."""
        rows = await self._access.read(sql.ASSIGNMENT_CARDS, {"id": id_})
        return {row.card: CardCount(tries=row.tries, missed=row.missed) for row in rows}

    async def count(
        self, id_: str, receipt: str, known: Mapping[str, bool], *, opened: bool = False, finished: bool = False
    ) -> bool:
        """Count results; False if they were counted before.

        Args:
            known: Whether each card was known, by card id.
            opened: Whether a browser opened the assignment for the first time.
            finished: Whether a browser has finished it.

        Raises:
            ChatStoreFull: It has `MOST_RECEIPTS` results already.
        """

        async def work(execute: Execute) -> bool:
            row = _only(await execute(sql.ASSIGNMENT, {"id": id_}))
            if row.sent >= MOST_RECEIPTS:
                raise ChatStoreFull(ASSIGNMENT_FULL)
            if not await execute(sql.KEEP_RECEIPT, {"receipt": receipt, "assignment": id_}):
                return False
            await execute(sql.COUNT_BROWSER, {"id": id_, "opened": int(opened), "finished": int(finished)})
            for card, is_known in sorted(known.items()):  # always in one order: two servers never wait for each other
                counts = {"assignment": id_, "card": card, "tries": 1, "missed": int(not is_known)}
                await execute(sql.COUNT_CARD, counts)
            return True

        return await self._access.write(work)

    async def forget(self, id_: str) -> None:
        """Delete an assignment and all its counts."""
        _only(await self._access.write(lambda execute: execute(sql.FORGET_ASSIGNMENT, {"id": id_})))
        await self._access.erase_traces()

    def _record(self, row: Any) -> StoredAssignment:  # noqa: ANN401 - a row of either driver
        return StoredAssignment(
            id=row.id, created=row.created, body=self._seal.open(row.body), opened=row.opened, finished=row.finished
        )


def _only(rows: Sequence[Any]) -> Any:  # noqa: ANN401 - a row of either driver
    if not rows:
        raise NotFound(ASSIGNMENT_OVER)
    return rows[0]
