"""Reads each book once in the background, so that the first readers do not have to wait for it.

What is read, decoded or counted for the first time costs a question half as much again as all else
(docs/decisions/0012): pages and chunks, how rare words are and where they stand, the stems of sentences. All of it is
kept where a question would keep it, and would be found by the next question in the same words; nothing answers
otherwise.
"""

import asyncio
from contextlib import suppress

from lutrin.answer.hostile import gives_orders
from lutrin.answer.traffic import Traffic
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index import lexical
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language.words import plain, stem_set, word_count

MOST_CHUNKS = 1024
"""Of a book, from its beginning; what stands behind them is read when it is asked for, so that memory stays small."""
AT_ONCE = 16
"""Chunks that are read together."""
REST_S = 0.03
"""For every portion, a part of it after each chunk: a reader who comes waits for a millisecond or two."""
POLL_S = 10.0
"""Between looks for new books."""


async def follow(shelf: Shelf, traffic: Traffic) -> None:
    """Read every book on the shelf, and each new one, until cancelled."""
    known: set[str] = set()
    while True:
        there = {generation.name: generation.book.slug for generation in shelf.books()}
        for name, slug in there.items():
            if name not in known:
                with suppress(NotFound, IndexUnavailable):
                    async with shelf.lease(slug) as generation:
                        await read(generation, traffic)
        known = set(there)
        await asyncio.sleep(POLL_S)


async def read(generation: OpenGeneration, traffic: Traffic) -> None:
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
