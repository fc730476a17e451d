"""The parts of the remote profile: services that replace parts of this machine.

The module is loaded only in that profile, since it needs the packages of the extra `remote`. Each part can stay local
(a model named `local`, LUTRIN_VECTORS=chroma, no DATABASE_URL): for example local embeddings with Qdrant, or a local
index with a service's language model.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

from lutrin.chats.key import KeySeal, chat_key
from lutrin.chats.store import Room
from lutrin.errors import ChatStoreError, IndexUnavailable, LutrinError
from lutrin.ports import Embedder
from lutrin.records import Check
from lutrin.settings import LOCAL, Settings
from lutrin_remote.index_pgvector import PgvectorStore
from lutrin_remote.index_qdrant import QdrantStore, connect
from lutrin_remote.postgres_books import PostgresRack
from lutrin_remote.postgres_chats import PostgresChatStore, SharedDatabase, ingest_alone, place
from lutrin_remote.remote_openai import RemoteEmbedder, RemoteGenerator

__all__ = [
    "chats",
    "embedder",
    "examine",
    "generator",
    "ingest_alone",
    "open_shared_state",
    "rack",
    "require_reachable",
    "store",
]


def embedder(settings: Settings, tokens: Embedder, patience_s: float) -> RemoteEmbedder:
    """Make the service's embedding model; `tokens` is the local one, which counts tokens and embeds each of them."""
    address, key = settings.llm_base_url, api_key(settings)
    return RemoteEmbedder(settings.embed_model, settings.embed_dimension, address, key, tokens, patience_s=patience_s)


def generator(settings: Settings) -> RemoteGenerator:
    """Make the service's language model."""
    return RemoteGenerator(settings.llm_model, settings.llm_base_url, api_key(settings))


def store(settings: Settings) -> QdrantStore | PgvectorStore:
    """Make the store of vectors in Qdrant or PostgreSQL."""
    if settings.vector_store == "pgvector":
        return PgvectorStore(_database_url(settings))
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key is not None else ""
    return QdrantStore(partial(connect, settings.qdrant_url or "", key), settings.qdrant_prefix)


async def chats(settings: Settings, url: str) -> PostgresChatStore:
    """Open the conversations that all servers share."""
    return await PostgresChatStore.open(url, chat_key(settings), room=Room.of(settings))


async def open_shared_state(settings: Settings, url: str, stack: AsyncExitStack) -> SharedDatabase:
    """Open the rate limits and resume buffers that all servers share; the stack closes them."""
    key = chat_key(settings)
    opened = await SharedDatabase.open(url, KeySeal(key), bytes.fromhex(key))
    stack.push_async_callback(opened.close)
    return opened


def rack(settings: Settings, url: str) -> PostgresRack | None:
    """Return the rack on which servers find the books; None if they share one data folder."""
    return PostgresRack(url) if settings.share_books else None


def api_key(settings: Settings) -> str:
    """Return the key of the service; `none` for a service that needs no key."""
    return settings.gemini_api_key.get_secret_value() if settings.gemini_api_key is not None else "none"


async def examine(settings: Settings, local: Sequence[Check] = ()) -> list[Check]:
    """Add to the local checks one for each service that the settings name."""
    elsewhere = {"language model"} if settings.llm_model != LOCAL else set()
    if settings.database_url is not None:
        elsewhere.add("conversations")
    checks = [check for check in local if check.name not in elsewhere]
    if settings.llm_model != LOCAL:
        model = generator(settings)
        checks.append(await _check("language model", f"{settings.llm_model} at {settings.llm_base_url}", model.check))
        await model.close()
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()

        async def reach() -> None:
            await (await chats(settings, url)).close()

        checks.append(await _check("PostgreSQL", place(url), reach))
    if settings.vector_store != "chroma":
        checks.append(await _check(*_vectors(settings), store(settings).check))
    return checks


async def require_reachable(settings: Settings) -> list[Check]:
    """Check the services that every answer needs; return messages about optional ones that are away.

    Raises:
        IndexUnavailable: The store of vectors cannot be reached; the message names its address.
        ChatStoreError: PostgreSQL cannot be reached.
    """
    away = [check for check in await examine(settings) if not check.ok]
    for check in away:
        name, address = _vectors(settings)
        if check.name == name:
            raise IndexUnavailable(f"{name} at {address} is needed. {check.detail}", remedy=check.remedy)
        if check.name == "PostgreSQL":
            raise ChatStoreError(check.detail, remedy=check.remedy)
    return away


def _vectors(settings: Settings) -> tuple[str, str]:
    """Name and address of the store of vectors."""
    if settings.vector_store == "pgvector":
        return "pgvector", place(_database_url(settings))
    return "Qdrant", str(settings.qdrant_url)


def _database_url(settings: Settings) -> str:
    return settings.database_url.get_secret_value() if settings.database_url is not None else ""


async def _check(name: str, where: str, look: Callable[[], Awaitable[None]]) -> Check:
    try:
        await look()
    except LutrinError as error:
        return Check(name, ok=False, detail=error.detail, remedy=error.remedy)
    return Check(name, ok=True, detail=f"{where} answers.")
