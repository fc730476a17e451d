"""Implements `lutrin doctor`: anything that could keep Lutrin from answering, each with its remedy."""

import platform
import shutil
import socket
from collections.abc import Callable, Iterable

from lutrin import messages, sqlite
from lutrin.chats.key import chat_key, opens
from lutrin.errors import LutrinError
from lutrin.index.catalog import Catalog
from lutrin.index.manifest import read_manifest
from lutrin.index.readback import verify_generation
from lutrin.ingest.summary import left_out_lines
from lutrin.keep import weights
from lutrin.platform import open_to_others
from lutrin.records import Check
from lutrin.runtime.language_model import computed_by, model_path, passages_text
from lutrin.runtime.profile import embedder_name, open_store, remote, reranker_path
from lutrin.settings import Settings, unknown_variables, with_addresses

LOW_SPACE_BYTES = 1 << 30

Look = Callable[[Settings], str]


async def examine(settings: Settings) -> list[Check]:
    """Check versions, models, address, index, databases, disk and services without changing anything."""
    looks: list[tuple[str, Look]] = [("versions", _versions), ("settings", _settings)]
    checks = [_check(name, look, settings) for name, look in looks]
    for name, nearest in unknown_variables():
        remedy = f"Write {nearest}, or remove it." if nearest else "Remove it."
        checks.append(Check("settings", ok=False, detail=f"Nothing reads {name}.", remedy=remedy))
    looks = [
        ("address", _address), ("rights", _rights), ("disk", _space), ("embedding model", _embedder),
        ("language model", _generator),
    ]  # fmt: skip
    if settings.rerank not in {"auto", "none", ""}:  # that of `auto` is checked as a part of the embedding model
        looks.append(("cross-encoder", _reranker))
    checks += [_check(name, look, settings) for name, look in looks]
    checks += await _index(settings)
    checks.append(_check("conversations", _chats, settings))
    return await remote().examine(settings, checks) if settings.profile == "remote" else checks


def _check(name: str, look: Look, settings: Settings) -> Check:
    """Check one thing: the result is a sentence, or the error that was raised."""
    try:
        return Check(name, ok=True, detail=look(settings))
    except LutrinError as error:
        return Check(name, ok=False, detail=error.detail, remedy=error.remedy)
    except sqlite.DatabaseError as error:
        return Check(name, ok=False, detail=f"The database cannot be read: {error}.", remedy="Restore a backup.")
    except OSError as error:
        return Check(name, ok=False, detail=f"{error.filename}: {error.strerror}.", remedy="Check the folder's rights.")


def _versions(_settings: Settings) -> str:
    sqlite.assert_version()
    return f"Python {platform.python_version()}, SQLite {sqlite.VERSION}, {platform.machine()}."


def _settings(settings: Settings) -> str:
    with_addresses(settings)  # the rest held at the start
    return "All values are valid."


def _rights(settings: Settings) -> str:
    if paths := open_to_others(settings.data_dir):
        names = ", ".join(path.name for path in paths)
        raise LutrinError(f"Other users can read {names}.", remedy=f"Run: chmod -R o= {settings.data_dir}")
    return f"Other users of this machine cannot read {settings.data_dir}."


def _space(settings: Settings) -> str:
    place = next(path for path in (settings.data_dir, *settings.data_dir.resolve().parents) if path.exists())
    free = shutil.disk_usage(place).free
    text = f"{free >> 20} MB are free in {settings.data_dir}"
    if free < settings.free_space_mb << 20:
        remedy = "Free some space: conversations are not stored meanwhile."
        raise LutrinError(f"{text}, less than LUTRIN_FREE_SPACE_MB.", remedy=remedy)
    if free < LOW_SPACE_BYTES:
        raise LutrinError(f"{text}.", remedy="Free 1 GB.")
    return f"{text}."


def _embedder(settings: Settings) -> str:
    model = weights.load_manifest(settings.models_dir).find(settings.embedder, "embed")
    weights.verified_path(settings.models_dir, model)
    is_ours = model.tier == "default"
    return f"{model.name} matches its checksum.{'' if is_ours else f' {messages.NOT_FITTED}'}"


def _generator(settings: Settings) -> str:
    chosen = model_path(settings)
    if chosen is None:
        return "LUTRIN_MODEL=none: answers are quotes."
    name, path = chosen
    by = computed_by(settings)
    return f"{name} at {path} can be used; what computes it: {by}. {passages_text(settings, path)}"


def _reranker(settings: Settings) -> str:
    chosen = reranker_path(settings)
    return f"{chosen[0]} matches its checksum." if chosen is not None else "There is none."


def _address(settings: Settings) -> str:
    """Check whether a server can listen at the host of the settings; its port may be in use by the running server."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(settings.host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as probe:
            probe.bind(address)
    except OSError as error:
        raise LutrinError(
            f"LUTRIN_HOST: {settings.host} is not an address of this machine ({error.strerror}).",
            remedy="Use 127.0.0.1, or 0.0.0.0 for the whole network.",
        ) from error
    return f"A server can listen at {settings.host}."


def _chats(settings: Settings) -> str:
    if not settings.chats_path.exists():
        return "There are none yet."
    if not opens(settings.chats_path, chat_key(settings)):
        raise LutrinError(
            f"{settings.chats_path} cannot be opened with this key.",
            remedy="Put the right key into LUTRIN_CHAT_KEY or chat.key, or restore a backup of the conversations.",
        )
    return "The database opens with its key."


async def _index(settings: Settings) -> Iterable[Check]:
    """Check the catalogue, then each book's current generation against its manifest and an exact scan."""
    if not settings.catalog_path.exists():
        return [Check("index", ok=False, detail="No book has been ingested yet.", remedy="Run `lutrin ingest`.")]
    anew = f"Delete {settings.catalog_path} and run `lutrin ingest`; conversations stay."
    try:
        with Catalog(settings.catalog_path) as catalog:
            (state,) = catalog.connection.execute("PRAGMA integrity_check(1)").fetchone()
            books, left_out = catalog.books(), catalog.left_out()
    except (LutrinError, sqlite.DatabaseError) as error:
        return [Check("catalogue", ok=False, detail=str(error), remedy=anew)]
    sound = state == "ok"
    detail = f"{len(books)} book{'' if len(books) == 1 else 's'}, integrity {state}."
    checks = [Check("catalogue", ok=sound, detail=detail, remedy="" if sound else anew)]
    if not books:
        checks.append(Check("index", ok=False, detail="No book is published.", remedy="Run `lutrin ingest`."))
    if left_out:
        lines = left_out_lines(left_out)
        checks.append(Check("left out", ok=True, detail="\n".join([f"{len(left_out)} files and folders:", *lines[1:]])))
    store, embedder = open_store(settings), embedder_name(settings)
    for book in books:
        directory = settings.books_dir / book.info.slug / book.current
        name = f"index of {book.info.slug}"
        try:
            await verify_generation(directory, store)
            manifest = read_manifest(directory)
        except LutrinError as error:
            checks.append(Check(name, ok=False, detail=error.detail, remedy="Run `lutrin ingest --rebuild`."))
            continue
        if embedder and manifest.embedder != embedder:
            detail = f"It was embedded by {manifest.embedder}, questions are embedded by {embedder}."
            checks.append(Check(name, ok=False, detail=detail, remedy="Run `lutrin ingest`."))
        else:
            detail = f"{manifest.files} files, {manifest.chunks} chunks, generation {book.current} is whole."
            checks.append(Check(name, ok=True, detail=detail))
    return checks
