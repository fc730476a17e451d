"""Conversations as an answer remembers them; loads without the databases, for most commands need none."""

from lutrin.errors import ChatStoreError
from lutrin.log import get_logger
from lutrin.ports import ChatStore
from lutrin.records import ChatMessage

_log = get_logger("chats")


class Recollection:
    """A conversation that cannot be read has no messages, and its question is answered as it stands.

    Args:
        chats: The conversations.
    """

    def __init__(self, chats: ChatStore) -> None:
        self._chats = chats
        self.append = chats.append
        self.close = chats.close

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """The newest messages, oldest first; none if they cannot be read."""
        try:
            return await self._chats.history(session_id, limit)
        except ChatStoreError as error:
            _log.warning("not_remembered", detail=error.detail, remedy=error.remedy)
            return []
