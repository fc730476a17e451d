"""Keeps the events of an answer that were sent so far, and makes the messages to store from them."""

import uuid
from collections.abc import Callable
from datetime import datetime

import msgspec

from lutrin import records
from lutrin.answer.render import explanation_of


class Transcript:
    """Collects the events of one answer; its question's `session_id` is the conversation's key."""

    def __init__(self, message_id: str, question: records.Question, now: Callable[[], datetime]) -> None:
        self._question = question
        self._now = now
        self._message_id = message_id
        self._user_message_id = uuid.uuid5(uuid.UUID(message_id), "question").hex
        self.asked_at = self._stamp()
        """Of the question, as its message keeps it."""
        self._events: list[records.AnswerEvent] = []

    @property
    def message_ids(self) -> tuple[str, str]:
        """Ids of the question and its answer, as stored."""
        return (self._user_message_id, self._message_id)

    def note(self, event: records.AnswerEvent) -> None:
        """Note an event that is sent to the reader."""
        self._events.append(event)

    def replayable(self) -> list[records.AnswerEvent]:
        """The events, in order, that the same question would produce again; waiting in a queue is not one of them."""
        return [event for event in self._events if not isinstance(event, records.QueuedEvent)]

    def complete(self, answer: records.Answer, made: records.Made | None = None) -> list[records.ChatMessage]:
        """The question and answer to store, with a record of how the answer was made."""
        given = msgspec.structs.replace(
            self._assistant(answer.answer, answer.kind, answer.mode, answer.sources), **answer.shown()
        )
        return [self._user(answer.mode), records.KeptMessage(**msgspec.structs.asdict(given), made=made)]

    def partial(self) -> list[records.ChatMessage]:
        """The question and what was sent of its answer; empty if nothing was sent."""
        excerpts = tuple(event.excerpt for event in self._events if isinstance(event, records.ExcerptEvent))
        sentences = [
            records.Sentence(text=event.text, citations=event.citations, support=event.support)
            for event in self._events
            if isinstance(event, records.SentenceEvent)
        ]
        if not excerpts and not sentences:
            return []
        said = explanation_of(sentences)
        used = {n for sentence in sentences for n in sentence.citations} | {excerpt.n for excerpt in excerpts}
        listed: dict[int, records.Citation] = {}
        for named in self._events:
            if isinstance(named, records.SourcesEvent):
                listed |= {citation.n: citation for citation in named.citations if citation.n in used}
        mode = self._question.mode or ("selection_boosted" if self._question.selected_text else "book")
        kind: records.AnswerKind = "generated" if sentences else "extractive"
        citations = tuple(citation for _, citation in sorted(listed.items()))
        text = said or "\n\n".join(excerpt.text for excerpt in excerpts)
        given = self._assistant(text, kind, mode, citations)
        sent = msgspec.structs.replace(given, explanation=said, sentences=tuple(sentences), excerpts=excerpts)
        return [self._user(mode), sent]

    def origin(self, origin: records.ChatOrigin, answer: records.Answer | None) -> records.ChatOrigin:
        """The origin with the book and the generation that answered, where they are known."""
        if answer is None:
            return origin
        book = answer.sources[0].book if answer.sources else origin.book
        return msgspec.structs.replace(origin, book=book, generation=answer.generation)

    def _user(self, mode: records.Mode) -> records.ChatMessage:
        return records.ChatMessage(
            id=self._user_message_id,
            session_id=self._question.session_id,
            role="user",
            text=self._question.text,
            created=self.asked_at,
            mode=mode,
            selected_text=self._question.selected_text,
        )

    def _assistant(
        self, text: str, kind: records.AnswerKind, mode: records.Mode, citations: tuple[records.Citation, ...]
    ) -> records.ChatMessage:
        return records.ChatMessage(
            id=self._message_id,
            session_id=self._question.session_id,
            role="assistant",
            text=text,
            created=self._stamp(),
            mode=mode,
            kind=kind,
            chunk_ids=tuple(dict.fromkeys(citation.chunk_id for citation in citations)),
            citations=citations,
        )

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="milliseconds")
