"""Fit where a page's word has the sense of the book's term (`lutrin.study.senses`), on links that were read.

Needs `data/` with the sample book ingested. A logistic regression on links drawn from all; its bias is then set so
that, of the links shown by fits without their term, the share `GOAL` is right. Links that were drawn from those that
the first such fit showed (`SHOWN`) take no part in it: they are counted as pages now show them.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import numpy as np

from lutrin.index.companion import defining
from lutrin.index.generation import OpenGeneration
from lutrin.runtime.wiring import open_runtime
from lutrin.search.fits import read_fit
from lutrin.settings import load_settings
from lutrin.study import senses
from lutrin.study.senses import SIGNALS, SensesFit, measure
from training.kept import BOOK
from training.same import Array, Mask, logistic

LINKS = Path(__file__).resolve().parents[1] / "evaluation" / "prepared" / "senses.jsonl"
SHOWN = LINKS.with_name("senses_shown.jsonl")
FOLDS = 10
GOAL = 0.97


class Link(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word of a page that is spelt like a term, and whether it has that term's sense."""

    name: str
    page: str
    text: str
    """The sentence or list item that contains it."""
    fits: bool


def read_links(path: Path = LINKS) -> list[Link]:
    """The links that were read."""
    return [msgspec.json.decode(line, type=Link) for line in path.read_bytes().splitlines()]


async def signals_of(links: list[Link], generation: OpenGeneration) -> Array:
    """(links, signals).

    Raises:
        KeyError: The book or its companion has changed there; read such a link again.
    """
    companion = generation.companion
    items = {name: item for item in companion.visible("term") for name in item.entry.names}
    chunks = dict(enumerate(await generation.all_chunks()))
    homes = {chunk.chunk_id: row for row, chunk in chunks.items()}
    uses = {(chunk.filename, unit.text): row for row, chunk in chunks.items() for unit in chunk.units}
    texts = {text: place for place, text in enumerate(companion.texts)}
    found = []
    for link in links:
        home, row = homes[items[link.name].chunk_id], uses[link.page, link.text]
        pieces = len(companion.wording(texts[defining(link.name)]).tokens)
        windows = generation.windows_of(home), generation.windows_of(row)
        found.append(measure(*windows, chunks[home], chunks[row], pieces))
    return np.array(found, dtype=np.float64)


def unseen(links: list[Link], values: Array, fits: Mask) -> Array:
    """(links,): log odds of each by a fit without the links of its term."""
    folds = np.array([int(hashlib.sha256(link.name.encode()).hexdigest(), 16) % FOLDS for link in links])
    odds = np.empty(len(links))
    for fold in range(FOLDS):
        own = folds == fold
        odds[own] = np.c_[values, np.ones(len(values))][own] @ logistic(values[~own], fits[~own])
    return odds


def least_of(odds: Array, fits: Mask) -> float:
    """The lowest log odds from which on the share `GOAL` is right."""
    order = np.argsort(-odds)
    right = np.cumsum(fits[order]) / np.arange(1, len(order) + 1)
    last = int(np.flatnonzero(right >= GOAL)[-1])
    return float(odds[order[last]])


@asynccontextmanager
async def sample_book() -> AsyncIterator[OpenGeneration]:
    """The sample book's generation."""
    settings = load_settings(model="none", log_level="error")
    async with open_runtime(settings, with_model=False) as house, house.shelf.lease(BOOK) as generation:
        yield generation


async def measured_links() -> tuple[str, list[Link], Array]:
    """Name of the embedder, and the links that are fitted on with their signals."""
    links = read_links()
    async with sample_book() as generation:
        return generation.manifest.embedder, links, await signals_of(links, generation)


async def still_shown() -> list[Link]:
    """The links of `SHOWN` that the sample book's pages show with what was fitted."""
    found = set()
    async with sample_book() as generation:
        made = await senses.senses_of(generation)
        for file in generation.files:
            names = [chunk.chunk_id for chunk in await generation.chunks_of(file.filename)]
            for use in made.on_page(await generation.places(names)):
                found |= {(use.name, file.filename, text) for _, text in use.places}
    return [link for link in read_links(SHOWN) if (link.name, link.page, link.text) in found]


def run() -> None:
    """Fit, write the file, print the figures and what is shown wrongly."""
    embedder, links, values = asyncio.run(measured_links())
    fits = np.array([link.fits for link in links])
    odds = unseen(links, values, fits)
    least = least_of(odds, fits)
    weights = logistic(values, fits)
    weights[-1] -= least
    shown = odds >= least
    made = SensesFit(
        embedder=embedder,
        signals=SIGNALS,
        weights=tuple(round(float(weight), 4) for weight in weights),
        links=len(links),
        right=int(fits.sum()),
        shown=int(shown.sum()),
        shown_right=int((shown & fits).sum()),
    )
    target = Path(senses.__file__).with_name(senses.FITTED)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    for place in np.argsort(-odds):
        if shown[place] and not fits[place]:
            print(f"{odds[place] - least:6.2f} {links[place].name} | {links[place].text[:120]}")
    print(json.dumps(msgspec.to_builtins(made)))
    read_fit.cache_clear()
    now = asyncio.run(still_shown())
    print(f"Read as pages show them: {sum(link.fits for link in now)} of {len(now)} are right.")
    print(*(f"       {link.name} | {link.text[:120]}" for link in now if not link.fits), sep="\n")
