"""Practice with a book: cards, glossary, guide, worksheet, and decks to take along. No page of it needs a script."""

from typing import Annotated

from litestar import MediaType, Response, get
from litestar.di import NamedDependency as Given
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, Parameter

from lutrin.serve.book_reader import Reader
from lutrin.serve.problems import operation
from lutrin.serve.routes.pages import REVALIDATE
from lutrin.study.deck import Card, GlossaryTerm

Chapter = Annotated[int, Parameter(ge=0, le=10_000, description="Number of the chapter, from 1; 0: the whole book.")]
Sitting = Annotated[int, Parameter(ge=1, le=10_000, description="Number of the sitting, from 1.")]
ANKI = "application/octet-stream"


def _page(page: str) -> Response[str]:
    return Response(page, media_type=MediaType.HTML, headers=REVALIDATE)


def _named(book: str, chapter: int, suffix: str) -> dict[str, str]:
    part = f"-{chapter}" if chapter else ""
    return {**REVALIDATE, "Content-Disposition": f'attachment; filename="{book}{part}.{suffix}"'}


@get("/study/{book:str}", **operation("study", "What a book has to practise with", "pages", 404, 503))
async def study(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Where practice begins."""
    return _page(await reader.study(book))


@get(
    "/study/{book:str}/deck", **operation("studyDeck", "The cards of a chapter, ten a sitting", "pages", 404, 422, 503)
)
async def deck(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1, sitting: Sitting = 1) -> Response[str]:
    """Cards that open."""
    return _page(await reader.study(book, "deck", chapter, sitting))


@get(
    "/study/{book:str}/worksheet",
    **operation("studyWorksheet", "A worksheet for print, with the answers on the last page", "pages", 404, 422, 503),
)
async def worksheet(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1) -> Response[str]:
    """Questions with room to write."""
    return _page(await reader.study(book, "worksheet", chapter))


@get("/study/{book:str}/glossary", **operation("studyGlossary", "The terms of a book from A to Z", "pages", 404, 503))
async def glossary(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Terms with their meanings."""
    return _page(await reader.study(book, "glossary"))


@get("/study/{book:str}/guide", **operation("studyGuide", "The key points of each chapter", "pages", 404, 503))
async def guide(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Serve the guide: each section in a few sentences."""
    return _page(await reader.study(book, "guide"))


@get(
    "/study/{book:str}/deck.json",
    **operation(
        "studyDeckData",
        "The cards of a chapter, or of the whole book, as data",
        "reading",
        404,
        422,
        503,
        returns=ResponseSpec(list[Card], generate_examples=False),
    ),
)
async def deck_data(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """For programs that space cards."""
    return Response(await reader.take_away(book, "json", chapter), media_type=MediaType.JSON, headers=REVALIDATE)


@get(
    "/study/{book:str}/glossary.json",
    **operation(
        "studyGlossaryData",
        "The terms of a book as data",
        "reading",
        404,
        503,
        returns=ResponseSpec(list[GlossaryTerm], generate_examples=False),
    ),
)
async def glossary_data(book: FromPath[str], reader: Given[Reader]) -> Response[bytes]:
    """For pages that show what a term means where it stands."""
    return Response(await reader.take_away(book, "terms", 0), media_type=MediaType.JSON, headers=REVALIDATE)


@get(
    "/study/{book:str}/deck.csv",
    **operation("studyDeckTable", "The cards as comma-separated values", "reading", 404, 422, 503),
)
async def deck_table(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """For spreadsheets and other programs for cards."""
    body = await reader.take_away(book, "csv", chapter)
    return Response(body, media_type="text/csv; charset=utf-8", headers=_named(book, chapter, "csv"))


@get(
    "/study/{book:str}/deck.apkg",
    **operation("studyDeckAnki", "The cards as a package for Anki", "reading", 404, 422, 503),
)
async def deck_anki(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """A deck for each chapter; importing it again keeps what was learnt."""
    body = await reader.take_away(book, "apkg", chapter)
    return Response(body, media_type=ANKI, headers=_named(book, chapter, "apkg"))


HANDLERS = [study, deck, worksheet, glossary, guide, deck_data, glossary_data, deck_table, deck_anki]
