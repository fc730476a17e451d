"""What a server does while nobody asks: it reads each book once, and lets the model study them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from lutrin.answer.hostile import gives_orders
from lutrin.answer.traffic import Traffic
from lutrin.errors import IndexUnavailable, LutrinError, NotFound
from lutrin.index import lexical
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language.words import plain, stem_set, word_count
from lutrin.log import get_logger

LOOK_S = 0.1
"""Seconds between looks for readers, and so the longest time until a reader gets the model."""
STUDY_REST_S = 600.0
"""Seconds to pause after all books were studied, or when the model was not available."""
MOST_CHUNKS = 1024
"""Of a book, from its beginning; what stands behind them is read when it is asked for, so that memory stays small."""
AT_ONCE = 16
"""Chunks that are read together."""
REST_S = 0.03
"""For every portion, a part of it after each chunk: a reader who comes waits for a millisecond or two."""
POLL_S = 10.0
"""Between looks for new books."""


async def study_while_idle(
    study: Callable[[], Awaitable[None]], traffic: Traffic, quiet_s: float, *, waits: Callable[[], bool] = lambda: False
) -> None:
    """Study whenever no reader has come for a while, until cancelled; stop as soon as one comes.

    Args:
        study: May be cancelled at any time; continues at the next call.
        traffic: Counts what readers do.
        quiet_s: Seconds without a question, a search or an opened page before it begins.
        waits: Whether it cannot be done now: the machine must save its battery, or the model is on its way.
    """
    log = get_logger("study")
    while True:
        await _quiet(traffic, quiet_s, waits)
        before = traffic.doings
        work = asyncio.ensure_future(study())
        try:
            while not work.done() and traffic.doings == before and not waits():
                await asyncio.wait({work}, timeout=LOOK_S)
        finally:
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, asyncio.CancelledError):
            log.info("broken_off")
            continue
        if isinstance(outcome, LutrinError | OSError):
            log.warning("cannot_study", detail=str(outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        await asyncio.sleep(STUDY_REST_S)


async def _quiet(traffic: Traffic, quiet_s: float, waits: Callable[[], bool]) -> None:
    """Wait until for `quiet_s` nobody asked or opened a page and nothing else was in the way."""
    loop = asyncio.get_running_loop()
    since, seen = loop.time(), traffic.doings
    while loop.time() - since < quiet_s:
        if traffic.readers or traffic.doings != seen or waits():
            since, seen = loop.time(), traffic.doings
        await asyncio.sleep(min(LOOK_S, quiet_s))


async def read_books(shelf: Shelf, traffic: Traffic) -> None:
    """Read every book on the shelf, and each new one, until cancelled, so that the first readers do not wait for it.

    What is read, decoded or counted for the first time costs a question half as much again as all else
    (docs/decisions/0012). All of it is kept where a question would keep it; nothing answers otherwise.
    """
    known: set[str] = set()
    while True:
        there = {generation.name: generation.book.slug for generation in shelf.books()}
        for name, slug in there.items():
            if name not in known:
                with suppress(NotFound, IndexUnavailable):
                    async with shelf.lease(slug) as generation:
                        await _read(generation, traffic)
        known = set(there)
        await asyncio.sleep(POLL_S)


async def _read(generation: OpenGeneration, traffic: Traffic) -> None:
    """Read one book whenever no answer or search is under way.

    Raises:
        IndexUnavailable: It cannot be read.
    """
    ids = await generation.first_ids(MOST_CHUNKS)
    for start in range(0, len(ids), AT_ONCE):
        while traffic.readers:  # noqa: ASYNC110 - who leaves tells nobody
            await asyncio.sleep(REST_S)
        portion = await generation.chunks(ids[start : start + AT_ONCE])
        text = "\n".join(chunk.embedded_text() for chunk in portion)
        await generation.document_frequency(lexical.words(text))
        await generation.keep_terms(text)
        for filename in {chunk.filename for chunk in portion}:
            await generation.source(filename)
        for chunk in portion:
            plain(chunk.text)
            for unit in chunk.units:
                stem_set(unit.text)
                word_count(unit.text)
                gives_orders(unit.text)
            await asyncio.sleep(REST_S / AT_ONCE)
