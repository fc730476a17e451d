"""Search without an answer: the passages nearest to a question, or to the text that is selected."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.records import Passage, Question
from lutrin.retrieve.filters import filtered
from lutrin.retrieve.scope import judge, signal
from lutrin.retrieve.search import SELECTION_CHARACTERS, Searcher
from lutrin.retrieve.words import topic_stems, words


@asynccontextmanager
async def leased(shelf: Shelf, slug: str) -> AsyncIterator[list[OpenGeneration]]:
    """The named book, or every book on the shelf, open until the block ends.

    Raises:
        NotFound: There is no such book.
        IndexUnavailable: No book can be opened.
    """
    async with AsyncExitStack() as stack:
        slugs = [slug] if slug else [generation.book.slug for generation in shelf.books()] or [""]
        yield [await stack.enter_async_context(shelf.lease(name)) for name in slugs]


async def retrieve_passages(shelf: Shelf, searcher: Searcher, question: Question, *, default_k: int) -> list[Passage]:
    """The passages nearest to a question.

    With a selection, of which 4096 characters are read, those nearest to the selection. Text is the book's own, nothing
    is summarised.

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
    selected = question.selected_text[:SELECTION_CHARACTERS].strip()
    text = selected or question.text
    if not words(text):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    async with leased(shelf, question.book) as generations:
        results = [
            await searcher.search(generation, text, k=question.top_k or default_k, where=where)
            for generation, where in await filtered(generations, question)
        ]
    best = max(results, key=signal)
    # "What is it?" names nothing that the book could lack: the best there is, and its scores say how little that is.
    return list(best.passages) if judge(best) is None or not topic_stems(text) else []
