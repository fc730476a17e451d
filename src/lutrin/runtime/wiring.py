"""Turn settings into adapters, and adapters into the running stages."""

import socket
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from lutrin import doctor, errors
from lutrin.answer.cite import Place, places
from lutrin.answer.flow import AnswerFlow
from lutrin.answer.grade import Grader, fitted_weights
from lutrin.answer.prompt import Ability
from lutrin.chats.key import secret_of
from lutrin.index.catalog import read_left_out
from lutrin.index.decisions import add_studied
from lutrin.index.shelf import Shelf
from lutrin.keep import restore
from lutrin.language.gate import LanguageGate
from lutrin.log import configure_logging, get_logger
from lutrin.modes import close_to_others
from lutrin.platform import on_battery
from lutrin.ports import ChatStore, Generator
from lutrin.records import Answer, AnswerEvent, DoneEvent, ModelState, Passage, Question
from lutrin.runtime.arrival import ArrivingModel
from lutrin.runtime.idle import read_books, study_while_idle
from lutrin.runtime.language_model import (
    ability_of,
    computed_by,
    model_path,
    passage_figures,
    passages_text,
)
from lutrin.runtime.profile import (
    HousedGenerator,
    database_url,
    embedder_name,
    embedding,
    follow_books,
    in_background,
    ingest_apart,
    open_chats,
    open_model,
    open_reranker,
    open_store,
    opened_chats,
    remote,
    reranker_path,
)
from lutrin.search.passages import retrieve_passages
from lutrin.search.search import Searcher
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.schemas import RetrievedPassage
from lutrin.serve.services import Services
from lutrin.settings import LOCAL, Settings, unknown_variables, with_addresses
from lutrin.study.judge import CardJudge
from lutrin.study.prepared import PreparedAnswers
from lutrin.study.teach import Companions
from lutrin.study.write import Student, Yield

if TYPE_CHECKING:
    from lutrin.chats.store import ChatTables

QUERY_THREADS = 1
"""Threads of the embedding model while a server answers, since the language model needs the cores."""
SEARCHES_AT_SERVICES = 16
"""Questions searched for at the same time if services embed them or hold the vectors."""
QUESTION_PATIENCE_S = 2.0
"""Seconds for which an embedding service that fails is tried again."""
MOST_CITED = 1_000
"""Answers, the newest, whose citations tell which sections readers care for."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """All parts that answer questions, opened and started."""

    settings: Settings
    shelf: Shelf
    searcher: Searcher
    generator: "HousedGenerator | None"
    answers: AnswerFlow
    chats: "ChatTables | None"

    async def retrieve(self, question: Question) -> list[Passage]:
        """Return the passages nearest to a question or to the selected text; none if nothing is relevant."""
        with self.answers.traffic.searching():
            async with self.answers.search_turn(question):
                return await retrieve_passages(self.shelf, self.searcher, question, default_k=self.settings.top_k)


@asynccontextmanager
async def open_runtime(
    settings: Settings, *, with_model: bool = True, with_chats: bool = False, arriving: bool = False
) -> AsyncIterator[Runtime]:
    """Open all parts that answer questions, and close them at the end.

    Args:
        with_model: Load the language model. If its file cannot be used, answers are excerpts and the log says why.
        arriving: Let the local model arrive later (`ArrivingModel.arrive`), whatever of it is here.
    """
    restore.finish(settings)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(
            embedding(settings, threads=QUERY_THREADS, patience_s=QUESTION_PATIENCE_S)
        )
        shelf = await stack.enter_async_context(
            Shelf(settings.catalog_path, settings.books_dir, open_store(settings), embedder=embedder.name)
        )
        generator = await _language_model(settings, stack, arriving=arriving) if with_model else None
        chats = await opened_chats(settings, stack) if with_chats else None
        reranker = open_reranker(settings)
        if reranker is not None:
            stack.callback(reranker.close)
        searcher = Searcher(embedder, reranker)
        is_here = generator is not None and not isinstance(generator, ArrivingModel)
        yield Runtime(
            settings=settings,
            shelf=shelf,
            searcher=searcher,
            generator=generator,
            answers=answering(
                settings,
                shelf,
                searcher,
                generator=generator if is_here else None,
                ability=ability_of(settings) if is_here else None,
                chats=chats,
            ),
            chats=chats,
        )


async def _language_model(
    settings: Settings, stack: AsyncExitStack, *, arriving: bool = False
) -> HousedGenerator | None:
    """Open the language model until the stack closes; None if there is none, or its file cannot be used."""
    is_local = settings.profile == "local" or settings.llm_model == LOCAL
    try:
        waits = arriving and is_local and settings.model != "none"
        generator = ArrivingModel(settings) if waits else open_model(settings)
    except (errors.EngineMissing, errors.ModelMissing, errors.ChecksumMismatch) as error:
        get_logger("wiring").warning("model_unusable", detail=error.detail, remedy=error.remedy)
        return None
    if generator is not None:
        stack.push_async_callback(generator.close)
        await generator.ready()
    return generator


def answering(
    settings: Settings,
    shelf: Shelf,
    searcher: Searcher,
    *,
    generator: Generator | None,
    ability: Ability | None = None,
    chats: ChatStore | None,
    grader: Grader | None = None,
    with_prepared: bool = True,
) -> AnswerFlow:
    """Make the answer flow from opened parts; without `with_prepared` it knows nothing of what was prepared."""
    return AnswerFlow(
        shelf=shelf,
        searcher=searcher,
        language=LanguageGate(settings.languages),
        settings=settings,
        generator=generator,
        ability=ability,
        prepared=PreparedAnswers(searcher, own_words=settings.own_words) if with_prepared else None,
        searches_at_once=1 if settings.profile == "local" else SEARCHES_AT_SERVICES,
        chats=chats,
        grader=grader,
    )


async def study_book(runtime: Runtime, book: str, most: int = 0) -> AsyncGenerator[Yield, None]:
    """Have the model of a runtime work through a book; see `lutrin.study.write.Student.work_through`.

    Raises:
        NotFound: There is no such book.
        LutrinError: The work failed.
    """
    if runtime.generator is None or not runtime.answers.ability.study:
        return
    async with runtime.shelf.lease(book) as generation:
        student = Student(
            runtime.generator,
            runtime.searcher,
            Grader(
                runtime.searcher.embedder, fitted_weights().strong if runtime.answers.ability.tier == "large" else None
            ),
            f"{runtime.generator.name}@{datetime.now(UTC).date().isoformat()}",
            runtime.settings.studied_path(generation.book.slug),
            kinds=runtime.answers.ability.study,
            own_words=runtime.settings.own_words,
            exercises=runtime.settings.study_exercises,
            judge=CardJudge(runtime.generator),
            publish=lambda fresh: add_studied(
                runtime.settings.catalog_path, generation.book.slug, fresh, datetime.now(UTC)
            ),
        )
        interest = await _interest(runtime, generation.book.slug)
        async with aclosing(student.work_through(generation, most, interest)) as work:
            async for told in work:
                yield told


async def _interest(runtime: Runtime, book: str) -> Counter[str]:
    """How often a book's passages were cited and its pages opened, by chunk id and file name."""
    found: Counter[str] = Counter()
    if runtime.chats is not None:
        with suppress(errors.ChatStoreError):  # whoever reads the log knows; the book is studied in its own order
            for question in await runtime.chats.recent_questions(MOST_CITED):
                found.update(question.chunk_ids)
    found.update({page: count for (slug, page), count in runtime.answers.traffic.opened.items() if slug == book})
    return found


async def study_all(runtime: Runtime) -> None:
    """Have the model read what readers open most, then work through all books of a runtime."""
    await runtime.answers.warm_chapters()
    for generation in runtime.shelf.books():
        async with aclosing(study_book(runtime, generation.book.slug)) as work:
            async for _ in work:
                pass


async def ask_events(settings: Settings, question: Question) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of one answer; opens all parts for it only, the model once the question can be asked."""
    configure_logging(settings, quiet=True)
    async with open_runtime(settings, with_model=False) as runtime, AsyncExitStack() as stack:
        await runtime.answers.require_askable(question)
        generator = await _language_model(settings, stack)
        if generator is not None:
            await generator.start()
            runtime.answers.take_model(generator, ability_of(settings))
        async for event in runtime.answers.answer(question):
            yield event


async def ask(settings: Settings, question: Question) -> Answer:
    """Return one answer; opens all parts for this answer only."""
    done = [event.answer async for event in ask_events(settings, question) if isinstance(event, DoneEvent)]
    return done[-1]


async def retrieve(settings: Settings, question: Question) -> list[RetrievedPassage]:
    """Return the passages nearest to a question, in the form of `/api/retrieve`."""
    configure_logging(settings, quiet=True)
    async with open_runtime(settings, with_model=False) as runtime:
        return [RetrievedPassage.of(passage) for passage in await runtime.retrieve(question)]


async def citations(settings: Settings, book: str) -> list[Place]:
    """Return every place that an answer may link to, of one book (by its slug) or of all (empty).

    Raises:
        NotFound: There is no such book.
        IndexUnavailable: No book can be read.
    """
    configure_logging(settings, quiet=True)
    found: list[Place] = []
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings)) as shelf:
        for slug in [book] if book else [generation.book.slug for generation in shelf.books()] or [""]:
            async with shelf.lease(slug) as generation:
                found += places(await generation.all_chunks())
    return found


async def run_server(
    settings: Settings, *, echo: Callable[[str], None] | None, on_ready: Callable[[str], None], reading: bool = False
) -> None:
    """Serve until a signal, and ingest meanwhile in another process if `reading`; see `lutrin.serve.app.run_server`."""
    from lutrin.serve.app import listen  # noqa: PLC0415 - the web framework loads only when it serves
    from lutrin.serve.space import require_room  # noqa: PLC0415 - as above

    configure_logging(settings)
    require_room(settings.data_dir)
    settings = with_addresses(settings)
    for name, nearest in unknown_variables():
        get_logger("wiring").warning("unknown_setting", name=name, did_you_mean=nearest)
    close_to_others(settings.data_dir)
    # Notice that the port is taken before minutes are spent on models.
    with listen(settings.host, settings.port) as listener:
        if settings.profile == "remote":
            for away in await remote().require_reachable(settings):
                get_logger("wiring").warning("service_away", service=away.name, detail=away.detail, remedy=away.remedy)
        async with AsyncExitStack() as stack:
            if reading:
                await stack.enter_async_context(in_background(_read_books(settings), name="ingest"))
            await _serve(settings, listener, echo, on_ready)


async def _read_books(settings: Settings) -> None:
    log = get_logger("ingest")
    try:
        log.info("books_read", **await ingest_apart(settings, lambda line: log.info("reading", line=line)))
    except errors.IngestError as error:
        log.warning("books_not_read", detail=error.detail, remedy=error.remedy)


async def _ingest_and_show(
    settings: Settings, shelf: Shelf, note: Callable[[str], None]
) -> Mapping[str, int | float | str]:
    """Ingest, then open what is new: whoever reads that the books have been read finds them on the shelf."""
    summary = await ingest_apart(settings, note)
    with suppress(errors.IndexUnavailable):  # the shelf tries again by itself and says why in the log
        await shelf.refresh()
    return summary


async def _serve(
    settings: Settings, listener: socket.socket, echo: Callable[[str], None] | None, on_ready: Callable[[str], None]
) -> None:
    from lutrin.serve.app import run_server as run_app  # noqa: PLC0415 - as said

    async with open_runtime(settings, with_chats=True, arriving=True) as runtime, AsyncExitStack() as stack:
        if runtime.chats is None:
            raise TypeError("a server has conversations")
        await _warm_up(runtime)
        generator = runtime.generator
        url = database_url(settings)
        shared = await remote().shared(settings, url, stack) if url is not None else None
        await stack.enter_async_context(follow_books(settings))
        await stack.enter_async_context(
            in_background(read_books(runtime.shelf, runtime.answers.traffic), name="warm-up")
        )
        if isinstance(generator, ArrivingModel):
            coming = generator.arrive(partial(runtime.answers.take_model, generator))
            await stack.enter_async_context(in_background(coming, name="model"))
        if generator is not None and settings.study_after_s:
            idle = study_while_idle(
                partial(study_all, runtime),
                runtime.answers.traffic,
                settings.study_after_s,
                waits=lambda: not runtime.answers.ability.study or (not settings.study_on_battery and on_battery()),
            )
            await stack.enter_async_context(in_background(idle, name="study"))
        services = Services(
            answers=runtime.answers,
            retrieve=runtime.retrieve,
            chats=runtime.chats,
            library=ShelfLibrary(runtime.shelf, settings.corpus_dir),
            generator=generator,
            queue_length=(lambda: generator.load[1]) if generator is not None else (lambda: 0),
            model_computed_by=(lambda: generator.computed_by) if generator is not None else str,
            opened_page=runtime.answers.warm_page,
            passages=lambda: passage_figures(generator),
            model_state=(lambda: generator.state)
            if isinstance(generator, ArrivingModel)
            else (lambda: ModelState("ready" if generator is not None else "none")),
            model_restarts=lambda: int(getattr(generator, "restarts", 0)),  # a service's model has no process here
            ingest=partial(_ingest_and_show, settings, runtime.shelf),
            companions=Companions(
                runtime.shelf, settings.catalog_path, runtime.searcher.embedder, lambda: datetime.now(UTC)
            ),
            left_out=partial(read_left_out, settings.catalog_path),
            gate=shared,
            turns=shared,
            board=shared,
            trouble=str(runtime.chats.reason or ""),
            secret=secret_of(settings),
            echo=echo,
            clock=time.monotonic,
        )
        await run_app(services, settings, on_ready=on_ready, listener=listener)


async def _warm_up(runtime: Runtime) -> None:
    """Search once, so that the first reader does not wait for lazy loading."""
    with suppress(errors.IndexUnavailable):
        await runtime.retrieve(Question(text="What does the first chapter say?"))


async def forget(settings: Settings, *, session_id: str | None, older_than: timedelta | None, everything: bool) -> int:
    """Delete conversations for good, whoever owns them; return how many."""
    restore.finish(settings)
    if database_url(settings) is None and not settings.chats_path.exists():
        return 0
    chats = await open_chats(settings)
    try:
        return await chats.forget(session_id=session_id, older_than=older_than, everything=everything)
    finally:
        await chats.close()


async def examine(settings: Settings) -> list[doctor.Check]:
    """Run the checks of `lutrin doctor`."""
    models = doctor.Models(model_path, reranker_path, computed_by, passages_text, embedder_name(settings))
    checks = await doctor.examine(settings, open_store(settings), models)
    return await remote().examine(settings, checks) if settings.profile == "remote" else checks
