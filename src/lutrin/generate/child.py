"""The model's process: reads requests, steps the scheduler, sends the results; ends when the server does.

Messages between the two are MessagePack frames, prefixed with their length, as `Connection` sends them.
"""

import pickle
import time
from multiprocessing.connection import Connection

import msgspec

from lutrin.errors import GeneratorError, LutrinError
from lutrin.generate.forecast import PaceFigures
from lutrin.generate.head import Head
from lutrin.generate.prefix import PassageLimits, PassageStore
from lutrin.generate.scheduler import Limits, Output, PassageFigures, Scheduler
from lutrin.ports import Decoder
from lutrin.records import GenerationRequest

FIRST_HELD_S, HELD_S = 5.0, 2.0
"""Pause before the first step while readers wait for excerpts, enough to search for a whole class; and the pause
between later steps, so that even a hundred readers get the model's attention."""
MOST_FAILURES = 3
"""Failed steps in a row after which to start a fresh process."""


class Setup(msgspec.Struct, frozen=True, tag="setup"):
    """The first frame: a pickled callable that makes the decoder, the scheduler's bounds, and how often to report."""

    factory: bytes
    limits: Limits
    beat_s: float
    passages: PassageLimits
    made_by: str
    """The model file's identity, for the store of passages."""
    warm: GenerationRequest
    """Generated once at the start, so that its beginning, which readers' prompts share, is already computed."""
    head: Head | None = None
    """The head that was fitted for this model file."""


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """A reader's request; `deadline` is by the machine's monotonic clock, which all processes share."""

    id: int
    request: GenerationRequest
    deadline: float


class Warm(msgspec.Struct, frozen=True, tag="warm"):
    """Requests whose stable beginnings to read while no reader waits, the most urgent first."""

    requests: tuple[GenerationRequest, ...]


class Probe(msgspec.Struct, frozen=True, tag="probe"):
    """Asks for the pace to be measured while idle."""


class Hold(msgspec.Struct, frozen=True, tag="hold"):
    """Tells whether readers are waiting for the book's words, which need the same cores."""

    held: bool


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Tells that the reader has left."""

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
    """A heartbeat, sent between steps, with their results."""

    outputs: tuple[Output, ...] = ()
    running: int = 0
    waiting: int = 0
    passages: PassageFigures = PassageFigures()
    pace: PaceFigures = PaceFigures()
    unread: dict[str, int] = {}
    """Tokens left to read of each passage for which that has changed, by `passage_key`."""
    counted: int = 0
    """The last request included in `pace`."""


ToChild = Setup | Submit | Warm | Probe | Hold | Cancel
ToParent = Ready | Unusable | Beat
_decoder: msgspec.msgpack.Decoder[ToChild] = msgspec.msgpack.Decoder(ToChild)


def main(fd: int) -> None:
    """Serve on an inherited socket, whose first message is `Setup`, until the other side closes it.

    Raises:
        GeneratorError: Step after step fails; the server starts another process.
    """
    try:
        with Connection(fd) as link:
            _serve(link)
    except (EOFError, OSError):
        # The server is gone, so this process ends too.
        return


def _receive(link: Connection, timeout_s: float) -> list[ToChild]:
    messages: list[ToChild] = []
    while link.poll(timeout_s):
        messages.append(_decoder.decode(link.recv_bytes()))
        timeout_s = 0.0
    return messages


def _send(link: Connection, message: ToParent) -> None:
    link.send_bytes(msgspec.msgpack.encode(message))


def _serve(link: Connection) -> None:
    messages: list[ToChild] = []
    while not messages:
        messages = _receive(link, timeout_s=60.0)
    if not isinstance(setup := messages.pop(0), Setup):
        return
    began = time.monotonic()
    try:
        # The bytes come from the process that started this one, through a socket that no other process can reach.
        decoder: Decoder = pickle.loads(setup.factory)()  # noqa: S301 - see above
    except LutrinError as error:
        _send(link, Unusable(str(error)))
        return
    try:
        store = PassageStore(setup.passages, f"{setup.made_by}\n{decoder.state_kind}")
        scheduler = Scheduler(
            decoder, setup.limits, time.monotonic, store, head=setup.head, interrupted=lambda: link.poll(0.0)
        )
        warm_up(scheduler, setup)
        _send(link, Ready(time.monotonic() - began, decoder.computed_by))
        _loop(link, scheduler, setup.beat_s, messages)
    finally:
        decoder.close()


def warm_up(scheduler: Scheduler, setup: Setup) -> None:
    """Load the weights, keep the beginning that prompts will share, and learn the pace alone and under load."""
    for readers in (1, setup.limits.slots):
        for id_ in range(readers):
            scheduler.submit(id_, setup.warm, deadline=float("inf"))
        while scheduler.busy:
            scheduler.step()


def _loop(link: Connection, scheduler: Scheduler, beat_s: float, messages: list[ToChild]) -> None:
    last_beat, resumes, counted, is_held = 0.0, 0.0, 0, False

    def report(outputs: list[Output]) -> None:
        nonlocal last_beat
        unread, scheduler.unread = scheduler.unread, {}
        load = (scheduler.running, scheduler.waiting)
        _send(link, Beat(tuple(outputs), *load, scheduler.figures, scheduler.pace_figures, unread, counted))
        last_beat = time.monotonic()

    while True:
        for message in messages:
            if isinstance(message, Submit):
                scheduler.submit(message.id, message.request, message.deadline)
                counted = message.id
            elif isinstance(message, Cancel):
                scheduler.cancel(message.id)
            elif isinstance(message, Warm):
                scheduler.warm(message.requests)
            elif isinstance(message, Probe):
                scheduler.probe()
            elif isinstance(message, Hold):
                resumes = resumes if message.held == is_held else time.monotonic() + FIRST_HELD_S
                is_held = message.held
        # Newcomers get an estimate before the next step, and also while no step is taken.
        if (told := scheduler.tell()) or time.monotonic() - last_beat >= beat_s:
            report(told)
        if scheduler.busy and (not is_held or time.monotonic() >= resumes):
            if outputs := scheduler.compute():
                report(outputs)
            resumes = time.monotonic() + HELD_S
        if scheduler.failures >= MOST_FAILURES:
            raise GeneratorError("The model fails at every step.")
        pause_s = min(beat_s, max(0.0, resumes - time.monotonic())) if is_held else 0.0
        messages = _receive(link, pause_s if scheduler.busy else beat_s)
