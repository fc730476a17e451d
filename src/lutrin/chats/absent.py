"""Stands in for conversations that cannot be read: answers go on without memory, histories report the error."""

from typing import NoReturn

from sqlalchemy.dialects.sqlite import insert

from lutrin.chats.seal import NoSeal
from lutrin.chats.store import ChatTables
from lutrin.errors import ChatStoreError


class AbsentChats(ChatTables):
    """In the place of conversations that could not be opened: every call fails with the reason.

    Args:
        reason: Why.
    """

    def __init__(self, reason: ChatStoreError) -> None:
        super().__init__(_NoDatabase(reason), insert, NoSeal())
        self.reason = reason


class _NoDatabase:
    def __init__(self, reason: ChatStoreError) -> None:
        self._reason = reason

    async def read(self, statement: object, values: object) -> NoReturn:
        """Nothing can be read."""
        del statement, values
        self._fail()

    async def write(self, work: object) -> NoReturn:
        """Nothing can be written."""
        del work
        self._fail()

    def _fail(self) -> NoReturn:
        raise ChatStoreError(self._reason.detail, remedy=self._reason.remedy)

    async def close(self) -> None:
        """Nothing is open."""
