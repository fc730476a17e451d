"""The model's process: reads requests, steps the scheduler, sends the results; ends when the server does."""

import pickle
import select
import socket
import time

from lutrin.errors import GeneratorError, LutrinError
from lutrin.generate.passage_store import PassageStore
from lutrin.generate.protocol import Beat, Cancel, Frames, Output, Ready, Setup, Submit, ToChild, Unusable, Warm, frame
from lutrin.generate.scheduler import Scheduler
from lutrin.platform import stand_back
from lutrin.ports import Decoder

RECEIVE_BYTES = 1 << 16
MOST_FAILURES = 3
"""Failed steps in a row after which a fresh process is better."""


def main(fd: int, niceness: int = 0) -> None:
    """Serve on an inherited socket until the other side closes it.

    Args:
        fd: File descriptor of the socket; its first frame is `Setup`.
        niceness: Added to this process's own, so that others come first.

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
        """Messages that arrive within `timeout_s`, possibly none; None when the other side has closed.

        Raises:
            GeneratorUnavailable: A message cannot be read.
        """
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
