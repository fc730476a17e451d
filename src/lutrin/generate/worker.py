"""The server's side of the model's process: starts, watches and restarts it, and gives each reader their stream.

The process is spawned, never forked, and owns the model. When it dies, hangs or grows too large, waiting readers learn
at once that the model is unavailable, and another process starts. The pause before a restart grows while restarts do
not help.
"""

import asyncio
import contextlib
import os
import pickle
import socket
import struct
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from lutrin.background import Background
from lutrin.errors import DeadlineExceeded, GeneratorError, GeneratorUnavailable, QueueFull
from lutrin.generate.child import Beat, Cancel, Hold, Probe, Ready, Setup, Submit, ToChild, ToParent, Warm
from lutrin.generate.forecast import Forecaster
from lutrin.generate.head import Head
from lutrin.generate.prefix import PassageLimits
from lutrin.generate.scheduler import Limits, PassageFigures, Rejection
from lutrin.log import get_logger
from lutrin.platform import SessionWeight, is_stopped, processor_seconds, resident_bytes
from lutrin.ports import Decoder
from lutrin.records import Finished, Forecast, GenerationEvent, GenerationRequest, Message, Piece

AWAY = "The language model is not available right now."
SLOW = "The language model was too slow."
REFUSALS: dict[str, tuple[type[GeneratorError], str]] = {
    "queue_full": (QueueFull, "Too many readers are waiting for the language model."),
    "deadline": (DeadlineExceeded, SLOW),
}
CHILD = "import sys; from lutrin.generate.child import main; main(int(sys.argv[1]))"
THREADS_SLEEP = {"OMP_WAIT_POLICY": "passive"}
"""Environment of the model's process: waiting OpenMP threads must not burn a core that another thread needs."""
HEADER = struct.Struct("!i")
"""Length of a frame, as `multiprocessing.connection` sends it."""
MAX_FRAME_BYTES = 64 * 1024 * 1024
"""No valid frame comes near this size; a longer one means that the stream is out of step."""
_decoder: msgspec.msgpack.Decoder[ToParent] = msgspec.msgpack.Decoder(ToParent)
LEAST_SHARE = 0.001
"""Share of one processor: a silent process that uses less is stuck, rather than slowed by others."""
PROBED_S = 30.0
"""Longest time for which the process measures its pace, at the usual weight."""
RAISE_TRIES, RAISE_PAUSE_S = 15, 0.01
"""Attempts to raise the weight of the process's session, which the system allows again after a tenth of a second."""
PROBE_S = 20.0
"""Age of a pace after which it is measured again, as soon as somebody may want the model."""
WARM = GenerationRequest(messages=(Message(role="user", content="1 2 3 4 5 6 7 8 " * 8),), max_tokens=4, deadline_s=60)


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """When to give up the model's process, and how to restart it; all in seconds except the memory.

    On a busy machine, a silent process gets its full processor time, however long that takes by the clock: see
    `is_stuck`.
    """

    load_s: float = 180.0
    """Longest time until it is ready."""
    silence_s: float = 20.0
    """Longest time without a heartbeat, longer than any single step; while it loads, longest time stopped."""
    growth_bytes: int = 1 << 30
    """Most memory beyond its size when it was ready."""
    check_s: float = 0.5
    """Time between checks of the memory, and between heartbeats."""
    grace_s: float = 0.5
    """Time after a reader's deadline in which the process may report it itself."""
    first_pause_s: float = 0.1
    longest_pause_s: float = 30.0
    steady_s: float = 30.0
    """Time without trouble after which the restart pause is the shortest again."""
    farewell_s: float = 2.0
    """Time in which the process may end by itself."""


class WorkerGenerator:
    """A `Generator` whose model lives in a process of its own.

    Args:
        factory: Makes the decoder, in the process; must be picklable.
        identity: Equal for equal model files; may be empty.
        warm: Generated once after loading; it has the stable beginning of the prompts, so no reader waits for that.
        head: The head fitted for the model file; None if there is none.
    """

    def __init__(
        self,
        name: str,
        factory: Callable[[], Decoder],
        *,
        identity: str = "",
        limits: Limits | None = None,
        passages: PassageLimits | None = None,
        watch: Watch | None = None,
        warm: GenerationRequest = WARM,
        head: Head | None = None,
    ) -> None:
        self.name = name
        self.identity = identity
        self._watch = watch or Watch()
        passages = passages or PassageLimits()
        self._most_growth_bytes = self._watch.growth_bytes + passages.memory_bytes
        self._setup = Setup(
            pickle.dumps(factory),
            limits or Limits(),
            self._watch.check_s,
            passages,
            f"{name} {identity}",
            warm,
            head,
        )
        self.restarts = 0
        """Number of restarts after a process ended."""
        self._log = get_logger("generate")
        self._inboxes: dict[int, asyncio.Queue[GenerationEvent | Rejection]] = {}
        self._last_id = 0
        self._background = Background(
            self._watch.first_pause_s, self._watch.steady_s, longest_pause_s=self._watch.longest_pause_s
        )
        self._supervisor: asyncio.Task[None] | None = None
        self._parting: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self._closed = False
        self.load = (0, 0)
        """Answers in progress and readers waiting, as last reported by the process."""
        self._forecaster = Forecaster()
        self._probed_s = float("-inf")
        self._weight: SessionWeight | None = None
        self._is_held = False
        self.passages = PassageFigures()
        """Savings of the store of passages, as last reported by the process."""
        self.computed_by = ""
        """Description of the hardware that runs the model; empty until it is loaded."""
        self.pid: int | None = None
        """Id of the model's process, while there is one."""

    @property
    def serves(self) -> bool:
        """Whether the model is in memory and takes requests."""
        return self._writer is not None

    async def start(self) -> bool:
        """Start loading if needed; wait until that has ended, and return whether the model is ready."""
        self._begin()
        await self._settled.wait()
        return self.serves

    async def ready(self) -> bool:
        """Whether the model would serve a request sent now; starts loading, but does not wait for it."""
        self._begin()
        return self.serves

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Generate text for one reader; see `ports.Generator`.

        While the model loads for the first time, this waits for it, up to the request's deadline.
        """
        deadline = time.monotonic() + request.deadline_s
        self._begin()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(request.deadline_s):
                await self._settled.wait()
        if self._writer is None:
            raise GeneratorUnavailable(AWAY)
        self._last_id += 1
        id_ = self._last_id
        submitted = _frame(Submit(id_, request, deadline))
        inbox = self._inboxes[id_] = asyncio.Queue()
        self._forecaster.begin(id_, request)
        ended, pieces = False, 0
        try:
            await self._raise_weight()
            if self._writer is not None:  # else it has just ended, which the inbox tells
                self._writer.write(submitted)
            while not ended:
                event: GenerationEvent | Rejection | None = None
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(deadline + self._watch.grace_s - time.monotonic()):
                        event = await inbox.get()
                if isinstance(event, Rejection):
                    ended = True
                    error, text = REFUSALS.get(event.reason, (GeneratorUnavailable, AWAY))
                    raise error(text)
                if event is None:  # the process lets the deadline pass in silence
                    if not pieces:
                        raise DeadlineExceeded(SLOW)
                    yield Finished("deadline", 0, pieces)
                    return
                ended = isinstance(event, Finished)
                pieces += isinstance(event, Piece)
                if isinstance(event, Finished):
                    self._forecaster.note_prompt(request, event.prompt_tokens)
                yield event
        finally:
            del self._inboxes[id_]
            self._forecaster.end(id_)
            if not ended and self._writer is not None:
                self._writer.write(_frame(Cancel(id_)))

    async def _raise_weight(self) -> None:
        """Give the process the usual weight: a reader waits."""
        for _ in range(RAISE_TRIES):
            if self._weigh():
                return
            await asyncio.sleep(RAISE_PAUSE_S)

    def _weigh(self) -> bool:
        """Give the process the usual weight while somebody waits or it measures, otherwise the lowest."""
        is_measuring = self._forecaster.pace.measured_s < self._probed_s > time.monotonic() - PROBED_S
        is_wanted = bool(self._inboxes) or is_measuring or self._writer is None
        return self._weight is None or self._weight.set(lowest=not is_wanted)

    def forecast(self, request: GenerationRequest) -> Forecast | None:
        """Estimate how long a request would take now; see `ports.Generator`."""
        self._probe()
        return self._forecaster.forecast(request) if self._writer is not None else None

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Read the stable beginnings of prompts while no reader waits; see `ports.Generator`."""
        if self._writer is not None:
            self._probe()
            self._writer.write(_frame(Warm(tuple(requests))))

    def _probe(self) -> None:
        """Have an old pace measured again: other programs may have come or gone."""
        now = time.monotonic()
        if self._writer is not None and now - max(self._probed_s, self._forecaster.pace.measured_s) > PROBE_S:
            self._probed_s = now
            self._weigh()
            self._writer.write(_frame(Probe()))

    def hold(self, waiting: int) -> None:
        """Leave the processor to readers who wait for the book's words; see `ports.Generator`."""
        self._is_held = waiting > 0
        if self._writer is not None:
            self._writer.write(_frame(Hold(self._is_held)))

    async def close(self) -> None:
        """End the process and free its memory; waiting readers get `GeneratorUnavailable`."""
        self._closed = True
        if self._supervisor is not None:
            await self._background.stop(self._supervisor)
        if self._parting is not None:
            await self._parting

    def _begin(self) -> None:
        if self._closed:
            raise GeneratorUnavailable(AWAY)
        if self._supervisor is None:
            self._supervisor = self._background.start(self._run, name="lutrin-model")

    async def _run(self) -> None:
        """Run the process until it ends for any reason, then restart it."""
        try:
            await self._live()
        except Exception:
            self.restarts += 1
            raise
        finally:
            self._settled.set()  # also where no process could be started: waiting ends

    async def _live(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", CHILD, str(theirs.fileno())),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                env={**os.environ, **THREADS_SLEEP},
                # A Ctrl-C in the terminal goes to the server, which then ends this process.
                start_new_session=True,
            )
            try:
                self.pid = process.pid
                self._weight = SessionWeight(process.pid)
                theirs.close()
                reader, writer = await asyncio.open_connection(sock=ours)
                with contextlib.closing(writer):
                    writer.write(_frame(self._setup))
                    await self._listen(reader, writer, process.pid)
            finally:
                self._writer = self.pid = self._weight = None
                self.load = (0, 0)
                self._forecaster.reset()
                for inbox in self._inboxes.values():
                    inbox.put_nowait(Rejection("unavailable"))
                # Outlives a concurrent `close`.
                self._parting = asyncio.create_task(self._part(process))
                await asyncio.shield(self._parting)

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        heard = moved = time.monotonic()
        used = 0.0
        most_bytes: int | None = None
        reading = asyncio.ensure_future(_read(reader))
        try:
            while True:
                await asyncio.wait({reading}, timeout=self._watch.check_s)
                now = time.monotonic()
                self._weigh()
                if reading.done():
                    heard, used = now, processor_seconds(pid)
                    message = reading.result()
                    reading = asyncio.ensure_future(_read(reader))
                    if isinstance(message, Beat):
                        self._deliver(message)
                    elif isinstance(message, Ready):
                        most_bytes = resident_bytes(pid) + self._most_growth_bytes
                        self._writer = writer
                        self.hold(int(self._is_held))
                        self._settled.set()
                        self.computed_by = by = message.computed_by
                        load_s = round(message.load_s, 2)
                        self._log.info("model_ready", model=self.name, computed_by=by, load_s=load_s)
                    else:
                        raise GeneratorUnavailable(message.detail)
                moved = moved if is_stopped(pid) else now
                bound_s = self._watch.silence_s if self._writer else self._watch.load_s
                is_silent = is_stuck(now - heard, processor_seconds(pid) - used, bound_s)
                if is_silent or now - moved > self._watch.silence_s:
                    raise GeneratorUnavailable("The model's process hangs.")
                if most_bytes is not None and resident_bytes(pid) > most_bytes:
                    raise GeneratorUnavailable("The model's process takes too much memory.")
        finally:
            reading.cancel()

    def _deliver(self, beat: Beat) -> None:
        self.load = (beat.running, beat.waiting)
        self.passages = beat.passages
        self._forecaster.note_pace(beat.pace, beat.unread, beat.counted)
        for output in beat.outputs:
            # Readers who have left are not in the map.
            if (inbox := self._inboxes.get(output.id)) is not None:
                inbox.put_nowait(output.event)

    async def _part(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(self._watch.farewell_s if self._closed else 0.0):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _frame(message: ToChild) -> bytes:
    body = msgspec.msgpack.encode(message)
    return HEADER.pack(len(body)) + body


async def _read(reader: asyncio.StreamReader) -> ToParent:
    """The next message of the model's process.

    Raises:
        GeneratorUnavailable: It has ended, or has sent something that is not a message.
    """
    try:
        (length,) = HEADER.unpack(await reader.readexactly(HEADER.size))
        if 0 <= length <= MAX_FRAME_BYTES:
            return _decoder.decode(await reader.readexactly(length))
    except asyncio.IncompleteReadError:
        raise GeneratorUnavailable("The model's process has ended.") from None
    except msgspec.DecodeError:
        pass
    raise GeneratorUnavailable("The model's process sent an unreadable message.")


def is_stuck(silent_s: float, worked_s: float, bound_s: float) -> bool:
    """Whether to give up a silent process.

    Give it up if it has rested or computed for `bound_s` in silence. If it computes little because others use the
    machine, it is only slow.

    Args:
        silent_s: Seconds by the clock since its last message.
        worked_s: Processor time that it has used since, in seconds; 0 if unknown.
        bound_s: Longest silence.

    >>> is_stuck(21, 0, 20), is_stuck(60, 3, 20), is_stuck(60, 21, 20)
    (True, False, True)
    """
    return silent_s > bound_s and not LEAST_SHARE * silent_s < worked_s < bound_s
