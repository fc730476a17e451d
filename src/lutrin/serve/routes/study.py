"""Practice with a book: cards, glossary, guide, worksheet, and decks to take along. No page of it needs a script."""

from typing import Annotated

from litestar import MediaType, Response, get
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, Parameter

from lutrin.errors import NotFound
from lutrin.messages import NOTHING_HERE
from lutrin.serve.book_reader import Reader
from lutrin.serve.problems import documented
from lutrin.serve.routes.pages import REVALIDATE, StaticFiles
from lutrin.study import take_away
from lutrin.study.deck import Card, GlossaryTerm, Practice

Chapter = Annotated[int, Parameter(ge=0, le=10_000, description="Number of the chapter, from 1; 0: the whole book.")]
ANKI = "application/octet-stream"


def _page(files: StaticFiles, page: str) -> Response[str]:
    return Response(files.stamped(page), media_type=MediaType.HTML, headers=REVALIDATE)


def _named(book: str, chapter: int, suffix: str) -> dict[str, str]:
    """Headers of a file to keep."""
    part = f"-{chapter}" if chapter else ""
    return {**REVALIDATE, "Content-Disposition": f'attachment; filename="{book}{part}.{suffix}"'}


async def _cards(reader: Reader, book: str, chapter: int) -> tuple[Practice, tuple[Card, ...]]:
    """What a book has, and the cards of a chapter.

    Raises:
        NotFound: There is no such book or chapter.
    """
    practice = await reader.practice(book)
    if chapter > max(1, len(practice.chapters)):
        raise NotFound(NOTHING_HERE)
    return practice, practice.of_chapter(chapter)


@get(
    "/study/{book:str}",
    operation_id="study",
    responses=documented(404, 503),
    summary="What a book has to practise with",
    tags=["pages"],
)
async def study(book: FromPath[str], reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """Where practice begins."""
    return _page(files, await reader.study(book))


@get(
    "/study/{book:str}/deck",
    operation_id="studyDeck",
    responses=documented(404, 422, 503),
    summary="The cards of a chapter",
    tags=["pages"],
)
async def deck(
    book: FromPath[str], reader: Given[Reader], files: Given[StaticFiles], chapter: Chapter = 1
) -> Response[str]:
    """Cards that open."""
    await _cards(reader, book, chapter)
    return _page(files, await reader.study(book, "deck", chapter))


@get(
    "/study/{book:str}/worksheet",
    operation_id="studyWorksheet",
    responses=documented(404, 422, 503),
    summary="A worksheet for print, with the answers on the last page",
    tags=["pages"],
)
async def worksheet(
    book: FromPath[str], reader: Given[Reader], files: Given[StaticFiles], chapter: Chapter = 1
) -> Response[str]:
    """Questions with room to write."""
    await _cards(reader, book, chapter)
    return _page(files, await reader.study(book, "worksheet", chapter))


@get(
    "/study/{book:str}/glossary",
    operation_id="studyGlossary",
    responses=documented(404, 503),
    summary="The terms of a book from A to Z",
    tags=["pages"],
)
async def glossary(book: FromPath[str], reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """Terms with their meanings."""
    return _page(files, await reader.study(book, "glossary"))


@get(
    "/study/{book:str}/guide",
    operation_id="studyGuide",
    responses=documented(404, 503),
    summary="The key points of each chapter",
    tags=["pages"],
)
async def guide(book: FromPath[str], reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """Serve the guide: each section in a few sentences."""
    return _page(files, await reader.study(book, "guide"))


@get(
    "/study/{book:str}/deck.json",
    operation_id="studyDeckData",
    responses=documented(404, 422, 503),
    summary="The cards of a chapter, or of the whole book, as data",
    tags=["reading"],
)
async def deck_data(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[list[Card]]:
    """For programs that space cards."""
    _, cards = await _cards(reader, book, chapter)
    return Response(list(cards), headers=REVALIDATE)


@get(
    "/study/{book:str}/glossary.json",
    operation_id="studyGlossaryData",
    responses=documented(404, 503),
    summary="The terms of a book as data",
    tags=["reading"],
)
async def glossary_data(book: FromPath[str], reader: Given[Reader]) -> Response[list[GlossaryTerm]]:
    """For pages that show what a term means where it stands."""
    return Response(list((await reader.practice(book)).glossary), headers=REVALIDATE)


@get(
    "/study/{book:str}/deck.csv",
    operation_id="studyDeckTable",
    responses=documented(404, 422, 503),
    summary="The cards as comma-separated values",
    tags=["reading"],
)
async def deck_table(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[str]:
    """For spreadsheets and other programs for cards."""
    _, cards = await _cards(reader, book, chapter)
    return Response(take_away.table(cards), media_type="text/csv; charset=utf-8", headers=_named(book, chapter, "csv"))


@get(
    "/study/{book:str}/deck.apkg",
    operation_id="studyDeckAnki",
    responses=documented(404, 422, 503),
    summary="The cards as a package for Anki",
    tags=["reading"],
)
async def deck_anki(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """A deck for each chapter; importing it again keeps what was learnt."""
    _, cards = await _cards(reader, book, chapter)
    body = await reader.package(book, cards)
    return Response(body, media_type=ANKI, headers=_named(book, chapter, "apkg"))


HANDLERS = [study, deck, worksheet, glossary, guide, deck_data, glossary_data, deck_table, deck_anki]
