"""Which adapters a profile has in which place."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import msgspec

from lutrin import messages
from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.chats.key import chat_key
from lutrin.errors import ChatStoreError, IngestError, IngestInProgress, InvalidSettings, LutrinError
from lutrin.ingest.summary import IngestSummary
from lutrin.installed import command_to_add
from lutrin.keep import weights
from lutrin.keep.mirror import fetch_all, follow, offer_all
from lutrin.log import get_logger
from lutrin.ports import Embedder, Generator, VectorStore
from lutrin.runtime.language_model import open_generator
from lutrin.settings import LOCAL, Settings

if TYPE_CHECKING:
    from lutrin.chats.store import ChatTables

EMBED_TIER = "default"
REMOTE_PACKAGES = ("asyncpg", "cryptography", "greenlet", "openai", "qdrant-client")
"""What the remote profile needs besides, as pyproject.toml's extra `remote` names it."""
CONVERTED = "embedder"
"""Folder in the data directory for the embedding model as this machine computes it; safe to delete."""


class HousedGenerator(Generator, Protocol):
    """A language model that a house starts and whose load it shows."""

    identity: str
    """Equal for equal model files; empty: not known, so that nothing it says is kept."""
    computed_by: str
    """What computes it, in words, such as `processor (haswell)`; empty until that is known."""

    @property
    def load(self) -> tuple[int, int]:
        """Count running answers and waiting readers."""
        ...

    async def start(self) -> bool:
        """Whether the model is ready, once that is known."""
        ...


def open_embedder(settings: Settings, *, threads: int = 0) -> FastembedEmbedder:
    """The embedding model of this machine, after its files matched the manifest.

    Raises:
        ModelMissing, ChecksumMismatch: Its files cannot be used.
    """
    model = weights.load_manifest(settings.models_dir).find(EMBED_TIER)
    path = weights.verified_path(settings.models_dir, model)
    name = f"{model.name}-{model.file[0].sha256[:8]}"
    return FastembedEmbedder(path.parent, name=name, threads=threads, keep=settings.data_dir / CONVERTED)


def embedder_name(settings: Settings) -> str:
    """What questions are embedded by, as indexes name it; empty where that is a service's, or the model is not here."""
    if settings.profile == "remote" and settings.embed_model != LOCAL:
        return ""
    try:
        return open_embedder(settings).name
    except LutrinError:
        return ""


@asynccontextmanager
async def embedding(settings: Settings, *, threads: int, patience_s: float) -> AsyncIterator[Embedder]:
    """The embedding model of the profile.

    Args:
        settings: Name it.
        threads: Of the local one; 0: the physical cores.
        patience_s: Seconds for which a service that is away is tried again.
    """
    local = open_embedder(settings, threads=threads)
    try:
        if settings.profile == "remote" and settings.embed_model != LOCAL:
            async with remote().embedding(settings, local, patience_s) as made:
                yield made
        else:
            yield local
    finally:
        local.close()


def open_store(settings: Settings) -> VectorStore:
    """Where vectors live, and words if they do not lie in the passages' own database."""
    store: VectorStore = ChromaStore(settings.data_dir / "scratch")
    if settings.profile == "remote" and settings.qdrant_url != LOCAL:
        store = remote().store(settings)
    if settings.profile == "remote" and settings.words == "postgres":
        store = remote().worded(store, settings)
    return store


def remote() -> ModuleType:
    """The module with the parts of the remote profile.

    Raises:
        InvalidSettings: Its packages are not installed.
    """
    try:
        from lutrin.runtime import remote  # noqa: PLC0415 - the local profile never loads these packages
    except ModuleNotFoundError as error:
        raise InvalidSettings(
            f"LUTRIN_PROFILE=remote needs the package {error.name}.",
            remedy=f"Run `{command_to_add(REMOTE_PACKAGES, 'LUTRIN_PROFILE=remote ./justw serve')}`.",
        ) from error
    return remote


def open_model(settings: Settings) -> HousedGenerator | None:
    """The language model of the profile; None if there is to be none.

    Raises:
        ModelMissing, ChecksumMismatch: The local model's file cannot be used.
    """
    if settings.profile == "remote" and settings.llm_model != LOCAL:
        model: HousedGenerator = remote().generator(settings)
        return model
    return open_generator(settings)


def database_url(settings: Settings) -> str | None:
    """Return the address of the shared database; None if each server keeps its own files."""
    given = settings.database_url if settings.profile == "remote" else None
    return given.get_secret_value() if given is not None else None


async def opened_chats(settings: Settings, stack: AsyncExitStack) -> "ChatTables":
    """The conversations of the profile, open as long as the stack is; see `open_chats`.

    Those of this machine that cannot be opened stand for themselves: answers go on without memory.
    """
    try:
        chats = await open_chats(settings)
    except (ChatStoreError, OSError) as error:
        if database_url(settings) is not None:
            raise
        from lutrin.chats.absent import AbsentChats  # noqa: PLC0415 - as below

        reason = error if isinstance(error, ChatStoreError) else unwritable(error, settings)
        get_logger("wiring").error("conversations_away", detail=reason.detail, remedy=reason.remedy)
        chats = AbsentChats(reason)
    stack.push_async_callback(chats.close)
    return chats


async def open_chats(settings: Settings) -> "ChatTables":
    """The conversations of the profile; whoever opens them closes them.

    Raises:
        ChatStoreError: They cannot be opened or migrated.
    """
    url = database_url(settings)
    if url is not None:
        chats: ChatTables = await remote().chats(settings, url)
        return chats
    from lutrin.chats.rows import Room  # noqa: PLC0415 - as below
    from lutrin.chats.store import SqlChatStore  # noqa: PLC0415 - the databases load only when they are needed

    return await SqlChatStore.open(settings.chats_path, chat_key(settings), room=Room.of(settings))


def unwritable(error: OSError, settings: Settings) -> ChatStoreError:
    """Explain why the data folder cannot be written, with the remedy."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ChatStoreError(f"The disk of {settings.data_dir} is full.", remedy="Free some space, then start again.")
    return ChatStoreError(
        f"{error.filename or settings.data_dir}: {error.strerror}.", remedy="Check the folder's rights and its disk."
    )


@asynccontextmanager
async def ingesting(settings: Settings) -> AsyncIterator[None]:
    """Be the only one who changes the books, on all machines: begin with the newest, offer what has changed.

    Raises:
        IngestInProgress: Another machine is at it.
        ChatStoreError, IndexUnavailable: What the machines share is away.
    """
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
async def following(settings: Settings) -> AsyncIterator[None]:
    """Fetch, as long as the block runs, what other machines publish."""
    url = database_url(settings)
    rack = remote().rack(settings, url) if url is not None else None
    if rack is None:
        yield
        return
    async with in_background(follow(settings, rack), name="mirror"):
        yield


@asynccontextmanager
async def in_background(work: Coroutine[None, None, None], *, name: str) -> AsyncIterator[None]:
    """Do something as long as the block runs."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def ingest_apart(settings: Settings, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
    """Ingest the corpus in a process of its own, as `POST /ingest` asks for it.

    Args:
        settings: Say where corpus and data lie.
        note: Gets each line of progress, in the end what went wrong and what the authors of files should know.

    Returns:
        The figures of the summary.

    Raises:
        IngestInProgress: Another process is ingesting.
        IngestError: It failed; the message is the process's last line.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "lutrin.cli", "ingest", str(settings.corpus_dir),
        "--json", "--data-dir", str(settings.data_dir),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "LUTRIN_LOG_LEVEL": "error"},
    )  # fmt: skip
    if process.stdout is None or process.stderr is None:
        raise TypeError("both streams are pipes")
    last = ""
    try:
        async for raw in process.stderr:
            last = raw.decode(errors="replace").rstrip()
            note(last)
        output = await process.stdout.read()
        await process.wait()
    finally:
        if process.returncode is None:  # the server ends: an ingest may be ended at any moment, and is waited for
            process.kill()
            await process.wait()
    if not output.strip():
        raise IngestInProgress if last == messages.INGEST_IN_PROGRESS else IngestError(last or "The ingestion failed.")
    summary = msgspec.json.decode(output, type=IngestSummary)
    for line in (*summary.found_lines(), *summary.trouble_lines()):
        note(line)
    figures = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return {name: value for name, value in figures.items() if isinstance(value, int | float | str)}
