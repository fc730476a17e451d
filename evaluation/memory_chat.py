"""Conversations in memory, for asking without storing anything."""

from collections.abc import Sequence

from lutrin.errors import ChatStoreError
from lutrin.records import ChatMessage


class MemoryChatStore:
    """Implements `ports.ChatStore`; everything is gone when the process ends."""

    def __init__(self) -> None:
        self._conversations: dict[str, dict[str, ChatMessage]] = {}
        self._homes: dict[str, str] = {}

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store all messages or none; one whose id is stored already is replaced.

        Raises:
            ChatStoreError: A message with that id belongs to another conversation.
        """
        if any(self._homes.get(message.id, session_id) != session_id for message in messages):
            raise ChatStoreError("A message with that id belongs to another conversation.")
        for message in messages:
            self._homes[message.id] = session_id
            self._conversations.setdefault(session_id, {})[message.id] = message

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """Return the newest `limit` messages of a session, oldest first; none if it is unknown."""
        messages = list(self._conversations.get(session_id, {}).values())
        return messages[max(len(messages) - limit, 0) :]

    async def close(self) -> None:
        """Forget everything."""
        self._conversations.clear()
