"""Run what `lutrin mcp`, `lutrin study` and `lutrin gaps` need: the server's stages without HTTP."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing

import msgspec

from lutrin.errors import LutrinError
from lutrin.index.companion import Entry
from lutrin.index.shelf import Shelf
from lutrin.installed import command_to_add
from lutrin.log import configure_logging
from lutrin.query.understand import alone
from lutrin.records import Question
from lutrin.runtime.profile import database_url, open_store
from lutrin.runtime.wiring import Runtime, open_runtime, study_book
from lutrin.search.passages import lease_books, search_books
from lutrin.search.scope import is_far
from lutrin.serve.library import ShelfLibrary
from lutrin.settings import Settings
from lutrin.study import edit
from lutrin.study.write import Yield


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A question that the book does not answer, without its author."""

    chapter: str
    """Chapter with the nearest passages; empty if the question is far from the book."""
    question: str
    times: int
    last: str
    """Last day on which it was asked, ISO 8601."""


async def serve_tools(settings: Settings) -> None:
    """Speak the Model Context Protocol on standard input and output until the other side hangs up.

    Raises:
        LutrinError: The package `mcp` is not installed.
    """
    try:
        from lutrin.serve.tools import book_server  # noqa: PLC0415 - an extra, loaded where it is asked for
    except ModuleNotFoundError as error:
        package = (error.name or "mcp").partition(".")[0]
        raise LutrinError(
            f"The package {package} is not installed.", remedy=f"Run `{command_to_add([package])}`."
        ) from error
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as runtime:
        loading = asyncio.create_task(runtime.generator.start()) if runtime.generator is not None else None
        try:
            await book_server(runtime.answers, runtime.retrieve).run_stdio_async()
        finally:
            if loading is not None:
                loading.cancel()


async def companion_entries(settings: Settings, book: str) -> list[Entry]:
    """List the published companion of a book, by its slug; an empty slug means the first book.

    Raises:
        NotFound: There is no such book.
        IndexUnavailable: No book can be read.
    """
    configure_logging(settings, quiet=True)
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings)) as shelf:
        return await edit.export(shelf, book)


async def study(settings: Settings, book: str, most: int, tell: Callable[[str], None]) -> str:
    """Have the model study a book (empty: the first), `most` passages of it (0: all); say what came of it.

    Raises:
        NotFound: There is no such book.
        LutrinError: The work failed.
    """
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as runtime:
        if runtime.generator is None:
            return await _without_model(runtime, book, "No language model (LUTRIN_MODEL)")
        if not runtime.answers.ability.study:
            tier = runtime.answers.ability.tier
            kept = f"Nothing that {runtime.generator.name} writes would be kept: it is a {tier} model"
            return await _without_model(runtime, book, kept)
        await runtime.generator.start()
        told = Yield()
        async with aclosing(study_book(runtime, book, most)) as work:
            async for told in work:
                tell(told.line())
    return f"{told.line()}. Readers of this machine have them at once; `lutrin ingest` makes them part of the index."


async def _without_model(runtime: Runtime, book: str, why: str) -> str:
    """Say why no model is asked, and count the cards that the book's own markup provides."""
    async with runtime.shelf.lease(book) as generation:
        made = await ShelfLibrary(runtime.shelf).practice(generation.book.slug)
        title = generation.book.title
    kinds = Counter(card.kind for card in made.cards)
    cards = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    points = sum(len(chapter.sections) for chapter in made.guide)
    return (
        f"{why}. By itself, {title} has {len(made.glossary)} terms with their "
        f"definitions, key points of {points} sections, {len(made.cards)} cards{f' ({cards})' if cards else ''}."
    )


async def gaps(settings: Settings) -> list[Gap]:
    """Return the questions that the present index does not answer either, by chapter, the most asked first.

    Each refused question is searched for again; those that the books answer by now are left out.
    """
    configure_logging(settings, quiet=True)
    if database_url(settings) is None and not settings.chats_path.exists():
        return []
    async with open_runtime(settings, with_model=False, with_chats=True) as runtime:
        refused = await runtime.chats.refused() if runtime.chats is not None else []
        counts = Counter(" ".join(item.text.split()) for item in refused)
        last = {" ".join(item.text.split()): item.created[:10] for item in refused}
        found = [
            Gap(chapter=chapter, question=text, times=times, last=last[text])
            for text, times in counts.items()
            if (chapter := await nearest_chapter(runtime, text)) is not None
        ]
    return sorted(found, key=lambda gap: (not gap.chapter, gap.chapter, -gap.times, gap.question))


async def nearest_chapter(runtime: Runtime, text: str) -> str | None:
    """Return the chapter nearest to a question; empty if none is near, None if the books answer it."""
    async with lease_books(runtime.shelf, "") as generations:
        query = alone(Question(text=text))
        _, best = await search_books(runtime.searcher, generations, query, k=runtime.settings.top_k)
    if is_far(best.odds, found=bool(best.passages)):
        return ""
    if best.verdict != "no":
        return None
    return best.passages[0].chunk.chapter or best.passages[0].chunk.section_title


def gap_lines(found: Sequence[Gap]) -> str:
    """Format gaps for the terminal: a heading for each chapter, a line for each question."""
    if not found:
        return "Readers have asked nothing that the books do not answer."
    lines: list[str] = []
    for number, gap in enumerate(found):
        if not number or gap.chapter != found[number - 1].chapter:
            lines += ["", gap.chapter or "Far from the book"]
        lines.append(f"  {gap.times:4}  {gap.last}  {gap.question}")
    return "\n".join(lines).lstrip("\n")
