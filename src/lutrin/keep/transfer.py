"""`lutrin export-index` and `import-index`: move published books from one kind of vector store to another.

A generation's folder holds every vector beside the store's own files, so an import fills the new store from them.
Nothing is embedded again, now or by the next ingest, because the catalogue's embeddings are included. The imported
index is checked in a fresh process and published as after an ingest. A damaged file or a kill at any moment leaves the
old index.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.chats.key import installation_keys
from lutrin.errors import ArchiveError, InvalidSettings
from lutrin.index import statements
from lutrin.index.build import BUILDING, collection_name, put_in_place, write_vectors
from lutrin.index.catalog import TABLES, Catalog, PublishedBook
from lutrin.index.generation import PASSAGES, VECTORS
from lutrin.index.manifest import MANIFEST, Manifest, read_manifest, write_manifest
from lutrin.index.readback import Verify
from lutrin.keep.archive import ArchiveManifest, beside, check_schema, require_own, room, unpack_archive, write_archive
from lutrin.keep.backup import BOOKS, CATALOG, STUDY, index_members, same_files, signed_manifest
from lutrin.ports import VectorStore
from lutrin.settings import Settings

KIND = "lutrin index"


class Transferred(msgspec.Struct, frozen=True, kw_only=True):
    """What an export or an import moved."""

    file: str
    books: dict[str, str]
    """Slug of each book -> its generation."""
    chunks: int


def export_index(settings: Settings, target: Path, now: Callable[[], datetime]) -> Transferred:
    """Write the published books and their embeddings to one file, without the vector store's own files.

    Raises:
        ArchiveError: There is nothing to export, or the file cannot be written.
        NotEnoughSpace: The disk is too small.
        IndexUnavailable: An index is damaged.
    """
    if not settings.catalog_path.exists():
        raise ArchiveError(f"There is no index in {settings.data_dir}.", remedy="Run `lutrin ingest` first.")
    with beside(target) as work, ExitStack() as locks:
        members, expected = index_members(settings, work, locks)
        wanted = {name: digest for name, digest in expected.items() if f"/{VECTORS}/" not in name}
        room(work, sum(path.stat().st_size for name, path in members if name in wanted))

        def describe(hashes: dict[str, str]) -> ArchiveManifest:
            same_files(wanted, hashes)
            created = now().isoformat(timespec="seconds")
            return signed_manifest(settings, KIND, created, hashes)

        chosen = [item for item in members if item[0] in wanted or item[0] not in expected]
        write_archive(target, chosen, describe)
        folders = sorted({Path(name).parent for name in wanted if name.endswith(f"/{MANIFEST}")})
        chunks = sum(read_manifest(settings.data_dir / folder).chunks for folder in folders)
    return Transferred(file=str(target), books={folder.parent.name: folder.name for folder in folders}, chunks=chunks)


async def import_index(
    settings: Settings,
    source: Path,
    *,
    embedder: str,
    store: VectorStore,
    verify: Verify,
    now: Callable[[], datetime],
    trust: bool = False,
) -> Transferred:
    """Publish the books of an exported file in the vector store of these settings. The caller holds the ingest lock.

    Raises:
        ArchiveError: The file is no exported index, or not whole, or foreign and not trusted.
        InvalidSettings: Its vectors are of another embedding model.
        VerificationFailed, IndexUnavailable, OSError: It could not be written; the published books go on serving.
    """
    settings.books_dir.mkdir(parents=True, exist_ok=True)
    with beside(settings.books_dir / CATALOG) as work:
        manifest = unpack_archive(source, KIND, work)
        require_own(source, manifest, installation_keys(settings, make=False), trust=trust)
        check_schema(work / CATALOG, TABLES)
        for passages in (work / BOOKS).glob(f"*/*/{PASSAGES}"):
            check_schema(passages)
        with Catalog(work / CATALOG) as given:
            books = given.books()
            manifests = [read_manifest(work / BOOKS / book.info.slug / book.current) for book in books]
        for described in manifests:
            if described.embedder != embedder:
                raise InvalidSettings(
                    f"The vectors of {described.book.slug} were made by {described.embedder}, not by {embedder}.",
                    remedy="Set LUTRIN_PROFILE, LUTRIN_EMBED_MODEL and LUTRIN_EMBED_DIMENSION as they were.",
                )
        _take_studied(work / STUDY, settings.data_dir / STUDY)
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
                with Catalog(work / CATALOG) as given:
                    states = list(given.files(slug).values())
                fresh = msgspec.structs.replace(book, current=name, previous=None, manifest_sha256=digest)
                catalog.publish(fresh, published=now().isoformat(timespec="seconds"), files=states)
                await _settle(settings, catalog, fresh, store)
                names[slug] = name
    return Transferred(file=str(source), books=names, chunks=sum(described.chunks for described in manifests))


async def _rebuild(building: Path, manifest: Manifest, store: VectorStore, verify: Verify) -> str:
    """Fill a collection from a generation's folder and give the folder its name; return its manifest's SHA-256."""
    try:
        with closing(sqlite.connect(building / PASSAGES, readonly=True)) as passages:
            await write_vectors(building, passages, store, manifest.collection, manifest.dimension)
        await asyncio.to_thread(write_manifest, building, manifest)
        await verify(building)
        return await asyncio.to_thread(put_in_place, building, building.with_name(manifest.name))
    finally:
        await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)


def _move(given: Path, building: Path) -> None:
    """Move an unpacked generation to its working folder, and remove what a killed import left there."""
    shutil.rmtree(building, ignore_errors=True)
    building.parent.mkdir(parents=True, exist_ok=True)
    given.rename(building)


async def _settle(settings: Settings, catalog: Catalog, book: PublishedBook, store: VectorStore) -> None:
    published = catalog.book(book.info.slug)
    folder = settings.books_dir / book.info.slug
    kept: Sequence[Path] = [folder / published.previous / VECTORS] if published and published.previous else []
    await store.settle(collection_name(book.info), folder / book.current / VECTORS, kept)


def _take_studied(given: Path, folder: Path) -> None:
    """Add the entries that another machine's study wrote, and keep those of this one."""
    for path in sorted(given.glob("*")):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)


def _take_embeddings(catalog: Catalog, given: Path) -> None:
    """Add another catalogue's embeddings and its teacher's decisions; keep the embeddings that are here."""
    catalog.connection.execute("ATTACH DATABASE ? AS other", (str(given),))
    try:
        with catalog.transaction():
            for statement in (statements.COPY_EMBEDDINGS, *statements.ADD_DECISIONS):
                catalog.connection.execute(statement)
    finally:
        catalog.connection.execute("DETACH DATABASE other")
