"""The model's study of the books of a runtime: while nobody asks, or by the command `lutrin study`."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from datetime import UTC, datetime

from lutrin import errors
from lutrin.answer.grade import Grader, fitted_weights
from lutrin.index.decisions import add_studied
from lutrin.index.shelf import Shelf
from lutrin.log import configure_logging
from lutrin.prepared import Entry
from lutrin.runtime.profile import open_store
from lutrin.runtime.wiring import Runtime, open_runtime
from lutrin.serve.library import ShelfLibrary
from lutrin.settings import Settings
from lutrin_teacher import edit
from lutrin_teacher.write import Student, StudyReport

MOST_CITED = 1_000
"""Answers, the newest, whose citations tell which sections readers care for."""


async def study_book(runtime: Runtime, book: str, most: int = 0) -> AsyncGenerator[StudyReport, None]:
    """Have the model of a runtime work through a book; see `lutrin_teacher.write.Student.work_through`."""
    ability, settings = runtime.answers.ability, runtime.settings
    if runtime.generator is None or not ability.study:
        return
    async with runtime.shelf.lease(book) as generation:
        student = Student(
            runtime.generator,
            runtime.searcher,
            Grader(runtime.searcher.embedder, fitted_weights().strong if ability.tier == "large" else None),
            f"{runtime.generator.name}@{datetime.now(UTC).date().isoformat()}",
            settings.studied_path(generation.book.slug),
            kinds=ability.study,
            own_words=settings.own_words,
            exercises=settings.study_exercises,
            judges=True,
            publish=lambda fresh: add_studied(settings.catalog_path, generation.book.slug, fresh, datetime.now(UTC)),
        )
        interest = await _interest(runtime, generation.book.slug)
        async with aclosing(student.work_through(generation, most, interest)) as work:
            async for report in work:
                yield report


async def _interest(runtime: Runtime, book: str) -> Counter[str]:
    """How often a book's passages were cited and its pages opened, by chunk id and file name."""
    interest: Counter[str] = Counter()
    if runtime.chats is not None:
        with suppress(errors.ChatStoreError):  # the log says so; the book is studied in its own order
            for question in await runtime.chats.recent_questions(MOST_CITED):
                interest.update(question.chunk_ids)
    interest.update({page: count for (slug, page), count in runtime.answers.traffic.opened.items() if slug == book})
    return interest


async def study_all(runtime: Runtime) -> None:
    """Have the model work through all books of a runtime."""
    for generation in runtime.shelf.books():
        async with aclosing(study_book(runtime, generation.book.slug)) as work:
            async for _ in work:
                pass


async def companion_entries(settings: Settings, book: str) -> list[Entry]:
    """List the published companion of a book, by its slug; an empty slug means the first book."""
    configure_logging(settings, quiet=True)
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings)) as shelf:
        return await edit.export(shelf, book)


async def study(settings: Settings, book: str, most: int, tell: Callable[[str], None]) -> str:
    """Have the model study a book (empty: the first), `most` passages of it (0: all); say what came of it."""
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as runtime:
        if runtime.generator is None:
            return await _without_model(runtime, book, "No language model (LUTRIN_MODEL)")
        if not runtime.answers.ability.study:
            tier = runtime.answers.ability.tier
            reason = f"Nothing that {runtime.generator.name} writes would be kept: it is a {tier} model"
            return await _without_model(runtime, book, reason)
        await runtime.generator.start()
        report = StudyReport()
        async with aclosing(study_book(runtime, book, most)) as work:
            async for report in work:
                tell(report.line())
    return f"{report.line()}. Readers of this machine have them at once; `lutrin ingest` makes them part of the index."


async def _without_model(runtime: Runtime, book: str, why: str) -> str:
    """Say why no model is asked, and count the cards that the book's own markup provides."""
    async with runtime.shelf.lease(book) as generation:
        practice = await ShelfLibrary(runtime.shelf).practice(generation.book.slug)
        title = generation.book.title
    kinds = Counter(card.kind for card in practice.cards)
    cards = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    points = sum(len(chapter.sections) for chapter in practice.guide)
    return (
        f"{why}. By itself, {title} has {len(practice.glossary)} terms with their "
        f"definitions, key points of {points} sections, {len(practice.cards)} cards{f' ({cards})' if cards else ''}."
    )
