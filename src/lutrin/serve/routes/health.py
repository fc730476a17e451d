"""Endpoints for monitoring: whether the server is alive, whether it can answer, and its metrics."""

import asyncio
from contextlib import suppress

from litestar import Response, get
from litestar.di import NamedDependency as Given

from lutrin.errors import LutrinError, NotPermitted
from lutrin.messages import METRICS_OFF
from lutrin.platform import resident_bytes
from lutrin.serve import metrics
from lutrin.serve.answer_service import NO_STORE
from lutrin.serve.book_choices import list_books
from lutrin.serve.probe import Probe
from lutrin.serve.problems import operation
from lutrin.serve.schemas import Health, Readiness, ReadyBook
from lutrin.serve.teacher_sign_in import Visit

MOST_LEFT_OUT = 200


@get("/health", **operation("health", "The process is alive", "operation"), sync_to_thread=False)
def health() -> Health:
    """Report that the process is alive. This opens no file and asks no service."""
    return Health()


@get("/ready", **operation("ready", "State of books, model and queue; 503 while no question is answered", "operation"))
async def ready(visit: Given[Visit], probe: Given[Probe]) -> Response[Readiness]:
    """Report whether questions are answered: whether a test search has succeeded in the last seconds.

    Without a language model, answers are quotes. File names are shown only on this machine and to a signed-in browser;
    other clients get their number.
    """
    service, services = visit.service, visit.service.services
    try:
        books = list(await services.library.books())
    except LutrinError:
        books = []
    generator = services.generator
    try:
        left_out = await asyncio.to_thread(services.left_out)
    except LutrinError:
        left_out = ()
    visible = left_out[:MOST_LEFT_OUT] if visit.is_here else ()
    trouble = await probe.trouble() if books else ""
    is_ready = bool(books) and not trouble
    body = Readiness(
        ready=is_ready,
        trouble=trouble,
        failing_tasks=sorted(services.background.troubles),
        profile=visit.settings.profile,
        books=[ReadyBook(book.slug, book.title, book.edition, book.generation) for book in books],
        model=generator.name if generator is not None else "",
        model_ready=generator is not None and await generator.ready(),
        model_state=services.model_state().state,
        model_progress=services.model_state().progress,
        model_computed_by=services.model_computed_by(),
        queue_length=services.queue_length(),
        storing=not (services.trouble or service.space.low or service.space.failed),
        free_mb=service.space.free_bytes >> 20,
        left_out=list(visible),
        left_out_count=len(left_out),
    )
    return Response(body, status_code=200 if is_ready else 503, headers=NO_STORE)


@get("/metrics", **operation("metrics", "Prometheus metrics", "operation", 403, 429), media_type=metrics.MEDIA_TYPE)
async def read_metrics(visit: Given[Visit]) -> Response[bytes]:
    """Export counts and timings, without readers' ids or words; only for administrators with `LUTRIN_METRICS=token`."""
    if visit.settings.metrics == "token":
        if not visit.sign_ins.possible:
            raise NotPermitted(METRICS_OFF)
        await visit.prove()
    service, meters = visit.service, visit.service.metrics
    meters.queue.set(service.services.queue_length())
    meters.free_bytes.set(service.space.free_bytes)
    meters.memory_bytes.set(resident_bytes())
    meters.model_ready.set(service.services.model_state().state == "ready")
    meters.model_restarts.set(service.services.model_restarts())
    for name, value in service.services.passages().items():
        meters.passages[name].set(value)
    meters.index_age_seconds.clear()
    with suppress(LutrinError):
        books, _ = await asyncio.to_thread(list_books, visit.settings)
        for book in books:
            if book.read is not None:
                age = service.services.now() - book.read
                meters.index_age_seconds.labels(book.slug).set(age.total_seconds())
    return Response(meters.exposition(), media_type=metrics.MEDIA_TYPE, headers=NO_STORE)


HANDLERS = [health, ready, read_metrics]
