"""The chapter that a question names by its number: "Summarise chapter 3", "Quiz me on this chapter"."""

import re
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import topic_stems
from lutrin.query.frames import CHAPTER, THIS, number_of
from lutrin.query.understand import Query

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
                title = await _meant(generation, named["name"], query.page)
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


async def _meant(generation: OpenGeneration, asked: str, page: str) -> str | None:
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
