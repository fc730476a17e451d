"""One mapping from errors to HTTP: each leaves as `application/problem+json` (RFC 9457), never as a stack trace.

A browser on its way to a page gets an error page with the same text.
"""

import re
import uuid
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import MediaType, Response
from litestar.exceptions import HTTPException, SerializationException, ValidationException
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import ExceptionHandlersMap

from lutrin import errors, messages
from lutrin.log import get_logger, places_of
from lutrin.serve import html
from lutrin.serve.guards import HTTPRequest

MEDIA_TYPE = "application/problem+json"

# The first matching class decides; subclasses come before their bases. A text here replaces one that is meant for the
# operator and goes to the log.
STATUS: tuple[tuple[type[errors.LutrinError], int, str], ...] = (
    (errors.MalformedRequest, 400, ""),
    (errors.RequestTooLarge, 413, ""),
    (errors.WrongContentType, 415, ""),
    (errors.InvalidInput, 422, ""),
    (errors.RateLimited, 429, ""),
    (errors.NotPermitted, 403, ""),
    (errors.NotFound, 404, ""),
    (errors.AlreadyThere, 409, ""),
    (errors.IngestInProgress, 409, ""),
    (errors.IndexUnavailable, 503, messages.KNOWLEDGE_BASE_DOWN),
    (errors.GeneratorError, 503, messages.KNOWLEDGE_BASE_DOWN),
    (errors.WeightsError, 503, messages.KNOWLEDGE_BASE_DOWN),
    (errors.ChatStoreError, 503, messages.SOMETHING_WRONG),
    (errors.LutrinError, 500, ""),
)

OPENAI_PATHS = "/v1/"
FORMS = "/teacher/"
"""Paths to which browsers also send forms, and show the reply."""
PROGRAMS = frozenset(
    """api books chat health history ingest messages metrics query query-selected-text query-selection ready sessions
    v1""".split()
)
"""Prefixes of paths without pages."""
OPENAI_TYPES = {403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}

_QUALITY = re.compile(r";\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)", re.IGNORECASE)
_log = get_logger("serve")


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error as sent to a client."""

    type: str = msgspec.field(default_factory=lambda: "about:blank")
    title: str
    status: int
    detail: str
    """One sentence fit for the reader."""
    retry_after_s: int | None = None
    id: str | None = None
    """Id of the log line with the details."""


class OpenAIError(msgspec.Struct, frozen=True, kw_only=True):
    """The error object that OpenAI's clients expect."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIProblem(Problem, frozen=True, kw_only=True, omit_defaults=True):
    """A problem under `/v1`: with the member `error` that OpenAI's clients read (RFC 9457 allows further members)."""

    error: OpenAIError

    @classmethod
    def of(cls, problem: Problem) -> "OpenAIProblem":
        """The problem with its second shape."""
        kind = OPENAI_TYPES.get(problem.status, "server_error" if problem.status >= 500 else "invalid_request_error")
        fields = {name: getattr(problem, name) for name in problem.__struct_fields__}
        return cls(**fields, error=OpenAIError(message=problem.detail, type=kind))


class ReportedProblem(errors.LutrinError):
    """An error that has been logged and carries the problem for the client."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


MEANINGS = {
    400: "Not JSON, not UTF-8, nested too deeply, or a foreign host name",
    403: "A secret or token is missing or wrong, or a page of another site asks",
    404: "There is nothing by that name",
    415: "The body does not call itself JSON",
    409: "An ingestion is running, or the name is taken",
    413: "More than 64 KiB, or an upload of more than 512 MB",
    422: "A field is missing or wrong",
    429: "Too many questions; `Retry-After` says when to ask again",
    500: "Unexpected; `id` names the line in the log",
    503: "The book is unavailable",
}


DETAILS: dict[int, str] = {413: messages.BODY_TOO_LARGE, 404: messages.NOTHING_HERE}
"""Maps Litestar's errors to problem details."""
BODY_STATUS = 413
WITH_BODY = (403, 415)
"""Further problems of endpoints with a body."""


def operation(
    name: str,
    summary: str,
    tag: str,
    *statuses: int,
    shape: type[Problem] = Problem,
    returns: type | None = None,
    description: str = "Additional response",
) -> dict[str, Any]:
    """An endpoint's entry in the OpenAPI document, for its decorator.

    Args:
        statuses: Its problems besides those of every endpoint; they have the form of `shape`.
        returns: Type of its reply, if its annotation does not give it, described by `description`.
    """
    responses = {
        status: ResponseSpec(shape, description=MEANINGS[status], media_type=MEDIA_TYPE, generate_examples=False)
        for status in sorted({400, 500, *statuses, *(WITH_BODY if BODY_STATUS in statuses else ())})
    }
    if returns is not None:
        responses[200] = ResponseSpec(returns, description=description, generate_examples=False)
    return {"operation_id": name, "summary": summary, "tags": [tag], "responses": responses}


def as_problem(error: Exception) -> ReportedProblem:
    """Turn any error into the client's problem; log the server's own errors under a new id."""
    if isinstance(error, ReportedProblem):
        return error
    if not isinstance(error, errors.LutrinError):
        return ReportedProblem(_unforeseen(error))
    status, detail = next((status, detail) for kind, status, detail in STATUS if isinstance(error, kind))
    incident = uuid.uuid4().hex if status >= 500 else None
    if incident is not None:
        _log.error("failed", id=incident, error=type(error).__name__, detail=error.detail, remedy=error.remedy)
    retry_after_s = error.retry_after_s if isinstance(error, errors.RateLimited) else None
    return ReportedProblem(_problem(status, detail or error.detail, retry_after_s=retry_after_s, id=incident))


def _unforeseen(error: BaseException) -> Problem:
    """Leave the error's own message out of the log, for it may quote the reader; its type and place say enough."""
    incident = uuid.uuid4().hex
    _log.error("unexpected", id=incident, error=type(error).__name__, places=places_of(error.__traceback__))
    return _problem(500, messages.SOMETHING_WRONG, id=incident)


def _problem(status: int, detail: str, **more: Any) -> Problem:  # noqa: ANN401 - further fields of a problem
    return Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, **more)


def _handle(request: HTTPRequest, error: Exception) -> Response[bytes]:
    return _response(request, as_problem(error).problem)


def _handle_http(request: HTTPRequest, error: HTTPException) -> Response[bytes]:
    """Handle errors that Litestar raises before or instead of a handler."""
    status = error.status_code
    if status >= 500:
        return _response(request, _unforeseen(error.__cause__ or error))
    if isinstance(error, ValidationException):
        status, detail = 422, _fields(error)
    elif status == HTTPStatus.BAD_REQUEST:
        # Litestar checks the host before any middleware, and reads forms by itself.
        is_form = request.headers.get("content-type", "").lower().startswith("multipart/")
        detail = messages.MALFORMED_FORM if is_form else messages.MALFORMED_BODY
        detail = messages.WRONG_HOST if "host header" in error.detail else detail
    else:
        detail = DETAILS.get(status, HTTPStatus(status).phrase + ".")
    return _response(request, _problem(status, detail), headers=dict(error.headers or {}))


def _handle_bad_request(request: HTTPRequest, error: SerializationException) -> Response[bytes]:  # noqa: ARG001 - its text quotes the body
    return _response(request, _problem(400, messages.MALFORMED_BODY))


HANDLERS: ExceptionHandlersMap = {
    errors.LutrinError: _handle,
    HTTPException: _handle_http,
    SerializationException: _handle_bad_request,
    Exception: _handle,
}


def _fields(error: ValidationException) -> str:
    """Text such as `query: Object missing required field`, for all wrong fields."""
    lines: list[str] = []
    for item in error.extra if isinstance(error.extra, list) else []:
        key, text = item.get("key", ""), str(item.get("message", ""))
        lines.append(f"{key}: {text}" if key and key != "data" else text)
    return "; ".join(lines) or "A field is missing or wrong."


def prefers_html(accept: str) -> bool:
    """Whether an Accept header prefers HTML to JSON (RFC 9110, section 12.5.1).

    Browsers name `text/html`; programs that accept anything, or both equally, get JSON.
    """
    qualities: dict[str, float] = {}
    for part in accept.lower().split(","):
        quality = _QUALITY.search(part)
        qualities[part.partition(";")[0].strip()] = float(quality[1]) if quality else 1.0
    anything = qualities.get("*/*", 0.0)
    json = max(qualities.get(name, anything) for name in (MEDIA_TYPE, "application/json"))
    return qualities.get("text/html", 0.0) > json


def _wants_page(request: HTTPRequest) -> bool:
    path = request.scope["path"]
    shows = request.method == "GET" or path.startswith(FORMS)
    at_page = path.strip("/").partition("/")[0] not in PROGRAMS
    return shows and at_page and prefers_html(request.headers.get("accept", ""))


def _response(request: HTTPRequest, problem: Problem, headers: dict[str, str] | None = None) -> Response[bytes]:
    extra = {"Retry-After": str(problem.retry_after_s)} if problem.retry_after_s is not None else {}
    sent = {**(headers or {}), **extra, "Cache-Control": "no-store"}
    if _wants_page(request):
        page = html.trouble(
            problem.status, problem.detail, problem.id or "", teacher=request.scope["path"].startswith(FORMS)
        )
        return Response(page.encode(), status_code=problem.status, media_type=MediaType.HTML, headers=sent)
    body = OpenAIProblem.of(problem) if request.scope["path"].startswith(OPENAI_PATHS) else problem
    return Response(msgspec.json.encode(body), status_code=problem.status, media_type=MEDIA_TYPE, headers=sent)
