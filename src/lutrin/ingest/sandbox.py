"""Reads a file in a separate process with bounded memory and time: a hostile file costs one error line.

Most formats are read this way, because their parsers can be made to exhaust both; so are all but short Markdown files,
because a few megabytes of brackets take minutes. Starting Python and loading a parser takes longer than reading a page.
Therefore a process with loaded parsers, the zygote, forks for each file. It never sees a file: the fork gets the open
file and the password over its own socket, and replies there in MessagePack.
"""

import contextlib
import gc
import logging
import math
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from io import BytesIO
from typing import BinaryIO

import msgspec

from lutrin.errors import DocumentError
from lutrin.ingest import formats
from lutrin.platform import bound, end_with_parent
from lutrin.records import Document

_OUT_OF_MEMORY = 3  # exit code of a fork
_IDLE_S = 60.0
"""A zygote without files ends after this time; its memory is worth more than the third of a second of another start."""
_ORDER_BYTES, _CODE_BYTES, _BLOCK_BYTES = 4096, 16, 1 << 18
"""Least sizes of an order and of an exit code, and bytes of a reply read at a time."""
_Order = tuple[str, int, int]
"""The zygote's information on a file: its suffix, its limit of memory in bytes and of time in seconds."""
_Job = tuple[str, str, bool]
"""Information for the fork only: the file's name, its password, and whether to recognise pictures of its pages."""
_ENVIRONMENT = ("PYTHON", "LD_", "DYLD_", "LC_", "LANG", "PATH", "HOME", "TMPDIR")
"""Prefixes of variables that a parser may need; it must not get keys and passwords of this process."""


def _kind(filename: str) -> formats.Format:
    kind = formats.format_of(filename)
    if kind is None:
        raise DocumentError(filename, f"is not a {formats.suffixes_in_words()} file")
    return kind


def read_plainly(data: bytes | BinaryIO, filename: str, password: str = "", *, recognize: bool = False) -> Document:
    """Read a file of any kind in this process, without limits.

    Raises:
        DocumentError: The file cannot be read, or contains no text.
    """
    file = BytesIO(data) if isinstance(data, bytes) else data
    return _kind(filename).parse(file, filename, password, recognize=recognize)


def read_in_sandbox(
    data: bytes | BinaryIO,
    filename: str,
    password: str = "",
    *,
    time_limit_s: float | None = None,
    memory_limit_bytes: int | None = None,
    recognize: bool = False,
) -> Document:
    """Read a file of any kind in a limited process.

    Args:
        time_limit_s: Seconds of processor time after which the process is killed, and a multiple of that in wall-clock
            time, since the machine may be busy; None: the limit of its format.
        memory_limit_bytes: Address space of the process; None: the limit of its format.

    Raises:
        DocumentError: The file cannot be read, or not within the limits.
    """
    kind = _kind(filename)
    if recognize:
        time_limit_s = time_limit_s or formats.RECOGNITION_TIME_LIMIT_S
        memory_limit_bytes = memory_limit_bytes or formats.RECOGNITION_MEMORY_LIMIT_BYTES
    time_limit_s = time_limit_s or kind.time_limit_s
    memory_limit_bytes = memory_limit_bytes or kind.memory_limit_bytes
    order = formats.suffix_of(filename), memory_limit_bytes, math.ceil(time_limit_s)
    job = filename, password, recognize
    with contextlib.ExitStack() as opened:
        if isinstance(data, bytes):
            file: BinaryIO = opened.enter_context(tempfile.TemporaryFile())
            file.write(data)
            file.flush()
        else:
            file = data
        try:
            code, answer = _in_fork(order, job, file.fileno(), formats.PATIENCE * time_limit_s)
        except TimeoutError:
            code, answer = -signal.SIGXCPU, b""
    if code == -signal.SIGXCPU:
        raise DocumentError(filename, f"could not be read within {time_limit_s:g} s")
    if code == _OUT_OF_MEMORY:
        raise DocumentError(filename, f"needs more than {memory_limit_bytes // 1024 // 1024} MB of memory to be read")
    if code != 0:
        raise DocumentError(filename, f"crashed the parser (exit code {code})")
    reply = msgspec.msgpack.decode(answer, type=Document | str)
    if isinstance(reply, str):
        raise DocumentError(filename, reply)
    return reply


class _Zygote:
    """A process that forks for one file at a time; it ends with this object or process."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        environment = {name: value for name, value in os.environ.items() if name.startswith(_ENVIRONMENT)}
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "lutrin.ingest.sandbox", str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=environment,
            )  # fmt: skip
        self.end = weakref.finalize(self, _end, self._control, self._process)

    def run(self, order: _Order, job: _Job, file: int, patience_s: float) -> tuple[int, bytes]:
        """Return the exit code of a fork that reads an open file, and its reply.

        Raises:
            TimeoutError: It took too long.
            ConnectionError: The zygote has ended.
        """
        deadline = time.monotonic() + patience_s
        ours, theirs = socket.socketpair()
        answer = bytearray()
        with ours:
            with theirs:
                socket.send_fds(self._control, [msgspec.msgpack.encode(order)], [theirs.fileno(), file])
            with contextlib.suppress(ConnectionError):  # the fork has ended, its exit code says why
                ours.settimeout(patience_s)
                ours.sendall(msgspec.msgpack.encode(job))
                ours.shutdown(socket.SHUT_WR)
                while block := ours.recv(_BLOCK_BYTES):
                    answer += block
                    ours.settimeout(max(0.001, deadline - time.monotonic()))
        code = self._control.recv(_CODE_BYTES)
        if not code:
            raise ConnectionError
        return int(code), bytes(answer)


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()  # upon which it kills its fork and ends
    process.wait()


_idle: list[_Zygote] = []
"""One for each file of the busiest moment so far; threads take and return them atomically."""


def _in_fork(order: _Order, job: _Job, file: int, patience_s: float) -> tuple[int, bytes]:
    """Give a job to an idle zygote, or else a new one; replace one that has ended since its last file."""
    while True:
        try:
            zygote, is_new = _idle.pop(), False
        except IndexError:
            zygote, is_new = _Zygote(), True
        with contextlib.ExitStack() as failing:
            failing.callback(zygote.end)
            try:
                outcome = zygote.run(order, job, file, patience_s)
            except ConnectionError:
                if is_new:
                    return 1, b""
                continue
            failing.pop_all()
        _idle.append(zygote)
        return outcome


def _serve(control: socket.socket) -> None:
    """Fork for each order, until the other side hangs up or no order comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # at a terminal it goes to all; the other side decides
    warm: set[str] = set()
    logging.disable(logging.CRITICAL)  # warnings of pypdf and pdfminer about a file's faults
    while select.select([control], [], [], _IDLE_S)[0]:
        message, descriptors, _, _ = socket.recv_fds(control, _ORDER_BYTES, 2)
        if not message:
            return
        suffix, memory_limit_bytes, time_limit_s = msgspec.msgpack.decode(message, type=_Order)
        if suffix not in warm:
            warm.add(suffix)
            formats.all_formats()[suffix].warm_up(suffix)
        gc.freeze()  # a fork's collector would write to what both share, and so copy it
        ended, alive = os.pipe()
        fork = os.fork()
        if fork == 0:
            control.close()
            os._exit(_answer(memory_limit_bytes, time_limit_s, *descriptors))
        for descriptor in (alive, *descriptors):
            os.close(descriptor)
        if control.fileno() in select.select([control.fileno(), ended], [], [])[0]:  # no one is waiting
            os.kill(fork, signal.SIGKILL)
        os.close(ended)
        code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
        with contextlib.suppress(ConnectionError):
            control.sendall(str(code).encode())


def _answer(memory_limit_bytes: int, time_limit_s: int, channel: int, file: int) -> int:
    """Do one job, in a fork; the exit code tells the error if nothing could be written."""
    try:
        end_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        bound(memory_limit_bytes, time_limit_s)
        with socket.socket(fileno=channel) as peer, os.fdopen(file, "rb") as opened:
            filename, password, recognize = msgspec.msgpack.decode(peer.makefile("rb").read(), type=_Job)
            opened.seek(0)
            try:
                reply: Document | str = read_plainly(opened, filename, password, recognize=recognize)
            except DocumentError as error:
                reply = error.detail.removeprefix(f"{filename}: ")
            peer.sendall(msgspec.msgpack.encode(reply))
    except MemoryError:
        return _OUT_OF_MEMORY
    except BaseException:  # noqa: BLE001 - nothing of the zygote's may run on in a fork
        return 1
    return 0


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
