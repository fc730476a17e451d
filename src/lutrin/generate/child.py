"""Messages between the server and the model's process: length-prefixed MessagePack frames on a socket pair.

The model's process: reads requests, steps the scheduler, sends the results; ends when the server does.
"""

import pickle
import select
import socket
import struct
import time
from typing import Any, Generic, TypeVar

import msgspec

from lutrin.errors import GeneratorError, GeneratorUnavailable, LutrinError
from lutrin.generate.prefix import PassageLimits, PassageStore
from lutrin.generate.scheduler import Limits, Output, PassageFigures, Scheduler
from lutrin.platform import stand_back
from lutrin.ports import Decoder
from lutrin.records import GenerationRequest

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""No valid frame comes near this size; a longer one means that the stream is out of step."""

HEADER = struct.Struct("!I")

Wire = TypeVar("Wire")


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


class Frames(Generic[Wire]):
    """Splits a stream of bytes into messages, however the bytes are cut."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a union of types has no better type of its own
        self._decoder: msgspec.msgpack.Decoder[Wire] = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Wire]:
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


RECEIVE_BYTES = 1 << 16
MOST_FAILURES = 3
"""Failed steps in a row after which a fresh process is better."""


def main(fd: int, niceness: int = 0) -> None:
    """Serve on an inherited socket until the other side closes it.

    Raises:
        GeneratorError: The frames cannot be read, or step after step fails; the server starts another process.
    """
    stand_back(niceness)
    with socket.socket(fileno=fd) as link:
        try:
            _serve(Link(link))
        except OSError:
            # The server is gone, so this process ends too.
            return


class Link:
    """The socket, as messages."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._frames: Frames[ToChild] = Frames(ToChild)

    def receive(self, timeout_s: float) -> list[ToChild] | None:
        """Messages that arrive within `timeout_s`, possibly none; None when the other side has closed."""
        messages: list[ToChild] = []
        while select.select([self._socket], [], [], timeout_s)[0]:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                return None
            messages += self._frames.feed(data)
            timeout_s = 0.0
        return messages

    def send(self, message: Ready | Unusable | Beat) -> None:
        """Send one message."""
        self._socket.sendall(frame(message))


def _serve(link: Link) -> None:
    messages: list[ToChild] | None = []
    while messages == []:
        messages = link.receive(timeout_s=60.0)
    if not messages or not isinstance(setup := messages.pop(0), Setup):
        return
    began = time.monotonic()
    try:
        # The bytes come from the process that started this one, through a socket that nobody else can reach.
        decoder: Decoder = pickle.loads(setup.factory)()  # noqa: S301 - see above
    except LutrinError as error:
        link.send(Unusable(str(error)))
        return
    try:
        store = PassageStore(setup.passages, f"{setup.made_by}\n{decoder.state_kind}")
        scheduler = Scheduler(decoder, setup.limits, time.monotonic, store)
        warm_up(scheduler, setup)
        link.send(Ready(time.monotonic() - began, decoder.computed_by))
        _loop(link, scheduler, setup.beat_s, messages)
    finally:
        decoder.close()


def warm_up(scheduler: Scheduler, setup: Setup) -> None:
    """Load the weights, keep the beginning that prompts will share, and learn the pace alone and in a crowd."""
    for readers in (1, setup.limits.slots):
        for id_ in range(readers):
            scheduler.submit(id_, setup.warm, deadline=float("inf"))
        while scheduler.busy:
            scheduler.step()


def _loop(link: Link, scheduler: Scheduler, beat_s: float, messages: list[ToChild] | None) -> None:
    last_beat = 0.0
    while messages is not None:
        for message in messages:
            if isinstance(message, Submit):
                scheduler.submit(message.id, message.request, message.deadline)
            elif isinstance(message, Cancel):
                scheduler.cancel(message.id)
            elif isinstance(message, Warm):
                scheduler.warm(message.requests)
        outputs: list[Output] = scheduler.step() if scheduler.busy else []
        now = time.monotonic()
        if outputs or now - last_beat >= beat_s:
            link.send(Beat(tuple(outputs), scheduler.running, scheduler.waiting, scheduler.figures))
            last_beat = now
        if scheduler.failures >= MOST_FAILURES:
            raise GeneratorError("The model fails at every step.")
        messages = link.receive(0.0 if scheduler.busy else beat_s)
