"""The model's study of books: while the server is idle, or by the command `lutrin study`."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from datetime import UTC, datetime

from lutrin.guest_ports import Study
from lutrin_teacher.write import Student, StudyReport


async def study_book(study: Study, slug: str, most: int = 0) -> AsyncGenerator[StudyReport, None]:
    """Have the model work through a book; see `lutrin_teacher.write.Student.work_through`."""
    if study.generator is None or not study.kinds:
        return
    async with study.open(slug) as book:
        student = Student(
            study.generator,
            book,
            f"{study.generator.name}@{datetime.now(UTC).date().isoformat()}",
            kinds=study.kinds,
            own_words=study.settings.own_words,
            exercises=study.settings.study_exercises,
            judges=True,
        )
        async with aclosing(student.work_through(most, await study.interest(book.slug))) as work:
            async for report in work:
                yield report


async def study_all(study: Study) -> None:
    """Have the model work through all books."""
    for slug in study.slugs():
        async with aclosing(study_book(study, slug)) as work:
            async for _ in work:
                pass


async def study_once(
    opening: AbstractAsyncContextManager[Study], slug: str, most: int, tell: Callable[[str], None]
) -> str:
    """Have the model study a book (empty: the first), `most` passages of it (0: all); return its report."""
    async with opening as study:
        if study.generator is None:
            return await _without_model(study, slug, "No language model (LUTRIN_MODEL)")
        if not study.kinds:
            reason = f"Nothing that {study.generator.name} writes would be kept: it is a {study.tier} model"
            return await _without_model(study, slug, reason)
        await study.start()
        report = StudyReport()
        async with aclosing(study_book(study, slug, most)) as work:
            async for report in work:
                tell(report.line())
    return f"{report.line()}. Readers of this machine have them at once; `lutrin ingest` makes them part of the index."


async def _without_model(study: Study, slug: str, why: str) -> str:
    """Explain why no model is used, and count the cards that the book's own markup provides."""
    async with study.open(slug) as book:
        practice = await study.practice(book.slug)
        title = book.title
    kinds = Counter(card.kind for card in practice.cards)
    cards = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    points = sum(len(chapter.sections) for chapter in practice.guide)
    return (
        f"{why}. By itself, {title} has {len(practice.glossary)} terms with their "
        f"definitions, key points of {points} sections, {len(practice.cards)} cards{f' ({cards})' if cards else ''}."
    )
