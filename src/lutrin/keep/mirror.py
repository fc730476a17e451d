"""Share published books between machines: an ingest offers them on a rack, and every server fetches the new ones.

A fetched generation keeps the name and the hashes of its publication. The server checks it, syncs it, moves it into
place and publishes it in its own catalogue in one transaction, as after a local ingest. Fetched books stay, so a server
answers from its disk while the rack cannot be reached.
"""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, IngestInProgress
from lutrin.index.build import BUILDING, put_in_place
from lutrin.index.catalog import Catalog, FileState, PublishedBook, check_names
from lutrin.index.manifest import MANIFEST, is_published, read_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.log import get_logger
from lutrin.ports import BookRack
from lutrin.settings import Settings

POLL_S = 1.0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A book as the catalogue of the ingesting machine describes it."""

    book: PublishedBook
    files: list[FileState]


async def offer_all(settings: Settings, rack: BookRack) -> None:
    """Make the rack hold what this machine's catalogue lists, after an ingest. The caller holds the ingest lock.

    Raises:
        IndexUnavailable: The rack or an index cannot be read.
    """
    offered = await rack.listed()
    with Catalog(settings.catalog_path) as catalog:
        books = {book.info.slug: book for book in catalog.books()}
        states = {slug: list(catalog.files(slug).values()) for slug in books}
    for slug, book in books.items():
        if book.current not in offered:
            folder = settings.books_dir / slug / book.current
            files = {name: folder / name for name in (MANIFEST, *read_manifest(folder).hashes)}
            record = msgspec.json.encode(Record(book=book, files=states[slug]))
            await rack.offer(slug, book.current, record, files)
    for record in offered.values():
        slug = _record(record).book.info.slug
        if slug not in books:
            await rack.withdraw(slug)


async def fetch_all(settings: Settings, rack: BookRack) -> list[str]:
    """Bring this machine up to date with the rack; return the new generations. The caller holds the ingest lock.

    An empty rack changes nothing: the books on this machine stay.

    Raises:
        IndexUnavailable: The rack cannot be reached, or its files are damaged; the books published here go on serving.
    """
    fresh, gone = await _compare(settings, rack)
    with Catalog(settings.catalog_path) as catalog:
        for record in fresh:
            await _fetch_generation(settings, rack, catalog, record)
        for slug in gone:
            catalog.withdraw(slug)
    return [record.book.current for record in fresh]


async def follow(settings: Settings, rack: BookRack, poll_s: float = POLL_S) -> None:
    """Fetch new books again and again until cancelled. A lasting failure is logged once."""
    log = get_logger("mirror")
    trouble = ""
    while True:
        try:
            if any(await _compare(settings, rack)):  # the lock is for changes; comparing needs none
                with suppress(IngestInProgress), ingest_lock(settings.data_dir):
                    for name in await fetch_all(settings, rack):
                        log.info("mirror.fetched", generation=name)
            trouble = ""
        except (IndexUnavailable, OSError, sqlite.DatabaseError) as error:
            if str(error) != trouble:
                log.error("mirror.failed", error=str(error))  # noqa: TRY400 - the trace adds nothing
            trouble = str(error)
        await asyncio.sleep(poll_s)


async def _compare(settings: Settings, rack: BookRack) -> tuple[list[Record], list[str]]:
    """Compare the rack with this machine; return the generations to fetch and the books to withdraw."""
    offered = [_record(record) for record in (await rack.listed()).values()]

    def published() -> dict[str, str]:
        with Catalog(settings.catalog_path) as catalog:
            return {book.info.slug: book.manifest_sha256 for book in catalog.books()}

    here = await asyncio.to_thread(published)
    fresh = [record for record in offered if here.get(record.book.info.slug) != record.book.manifest_sha256]
    kept = {record.book.info.slug for record in offered}
    return fresh, [slug for slug in here if offered and slug not in kept]


def _record(encoded: bytes) -> Record:
    """A record of the rack, whose names become names of folders here."""
    record = msgspec.json.decode(encoded, type=Record)
    check_names(record.book.info.slug, record.book.current)
    return record


async def _fetch_generation(settings: Settings, rack: BookRack, catalog: Catalog, record: Record) -> None:
    slug, name = record.book.info.slug, record.book.current
    building = settings.books_dir / slug / f"{BUILDING}{name}"
    target = building.with_name(name)
    try:
        await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)
        await asyncio.to_thread(building.mkdir, parents=True)
        await rack.fetch(name, building)
        await asyncio.to_thread(_check, building, record.book)
        await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
        await asyncio.to_thread(put_in_place, building, target)
    finally:
        await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)
    published = read_manifest(target).created
    catalog.publish(record.book, published=published, files=record.files)


def _check(folder: Path, book: PublishedBook) -> None:
    if not is_published(folder, book.manifest_sha256):
        raise IndexUnavailable(f"The index {book.current} that was fetched is not what was published.")
