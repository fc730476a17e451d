"""A stand-in for conversations that cannot be opened: answers go on without memory, histories report the error."""

from typing import NoReturn

from lutrin.chats.seal import NoSeal
from lutrin.chats.store import ChatTables
from lutrin.errors import ChatStoreError


class AbsentChats(ChatTables):
    """Conversations that could not be opened: every call fails with this reason."""

    def __init__(self, reason: ChatStoreError) -> None:
        super().__init__(_NoDatabase(reason), NoSeal())
        self.reason = reason


class _NoDatabase:
    def __init__(self, reason: ChatStoreError) -> None:
        self._reason = reason

    async def read(self, statement: object, values: object) -> NoReturn:
        del statement, values
        self._fail()

    async def write(self, work: object) -> NoReturn:
        del work
        self._fail()

    def _fail(self) -> NoReturn:
        raise ChatStoreError(self._reason.detail, remedy=self._reason.remedy)

    async def close(self) -> None:
        """Do nothing: no file is open."""
