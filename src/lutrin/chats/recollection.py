"""The conversation so far, as answering needs it. Importing this loads no database, since most commands need none."""

from lutrin.errors import ChatStoreError
from lutrin.log import get_logger
from lutrin.ports import ChatStore
from lutrin.records import ChatMessage

_log = get_logger("chats")


class Recollection:
    """Read earlier messages. A conversation that cannot be read counts as empty, so the question is still answered."""

    def __init__(self, chats: ChatStore) -> None:
        self._chats = chats
        self.append = chats.append
        self.close = chats.close

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """Return the newest messages, oldest first; none if they cannot be read."""
        try:
            return await self._chats.history(session_id, limit)
        except ChatStoreError as error:
            _log.warning("not_remembered", detail=error.detail, remedy=error.remedy)
            return []
