"""Search without an answer: the passages nearest to a question or to the selected text."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from lutrin import messages
from lutrin.errors import IndexUnavailable, InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language.words import topic_stems, words
from lutrin.query.understand import Query, alone
from lutrin.records import Passage, Question
from lutrin.search.chapters import apply_filters, in_chapter
from lutrin.search.scope import is_far
from lutrin.search.search import SELECTION_CHARACTERS, Searcher, SearchResult


@asynccontextmanager
async def lease_books(shelf: Shelf, slug: str) -> AsyncIterator[list[OpenGeneration]]:
    """The named book, or every book on the shelf, open until the block ends.

    Raises:
        NotFound: There is no such book.
        IndexUnavailable: No book can be opened.
    """
    async with AsyncExitStack() as stack:
        slugs = [slug] if slug else [generation.book.slug for generation in shelf.books()] or [""]
        yield [await stack.enter_async_context(shelf.lease(name)) for name in slugs]


def require_all_readable(shelf: Shelf) -> None:
    """Make sure that no book was left out before all are said not to cover a question.

    Raises:
        IndexUnavailable: One that is published cannot be opened.
    """
    if shelf.unreadable:
        raise IndexUnavailable(messages.KNOWLEDGE_BASE_DOWN, remedy="Run `lutrin doctor`.")


async def search_books(
    searcher: Searcher, generations: Sequence[OpenGeneration], query: Query, *, k: int, again: bool = True
) -> tuple[OpenGeneration, SearchResult]:
    """Search each book that has the named chapter and module, and return the best evidence.

    Args:
        searcher: Finds passages.
        generations: The books.
        query: What is asked.
        k: Passages at most.
        again: See `Searcher.search`; only the book that speaks of it most is read once more.

    Raises:
        InvalidQuestion: No book has the named chapter or module.
        IndexUnavailable: A book cannot be read.
    """
    places = await apply_filters(generations, query.question)
    if len(places) > 1:
        results = [
            await searcher.search(generation, query, k=k, where=where, again=False) for generation, where in places
        ]
        best = max(range(len(places)), key=lambda place: results[place].odds)
        if not again:
            return places[best][0], results[best]
        places = [places[best]]
    ((generation, where),) = places
    return generation, await searcher.search(generation, query, k=k, where=where, again=again)


async def retrieve_passages(shelf: Shelf, searcher: Searcher, question: Question, *, default_k: int) -> list[Passage]:
    """The passages nearest to a question.

    With a selection, of which 4096 characters are read, those nearest to the selection. Text is the book's own, nothing
    is summarised. No cross-encoder reads them: five passages hold as many facts without it.

    Args:
        shelf: Open books; without `question.book` the one that speaks of it most is taken.
        searcher: Finds passages.
        question: What is asked.
        default_k: Passages at most, if the question does not say.

    Returns:
        Best first; empty if the book does not speak of it.

    Raises:
        InvalidQuestion: There is nothing to search for.
        IndexUnavailable: No book can be opened.
    """
    text = question.selected_text[:SELECTION_CHARACTERS].strip() or question.text
    if not words(text):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    query = alone(msgspec.structs.replace(question, text=text, selected_text=""))
    async with lease_books(shelf, question.book) as generations:
        # A selection may speak of other chapters than its own.
        query = query if question.selected_text else await in_chapter(query, generations)
        _, found = await search_books(searcher, generations, query, k=question.top_k or default_k, again=False)
    # "What is it?" names nothing that the book could lack: the best there is, and its scores say how little that is.
    refused = is_far(found.odds, found=bool(found.passages)) or found.verdict == "no"
    if refused and topic_stems(text):
        if not question.book:
            require_all_readable(shelf)
        return []
    return list(found.passages)
