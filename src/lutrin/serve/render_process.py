"""Renders pages in a child process with limits of memory and time: a page of a book stops nobody but itself.

The child stays for the next page and ends with its parent. It gets jobs on its standard input and answers on its
standard output, each as a length and MessagePack. A page that it cannot render within its limits is shown as text.
"""

import contextlib
import logging
import math
import resource
import struct
import subprocess
import sys
import threading
from html import escape
from typing import IO

import msgspec

from lutrin.messages import PAGE_AS_TEXT
from lutrin.platform import bound
from lutrin.serve.rendering import Rendered, render_page

PAGE_S = 5.0
"""Processor time for a page."""
PER_MEGABYTE_S = 10.0
"""More for each megabyte of it: a book in one file."""
MOST_S = 60.0
PATIENCE = 4
"""Seconds of the clock for each second of processor time: the child shares the processor with what else runs."""
MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of the child."""
MOST_TEXT_CHARS = 4_000_000
"""Of a page that is shown as text; a browser takes no more in one piece."""
HARD_S = 24 * 3600
IDLE_S = 300.0
"""After it, a child without work ends and gives its memory back."""
_HEAD = struct.Struct("<I")


class Job(msgspec.Struct, frozen=True):
    """A page to render."""

    source: str
    filename: str
    limit_s: int


class Reply(msgspec.Struct, frozen=True):
    """A rendered page, and what it took."""

    page: Rendered
    spent_s: float


class Renderer:
    """Child processes that render pages; each page gets one that is free, or a new one."""

    def __init__(self) -> None:
        self._free: list[_Child] = []
        self._lock = threading.Lock()

    def render(self, source: str, filename: str) -> tuple[Rendered, float]:
        """Render a page; blocks until it is done.

        Returns:
            The page, and the processor seconds that it took. A page that does not render within its limits is its text.
        """
        limit_s = math.ceil(min(MOST_S, PAGE_S + PER_MEGABYTE_S * len(source) / 1_000_000))
        with self._lock:
            child = self._free.pop() if self._free else None
        if child is not None:
            child.retire.cancel()
        child = child or _Child()
        reply = child.serve(Job(source, filename, limit_s))
        if reply is None:
            return as_text(source), float(limit_s)
        self._put_back(child)
        return reply.page, reply.spent_s

    def close(self) -> None:
        """End the processes that have no work; the others end with this one."""
        with self._lock:
            children, self._free = self._free, []
        for child in children:
            child.end()

    def _put_back(self, child: "_Child") -> None:
        with self._lock:
            self._free.append(child)
            child.retire = threading.Timer(IDLE_S, self._retire, [child])
            child.retire.daemon = True
            child.retire.start()

    def _retire(self, child: "_Child") -> None:
        with self._lock:
            if child not in self._free:
                return
            self._free.remove(child)
        child.end()


class _Child:
    def __init__(self) -> None:
        self.retire = threading.Timer(IDLE_S, lambda: None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lutrin.serve.render_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def serve(self, job: Job) -> Reply | None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe, as asked for above
        assert self._process.stdout is not None  # noqa: S101 - likewise
        late = threading.Timer(PATIENCE * job.limit_s, self._process.kill)
        late.start()
        try:
            _write(self._process.stdin, msgspec.msgpack.encode(job))
            body = _read(self._process.stdout)
            if body is not None:
                return msgspec.msgpack.decode(body, type=Reply)
        except (OSError, msgspec.MsgspecError):
            pass  # it has ended, or is about to
        finally:
            late.cancel()
        self.end()
        return None

    def end(self) -> None:
        """End it and take its pipes back."""
        self.retire.cancel()
        self._process.kill()
        with contextlib.suppress(OSError):
            self._process.communicate()


def as_text(source: str) -> Rendered:
    """A page as the text of its file."""
    cut = source[:MOST_TEXT_CHARS]
    return Rendered(f'<p>{escape(PAGE_AS_TEXT)}</p>\n<pre tabindex="0">{escape(cut)}</pre>', (), ())


def _write(pipe: IO[bytes], body: bytes) -> None:
    pipe.write(_HEAD.pack(len(body)) + body)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    """Read one message; None if there is none any more."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (size,) = _HEAD.unpack(head)
    body = pipe.read(size)
    return body if len(body) == size else None


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Render pages until the parent closes the pipe."""
    bound(MEMORY_BYTES, HARD_S)
    logging.disable(logging.CRITICAL)
    while (message := _read(sys.stdin.buffer)) is not None:
        job = msgspec.msgpack.decode(message, type=Job)
        start_s = _spent_s()
        # The kernel ends the process a second or two late; the parent takes that for an answer.
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(start_s) + job.limit_s, HARD_S))
        page = render_page(job.source, job.filename)
        _write(sys.stdout.buffer, msgspec.msgpack.encode(Reply(page, _spent_s() - start_s)))


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # the parent has given up
        main()
