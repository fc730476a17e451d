"""Moves published books to other machines and other kinds of vector stores.

`lutrin export-index` and `import-index` move them in a file. A generation's folder contains every vector beside the
store's own files, so an import fills the new store from them. Neither it nor the next ingest embeds anything again,
because the file includes the catalogue's embeddings. The imported index is checked in a fresh process and published as
after an ingest. A damaged file or a kill at any moment leaves the old index in place.
Servers that share books find them on a rack, where an ingest offers them. A fetched generation keeps the name and the
hashes of its publication. The server checks it, syncs it, moves it into place and publishes it in its own catalogue in
one transaction. Fetched books stay, so a server answers from its disk while the rack cannot be reached.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.chats.key import installation_keys
from lutrin.errors import ArchiveError, IndexUnavailable, IngestInProgress, InvalidSettings
from lutrin.index import statements
from lutrin.index.build import BUILDING, collection_name, put_in_place, write_vectors
from lutrin.index.catalog import Catalog, FileState, PublishedBook, check_names
from lutrin.index.generation import PASSAGES, VECTORS
from lutrin.index.manifest import MANIFEST, Manifest, is_published, read_manifest, write_manifest
from lutrin.index.readback import Verify
from lutrin.ingest.lock import ingest_lock
from lutrin.keep.archive import beside, require_own, room, unpack_archive, write_archive
from lutrin.keep.backup import BOOKS, CATALOG, STUDY, check_databases, index_members, own_key
from lutrin.log import get_logger
from lutrin.ports import BookRack, VectorStore
from lutrin.settings import Settings

KIND = "lutrin index"


class TransferSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The books moved by an export or an import."""

    file: str
    books: dict[str, str]
    """Slug of each book -> its generation."""
    chunks: int


def export_index(settings: Settings, target: Path, now: Callable[[], datetime]) -> TransferSummary:
    """Write the published books and their embeddings to one file, without the vector store's own files."""
    if not settings.catalog_path.exists():
        raise ArchiveError(f"There is no index in {settings.data_dir}.", remedy="Run `lutrin ingest` first.")
    with beside(target) as work, ExitStack() as locks:
        members, expected = index_members(settings, work, locks)
        digests = {name: digest for name, digest in expected.items() if f"/{VECTORS}/" not in name}
        room(work, sum(path.stat().st_size for name, path in members if name in digests))
        created = now().isoformat(timespec="seconds")
        chosen = [item for item in members if item[0] in digests or item[0] not in expected]
        write_archive(target, chosen, KIND, created, expected=digests, key=own_key(settings))
        folders = sorted({Path(name).parent for name in digests if name.endswith(f"/{MANIFEST}")})
        chunks = sum(read_manifest(settings.data_dir / folder).chunks for folder in folders)
    return TransferSummary(
        file=str(target), books={folder.parent.name: folder.name for folder in folders}, chunks=chunks
    )


async def import_index(
    settings: Settings,
    source: Path,
    *,
    embedder: str,
    store: VectorStore,
    verify: Verify,
    now: Callable[[], datetime],
    trust: bool = False,
) -> TransferSummary:
    """Publish the books of an exported file in the vector store of these settings. The caller holds the ingest lock.

    Raises:
        ArchiveError: The file is not an exported index, or is incomplete, or foreign and not trusted.
        InvalidSettings: Its vectors come from another embedding model.
        VerificationFailed, IndexUnavailable, OSError: It could not be written; the published books stay in use.
    """
    settings.books_dir.mkdir(parents=True, exist_ok=True)
    with beside(settings.books_dir / CATALOG) as work:
        manifest = unpack_archive(source, KIND, work)
        require_own(source, manifest, installation_keys(settings, make=False), trust=trust)
        check_databases(work)
        with Catalog(work / CATALOG) as origin:
            books = origin.books()
            manifests = [read_manifest(work / BOOKS / book.info.slug / book.current) for book in books]
        for described in manifests:
            if described.embedder != embedder:
                raise InvalidSettings(
                    f"The vectors of {described.book.slug} were made by {described.embedder}, not by {embedder}.",
                    remedy="Set LUTRIN_PROFILE, LUTRIN_EMBED_MODEL and LUTRIN_EMBED_DIMENSION as they were.",
                )
        _merge_study(work / STUDY, settings.data_dir / STUDY)
        names = {}
        with Catalog(settings.catalog_path) as catalog:
            _take_embeddings(catalog, work / CATALOG)
            for book, described in zip(books, manifests, strict=True):
                slug = book.info.slug
                name = f"{catalog.next_number():06d}-{book.recipe[:8]}"
                building = settings.books_dir / slug / f"{BUILDING}{name}"
                await asyncio.to_thread(_move, work / BOOKS / slug / book.current, building)
                renamed = msgspec.structs.replace(described, name=name)
                digest = await _rebuild(building, renamed, store, verify)
                with Catalog(work / CATALOG) as origin:
                    states = list(origin.files(slug).values())
                fresh = msgspec.structs.replace(book, current=name, previous=None, manifest_sha256=digest)
                catalog.publish(fresh, published=now().isoformat(timespec="seconds"), files=states)
                await _settle(settings, catalog, fresh, store)
                names[slug] = name
    return TransferSummary(file=str(source), books=names, chunks=sum(described.chunks for described in manifests))


async def _rebuild(building: Path, manifest: Manifest, store: VectorStore, verify: Verify) -> str:
    """Fill a collection from a generation's folder and rename the folder; return its manifest's SHA-256."""
    try:
        with closing(sqlite.connect(building / PASSAGES, readonly=True)) as passages:
            await write_vectors(building, passages, store, manifest.collection, manifest.dimension)
        await asyncio.to_thread(write_manifest, building, manifest)
        await verify(building)
        return await asyncio.to_thread(put_in_place, building, building.with_name(manifest.name))
    finally:
        await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)


def _move(source: Path, building: Path) -> None:
    """Move an unpacked generation to its working folder, and remove the leftovers of a killed import."""
    shutil.rmtree(building, ignore_errors=True)
    building.parent.mkdir(parents=True, exist_ok=True)
    source.rename(building)


async def _settle(settings: Settings, catalog: Catalog, book: PublishedBook, store: VectorStore) -> None:
    publish = catalog.book(book.info.slug)
    folder = settings.books_dir / book.info.slug
    previous: Sequence[Path] = [folder / publish.previous / VECTORS] if publish and publish.previous else []
    await store.settle(collection_name(book.info), folder / book.current / VECTORS, previous)


def _merge_study(source: Path, folder: Path) -> None:
    for path in sorted(source.glob("*")):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)


def _take_embeddings(catalog: Catalog, source: Path) -> None:
    catalog.connection.execute("ATTACH DATABASE ? AS other", (str(source),))
    try:
        with catalog.transaction():
            for statement in (statements.COPY_EMBEDDINGS, *statements.ADD_DECISIONS):
                catalog.connection.execute(statement)
    finally:
        catalog.connection.execute("DETACH DATABASE other")


POLL_S = 1.0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A book as the catalogue of the ingesting machine describes it."""

    book: PublishedBook
    files: list[FileState]


async def offer_all(settings: Settings, rack: BookRack) -> None:
    """Update the rack to this machine's catalogue after an ingest. The caller holds the ingest lock."""
    offered = await rack.generations()
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
    """Update this machine to the rack; return the new generations. The caller holds the ingest lock.

    An empty rack changes nothing: the books on this machine stay.

    Raises:
        IndexUnavailable: The rack cannot be reached, or its files are damaged; the books published here stay in use.
    """
    fresh, gone = await _compare(settings, rack)
    with Catalog(settings.catalog_path) as catalog:
        for record in fresh:
            await _fetch_generation(settings, rack, catalog, record)
        for slug in gone:
            catalog.withdraw(slug)
    return [record.book.current for record in fresh]


async def follow(settings: Settings, rack: BookRack, poll_s: float = POLL_S) -> None:
    """Fetch new books repeatedly until cancelled. A lasting failure is logged once."""
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
    offered = [_record(record) for record in (await rack.generations()).values()]

    def publish() -> dict[str, str]:
        with Catalog(settings.catalog_path) as catalog:
            return {book.info.slug: book.manifest_sha256 for book in catalog.books()}

    here = await asyncio.to_thread(publish)
    fresh = [record for record in offered if here.get(record.book.info.slug) != record.book.manifest_sha256]
    slugs = {record.book.info.slug for record in offered}
    return fresh, [slug for slug in here if offered and slug not in slugs]


def _record(encoded: bytes) -> Record:
    """A record from the rack, whose names become folder names here."""
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
        if not await asyncio.to_thread(is_published, building, record.book.manifest_sha256):
            raise IndexUnavailable(f"The index {name} that was fetched is not what was published.")
        await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
        await asyncio.to_thread(put_in_place, building, target)
    finally:
        await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)
    catalog.publish(record.book, published=read_manifest(target).created, files=record.files)
