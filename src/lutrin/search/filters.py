"""Limits a question to what it names in the books: a chapter, a module, the open page.

Readers name a chapter by its number ("Summarise chapter 3") or by part of its title, seldom by all of it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import words
from lutrin.query.understand import Query
from lutrin.records import Question


def in_chapter(query: Query, generations: Sequence[OpenGeneration]) -> Query:
    """Limit the query to the chapter that it names, if a book has it; otherwise return it unchanged.

    If the question only asks for a form of the chapter, search for the chapter's title.
    """
    if query.question.chapter or query.selected_text or query.frame == "about":
        return query
    for named, rest in query.chapters:
        for generation in generations:
            title = _title_of(generation, named.number, query.page)
            if title:
                question = msgspec.structs.replace(query.question, chapter=title, book=generation.book.slug)
                topic = rest or title
                return replace(query, question=question, topic=topic, parts=(topic,), whole_chapter=not rest)
    return query


def chapters_of(generation: OpenGeneration) -> list[str]:
    """The chapters of a book in order; in a book without chapters, its pages."""
    return generation.chapters or [file.title for file in generation.files]


def _title_of(generation: OpenGeneration, number: int | None, page: str) -> str | None:
    """Title of the chapter with a number; without a number, of the chapter that holds the page."""
    if number is not None:
        return chapter_of_number(chapters_of(generation), number)
    here = [file.chapter or file.title for file in generation.files if file.filename == page]
    return next(iter(here), None)


def chapter_of_number(chapters: Sequence[str], number: int) -> str | None:
    """The chapter with a number: in its title, else by its place in the book; -1 is the last.

    >>> chapter_of_number(["1 Bees", "2 Wax"], 2), chapter_of_number(["Bees", "Wax"], -1)
    ('2 Wax', 'Wax')
    """
    if not chapters:
        return None
    if number < 0:
        return chapters[-1]
    own = [(name, int(match[0])) for name in chapters if (match := re.search(r"\d+", name))]
    in_order = chapters[number - 1 : number] if not own and number else []
    return next((name for name, one in own if one == number), next(iter(in_order), None))


def filters_of(
    generations: Sequence[OpenGeneration], query: Query
) -> list[tuple[OpenGeneration, dict[str, str] | None]]:
    """Like `apply_filters`, but limited to the one page that the question means, if any.

    Raises:
        InvalidQuestion: No book has the question's chapter and module.
    """
    books = apply_filters(generations, query.question)
    if not query.within:
        return books
    return [
        (generation, {**(where or {}), "filename": query.within})
        for generation, where in books
        if any(file.filename == query.within for file in generation.files)
    ]


def apply_filters(
    generations: Sequence[OpenGeneration], question: Question
) -> list[tuple[OpenGeneration, dict[str, str] | None]]:
    """The books that have the question's chapter and module, with the filter for each.

    Raises:
        InvalidQuestion: No book has them; the message lists what the first one has.
    """
    books: list[tuple[OpenGeneration, dict[str, str] | None]] = []
    missing: list[InvalidQuestion] = []
    for generation in generations:
        try:
            books.append((generation, _where(generation, question)))
        except InvalidQuestion as error:
            missing.append(error)
    if missing and not books:
        raise missing[0]
    return books


def _where(generation: OpenGeneration, question: Question) -> dict[str, str] | None:
    """The filter for a question's chapter and module, or None."""
    if not question.chapter and not question.module:
        return None
    files, chapters = generation.files, generation.chapters
    where = {}
    if question.module:
        where["module"] = _resolve("module", question.module, sorted({file.module for file in files} - {""}))
    if question.chapter:
        pages = {} if chapters else {file.title: file.filename for file in files}
        title = _resolve("chapter", question.chapter, list(chapters or pages))
        where |= {"filename": pages[title]} if pages else {"chapter": title}
    return where


def _resolve(name: str, value: str, titles: list[str]) -> str:
    """The title that a reader means: equal, else the only one with this beginning, these words, or this number."""
    plain = value.casefold().strip()
    for test in (
        lambda title: title == plain,
        lambda title: title.startswith((f"{plain}:", f"{plain} ")),
        lambda title: plain in title,
        lambda title: plain in words(title),
    ):
        matches = [title for title in titles if test(title.casefold())]
        if len(matches) == 1:
            return matches[0]
    names = "; ".join(titles) or messages.NONE_OF_THEM
    raise InvalidQuestion(messages.NO_SUCH_PART.format(kind=name, name=value, names=names))
