"""Lutrin itself as a subject of evaluation: the real pipeline, a memory for conversations, real pages for links."""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

from lutrin.answer import followup
from lutrin.answer.flow import AnswerFlow
from lutrin.errors import NotFound
from lutrin.evaluate.run import Subject
from lutrin.index.shelf import Shelf
from lutrin.ports import ChatStore
from lutrin.records import Answer, ChatMessage, Chunk, DoneEvent, Passage, Question, Role
from lutrin.retrieve.passages import leased
from lutrin.retrieve.scope import signal
from lutrin.retrieve.search import Searcher
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.reader import Reader


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
        self._shelf = shelf
        self._searcher = searcher
        self._chats = chats
        self._first, self._second = flow(chats[0]), flow(chats[1])
        self._library = ShelfLibrary(shelf)
        self._reader = Reader(self._library)
        self._pages: dict[str, str] = {}

    def subject(self, name: str) -> Subject:
        """This pipeline as a subject."""
        return Subject(
            name=name,
            retrieve=self._retrieve,
            answer=self._answer,
            again=self._again,
            chunks=self._chunks,
            source=self._library.source,
            resolves=self._resolves,
            complete=_completed,
        )

    async def _retrieve(self, question: Question) -> Sequence[Passage]:
        """The passages that an answer would rest on, whatever the decision about scope."""
        async with leased(self._shelf, question.book) as generations:
            results = [
                await self._searcher.search(
                    generation, question.text, k=question.top_k or 5, selected_text=question.selected_text
                )
                for generation in generations
            ]
        return max(results, key=signal).passages

    async def _answer(self, question: Question) -> Answer:
        return await self._remembered(self._first, self._chats[0], question)

    async def _again(self, question: Question) -> Answer:
        return await self._remembered(self._second, self._chats[1], question)

    async def _remembered(self, flow: AnswerFlow, chats: ChatStore, question: Question) -> Answer:
        """An answer; its conversation, if it has one, knows of both afterwards."""
        answer = await _whole(flow, question)
        if question.session_id:
            said = [
                _message(question.session_id, "user", question.text),
                _message(question.session_id, "assistant", answer.answer),
            ]
            await chats.append(question.session_id, said)
        return answer

    async def _chunks(self, book: str, ids: Sequence[str]) -> Sequence[Chunk]:
        async with self._shelf.lease(book) as generation:
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


def _completed(question: str, previous: str) -> str:
    """What is searched for a question after another one."""
    history = [_message("", "user", previous)] if previous else []
    return followup.complete(question, history) or question


def _message(session_id: str, role: Role, text: str) -> ChatMessage:
    now = datetime.now(UTC).isoformat()
    return ChatMessage(id=uuid.uuid4().hex, session_id=session_id, role=role, text=text, created=now)


async def _whole(flow: AnswerFlow, question: Question) -> Answer:
    """The last event of an answer."""
    return [event.answer async for event in flow.answer(question) if isinstance(event, DoneEvent)][-1]
