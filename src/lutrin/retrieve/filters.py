"""Readers name chapters as they remember them; the index knows them by their full titles."""

from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.records import Question


async def where_of(generation: OpenGeneration, question: Question) -> dict[str, str] | None:
    """The filter for a question's chapter and module, or None.

    Raises:
        InvalidQuestion: The book has no such chapter or module; the message lists those that it has.
    """
    if not question.chapter and not question.module:
        return None
    files = await generation.files()
    where = {}
    for name, wanted, known in (
        ("chapter", question.chapter, {file.chapter for file in files}),
        ("module", question.module, {file.module for file in files}),
    ):
        if wanted:
            where[name] = _resolve(name, wanted, sorted(known - {""}))
    return where


def _resolve(name: str, wanted: str, known: list[str]) -> str:
    """The title that a reader means: equal, else the only one that begins so or holds the words."""
    plain = wanted.casefold().strip()
    for test in (
        lambda title: title == plain,
        lambda title: title.startswith((f"{plain}:", f"{plain} ")),
        lambda title: plain in title,
    ):
        matches = [title for title in known if test(title.casefold())]
        if len(matches) == 1:
            return matches[0]
    raise InvalidQuestion(f"The book has no {name} named {wanted}. It has: {'; '.join(known) or 'none'}.")
