"""Lutrin itself as a subject of evaluation: the real pipeline, a memory for conversations, real pages for links.

This module and `asking` are the only ones of this package that depend on Lutrin's structure. A change of its search or
answers needs changes here at most in `Pipeline.retrieve`, `Pipeline.fused` and `Pipeline.complete`.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import chain
from urllib.parse import unquote, urlsplit

import msgspec

from evaluation.run import Subject
from lutrin.answer.flow import AnswerFlow
from lutrin.errors import NotFound
from lutrin.index.shelf import Shelf
from lutrin.language.gate import LanguageGate
from lutrin.ports import ChatStore
from lutrin.query.conversation import complete_question
from lutrin.query.understand import understand
from lutrin.records import (
    Answer,
    Certainty,
    ChatMessage,
    Chunk,
    DoneEvent,
    Message,
    Passage,
    Question,
    Role,
)
from lutrin.search.search import Searcher
from lutrin.serve.book_reader import Reader
from lutrin.serve.budget import Workshop
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.render_process import Renderer

FUSED_DEPTH = 24
"""Results that each plain search gives to the fusion: as many as Lutrin's own."""
ANY = LanguageGate(["en"])
RRF_K = 60
"""Of reciprocal rank fusion, as its authors chose it."""


class Pipeline:
    """What `run` asks.

    Args:
        shelf: Open books.
        searcher: As the answers use it.
        chats: Two, empty; they get the conversations of the questions.
        flow: Makes an answer flow that reads its conversations from a store; called twice, for answers twice.
    """

    def __init__(
        self,
        shelf: Shelf,
        searcher: Searcher,
        chats: tuple[ChatStore, ChatStore],
        flow: Callable[[ChatStore], AnswerFlow],
    ) -> None:
        self.shelf = shelf
        self.searcher = searcher
        self._chats = chats
        self._first, self._second = flow(chats[0]), flow(chats[1])
        self._library = ShelfLibrary(shelf)
        self._reader = Reader(self._library, Workshop(), Renderer())
        self._pages: dict[str, str] = {}

    def subject(self, name: str) -> Subject:
        """This pipeline as a subject."""
        return Subject(
            name=name,
            retrieve=self.retrieve,
            answer=self.answer,
            again=self._again,
            chunks=self._chunks,
            source=self._library.source,
            resolves=self._resolves,
            complete=complete,
        )

    def quick_subject(self, name: str) -> Subject:
        """The same, asked once; its links are not followed."""
        return Subject(
            name=name,
            retrieve=self.retrieve,
            answer=self.answer,
            chunks=self._chunks,
            source=self._library.source,
            complete=complete,
        )

    async def retrieve(self, question: Question) -> Sequence[Passage]:
        """The passages that an answer would be based on, even if the question is out of scope."""
        query = understand(question, history=(), language=ANY, embedder=self.searcher.embedder)
        async with self.shelf.lease_books(question.book) as generations:
            found = await self.searcher.search(generations, query, k=question.top_k or 5)
        return found.passages

    async def fused(self, question: Question) -> Sequence[Passage]:
        """What plain searches find: dense and BM25, by reciprocal rank fusion; a selection is searched for, too."""
        text, k = f"{question.text} {question.selected_text}".strip(), question.top_k or 5
        depth = max(k, FUSED_DEPTH)
        vector = (await self.searcher.encode([text]))[0].pooled
        async with self.shelf.lease_books(question.book) as generations:
            dense = best([await generation.nearest(vector, depth) for generation in generations], depth)
            lexical = best([await generation.matching(text, depth) for generation in generations], depth)
            ids = reciprocal_rank_fusion(dense, lexical)[:k]
            found = {chunk.chunk_id: chunk for generation in generations for chunk in await generation.chunks(ids)}
        return [Passage(chunk=found[name], score=1.0) for name in ids]

    async def answer(self, question: Question) -> Answer:
        """The whole answer."""
        return await self._remembered(self._first, self._chats[0], question)

    async def made(self, question: Question, previous: str = "") -> Certainty:
        """How an answer was made, to a question that may follow another one."""
        earlier = (Message(role="user", content=previous),) if previous else ()
        asked = msgspec.structs.replace(question, earlier=earlier, explain=True)  # the model judges every question
        events = [event async for event in self._first.answer(asked)]
        made = [event.made for event in events if isinstance(event, DoneEvent)][-1]
        return made if made is not None else Certainty()

    async def _again(self, question: Question) -> Answer:
        return await self._remembered(self._second, self._chats[1], question)

    async def _remembered(self, flow: AnswerFlow, chats: ChatStore, question: Question) -> Answer:
        """An answer; its conversation, if it has one, knows of both afterwards."""
        answer = await _whole(flow, question)
        if question.session_id:
            said = [
                message_of(question.session_id, "user", question.text),
                message_of(question.session_id, "assistant", answer.answer, answer),
            ]
            await chats.append(question.session_id, said)
        return answer

    async def _chunks(self, book: str, ids: Sequence[str]) -> Sequence[Chunk]:
        async with self.shelf.lease(book) as generation:
            return await generation.chunks(ids)

    async def _resolves(self, url: str) -> bool:
        """Whether the reader has the page, and the page the anchor; a PDF's page number needs no anchor."""
        parts = urlsplit(url)
        slug, _, path = unquote(parts.path).removeprefix("/read/").partition("/")
        if parts.path not in self._pages:
            try:
                self._pages[parts.path] = await self._reader.page(slug, path)
            except NotFound:
                return False
        anchor = unquote(parts.fragment)
        return not anchor or anchor.startswith("page=") or f'id="{anchor}"' in self._pages[parts.path]


def best(rankings: Sequence[Sequence[tuple[str, float]]], k: int) -> list[str]:
    """The best ids of several rankings by their scores."""
    return [name for name, _ in sorted(chain(*rankings), key=lambda pair: (-pair[1], pair[0]))[:k]]


def reciprocal_rank_fusion(*rankings: Sequence[str]) -> list[str]:
    """Rankings of ids fused, best first (Cormack, Clarke and Buettcher 2009)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def complete(question: str, previous: str) -> str:
    """What is searched for a question after another one."""
    return complete_question(question, [message_of("", "user", previous)]).text if previous else question


def message_of(session_id: str, role: Role, text: str, answer: Answer | None = None) -> ChatMessage:
    """A question or an answer as a conversation keeps it."""
    sources = answer.sources if answer is not None else ()
    return ChatMessage(
        id=uuid.uuid4().hex,
        session_id=session_id,
        role=role,
        text=text,
        created=datetime.now(UTC).isoformat(),
        chunk_ids=tuple(item.chunk_id for item in sources),
        citations=sources,
        kind=answer.kind if answer is not None else None,
    )


async def _whole(flow: AnswerFlow, question: Question) -> Answer:
    """The last event of an answer."""
    return [event.answer async for event in flow.answer(question) if isinstance(event, DoneEvent)][-1]
