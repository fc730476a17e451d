"""The chapters that readers mean, by number ("Summarise chapter 3") or by a part of a title, seldom by all of it."""

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import topic_stems, words
from lutrin.query.frames import CHAPTER, THIS, number_of
from lutrin.query.understand import Query
from lutrin.records import Question

_NUMBER = re.compile(r"\d+")


async def in_chapter(query: Query, generations: Sequence[OpenGeneration]) -> Query:
    """The query within the chapter that it names, if a book has that one; else as it is.

    Where nothing but a form is asked of the chapter, its title is what is searched for.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    if query.question.chapter or query.selected_text or query.frame == "about":
        return query
    for phrase in CHAPTER:
        for named in phrase.finditer(query.text):
            for generation in generations:
                title = await _title_of(generation, named["name"], query.page)
                if title:
                    question = msgspec.structs.replace(query.question, chapter=title, book=generation.book.slug)
                    topic = " ".join(phrase.sub(" ", query.topic).split())
                    whole = not topic_stems(topic)
                    topic = title if whole else topic
                    return replace(query, question=question, topic=topic, parts=(topic,), whole_chapter=whole)
    return query


async def chapters_of(generation: OpenGeneration) -> list[str]:
    """The chapters of a book in its order; where it names none, its pages are its chapters."""
    return await generation.chapters() or [file.title for file in await generation.files()]


async def _title_of(generation: OpenGeneration, asked: str, page: str) -> str | None:
    if asked.lower() != THIS:
        return chapter_of_number(await chapters_of(generation), asked) if number_of(asked) is not None else None
    here = [file.chapter or file.title for file in await generation.files() if file.filename == page]
    return next(iter(here), None)


def chapter_of_number(chapters: Sequence[str], asked: str) -> str | None:
    """The chapter with a number: the one that its title has, else its place in the book.

    >>> chapter_of_number(["1 Bees", "2 Wax"], "2"), chapter_of_number(["Bees", "Wax"], "last")
    ('2 Wax', 'Wax')
    """
    number = number_of(asked)
    if number is None or not chapters:
        return None
    if number < 0:
        return chapters[-1]
    own = [(name, int(found[0])) for name in chapters if (found := _NUMBER.search(name))]
    in_order = chapters[number - 1 : number] if not own and number else []
    return next((name for name, one in own if one == number), next(iter(in_order), None))


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
