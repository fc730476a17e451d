"""Estimates how long a request would take, on the server's side of the model's process.

The process reports its pace and what it has read. Nothing here waits for it, so an estimate is immediate however busy
the model is.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping

import msgspec

from lutrin.records import Forecast, GenerationRequest

SENTENCE_TOKENS = 24
"""Tokens of a usual first sentence, plus the beginning of the next, which shows that it has ended."""
USUAL_TOKENS = 60
"""Tokens of a usual answer, until the first one is written."""
TAIL_TOKENS = 60
"""Tokens after the passage that each request must read: the question, and whether the passage answers it."""
CHARS_PER_TOKEN = 3.6
"""Characters per token of English prose, until a prompt is counted."""
USUAL_UNREAD = 300
"""Unread tokens of a request's passage, until some are measured."""
RECENT = 0.2
"""Weight of the newest prompt in these means."""
MOST_KNOWN = 4096
"""Passages whose unread part is cached; the least recently reported goes first."""


class PaceFigures(msgspec.Struct, frozen=True, array_like=True):
    """How fast a request that came now would be served, and how much work is ahead of it."""

    prefill_s: float = 0.0
    """Seconds for a token of a prompt."""
    token_s: float = 0.0
    """Seconds for a token of the answer, beside the running and waiting ones."""
    crowd_token_s: float = 0.0
    """Seconds that one more answer adds to every token, when all slots are in use."""
    first_s: float = 0.0
    """Seconds until the first sentence, if the passage has been read."""
    unread_s: float = 0.0
    """The same for an unread passage that no other reader asks about; excludes the time to read it."""
    passages_s: dict[str, float] = {}
    """The same for passages about to be read for others, by `passage_key`."""
    length: float = float(USUAL_TOKENS)
    """Tokens of a usual answer."""
    measured_s: float = 0.0
    """When the pace was last measured, by the machine's monotonic clock."""


def passage_key(request: GenerationRequest) -> str:
    """Name the part that a request shares with others about the same passage."""
    *before, last = [message.content for message in request.messages]
    digest = hashlib.blake2b("\0".join([*before, last[: request.stable_chars]]).encode(), digest_size=16)
    return digest.hexdigest()


class Forecaster:
    """Tracks the requests to the model and what it reports as read, and estimates the remaining time."""

    def __init__(self) -> None:
        self.pace = PaceFigures()
        self._unread: OrderedDict[str, int] = OrderedDict()
        self._chars_per_token = CHARS_PER_TOKEN
        self._usual_unread = float(USUAL_UNREAD)
        self._underway: dict[int, GenerationRequest] = {}
        """Requests in progress, by number; numbers grow."""
        self._counted = 0
        """The last request number that the pace includes."""

    def reset(self) -> None:
        """Forget everything: the process that had the state has ended."""
        self.pace = PaceFigures()
        self._unread.clear()

    def begin(self, id_: int, request: GenerationRequest) -> None:
        """Record a request that is sent."""
        if request.between is None:
            known = {passage_key(one) for one in self._underway.values() if one.between is None} | {
                *self.pace.passages_s
            }
            unread = self._passage_tokens(request) if passage_key(request) not in known else 0.0
            self._usual_unread += RECENT * (unread - self._usual_unread)
        self._underway[id_] = request

    def end(self, id_: int) -> None:
        """Record that a request has ended."""
        self._underway.pop(id_, None)

    def note_pace(self, pace: PaceFigures, unread: Mapping[str, int], counted: int) -> None:
        """Record the pace with all requests up to a number, and the unread tokens of passages."""
        self.pace, self._counted = pace, counted
        for key, tokens in unread.items():
            self._unread[key] = tokens
            self._unread.move_to_end(key)
        while len(self._unread) > MOST_KNOWN:
            self._unread.popitem(last=False)

    def note_prompt(self, request: GenerationRequest, tokens: int) -> None:
        """Record the token count of a prompt."""
        chars = sum(len(message.content) for message in request.messages)
        if tokens and chars:
            self._chars_per_token += RECENT * (chars / tokens - self._chars_per_token)

    def forecast(self, request: GenerationRequest) -> Forecast | None:
        """Estimate; None until the first pace is measured."""
        pace = self.pace
        if not pace.prefill_s or not pace.token_s:
            return None
        coming = [one for id_, one in self._underway.items() if id_ > self._counted and one.between is None]
        passages = {passage_key(one): one for one in (*coming, request)}
        unread = {key: self._passage_tokens(one) for key, one in passages.items() if key not in pace.passages_s}
        own = passage_key(request)
        if unread.get(own):
            first_s = pace.unread_s + sum(unread.values()) * pace.prefill_s
        else:
            first_s = pace.passages_s.get(own, pace.first_s)
        tail = (len(request.messages[-1].content) - request.stable_chars) / self._chars_per_token
        each_s = TAIL_TOKENS * pace.prefill_s + pace.length * pace.crowd_token_s
        first_s += tail * pace.prefill_s + len(coming) * each_s
        rest = max(0.0, min(request.max_tokens, pace.length) - SENTENCE_TOKENS)
        return Forecast(first_s, first_s + rest * pace.token_s, each_s + self._usual_unread * pace.prefill_s)

    def _passage_tokens(self, request: GenerationRequest) -> float:
        """Unread tokens of a request's passage."""
        stable = request.stable_chars / self._chars_per_token
        return self._unread.get(passage_key(request), stable) if stable else 0.0
