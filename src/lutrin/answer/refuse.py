"""Refusals, worded by reason and endpoint, and suggestions of what to ask instead."""

from collections.abc import Iterable, Sequence
from itertools import islice

from lutrin import messages
from lutrin.answer.cache import normalize
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import subject_words
from lutrin.query.understand import Query
from lutrin.records import Chunk, Excerpt, Passage, Question, Refusal
from lutrin.search.question_tokens import pooled_vector
from lutrin.search.search import Searcher

EVERYWHERE: dict[Refusal, str] = {
    "not_english": messages.NOT_ENGLISH,
    "vague": messages.NEEDS_CONTEXT,
    "not_in_selection": messages.NOT_IN_SELECTION,
}
"""What every endpoint words alike."""
MAX_SUGGESTIONS = 5
MOST_NEXT = 3


def refusal_text(refusal: Refusal, question: Question, title: str) -> str:
    """Return the refusal's text for the endpoint that was asked.

    Args:
        refusal: Why there is no answer.
        question: Its surface chooses among the contract's wordings.
        title: Of the book.
    """
    if refusal in EVERYWHERE:
        return EVERYWHERE[refusal]
    if question.surface == "chat":
        return messages.NOT_FOUND_CHAT
    if question.surface == "query":
        return messages.NOT_COVERED.format(title=title.removeprefix("The "))
    return messages.OUT_OF_SCOPE_TUTOR.format(title=title) if refusal == "out_of_scope" else messages.NOT_IN_BOOK


def suggestions(passages: Iterable[Passage]) -> tuple[str, ...]:
    """The topics of the book nearest to a question, nearest first, named so that one knows what they are about."""
    topics: dict[str, str] = {}
    for passage in passages:
        if topic := _topic(passage.chunk):
            topics.setdefault(topic.casefold(), topic)
    return tuple(topics.values())[:MAX_SUGGESTIONS]


async def next_questions(
    searcher: Searcher, generation: OpenGeneration, query: Query, excerpts: Sequence[Excerpt], done: str = ""
) -> tuple[str, ...]:
    """Up to three prepared questions nearest in meaning to one that was answered; with a selection, of its section.

    Args:
        searcher: Encodes the question.
        generation: Of the book that answered.
        query: What was asked.
        excerpts: Of the answer.
        done: A prepared question that was answered instead.
    """
    if not excerpts or not generation.companion:
        return ()
    (encoding,) = await searcher.encode([query.topic])
    section = excerpts[0].heading_path if query.selected_text else None
    answered = {normalize(query.text), normalize(done)}
    near = generation.companion.questions(pooled_vector(encoding), section)
    return tuple(islice((text for text in near if normalize(text) not in answered), MOST_NEXT))


def _topic(chunk: Chunk) -> str:
    """Title of a passage's section, behind the one above it if it names one thing or none: "Gears: 1.2 Overview"."""
    *above, title = chunk.heading_path or (chunk.section_title,)
    if len(subject_words(title)) > 1 or not above:
        return title
    return f"{above[-1]}{'' if above[-1].endswith(('?', '!', ':', '.')) else ':'} {title}"
