"""Renders pages in a child process with limits of memory and time: an expensive page only affects itself.

The child stays for the next page and ends with its parent. It reads jobs from its standard input and writes replies to
its standard output, one line of JSON each. A page that exceeds the limits is shown as text.
"""

import contextlib
import logging
import math
import resource
import subprocess
import sys
import threading
from html import escape

import msgspec

from lutrin.messages import PAGE_AS_TEXT
from lutrin.platform import bound
from lutrin.serve.rendering import RenderedPage, render_page

PAGE_S = 5.0
"""Processor time for a page."""
PER_MEGABYTE_S = 10.0
"""Additional seconds for each megabyte: a book in one file."""
MOST_S = 60.0
PATIENCE = 4
"""Wall-clock seconds for each second of processor time: the child shares the processor."""
MEMORY_BYTES = 1024 * 1024 * 1024
"""Address space of the child."""
MOST_TEXT_CHARS = 4_000_000
"""Characters of a page shown as text; a browser takes no more in one piece."""
HARD_S = 24 * 3600
IDLE_S = 300.0
"""Idle seconds after which a child ends and frees its memory."""

Child = subprocess.Popen[bytes]


class Job(msgspec.Struct, frozen=True):
    """A page to render."""

    source: str
    filename: str
    limit_s: int


class Reply(msgspec.Struct, frozen=True):
    """A rendered page, and its cost."""

    page: RenderedPage
    spent_s: float


class Renderer:
    """Child processes that render pages; each page gets an idle one, or a new one."""

    def __init__(self) -> None:
        self._free: dict[Child, threading.Timer] = {}
        """Idle processes, each with the timer that ends it."""
        self._lock = threading.Lock()

    def render(self, source: str, filename: str) -> tuple[RenderedPage, float]:
        """Render a page; blocks until it is done.

        Returns:
            The page, and its processor seconds. A page that exceeds its limits comes as text.
        """
        limit_s = math.ceil(min(MOST_S, PAGE_S + PER_MEGABYTE_S * len(source) / 1_000_000))
        child = self._take() or _start()
        late = threading.Timer(PATIENCE * limit_s, child.kill)
        late.start()
        try:
            reply = _ask(child, Job(source, filename, limit_s))
        except (OSError, msgspec.MsgspecError):  # it has ended, or is about to
            _end(child)
            return _as_text(source), float(limit_s)
        finally:
            late.cancel()
        retire = threading.Timer(IDLE_S, self._retire, [child])
        retire.daemon = True
        with self._lock:
            self._free[child] = retire
        retire.start()
        return reply.page, reply.spent_s

    def close(self) -> None:
        """End the idle processes; the others end with this one."""
        while child := self._take():
            _end(child)

    def _take(self) -> Child | None:
        with self._lock:
            child, retire = self._free.popitem() if self._free else (None, None)
        if retire is not None:
            retire.cancel()
        return child

    def _retire(self, child: Child) -> None:
        with self._lock:
            retires = self._free.pop(child, None) is not None
        if retires:
            _end(child)


def _start() -> Child:
    return subprocess.Popen(
        [sys.executable, "-m", "lutrin.serve.render_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ask(child: Child, job: Job) -> Reply:
    assert child.stdin is not None  # noqa: S101 - it is a pipe, as asked for above
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    child.stdin.write(msgspec.json.encode(job) + b"\n")
    child.stdin.flush()
    return msgspec.json.decode(child.stdout.readline(), type=Reply)


def _end(child: Child) -> None:
    """End a child and close its pipes."""
    child.kill()
    with contextlib.suppress(OSError):
        child.communicate()


def _as_text(source: str) -> RenderedPage:
    cut = source[:MOST_TEXT_CHARS]
    return RenderedPage(f'<p>{escape(PAGE_AS_TEXT)}</p>\n<pre tabindex="0">{escape(cut)}</pre>', (), ())


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Render pages until the parent closes the pipe."""
    bound(MEMORY_BYTES, HARD_S)
    logging.disable(logging.CRITICAL)
    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=Job)
        start_s = _spent_s()
        # The kernel ends the process a second or two late; the parent counts that as an answer.
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(start_s) + job.limit_s, HARD_S))
        page = render_page(job.source, job.filename)
        sys.stdout.buffer.write(msgspec.json.encode(Reply(page, _spent_s() - start_s)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # the parent has given up
        main()
