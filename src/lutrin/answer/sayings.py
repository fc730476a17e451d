"""What the model has said of passages of the book, kept: the same passage is said in the same words, and at once.

A prompt holds a passage of the book and nothing of the question (`prompt.py`), so what the model says to it holds for
every reader. Nothing of a reader stands here; what somebody selected is never kept. The file may be deleted any time.
"""

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from lutrin import sqlite
from lutrin.answer.prompt import Prompt, asked
from lutrin.log import get_logger

T = TypeVar("T")

KEPT = 500_000
"""Prompts, those kept last; some 250 bytes each."""
SCHEMA = "CREATE TABLE IF NOT EXISTS said (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, texts BLOB NOT NULL)"
LOOKED_UP = 500
"""Keys in one query."""
_texts = msgspec.json.Decoder(list[str])


@dataclass(frozen=True, slots=True)
class Page:
    """A file of a book, as it was cut into passages."""

    recipe: str
    """Of its generation's manifest: fingerprint of what decides about chunks."""
    filename: str
    sha256: str


class Sayings:
    """Sentences by prompt, in one file; safe for several processes.

    A file that cannot be read is begun anew, and one that cannot be written keeps what it has: the model says it again.

    Args:
        path: The file; its folder is there.
        model: Says whose sentences they are: the model's name and its file's checksum.
    """

    def __init__(self, path: Path, model: str) -> None:
        self._path = path
        self._model = model
        self._connection: sqlite.Connection | None = None
        self._lock = threading.Lock()
        self._log = get_logger("answer")

    async def known(self, prompts: Sequence[Prompt]) -> dict[Prompt, list[str]]:
        """The sentences that the model has said to these prompts, for those to which it has; there may be none."""
        return await self._with(lambda database: self._read(database, prompts), {})

    async def keep(self, prompt: Prompt, texts: Sequence[str]) -> None:
        """Keep what the model has said to a prompt."""
        await self._with(lambda database: self._write(database, self._key(prompt), texts), None)

    async def is_finished(self, page: Page) -> bool:
        """Whether all of a page was said."""
        key = self._page_key(page)
        return await self._with(lambda database: bool(self._rows(database, [key])), otherwise=False)

    async def finish(self, page: Page) -> None:
        """Remember that all of a page was said."""
        await self._with(lambda database: self._write(database, self._page_key(page), ()), None)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _key(self, prompt: Prompt) -> bytes:
        return hashlib.sha256(msgspec.json.encode((self._model, prompt))).digest()

    def _page_key(self, page: Page) -> bytes:
        # With other instructions or examples all of it is to be said anew.
        return hashlib.sha256(msgspec.json.encode((self._model, asked(""), page))).digest()

    def _read(self, database: sqlite.Connection, prompts: Sequence[Prompt]) -> dict[Prompt, list[str]]:
        keys = {self._key(prompt): prompt for prompt in prompts}
        return {keys[key]: _texts.decode(texts) for key, texts in self._rows(database, list(keys))}

    def _rows(self, database: sqlite.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        found: list[tuple[bytes, bytes]] = []
        for start in range(0, len(keys), LOOKED_UP):
            part = keys[start : start + LOOKED_UP]
            marks = ",".join("?" * len(part))
            found += database.execute(f"SELECT key, texts FROM said WHERE key IN ({marks})", part)  # noqa: S608 - question marks
        return found

    def _write(self, database: sqlite.Connection, key: bytes, texts: Sequence[str]) -> None:
        database.execute("INSERT OR REPLACE INTO said (key, texts) VALUES (?, ?)", (key, msgspec.json.encode(texts)))
        database.execute("DELETE FROM said WHERE number <= (SELECT max(number) FROM said) - ?", (KEPT,))

    async def _with(self, act: Callable[[sqlite.Connection], T], otherwise: T) -> T:
        """Do something with the file; where it cannot be done, that is logged and answered with `otherwise`."""

        def locked() -> T:
            with self._lock:
                try:
                    return act(self._opened())
                except (sqlite.DatabaseError, OSError) as error:
                    self._log.warning("sayings.unusable", error=str(error))
                    return otherwise

        return await asyncio.to_thread(locked)

    def _opened(self) -> sqlite.Connection:
        if self._connection is None:
            try:
                self._connection = self._open()
            except sqlite.DatabaseError:
                for suffix in ("", "-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite.Connection:
        connection = sqlite.connect(self._path)
        try:
            connection.execute(
                "PRAGMA synchronous = NORMAL"
            )  # the last ones may be lost with the power: they are said again
            connection.execute(SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection
