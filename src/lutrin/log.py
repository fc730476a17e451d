"""Structured logging: one line an event, with ids, timings, scores and outcome; never a reader's words.

In a server everything else that writes goes the same way: the libraries' loggers, warnings, uncaught exceptions
caught, and what native code prints to standard error. Of an exception the type and the places are logged, for its text
may quote a reader. A line that repeats is let through ten times a minute and counted from then on.
"""

import atexit
import fcntl
import logging
import os
import sys
import threading
import time
import traceback
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, TextIO

import structlog

from lutrin.platform import widen_pipe
from lutrin.settings import Settings

Logger = structlog.typing.FilteringBoundLogger

FOLD_AFTER = 10
"""Lines of one kind in a window, beyond which they are only counted."""
FOLD_AFTER_WITH_ID = 100
"""The same for lines that a reader's error message refers to by id."""
WINDOW_S = 60.0
MOST_KINDS = 1000
MOST_PLACES = 12
MOST_CHARS = 300
PIPE_BYTES = 1 << 20
"""Bytes of native output to keep; more is dropped, so that nothing blocks on the log."""
LAST_LINES_S = 0.5
"""Seconds to wait for output printed just before the end, such as why a start failed."""
FOLDED_LEVELS = frozenset({"warning", "error", "critical"})


class Folding:
    """A processor that drops the lines of a kind beyond the first ten in a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: OrderedDict[tuple[str, str, str], list[float]] = OrderedDict()
        """For each kind of line: the start of its window, lines seen, lines dropped."""

    def __call__(self, _: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Pass a line on, with the number of those dropped before it."""
        if method not in FOLDED_LEVELS:
            return line
        kind = (method, str(line.get("room", "")), f"{line.get('event', '')} {line.get('message', '')}"[:MOST_CHARS])
        with self._lock:
            now = self._clock()
            window = self._kinds.setdefault(kind, [now, 0, 0])
            self._kinds.move_to_end(kind)
            if len(self._kinds) > MOST_KINDS:
                self._kinds.popitem(last=False)
            if window[0] + WINDOW_S <= now:
                if window[2]:
                    line["folded"] = int(window[2])
                window[:] = [now, 0, 0]
            window[1] += 1
            if window[1] > (FOLD_AFTER_WITH_ID if "id" in line else FOLD_AFTER):
                window[2] += 1
                raise structlog.DropEvent
        return line

    def take_counts(self) -> list[tuple[str, str, str, int]]:
        """Level, room, event and count of the lines dropped in finished windows."""
        with self._lock:
            over = [item for item in self._kinds.items() if item[1][0] + WINDOW_S <= self._clock()]
            for kind, _ in over:
                del self._kinds[kind]
        return [(*kind, int(window[2])) for kind, window in over if window[2]]


def configure_logging(settings: Settings, stream: TextIO | None = None, *, quiet: bool = False) -> None:
    """Send log lines to `stream` (default: standard error), readable on a terminal, JSON otherwise.

    Args:
        settings: Format and level.
        stream: Where to; None: standard error. Only then what native code prints, and
            uncaught exceptions, are logged as well.
        quiet: For commands that answer once: `info` lines are left out, and nothing else is caught.
    """
    out = stream if stream is not None else sys.stderr
    pretty = settings.log_format == "console" or (settings.log_format == "auto" and out.isatty())
    if not quiet and not pretty and stream is None:
        out = _catch_native()
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if pretty else structlog.processors.JSONRenderer()
    )
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    if quiet and level == logging.INFO:
        level = logging.WARNING
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            Folding(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    if not quiet:
        _catch_libraries()
    if not quiet and stream is None:
        _catch_exceptions()


def get_logger(name: str) -> Logger:
    """A logger whose lines carry the name of their room."""
    logger: Logger = structlog.get_logger(room=name)
    return logger


def report_repeats() -> None:
    """Log how many lines were dropped; a long-running process calls it from time to time."""
    for processor in structlog.get_config()["processors"]:
        if isinstance(processor, Folding):
            for level, room, event, times in processor.take_counts():
                get_logger(room).info("folded", of=event.strip(), of_level=level, times=times)


def places_of(trace: types.TracebackType | None) -> list[str]:
    """File, line and function of the innermost frames of a traceback."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)[-MOST_PLACES:]]


class LibraryHandler(logging.Handler):
    """Logs the lines of libraries: only the fixed part of the message, for its arguments may quote a reader."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one line."""
        text = record.getMessage() if record.name == "py.warnings" else str(record.msg)
        fields: dict[str, Any] = {"library": record.name, "message": text.strip().partition("\n")[0][:MOST_CHARS]}
        if record.exc_info and record.exc_info[0] is not None:
            fields |= {"error": record.exc_info[0].__name__, "places": places_of(record.exc_info[2])}
        log = get_logger("libraries")
        (log.error if record.levelno >= logging.ERROR else log.warning)("library", **fields)


def _catch_libraries() -> None:
    root = logging.getLogger()
    for handler in [item for item in root.handlers if isinstance(item, LibraryHandler)]:
        root.removeHandler(handler)
    root.addHandler(LibraryHandler(logging.WARNING))
    logging.captureWarnings(capture=True)


def _catch_exceptions() -> None:
    sys.excepthook = lambda kind, error, trace: _uncaught("main", kind, error, trace)
    threading.excepthook = lambda args: _uncaught("thread", args.exc_type, args.exc_value, args.exc_traceback)
    sys.unraisablehook = lambda args: _uncaught("finalizer", args.exc_type, args.exc_value, args.exc_traceback)


def _uncaught(
    where: str, kind: type[BaseException], error: BaseException | None, trace: types.TracebackType | None
) -> None:
    del error  # its text may quote a reader
    get_logger("process").error("uncaught", where=where, error=kind.__name__, places=places_of(trace))


def _catch_native() -> TextIO:
    """Log everything written to standard error, through a pipe that children inherit; return the old one."""
    ours = os.fdopen(os.dup(2), "w", encoding="utf-8", buffering=1, errors="backslashreplace")
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_NONBLOCK)
    widen_pipe(writing, PIPE_BYTES)
    os.dup2(writing, 2)
    os.close(writing)
    source = os.fdopen(reading, encoding="utf-8", errors="backslashreplace")
    reader = threading.Thread(target=_log_lines, args=(source, ours), name="native-log", daemon=True)
    reader.start()

    def finish() -> None:
        os.dup2(ours.fileno(), 2)  # closes the pipe, unless a child still holds it
        reader.join(LAST_LINES_S)

    atexit.register(finish)
    return ours


def _log_lines(source: Iterable[str], out: TextIO) -> None:
    """Log each printed line; a child's JSON line stays unchanged."""
    log = get_logger("native")
    for line in source:
        text = line.strip()
        if text.startswith("{") and text.endswith("}"):
            out.write(text + "\n")
        elif text:
            log.warning("printed", message=text[:MOST_CHARS])
