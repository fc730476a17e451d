"""Messages between the server and the model's process: length-prefixed MessagePack frames on a socket pair."""

import struct
from typing import Any, Generic, Literal, TypeVar

import msgspec

from lutrin.errors import GeneratorUnavailable
from lutrin.records import Finished, GenerationRequest, Piece, Queued

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""No valid frame comes near this size; a longer one means that the stream is out of step."""

HEADER = struct.Struct("!I")

Message = TypeVar("Message")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the scheduler."""

    slots: int = 10
    """Answers that get a token in each step."""
    queue: int = 64
    """Readers who may wait beyond those."""
    prefill_tokens: int = 128
    """Prompt tokens in one step: they bound how much a newcomer delays the others."""
    retained_tokens: int = 4096
    """Tokens of finished prompts that are kept for later ones with the same beginning."""
    worth_tokens: int = 48
    """About two sentences: an answer that cannot get this far before its deadline is not begun."""
    guesses: int = 3
    """Most tokens that are guessed for each answer, from what follows the same words in its prompt."""


class PassageLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the store of passages that the model has read; see `passage_store.py`."""

    memory_bytes: int = 0
    disk_bytes: int = 0
    folder: str = ""
    """Where its files are; empty: it keeps none."""


class PassageFigures(msgspec.Struct, frozen=True, array_like=True):
    """What the store of passages has done since the model was loaded, and its size."""

    hits: int = 0
    """Prompts whose passage had been read before, or was just being read for another reader."""
    misses: int = 0
    """Prompts whose passage was read for them."""
    tokens_read: int = 0
    """Prompt tokens that were computed."""
    tokens_saved: int = 0
    """Prompt tokens that were taken from earlier computations."""
    seconds_saved: float = 0.0
    """What they would have cost."""
    memory_bytes: int = 0
    disk_bytes: int = 0


class Setup(msgspec.Struct, frozen=True, tag="setup"):
    """The first frame: a pickled callable that makes the decoder, the scheduler's bounds, and how often to report."""

    factory: bytes
    limits: Limits
    beat_s: float
    passages: PassageLimits
    made_by: str
    """The model file's identity, for the store of passages."""
    warm: GenerationRequest
    """Generated once at the start, so that the beginning that it shares with readers' prompts is already computed."""


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """A reader's request; `deadline` is by the machine's monotonic clock, which all processes share."""

    id: int
    request: GenerationRequest
    deadline: float


class Warm(msgspec.Struct, frozen=True, tag="warm"):
    """Requests whose stable beginnings are to be read while nobody waits, the most urgent first."""

    requests: tuple[GenerationRequest, ...]


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """The reader has gone."""

    id: int


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The last message for a request that gets no (further) answer."""

    reason: Literal["queue_full", "deadline", "unavailable"]


class Output(msgspec.Struct, frozen=True, array_like=True):
    """A message for one reader; `Finished` and `Refused` are the last."""

    id: int
    event: Queued | Piece | Finished | Refused


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The model is in memory and has done its first steps."""

    load_s: float
    computed_by: str
    """See `ports.Decoder`."""


class Unusable(msgspec.Struct, frozen=True, tag="unusable"):
    """The model cannot be loaded; the process ends."""

    detail: str


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """A sign of life, sent between steps, with their results."""

    outputs: tuple[Output, ...] = ()
    running: int = 0
    waiting: int = 0
    passages: PassageFigures = PassageFigures()


ToChild = Setup | Submit | Warm | Cancel
ToParent = Ready | Unusable | Beat

_encoder = msgspec.msgpack.Encoder()


def frame(message: ToChild | ToParent) -> bytes:
    """A message with its length before it."""
    body = _encoder.encode(message)
    return HEADER.pack(len(body)) + body


class Frames(Generic[Message]):
    """Splits a stream of bytes into messages, however the bytes are cut.

    Args:
        kind: The union of the messages that this side receives.
    """

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a union of types has no better type of its own
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Add received bytes; return the messages that are complete.

        Raises:
            GeneratorUnavailable: The bytes are not valid messages.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= HEADER.size:
            (length,) = HEADER.unpack_from(self._buffer)
            if length > MAX_FRAME_BYTES:
                raise GeneratorUnavailable("The model's process sent an unreadable message.")
            end = HEADER.size + length
            if len(self._buffer) < end:
                break
            try:
                messages.append(self._decoder.decode(self._buffer[HEADER.size : end]))
            except msgspec.DecodeError as error:
                raise GeneratorUnavailable("The model's process sent an unreadable message.") from error
            del self._buffer[:end]
        return messages
