"""Structured logging: one line an event, with ids, timings, scores and outcome; never a reader's words."""

import logging
import sys
from typing import TextIO

import structlog

from lutrin.settings import Settings

Logger = structlog.typing.FilteringBoundLogger


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Send log lines to `stream` (default: standard error), readable on a terminal, JSON otherwise."""
    out = stream if stream is not None else sys.stderr
    pretty = settings.log_format == "console" or (settings.log_format == "auto" and out.isatty())
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if pretty else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.log_level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def get_logger(name: str) -> Logger:
    """A logger whose lines carry the name of the room they come from."""
    logger: Logger = structlog.get_logger(room=name)
    return logger
