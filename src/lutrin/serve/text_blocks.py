"""Adds to an answer what its texts consist of, for clients that draw them (`blocks=true`).

It is a function of what is sent and stored anyway, so nothing of it is stored.
"""

from typing import Any, TypeVar
from urllib.parse import unquote

from msgspec import UNSET, structs

from lutrin.ingest.display import quotation_blocks, statement_blocks
from lutrin.ingest.formats import format_of
from lutrin.records import (
    Answer,
    AnswerEvent,
    AnswerParts,
    BookAnswerEvent,
    ChatMessage,
    Citation,
    DoneEvent,
    Excerpt,
    ExcerptEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
)

S = TypeVar("S", Sentence, SentenceEvent)


def answer_with_blocks(answer: Answer) -> Answer:
    """An answer with the blocks of its texts."""
    sources = tuple(map(_of_citation, answer.sources))
    return structs.replace(answer, sources=sources, blocks=statement_blocks(answer.answer), **_parts(answer))


def message_with_blocks(message: ChatMessage) -> ChatMessage:
    """A stored message with the blocks of its texts; a question is shown as it was typed."""
    if message.role == "user":
        return message
    citations = tuple(map(_of_citation, message.citations))
    return structs.replace(message, citations=citations, blocks=statement_blocks(message.text), **_parts(message))


def event_with_blocks(event: AnswerEvent) -> AnswerEvent:
    """An event with the blocks of its texts."""
    match event:
        case SourcesEvent(citations):
            return SourcesEvent(tuple(map(_of_citation, citations)))
        case ExcerptEvent(excerpt):
            return ExcerptEvent(_of_excerpt(excerpt))
        case SentenceEvent():
            return _of_sentence(event)
        case BookAnswerEvent() | DoneEvent():
            return structs.replace(event, answer=answer_with_blocks(event.answer))
        case _:
            return event


def _parts(parts: AnswerParts) -> dict[str, Any]:
    """What the parts of an answer become; an explanation has blocks where it is shown for the whole answer."""
    is_apart = parts.explanation and parts.excerpts and not parts.sentences
    return {
        "sentences": tuple(map(_of_sentence, parts.sentences)),
        "plain_words": tuple(map(_of_sentence, parts.plain_words)),
        "excerpts": tuple(map(_of_excerpt, parts.excerpts)),
        "explanation_blocks": statement_blocks(parts.explanation) if is_apart else UNSET,
    }


def _of_sentence(sentence: S) -> S:
    return structs.replace(sentence, blocks=statement_blocks(sentence.text, has_markers=False))


def _of_excerpt(excerpt: Excerpt) -> Excerpt:
    blocks = quotation_blocks(excerpt.text, excerpt.marks, excerpt.header, _file_of(excerpt.url))
    return structs.replace(excerpt, blocks=blocks)


def _of_citation(citation: Citation) -> Citation:
    blocks = quotation_blocks(citation.quote, filename=_file_of(citation.url))
    return structs.replace(citation, blocks=blocks)


def _file_of(url: str) -> str:
    """The file of a page, whose suffix says how it is written; a page of Markdown is addressed without its suffix."""
    path = unquote(url.partition("#")[0])
    return path if format_of(path) else "page.md"
