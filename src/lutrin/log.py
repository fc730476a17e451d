"""Structured logging: one line an event, with ids, timings, scores and outcome; never a reader's words."""

import logging
import sys
from typing import TextIO

import structlog

from lutrin.settings import Settings

Logger = structlog.typing.FilteringBoundLogger


def configure_logging(settings: Settings, stream: TextIO | None = None, *, quiet: bool = False) -> None:
    """Send log lines to `stream` (default: standard error), readable on a terminal, JSON otherwise.

    Args:
        settings: Format and level.
        stream: Where to; None: standard error.
        quiet: For commands that answer once: `info` lines are left out.
    """
    out = stream if stream is not None else sys.stderr
    pretty = settings.log_format == "console" or (settings.log_format == "auto" and out.isatty())
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
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def get_logger(name: str) -> Logger:
    """A logger whose lines carry the name of the room they come from."""
    logger: Logger = structlog.get_logger(room=name)
    return logger
