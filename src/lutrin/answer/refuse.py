"""Refusals: the exact words depend on why, and on which family of endpoints asks; and what may be asked instead."""

from collections.abc import Iterable

from lutrin import messages
from lutrin.language.words import subject_words
from lutrin.records import Chunk, Passage, Question, Refusal

MAX_SUGGESTIONS = 5


def refusal_text(refusal: Refusal, question: Question, title: str) -> str:
    """What the reader is told.

    Args:
        refusal: Why there is no answer.
        question: Its surface chooses among the contract's wordings.
        title: Of the book.
    """
    match refusal:
        case "empty":
            return messages.EMPTY_QUESTION
        case "not_english":
            return messages.NOT_ENGLISH
        case "vague":
            return messages.NEEDS_CONTEXT
        case "not_in_selection":
            return messages.NOT_IN_SELECTION
    if question.surface == "chat":
        return messages.NOT_FOUND_CHAT
    if question.surface == "query":
        return messages.NOT_COVERED.format(title=title)
    return messages.OUT_OF_SCOPE_TUTOR.format(title=title) if refusal == "out_of_scope" else messages.NOT_IN_BOOK


def suggestions(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Topics of the book that are nearest to a question, the nearest first, in words that say what they are about."""
    topics: dict[str, str] = {}
    for passage in passages:
        if topic := _topic(passage.chunk):
            topics.setdefault(topic.casefold(), topic)
    return tuple(topics.values())[:MAX_SUGGESTIONS]


def _topic(chunk: Chunk) -> str:
    """Title of a passage's section, behind the one above it if it names one thing or none: "Gears: 1.2 Overview"."""
    *above, title = chunk.heading_path or (chunk.section_title,)
    if len(subject_words(title)) > 1 or not above:
        return title
    return f"{above[-1]}{'' if above[-1].endswith(('?', '!', ':', '.')) else ':'} {title}"
