"""The shapes of requests and replies that are not records already; the OpenAPI document is made from them."""

from typing import Annotated, Any, Literal

import msgspec

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
"""A slug, a heading or a path: what is not found is named in the reply."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Fields common to all questions."""

    selected_text: str | None = None
    page: Place | None = None
    """Where the reader is: the page's file name, or the path of its address."""
    book: Place | None = None
    """Slug; needed only where several books are served."""
    wait_s: WaitS | None = None
    """Seconds to wait for the model's explanation, at most LUTRIN_EXPLAIN_S; JSON: 0, the book's answer at once. Where
    JSON waits, the model also has its say in whether the book answers. A stream tells the explanation as it comes,
    without: unasked if it is likely to begin within LUTRIN_LIVE_S."""
    explain: bool = False
    """Ask the model for an explanation and wait in its queue, after an answer that was `explainable`."""

    def to_question(
        self, text: str, surface: Literal["query", "tutor", "chat"], mode: records.Mode | None = None
    ) -> records.Question:
        """The question as the stages take it; its other fields have the same names."""
        values = {name: getattr(self, name, None) for name in records.Question.__struct_fields__}
        fields = {name: value for name, value in values.items() if value is not None}
        return records.Question(**{**fields, "text": text, "surface": surface, "mode": mode})


class Searching(Asking, frozen=True, kw_only=True):
    """Fields common to questions that say where to search."""

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
        """The question as the stages take it; raises InvalidInput if neither field is there."""
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
    """File names, each once, in the order of their citations."""
    citations: tuple[records.Citation, ...]
    kind: records.AnswerKind
    model_used: str

    @classmethod
    def of(cls, answer: records.Answer, session_id: str) -> "ChatReply":
        """The reply that carries an answer."""
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
    """A passage that search found."""

    text: str
    score: float
    metadata: dict[str, Any]

    @classmethod
    def of(cls, passage: records.Passage) -> "RetrievedPassage":
        """The passage with what is known of its place in the book."""
        chunk = passage.chunk
        left_out = {"text", "units", "chunk_id"}
        details = {name: getattr(chunk, name) for name in chunk.__struct_fields__ if name not in left_out}
        place = {"id": chunk.chunk_id, "url": reader_url(chunk)}
        return cls(text=chunk.text, score=passage.score, metadata={**place, **details})


class Sessions(msgspec.Struct, frozen=True):
    """A browser's conversations, the one used last first."""

    sessions: list[records.ChatSession]
    more: bool = False
    """Whether there are further ones."""


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
    """A book that is open."""

    slug: str
    title: str
    edition: str
    generation: str


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Readiness: books, models, storage."""

    ready: bool
    """Whether a book is open and searches come to an end."""
    trouble: str
    """Why questions are not answered though there are books; empty if they are."""
    failing_tasks: list[str]
    """Background tasks that failed and are started again: `shelf` looks for new books, `mirror` fetches them."""
    profile: str
    books: list[ReadyBook]
    model: str
    """Name of the language model; empty: none is configured, answers are quotes."""
    model_ready: bool
    model_state: Literal["none", "arriving", "measuring", "ready", "away"]
    model_progress: str
    """One line on a model that is on its way, or on why there is none; empty once it is ready."""
    model_computed_by: str
    """`processor`, or the graphics processor and its share of the layers, or `service`; empty until it is loaded."""
    queue_length: int
    storing: bool
    """Whether conversations are stored; answers go on without."""
    free_mb: int
    """Free megabytes of the disk that holds the data."""
    left_out: list[LeftOut]
    """Files that the latest ingest left out, with reasons; at most 200."""
    left_out_count: int
