"""Finds the chapters that readers mean, since they rarely give a chapter's full title."""

from collections.abc import Sequence

from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import words
from lutrin.records import Question


async def apply_filters(
    generations: Sequence[OpenGeneration], question: Question
) -> list[tuple[OpenGeneration, dict[str, str] | None]]:
    """The books that have the question's chapter and module, with the filter for each.

    Raises:
        InvalidQuestion: None of them has; the message lists what the first one has.
    """
    found: list[tuple[OpenGeneration, dict[str, str] | None]] = []
    missing: InvalidQuestion | None = None
    for generation in generations:
        try:
            found.append((generation, await _where(generation, question)))
        except InvalidQuestion as error:
            missing = missing or error
    if not found and missing is not None:
        raise missing
    return found


async def _where(generation: OpenGeneration, question: Question) -> dict[str, str] | None:
    """The filter for a question's chapter and module, or None."""
    if not question.chapter and not question.module:
        return None
    files = await generation.files()
    where = {}
    if question.module:
        where["module"] = _resolve("module", question.module, sorted({file.module for file in files} - {""}))
    if question.chapter:
        chapters = await generation.chapters()
        pages = {} if chapters else {file.title: file.filename for file in files}
        title = _resolve("chapter", question.chapter, list(chapters or pages))
        where |= {"filename": pages[title]} if pages else {"chapter": title}
    return where


def _resolve(name: str, wanted: str, known: list[str]) -> str:
    """The title that a reader means: equal, else the only one that begins so, holds the words, or has this number."""
    plain = wanted.casefold().strip()
    for test in (
        lambda title: title == plain,
        lambda title: title.startswith((f"{plain}:", f"{plain} ")),
        lambda title: plain in title,
        lambda title: plain in words(title),
    ):
        matches = [title for title in known if test(title.casefold())]
        if len(matches) == 1:
            return matches[0]
    raise InvalidQuestion(f"The book has no {name} named {wanted}. It has: {'; '.join(known) or 'none'}.")
