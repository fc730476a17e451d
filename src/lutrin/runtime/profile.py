"""Chooses the adapters of a profile."""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec

from lutrin import messages
from lutrin.adapters.embed_fastembed import FastembedEmbedder, find_published
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.adapters.rerank import MODEL as RANKER
from lutrin.adapters.rerank import FastembedReranker, ReaderReranker
from lutrin.background import Background
from lutrin.chats.key import chat_key
from lutrin.errors import ChatStoreError, IngestError, IngestInProgress, InvalidSettings, LutrinError
from lutrin.guests import find_guests
from lutrin.index.disk import FULL
from lutrin.ingest.formats import longest_s
from lutrin.ingest.summary import IngestSummary
from lutrin.installed import command_to_add
from lutrin.keep import weights
from lutrin.keep.transfer import fetch_all, follow, offer_all
from lutrin.keep.weights import PublishedEmbedder, pin_embedder
from lutrin.log import get_logger
from lutrin.ports import Embedder, Reranker, VectorStore
from lutrin.runtime.command import run_command
from lutrin.runtime.language_model import HousedGenerator, open_generator
from lutrin.settings import LOCAL, Settings

if TYPE_CHECKING:
    from lutrin.chats.store import ChatTables

REMOTE_PACKAGES = ("asyncpg", "cryptography", "openai", "qdrant-client")
"""Packages that only the remote profile needs (extra `remote` of pyproject.toml)."""

MARGIN_S = 600.0
"""Silence of an ingest, beyond its slowest file's time, after which it counts as hung, and another may start."""
RERANK_THREADS = 2
"""Windows that the cross-encoder reads at once, and so processors that a question occupies for some 50 ms."""


def open_embedder(settings: Settings, *, threads: int = 0) -> FastembedEmbedder:
    """Open the local embedding model after checking its files."""
    model = weights.load_manifest(settings.models_dir).find(settings.embedder, "embed")
    path = weights.verified_path(settings.models_dir, model)
    name = f"{model.name}-{model.file[0].sha256[:8]}"
    return FastembedEmbedder(path.parent, name=name, dimension=model.dimension, pooling=model.pooling, threads=threads)


def reranker_path(settings: Settings) -> tuple[str, Path] | None:
    """Name and checked file of the configured cross-encoder; None if there is to be none."""
    if settings.rerank in {"", "none"}:
        return None
    manifest = weights.load_manifest(settings.models_dir)
    if settings.rerank == "auto":
        if settings.profile == "remote" and settings.embed_model != LOCAL:
            return None
        model = manifest.find(settings.embedder, "embed")
        folder = weights.verified_path(settings.models_dir, model).parent
        has_one = any(item.name == RANKER for item in model.file)
        return (model.name, folder / RANKER) if has_one else None
    chosen = next((item for item in manifest.model if settings.rerank in {item.tier, item.name}), None)
    if chosen is None or chosen.role != "rerank":
        raise InvalidSettings(
            f"LUTRIN_RERANK: the manifest has no cross-encoder {settings.rerank}.",
            remedy="Name one whose role is `rerank`, or leave it at `auto`.",
        )
    return chosen.name, weights.verified_path(settings.models_dir, chosen)


def open_reranker(settings: Settings) -> Reranker | None:
    """Open the configured cross-encoder; see `reranker_path`."""
    choice = reranker_path(settings)
    if choice is None:
        return None
    name, path = choice
    if path.name == RANKER:
        return ReaderReranker(path.parent, name=name, threads=RERANK_THREADS)
    return FastembedReranker(path, name=name)


def fetch_embedder(settings: Settings, name: str, progress: weights.Progress) -> weights.Model:
    """Fetch and pin an embedding model of fastembed's list."""
    entry = find_published(name)
    if entry is None:
        raise InvalidSettings(f"There is no embedding model named {name}.", remedy="See fastembed's list of models.")
    return pin_embedder(settings.models_dir, PublishedEmbedder(name, *entry), progress)


def embedder_name(settings: Settings) -> str:
    """Return the embedder's name as stored in indexes; empty for a service's, or if the model is missing."""
    if settings.profile == "remote" and settings.embed_model != LOCAL:
        return ""
    try:
        return open_embedder(settings).name
    except LutrinError:
        return ""


@asynccontextmanager
async def embedding(settings: Settings, *, threads: int, patience_s: float) -> AsyncIterator[Embedder]:
    """Open the embedding model of the profile.

    Args:
        threads: Threads of the local model; 0: the physical cores.
        patience_s: Seconds for which to retry a service that does not respond.
    """
    local = open_embedder(settings, threads=threads)
    try:
        if settings.profile == "remote" and settings.embed_model != LOCAL:
            embedder = remote().embedder(settings, local, patience_s)
            try:
                yield embedder
            finally:
                await embedder.close()
        else:
            if not local.reading.fitted:
                get_logger("wiring").warning("not_fitted", embedder=local.name, detail=messages.NOT_FITTED)
            yield local
    finally:
        local.close()


def open_store(settings: Settings) -> VectorStore:
    """Open the store of vectors."""
    if settings.vector_store != "chroma":
        store: VectorStore = remote().store(settings)
        return store
    return ChromaStore(settings.data_dir / "scratch")


def remote() -> ModuleType:
    """Load the guest with the parts of the remote profile; the local profile never loads its packages."""
    try:
        module: ModuleType = next(entry for entry in find_guests("profiles") if entry.name == "remote").load()
    except StopIteration:
        raise InvalidSettings(
            "LUTRIN_PROFILE=remote needs the package lutrin_remote, which is not installed.",
            remedy="Install Lutrin whole, or set LUTRIN_PROFILE=local.",
        ) from None
    except ModuleNotFoundError as error:
        raise InvalidSettings(
            f"LUTRIN_PROFILE=remote needs the package {error.name}.",
            remedy=f"Run `{command_to_add(REMOTE_PACKAGES, 'LUTRIN_PROFILE=remote ./justw serve')}`.",
        ) from error
    return module


def open_model(settings: Settings) -> HousedGenerator | None:
    """Make the profile's language model; None if none is configured."""
    if settings.profile == "remote" and settings.llm_model != LOCAL:
        model: HousedGenerator = remote().generator(settings)
        return model
    return open_generator(settings)


def database_url(settings: Settings) -> str | None:
    """Return the address of the shared database; None if the server keeps its own files."""
    url = settings.database_url if settings.profile == "remote" else None
    return url.get_secret_value() if url is not None else None


async def opened_chats(settings: Settings, stack: AsyncExitStack) -> "ChatTables":
    """Open the profile's conversations until the stack closes; see `open_chats`.

    If this machine's cannot be opened, answers continue without memory.
    """
    try:
        chats = await open_chats(settings)
    except (ChatStoreError, OSError) as error:
        if database_url(settings) is not None:
            raise
        from lutrin.chats.store import AbsentChats  # noqa: PLC0415 - as below

        reason = error if isinstance(error, ChatStoreError) else unwritable(error, settings)
        get_logger("wiring").error("conversations_away", detail=reason.detail, remedy=reason.remedy)
        chats = AbsentChats(reason)
    stack.push_async_callback(chats.close)
    return chats


async def open_chats(settings: Settings) -> "ChatTables":
    """Open the profile's conversations; the caller closes them."""
    url = database_url(settings)
    if url is not None:
        chats: ChatTables = await remote().chats(settings, url)
        return chats
    from lutrin.chats.store import Room, SqlChatStore  # noqa: PLC0415 - the databases load only when they are needed

    return await SqlChatStore.open(settings.chats_path, chat_key(settings), room=Room.of(settings))


def unwritable(error: OSError, settings: Settings) -> ChatStoreError:
    """Explain why the data folder cannot be written, with the remedy."""
    if error.errno in FULL:
        return ChatStoreError(f"The disk of {settings.data_dir} is full.", remedy="Free some space, then start again.")
    return ChatStoreError(
        f"{error.filename or settings.data_dir}: {error.strerror}.", remedy="Check the folder's rights and its disk."
    )


@asynccontextmanager
async def ingesting(settings: Settings) -> AsyncIterator[None]:
    """Hold the ingest lock on all machines: fetch the newest books first, offer the changed ones at the end."""
    url = database_url(settings)
    if url is None:
        yield
        return
    async with remote().ingest_alone(url):
        rack = remote().rack(settings, url)
        if rack is not None:
            await fetch_all(settings, rack)
        yield
        if rack is not None:
            await offer_all(settings, rack)


@asynccontextmanager
async def follow_books(settings: Settings, background: Background) -> AsyncIterator[None]:
    """Fetch books that other machines publish while the block runs."""
    url = database_url(settings)
    rack = remote().rack(settings, url) if url is not None else None
    if rack is None:
        yield
        return
    async with background.running(lambda: follow(settings, rack), name="mirror"):
        yield


async def ingest_apart(settings: Settings, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
    """Ingest the corpus in a separate process, for `POST /ingest`; pass its lines to `note` and return the figures.

    Raises:
        IngestInProgress: Another process is ingesting.
        IngestError: It failed; the message is the process's last line.
    """
    last = ""

    def keep(line: str) -> None:
        nonlocal last
        last = line or last
        note(line)

    command = [
        sys.executable, "-P", "-m", "lutrin.cli", "ingest", str(settings.corpus_dir),
        "--json", "--data-dir", str(settings.data_dir), *(["--keep-missing"] if settings.watch else []),
    ]  # fmt: skip
    silence_s = longest_s(recognize=settings.ocr) + MARGIN_S
    try:
        _, output = await run_command(command, keep, {"LUTRIN_LOG_LEVEL": "error"}, silence_s=silence_s)
    except TimeoutError:
        raise IngestError(f"The ingestion was ended, for it did not go on after: {last or 'its start'}.") from None
    if not output.strip():
        raise IngestInProgress if last == messages.INGEST_IN_PROGRESS else IngestError(last or "The ingestion failed.")
    summary = msgspec.json.decode(output, type=IngestSummary)
    for line in (*summary.found_lines(), *summary.trouble_lines()):
        note(line)
    figures = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return {name: value for name, value in figures.items() if isinstance(value, int | float | str)}
