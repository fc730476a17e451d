"""The endpoints that answer questions: three styles of request and refusal over one flow."""

from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from lutrin import stages
from lutrin.records import Answer
from lutrin.serve.answer_service import NO_STORE, AnswerService, Timings
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.problems import operation
from lutrin.serve.schemas import ChatBody, ChatReply, Explained, QueryBody, RetrievedPassage, TutorBody, WithBlocks


def _asking(name: str, summary: str, returns: type | None) -> dict[str, Any]:
    text = "The answer; with `Accept: text/event-stream` its events"
    statuses = (404, 413, 422, 429, 503)
    return {**operation(name, summary, "answers", *statuses, returns=returns, description=text), "status_code": 200}


@post("/api/query", **_asking("apiQuery", "Ask the book", Answer))
async def api_query(
    data: JSONBody[QueryBody], request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Answer a question about the book. With `selected_text`, passages near the selection weigh more."""
    return await service.answer(request, data.to_question(data.query, "query"), blocks=blocks)


EXPLAINS = operation(
    "apiExplains",
    "Whether a model or a prepared entry can explain a marked text",
    "answers",
    404,
    413,
    422,
    503,
    returns=Explained,
)


@post("/api/explains", **EXPLAINS, status_code=200)
async def api_explains(data: JSONBody[QueryBody], request: HTTPRequest, service: Given[AnswerService]) -> Explained:
    """Say what a reader can be offered for a marked text; this does not count as a question."""
    question = data.to_question(data.query, "query")
    incoming = service.with_owner(request, question, await service.owner(request, question.session_id))
    with stages.listening(Timings(service.metrics)):
        return Explained(await service.services.answers.explains(service.from_peer(request, incoming.question)))


@post("/query", **_asking("query", "Ask the book's tutor", Answer))
async def query(
    data: JSONBody[TutorBody], request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Answer a question like `/api/query`, with the tutor's wording of refusals."""
    return await service.answer(request, data.to_tutor_question(), blocks=blocks)


@post("/query-selected-text", **_asking("querySelectedText", "Ask about the selected text alone", Answer))
async def query_selected_text(
    data: JSONBody[TutorBody], request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Answer from the selection alone. If it is unusable, the answer says so, and the whole book is searched."""
    return await service.answer(request, data.to_tutor_question("selection"), blocks=blocks)


@post("/query-selection", **_asking("querySelection", "Ask about the selected text alone", Answer))
async def query_selection(
    data: JSONBody[TutorBody], request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Answer from the selection alone: another name of `/query-selected-text`."""
    return await service.answer(request, data.to_tutor_question("selection"), blocks=blocks)


@post("/chat", **_asking("chat", "Ask within a conversation", ChatReply))
async def chat(
    data: JSONBody[ChatBody], request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Answer a message of a conversation. Both messages are stored; a follow-up is completed from earlier ones."""
    question = data.to_question(data.message, "chat", data.mode)
    return await service.answer(request, question, lambda answer: ChatReply.of(answer, data.session_id), blocks=blocks)


@post("/api/retrieve", **_asking("retrieve", "Passages without an answer", None))
async def retrieve(
    data: JSONBody[QueryBody], request: HTTPRequest, service: Given[AnswerService]
) -> Response[list[RetrievedPassage]]:
    """Find the passages nearest to the question or the selection; an empty array if none is relevant."""
    question = data.to_question(data.query, "query")
    incoming = service.with_owner(request, question, await service.owner(request, question.session_id))
    await service.admit(request, incoming)
    began_s = service.services.clock()
    passages = await service.services.retrieve(service.from_peer(request, incoming.question))
    service.metrics.retrieve_seconds.observe(service.services.clock() - began_s)
    return Response([RetrievedPassage.of(passage) for passage in passages], status_code=200, headers=NO_STORE)


HANDLERS = [api_query, api_explains, query, query_selected_text, query_selection, chat, retrieve]
