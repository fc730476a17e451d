"""What servers side by side have in common: how often one may ask, events of answers that were cut, ingestions.

One server alone keeps them in its memory. Where several stand side by side, wiring gives a `Gate`, a `TurnLog` and a
`JobBoard` that all of them see; while those are away, each server does with its own memory, and readers notice nothing.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

import msgspec

from lutrin.errors import ChatStoreError
from lutrin.log import get_logger
from lutrin.records import AnswerEvent, ErrorEvent
from lutrin.serve.limits import Limits

_decoder = msgspec.json.Decoder(AnswerEvent)
_log = get_logger("serve")


class Gate(Protocol):
    """Counts the questions of all servers."""

    async def admit(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Count a question under each key with its limit a minute, or under none.

        Raises:
            RateLimited: One of the limits is reached.
            ChatStoreError: What the servers share is away.
        """


class TurnLog(Protocol):
    """Keeps the events of answers for a while, where all servers see them.

    Both raise ChatStoreError if what the servers share is away.
    """

    async def keep(self, turn: str, asked: str, first: int, events: Sequence[bytes]) -> None:
        """Keep events from number `first` on."""

    async def recall(self, turn: str, asked: str) -> list[bytes]:
        """The events of a turn from the first on; none if it is not known or is another question's."""


class JobBoard(Protocol):
    """Shows ingestions over HTTP to the servers that do not run them.

    Both raise ChatStoreError if what the servers share is away.
    """

    async def post(self, job: str, state: bytes) -> None:
        """Show how an ingestion stands, in place of what was shown of it before."""

    async def look(self, job: str) -> tuple[bytes, float] | None:
        """Return the latest state of an ingestion and its age in seconds; None if there is none."""


class Limiter:
    """Both limits, shared with the other servers if there are any."""

    def __init__(self, own: Limits, gate: Gate | None, session_per_min: int, peer_per_min: int) -> None:
        self._own = own
        self._gate = gate
        self._session_per_min = session_per_min
        self._peer_per_min = peer_per_min

    async def admit(self, session: str, peer: str) -> None:
        """Count a question; see `Limits.admit`.

        Raises:
            RateLimited: The session or the peer has asked too often; nothing was counted.
        """
        if self._gate is not None:
            named = (
                (f"session {session}" if session else "", self._session_per_min),
                (f"peer {peer}", self._peer_per_min),
            )
            try:
                await self._gate.admit([(key, limit) for key, limit in named if key and limit])
            except ChatStoreError as error:
                _log.warning("shared_limits_away", detail=error.detail)
            else:
                return
        self._own.admit(session, peer)


class TurnMemory:
    """One turn's events, kept before they are sent."""

    def __init__(self, log: TurnLog | None, turn: str, asked: str, kept: int = 0) -> None:
        self._log = log
        self._turn = turn
        self._asked = asked
        self._kept = kept

    async def keep(self, sent: Sequence[AnswerEvent]) -> None:
        """Keep the events that are not kept yet; a failure is logged and costs at most a resumption elsewhere."""
        if self._log is None or self._kept >= len(sent):
            return
        first, self._kept = self._kept, len(sent)
        try:
            encoded = [msgspec.json.encode(event) for event in sent[first:]]
            await self._log.keep(self._turn, self._asked, first + 1, encoded)
        except ChatStoreError as error:
            _log.warning("shared_turns_away", detail=error.detail)


async def recall_events(log: TurnLog | None, turn: str, asked: str) -> list[AnswerEvent]:
    """Recall the events of a turn that another server began; empty if it failed or the log is away."""
    if log is None:
        return []
    try:
        events = [_decoder.decode(event) for event in await log.recall(turn, asked)]
    except ChatStoreError as error:
        _log.warning("shared_turns_away", detail=error.detail)
        return []
    return events[:-1] if events and isinstance(events[-1], ErrorEvent) else events


def fingerprint(asked: object) -> str:
    """Hash a question and its owner, so that neither can be read from it."""
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()
