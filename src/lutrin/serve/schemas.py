"""Requests and replies of the API besides `lutrin.records`; the OpenAPI document describes both."""

from typing import Annotated, Any, Literal

import msgspec
from litestar.params import QueryParameter

from lutrin import records
from lutrin.answer.render import reader_url
from lutrin.chats.key import SESSION_ID_PATTERN
from lutrin.errors import InvalidInput
from lutrin.records import LeftOut

SessionId = Annotated[str, msgspec.Meta(pattern=SESSION_ID_PATTERN, description="Made by the browser, at random.")]
WaitS = Annotated[float, msgspec.Meta(ge=0, le=600)]
TopK = Annotated[int, msgspec.Meta(ge=1, le=50)]
Surface = Literal["query", "tutor", "chat"]
Place = Annotated[str, msgspec.Meta(max_length=1000)]
"""A slug, a heading or a path; the reply names one that is not found."""

WithBlocks = Annotated[
    bool, QueryParameter(description="Also send what each text consists of: blocks that are drawn without HTML")
]


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Fields common to all questions."""

    selected_text: str | None = None
    page: Place | None = None
    """The page that the reader has open: its file name, or the path of its address."""
    book: Place | None = None
    """Slug of the book; needed only if several are served."""
    wait_s: WaitS | None = None
    """Seconds to wait for the model's explanation, at most LUTRIN_EXPLAIN_S. JSON without it gets the book's answer at
    once; JSON with it lets the model take part in deciding whether the book answers. A stream without it sends the
    explanation as it is written, if it is likely to begin within LUTRIN_LIVE_S."""
    explain: bool = False
    """Ask the model to explain an answer that was `explainable`, and wait in its queue."""

    def to_question(
        self, text: str, surface: Literal["query", "tutor", "chat"], mode: records.Mode | None = None
    ) -> records.Question:
        """Build the question for the stages; its other fields have the same names."""
        values = {name: getattr(self, name, None) for name in records.Question.__struct_fields__}
        fields = {name: value for name, value in values.items() if value is not None}
        return records.Question(**{**fields, "text": text, "surface": surface, "mode": mode})


class Searching(Asking, frozen=True, kw_only=True):
    """Fields common to questions with a search scope."""

    chapter: Place | None = None
    module: Place | None = None
    top_k: TopK | None = None
    session_id: SessionId | None = None


class QueryBody(Searching, frozen=True, kw_only=True):
    """`POST /api/query` and `POST /api/retrieve`."""

    query: str


class Explained(msgspec.Struct, frozen=True):
    """Reply of `POST /api/explains`."""

    explains: bool


class TutorBody(Searching, frozen=True, kw_only=True):
    """`POST /query`: the question is in `question` or in `query`."""

    question: str | None = None
    query: str | None = None

    def to_tutor_question(self, mode: records.Mode | None = None) -> records.Question:
        """Build the question for the stages; raises InvalidInput if both fields are missing."""
        text = self.question if self.question is not None else self.query
        if text is None:
            raise InvalidInput("question: Object missing required field `question` (or `query`)")
        return self.to_question(text, "tutor", mode)


class ChatBody(Asking, frozen=True, kw_only=True):
    """`POST /chat`."""

    session_id: SessionId
    message: str
    mode: records.Mode | None = None


class ChatReply(records.AnswerParts, frozen=True, kw_only=True):
    """An answer in a conversation."""

    answer: str
    session_id: str
    sources: tuple[str, ...]
    """Cited file names, each once, in the order of their citations."""
    citations: tuple[records.Citation, ...]
    kind: records.AnswerKind
    model_used: str

    @classmethod
    def of(cls, answer: records.Answer, session_id: str) -> "ChatReply":
        """Build the reply for an answer."""
        return cls(
            answer=answer.answer,
            session_id=session_id,
            sources=tuple(dict.fromkeys(item.filename for item in answer.sources if item.filename)),
            citations=answer.sources,
            kind=answer.kind,
            model_used=answer.model_used,
            **answer.parts(),
        )


class History(msgspec.Struct, frozen=True):
    """The newest messages of a conversation, oldest first."""

    messages: list[records.ChatMessage]


class RetrievedPassage(msgspec.Struct, frozen=True):
    """A passage found by the search."""

    text: str
    score: float
    metadata: dict[str, Any]

    @classmethod
    def of(cls, passage: records.Passage) -> "RetrievedPassage":
        """Build the reply for a passage, with its place in the book."""
        chunk = passage.chunk
        left_out = {"text", "units", "chunk_id"}
        details = {name: getattr(chunk, name) for name in chunk.__struct_fields__ if name not in left_out}
        place = {"id": chunk.chunk_id, "url": reader_url(chunk)}
        return cls(text=chunk.text, score=passage.score, metadata={**place, **details})


class Sessions(msgspec.Struct, frozen=True):
    """Conversations of a browser, the most recently used first."""

    sessions: list[records.ChatSession]
    more: bool = False
    """Whether there are more conversations."""


class Renaming(msgspec.Struct, frozen=True):
    """`PATCH /sessions/{id}`."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Feedback(msgspec.Struct, frozen=True):
    """`POST /messages/{id}/feedback`."""

    value: Literal["up", "down"]
    comment: Annotated[str, msgspec.Meta(max_length=4000)] = ""


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyBook(msgspec.Struct, frozen=True):
    """An open book."""

    slug: str
    title: str
    edition: str
    generation: str


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """State of books, models and storage."""

    ready: bool
    """Whether a book is open and a search succeeds."""
    trouble: str
    """Why questions are not answered although there are books; empty if they are answered."""
    failing_tasks: list[str]
    """Background tasks that failed and will be restarted: `shelf` looks for new books, `mirror` fetches them."""
    profile: str
    books: list[ReadyBook]
    model: str
    """Name of the language model; empty: none is configured, and answers are quotes."""
    model_ready: bool
    model_state: Literal["none", "arriving", "measuring", "ready", "away"]
    model_progress: str
    """Progress of a model that is not ready, or the reason for its absence; empty once it is ready."""
    model_computed_by: str
    """Device of the model: `processor`, the graphics processor with its share of the layers, or `service`; empty until
    it is loaded."""
    queue_length: int
    storing: bool
    """Whether conversations are stored; questions are answered either way."""
    free_mb: int
    """Free disk space for the data, in megabytes."""
    left_out: list[LeftOut]
    """Files left out by the latest ingest, with reasons; at most 200."""
    left_out_count: int
