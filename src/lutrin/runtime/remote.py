"""The parts of the remote profile: services elsewhere in the places of this machine's own.

Loaded in that profile alone, for it needs the packages of the extra `remote`. Each part can stay local (settings with
the value `local`, no DATABASE_URL): local embeddings go with Qdrant, a local index with a model elsewhere.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from lutrin.adapters.index_qdrant import QdrantStore, connect
from lutrin.adapters.postgres import Shared, ingest_alone
from lutrin.adapters.postgres_books import PostgresRack
from lutrin.adapters.postgres_words import WordedStore
from lutrin.adapters.remote_openai import RemoteEmbedder, RemoteGenerator
from lutrin.chats.key import chat_key
from lutrin.chats.postgres_chats import PostgresChatStore, place
from lutrin.chats.rows import Room
from lutrin.chats.seal import KeySeal
from lutrin.doctor import Check
from lutrin.errors import ChatStoreError, IndexUnavailable, InvalidSettings, LutrinError
from lutrin.messages import MISSING_VARIABLE
from lutrin.ports import Embedder, VectorStore
from lutrin.settings import LOCAL, Settings

__all__ = [
    "chats",
    "embedding",
    "examine",
    "generator",
    "ingest_alone",
    "rack",
    "require_reachable",
    "shared",
    "store",
    "worded",
]


@asynccontextmanager
async def embedding(settings: Settings, tokens: Embedder, patience_s: float) -> AsyncIterator[Embedder]:
    """The embedding model of the service; `tokens` is the local one, which counts tokens and gives their vectors."""
    made = RemoteEmbedder(
        settings.embed_model,
        settings.embed_dimension,
        settings.llm_base_url,
        api_key(settings),
        tokens,
        patience_s=patience_s,
    )
    try:
        yield made
    finally:
        await made.close()


def generator(settings: Settings) -> RemoteGenerator:
    """The language model of the service."""
    return RemoteGenerator(settings.llm_model, settings.llm_base_url, api_key(settings))


def store(settings: Settings) -> QdrantStore:
    """Vectors in Qdrant."""
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key is not None else ""
    return QdrantStore(partial(connect, settings.qdrant_url or "", key), settings.qdrant_prefix)


def worded(vectors: VectorStore, settings: Settings) -> WordedStore:
    """The same vectors, with words in PostgreSQL.

    Raises:
        InvalidSettings: There is no PostgreSQL.
    """
    if settings.database_url is None:
        raise InvalidSettings(MISSING_VARIABLE.format(name="DATABASE_URL"), remedy="LUTRIN_WORDS=postgres needs it.")
    return WordedStore(vectors, settings.database_url.get_secret_value())


async def chats(settings: Settings, url: str) -> PostgresChatStore:
    """The conversations that all servers share.

    Raises:
        ChatStoreError: PostgreSQL is away, or was written with another key.
    """
    return await PostgresChatStore.open(url, chat_key(settings), room=Room.of(settings))


async def shared(settings: Settings, url: str, stack: AsyncExitStack) -> Shared:
    """Rates and resume buffers that all servers share, closed with the stack.

    Raises:
        ChatStoreError: PostgreSQL is away.
    """
    key = chat_key(settings)
    opened = await Shared.open(url, KeySeal(key), bytes.fromhex(key))
    stack.push_async_callback(opened.close)
    return opened


def rack(settings: Settings, url: str) -> PostgresRack | None:
    """Where the servers find the books; None if they see one data folder."""
    return PostgresRack(url) if settings.share_books else None


def api_key(settings: Settings) -> str:
    """The key of the service; a service of one's own that wants none gets a word in its place."""
    return settings.gemini_api_key.get_secret_value() if settings.gemini_api_key is not None else "none"


async def examine(settings: Settings, local: Sequence[Check] = ()) -> list[Check]:
    """A sign of life of each service that the settings name, after what was looked at on this machine."""
    elsewhere = {"language model"} if settings.llm_model != LOCAL else set()
    if settings.database_url is not None:
        elsewhere.add("conversations")
    checks = [check for check in local if check.name not in elsewhere]
    if settings.qdrant_url != LOCAL:
        checks.append(await _looked("Qdrant", str(settings.qdrant_url), store(settings).check))
    if settings.llm_model != LOCAL:
        model = generator(settings)
        checks.append(await _looked("language model", f"{settings.llm_model} at {settings.llm_base_url}", model.check))
        await model.close()
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()

        async def reach() -> None:
            await (await chats(settings, url)).close()

        checks.append(await _looked("PostgreSQL", place(url), reach))
    return checks


async def require_reachable(settings: Settings) -> list[Check]:
    """Refuse to start without what every answer needs; the language model may be away, then answers are quotes.

    Returns:
        What is away and can be done without.

    Raises:
        IndexUnavailable: Qdrant is away; the message says where it was looked for.
        ChatStoreError: PostgreSQL is.
    """
    away = [check for check in await examine(settings) if not check.ok]
    for check in away:
        if check.name == "Qdrant":
            raise IndexUnavailable(f"Qdrant at {settings.qdrant_url} is needed. {check.detail}", remedy=check.remedy)
        if check.name == "PostgreSQL":
            raise ChatStoreError(check.detail, remedy=check.remedy)
    return away


async def _looked(name: str, where: str, look: Callable[[], Awaitable[None]]) -> Check:
    try:
        await look()
    except LutrinError as error:
        return Check(name, ok=False, detail=error.detail, remedy=error.remedy)
    return Check(name, ok=True, detail=f"{where} answers.")
