"""Search for other programs: the core of `lutrin retrieve` and `POST /api/retrieve` as two functions.

    import lutrin

    lutrin.get_embedding("What is a costmap?")  # 384 numbers
    lutrin.retrieve("What is a costmap?", top_k=3)  # [{"text": ..., "score": ..., "metadata": {...}}, ...]

The first call opens the books and the embedding model, following the settings (`LUTRIN_*`); they stay open until the
program ends. `Library` does the same with other settings, or temporarily. Both may be called from any thread, and from
within an event loop, which they block while they search.
"""

import atexit
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any, Self

import msgspec
from anyio.from_thread import start_blocking_portal

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.language.words import words
from lutrin.log import configure_logging
from lutrin.records import Question
from lutrin.runtime import wiring
from lutrin.serve.schemas import RetrievedPassage
from lutrin.settings import Settings, load_settings


class Library:
    """Open books for searching; close it, or use it in a `with` block.

    Raises:
        InvalidSettings: A setting is wrong.
        ModelMissing, ChecksumMismatch: The embedding model cannot be used.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or load_settings()
        configure_logging(self._settings, quiet=True)
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            house = wiring.open_runtime(self._settings, with_model=False)
            self._house = stack.enter_context(self._portal.wrap_async_context_manager(house))
            self._open = stack.pop_all()

    def get_embedding(self, text: str) -> list[float]:
        """The vector with which a text is searched: of length 1, with the model's dimension (384).

        Raises:
            InvalidQuestion: It contains no word.
        """
        if not words(text):
            raise InvalidQuestion(messages.EMPTY_QUESTION)
        (encoding,) = self._portal.call(self._house.searcher.embedder.encode, [text])
        return [float(value) for value in encoding.pooled]

    def retrieve(
        self,
        query: str,
        *,
        selected_text: str = "",
        top_k: int | None = None,
        book: str = "",
        chapter: str = "",
        module: str = "",
    ) -> list[dict[str, Any]]:
        """The passages nearest to a question, best first, in the book's own words; none if the book does not cover it.

        Args:
            query: The question.
            selected_text: A passage of the book; those nearest to it are found. The first 4096 characters count.
            top_k: Most passages; None: as in the settings.
            book: Slug of a book; empty: the book that speaks of the subject most.
            chapter: Title of a chapter, or its beginning.
            module: Title of a part; empty: all.

        Returns:
            Objects in the form of `POST /api/retrieve`: `text`, `score` (0 to 1) and `metadata`.

        Raises:
            InvalidQuestion: There is nothing to search for, or no such chapter or module.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        question = Question(
            text=query, selected_text=selected_text, top_k=top_k, book=book, chapter=chapter, module=module
        )
        passages = self._portal.call(self._house.retrieve, question)
        items: list[dict[str, Any]] = msgspec.to_builtins([RetrievedPassage.of(passage) for passage in passages])
        return items

    def close(self) -> None:
        """Release files, threads and the model; make no other call afterwards."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def at_end(close: Callable[[], None]) -> None:
    """Register a function for the program's end, while its threads can still take work.

    `atexit` is too late: by then every thread pool is shut. The earlier hook has no public name (concurrent.futures
    uses it itself); if it is gone, `atexit` must do.
    """
    getattr(threading, "_register_atexit", atexit.register)(close)


_OPENING = threading.Lock()


@cache
def _open_library() -> Library:
    library = Library()
    at_end(library.close)
    return library


def _shared_library() -> Library:
    """The library of the settings, opened on first use."""
    with _OPENING:
        return _open_library()


def get_embedding(text: str) -> list[float]:
    """The vector with which a text is searched; see `Library.get_embedding`."""
    return _shared_library().get_embedding(text)


def retrieve(
    query: str,
    *,
    selected_text: str = "",
    top_k: int | None = None,
    book: str = "",
    chapter: str = "",
    module: str = "",
) -> list[dict[str, Any]]:
    """The passages nearest to a question; see `Library.retrieve`."""
    return _shared_library().retrieve(
        query, selected_text=selected_text, top_k=top_k, book=book, chapter=chapter, module=module
    )
