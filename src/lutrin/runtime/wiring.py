"""Turns settings into adapters, and adapters into the running stages: for a server, and for commands without HTTP.

While idle, a server reads each book once, and lets the model study them.
"""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lutrin import errors, messages, stages
from lutrin.answer.flow import AnswerFlow
from lutrin.answer.grade import Grader
from lutrin.answer.hostile import gives_orders
from lutrin.answer.prompt import Ability
from lutrin.answer.render import Place, places
from lutrin.answer.traffic import Traffic
from lutrin.background import Background, Work
from lutrin.chats.key import secret_of
from lutrin.errors import IndexUnavailable, LutrinError, NotFound
from lutrin.guests import load_guests
from lutrin.index import lexical
from lutrin.index.catalog import read_left_out
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.installed import command_to_add
from lutrin.keep import backup
from lutrin.language.gate import LanguageGate
from lutrin.language.words import plain, stem_set, word_count
from lutrin.log import configure_logging, get_logger
from lutrin.platform import close_to_others, keep_memory_off_disk, on_battery
from lutrin.ports import ChatStore, Embedder, Generator
from lutrin.prepared import Entry
from lutrin.query.understand import alone
from lutrin.records import Answer, AnswerEvent, DoneEvent, ModelState, Passage, Question
from lutrin.runtime.language_model import (
    ArrivingModel,
    HousedGenerator,
    ability_of,
    passage_figures,
)
from lutrin.runtime.profile import (
    database_url,
    embedding,
    follow_books,
    ingest_apart,
    open_chats,
    open_model,
    open_reranker,
    open_store,
    opened_chats,
    remote,
)
from lutrin.runtime.study_room import StudyRoom
from lutrin.search.joined import Joiner, retrieve_passages
from lutrin.search.result import is_far
from lutrin.search.search import Searcher
from lutrin.serve.budget import charge_search
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.schemas import RetrievedPassage
from lutrin.serve.services import Services
from lutrin.settings import LOCAL, Settings, unknown_variables, with_addresses
from lutrin.study.desk import CompanionDesk
from lutrin.study.prepared_answers import PreparedAnswers

if TYPE_CHECKING:
    from lutrin.chats.store import ChatTables

QUERY_THREADS = 1
"""Threads of the embedding model in a server, since the language model needs the cores."""
SEARCHES_AT_SERVICES = 16
"""Questions searched for at the same time if services embed them or store the vectors."""
QUESTION_PATIENCE_S = 2.0
"""Seconds for which to retry a failing embedding service."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """All parts that answer questions, opened and started."""

    settings: Settings
    shelf: Shelf
    searcher: Searcher
    joiner: Joiner
    generator: "HousedGenerator | None"
    answers: AnswerFlow
    chats: "ChatTables | None"

    async def retrieve(self, question: Question) -> list[Passage]:
        """Return the passages nearest to a question or to the selected text; none if nothing is relevant."""
        with self.answers.traffic.searching():
            async with self.answers.search_turn(question):
                return await retrieve_passages(
                    self.shelf, self.searcher, self.joiner, question, default_k=self.settings.top_k
                )

    def study_room(self) -> StudyRoom:
        """The same parts, as passed to guests that study books."""
        return StudyRoom(
            self.settings,
            self.shelf,
            self.searcher,
            generator=self.generator,
            ability=self.answers.ability,
            traffic=self.answers.traffic,
            chats=self.chats,
        )


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    with_model: bool = True,
    with_chats: bool = False,
    arriving: bool = False,
    background: Background | None = None,
) -> AsyncIterator[Runtime]:
    """Open all parts that answer questions, and close them at the end.

    Args:
        with_model: Load the language model. If its file cannot be used, answers are excerpts and the log says why.
        arriving: Let the local model arrive later (`ArrivingModel.arrive`), even if its file is here.
        background: Supervises background tasks; None creates a supervisor.
    """
    backup.finish(settings)
    async with AsyncExitStack() as stack:
        opening = embedding(settings, threads=QUERY_THREADS, patience_s=QUESTION_PATIENCE_S)
        embedder = await stack.enter_async_context(opening)
        store = open_store(settings)
        shelf = Shelf(settings.catalog_path, settings.books_dir, store, embedder=embedder.name, background=background)
        await stack.enter_async_context(shelf)
        generator = await _language_model(settings, stack, arriving=arriving) if with_model else None
        chats = await opened_chats(settings, stack) if with_chats else None
        reranker = open_reranker(settings)
        if reranker is not None:
            stack.callback(reranker.close)
        searcher = Searcher(embedder, reranker)
        joiner = open_joiner(settings, embedder)
        present = None if isinstance(generator, ArrivingModel) else generator
        ability = ability_of(settings) if present is not None else None
        answers = answering(settings, shelf, searcher, generator=present, ability=ability, chats=chats)
        yield Runtime(settings, shelf, searcher, joiner, generator, answers, chats)


def open_joiner(settings: Settings, embedder: Embedder) -> Joiner:
    """The joiner that extends retrieved sections to passages of the configured length."""
    return Joiner(settings.chunk_tokens, settings.chunk_overlap_tokens, lambda text: len(embedder.token_offsets(text)))


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
    """Make the answer flow from opened parts; without `with_prepared` it has no prepared answers."""
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


async def work_while_idle(runtime: Runtime) -> None:
    """Have the model read the passages that readers open most, then run the guests' idle work."""
    await runtime.answers.warm_chapters()
    for work in load_guests("idle"):
        await work(runtime.study_room())


async def ask_events(settings: Settings, question: Question) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of one answer; open all parts for it alone, and the model once the question is accepted.

    The book's answer does not wait for the model, which loads in the meantime.
    """
    configure_logging(settings, quiet=True)
    async with open_runtime(settings, with_model=False) as runtime, AsyncExitStack() as stack:
        await runtime.answers.require_askable(question)
        generator = await _language_model(settings, stack) if question.wait_s != 0 else None
        if generator is not None:
            runtime.answers.take_model(generator, ability_of(settings))
        async for event in runtime.answers.answer(question):
            yield event


async def ask(settings: Settings, question: Question) -> Answer:
    """Return one answer; open all parts for it alone."""
    return [event.answer async for event in ask_events(settings, question) if isinstance(event, DoneEvent)][-1]


async def retrieve(settings: Settings, question: Question) -> list[RetrievedPassage]:
    """Return the passages nearest to a question, in the form of `/api/retrieve`."""
    configure_logging(settings, quiet=True)
    async with open_runtime(settings, with_model=False) as runtime:
        return [RetrievedPassage.of(passage) for passage in await runtime.retrieve(question)]


async def citations(settings: Settings, book: str) -> list[Place]:
    """Return every place that an answer may link to, of one book (by its slug) or of all (empty)."""
    configure_logging(settings, quiet=True)
    links: list[Place] = []
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings)) as shelf:
        for slug in [book] if book else [generation.book.slug for generation in shelf.books()] or [""]:
            async with shelf.lease(slug) as generation:
                links += places(await generation.all_chunks())
    return links


async def companion_entries(settings: Settings, book: str) -> list[Entry]:
    """List the published companion of a book, by its slug; an empty slug means the first book."""
    configure_logging(settings, quiet=True)
    opening = Shelf(settings.catalog_path, settings.books_dir, open_store(settings))
    async with opening as shelf, shelf.lease(book) as generation:
        return [item.entry for item in generation.companion.entries]


@asynccontextmanager
async def open_study(settings: Settings) -> AsyncIterator[StudyRoom]:
    """Open all parts that a study needs, and close them at the end."""
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as runtime:
        yield runtime.study_room()


async def run_server(
    settings: Settings,
    *,
    echo: Callable[[str], None] | None,
    on_ready: Callable[[str], None],
    on_code: Callable[[str], None] | None = None,
    reading: bool = False,
) -> None:
    """Serve until a signal, ingesting in another process if `reading`; see `lutrin.serve.app.run_server`."""
    from lutrin.serve.app import listen  # noqa: PLC0415 - the web framework loads only when it serves
    from lutrin.serve.limits import require_room  # noqa: PLC0415 - the web framework loads only when it serves

    keep_memory_off_disk()
    configure_logging(settings)
    require_room(settings.data_dir)
    settings = with_addresses(settings)
    for name, nearest in unknown_variables():
        get_logger("wiring").warning("unknown_setting", name=name, did_you_mean=nearest)
    close_to_others(settings.data_dir)
    # Check the port before spending minutes on models.
    with listen(settings.host, settings.port) as listener:
        if settings.profile == "remote":
            for away in await remote().require_reachable(settings):
                get_logger("wiring").warning("service_away", service=away.name, detail=away.detail, remedy=away.remedy)
        await _serve(settings, listener, echo, on_ready, on_code, reading=reading)


async def _ingest_and_show(
    settings: Settings, shelf: Shelf, note: Callable[[str], None]
) -> Mapping[str, int | float | str]:
    """Ingest, then open new books: a reader who is told that reading is done must find them on the shelf."""
    log = get_logger("ingest")

    def note_and_log(line: str) -> None:
        note(line)
        log.info("reading", line=line)

    try:
        summary = await ingest_apart(settings, note_and_log)
    except errors.IngestInProgress:
        raise  # it is tried again, or the one who asked is told
    except errors.IngestError as error:
        log.warning("books_not_read", detail=error.detail, remedy=error.remedy)
        raise
    log.info("books_read", **summary)
    with suppress(errors.IndexUnavailable):  # the shelf tries again by itself and says why in the log
        await shelf.refresh()
    return summary


async def _serve(
    settings: Settings,
    listener: socket.socket,
    echo: Callable[[str], None] | None,
    on_ready: Callable[[str], None],
    on_code: Callable[[str], None] | None,
    *,
    reading: bool,
) -> None:
    from lutrin.serve.app import run_server as run_app  # noqa: PLC0415 - the web framework loads only when it serves

    background = Background()
    opening = open_runtime(settings, with_chats=True, arriving=True, background=background)
    async with opening as runtime, AsyncExitStack() as stack:
        if runtime.chats is None:
            raise TypeError("a server has conversations")
        with suppress(errors.IndexUnavailable):  # so that the first reader does not wait for lazy loading
            await runtime.retrieve(Question(text="What does the first chapter say?"))
        generator, traffic = runtime.generator, runtime.answers.traffic
        runtime.answers.charge = charge_search
        url = database_url(settings)
        shared = await remote().open_shared_state(settings, url, stack) if url is not None else None
        await stack.enter_async_context(follow_books(settings, background))
        works: dict[str, Work] = {
            "warm-up": partial(read_books, runtime.shelf, traffic),
            "read-ahead": runtime.answers.read_ahead,
            "watchdog": watch_stages,
        }
        if isinstance(generator, ArrivingModel):
            works["model"] = partial(generator.arrive, partial(runtime.answers.take_model, generator))
        if generator is not None and settings.study_after_s:
            works["study"] = partial(
                study_while_idle, partial(work_while_idle, runtime), traffic, settings.study_after_s,
                waits=lambda: not runtime.answers.ability.study or (not settings.study_on_battery and on_battery()),
            )  # fmt: skip
        for name, work in works.items():
            await stack.enter_async_context(background.running(work, name=name))
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
            model_state=partial(_model_state, runtime.answers, generator),
            model_restarts=lambda: int(getattr(generator, "restarts", 0)),  # a service's model has no process here
            ingest=partial(_ingest_and_show, settings, runtime.shelf),
            reads_first=reading,
            companions=CompanionDesk(runtime.shelf, settings.catalog_path, runtime.searcher.embedder),
            left_out=partial(read_left_out, settings.catalog_path),
            gate=shared,
            turns=shared,
            board=shared,
            trouble=str(runtime.chats.reason or ""),
            secret=secret_of(settings),
            echo=echo,
            background=background,
            clock=time.monotonic,
        )
        await run_app(services, settings, on_ready=on_ready, on_code=on_code, listener=listener)


def _model_state(answers: AnswerFlow, generator: HousedGenerator | None) -> ModelState:
    """State of the model, and whether this machine is too busy for it."""
    state = generator.state if isinstance(generator, ArrivingModel) else ModelState("ready" if generator else "none")
    return ModelState("ready", messages.EXPLAINS_LATER) if state.state == "ready" and answers.is_paused else state


async def forget(settings: Settings, *, session_id: str | None, older_than: timedelta | None, everything: bool) -> int:
    """Delete conversations for good, no matter who owns them; return how many."""
    backup.finish(settings)
    if database_url(settings) is None and not settings.chats_path.exists():
        return 0
    chats = await open_chats(settings)
    try:
        return await chats.forget(session_id=session_id, older_than=older_than, everything=everything)
    finally:
        await chats.close()


LOOK_S = 0.1
"""Seconds between checks for readers, and so the longest time until a reader gets the model."""
STUDY_REST_S = 600.0
"""Seconds to pause after all books were studied, or when the model was not available."""
MOST_CHUNKS = 1024
"""Chunks at the beginning of a book; later ones are read when requested, so that memory use stays small."""
AT_ONCE = 16
"""Chunks read together."""
REST_S = 0.03
"""Seconds of pause per portion, split after each chunk: an arriving reader waits for a millisecond or two."""
POLL_S = 10.0
"""Seconds between checks for new books."""


async def study_while_idle(
    study: Callable[[], Awaitable[None]], traffic: Traffic, quiet_s: float, *, waits: Callable[[], bool] = lambda: False
) -> None:
    """Study whenever no reader has come for a while, until cancelled; stop as soon as one comes.

    Args:
        study: May be cancelled at any time; continues at the next call.
        traffic: Counts readers' activity.
        quiet_s: Seconds without a question, a search or an opened page before it starts.
        waits: Whether it is impossible now: the machine must save its battery, or the model is on its way.
    """
    log = get_logger("study")
    while True:
        await _quiet(traffic, quiet_s, waits)
        before = traffic.doings
        work = asyncio.ensure_future(study())
        try:
            while not work.done() and traffic.doings == before and not waits():
                await asyncio.wait({work}, timeout=LOOK_S)
        finally:
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, asyncio.CancelledError):
            log.info("broken_off")
            continue
        if isinstance(outcome, LutrinError | OSError):
            log.warning("cannot_study", detail=str(outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        await asyncio.sleep(STUDY_REST_S)


async def _quiet(traffic: Traffic, quiet_s: float, waits: Callable[[], bool]) -> None:
    """Wait for `quiet_s` without a question, an opened page or other work."""
    loop = asyncio.get_running_loop()
    since, seen = loop.time(), traffic.doings
    while loop.time() - since < quiet_s:
        if traffic.readers or traffic.doings != seen or waits():
            since, seen = loop.time(), traffic.doings
        await asyncio.sleep(min(LOOK_S, quiet_s))


async def read_books(shelf: Shelf, traffic: Traffic) -> None:
    """Read every book on the shelf, and each new one, until cancelled, so that the first readers need not wait for it.

    Reading, decoding and counting for the first time makes a question half as slow again (docs/decisions/0012). The
    results go to the caches that questions use; answers stay the same.
    """
    names: set[str] = set()
    while True:
        there = {generation.name: generation.book.slug for generation in shelf.books()}
        for name, slug in there.items():
            if name not in names:
                with suppress(NotFound, IndexUnavailable):
                    async with shelf.lease(slug) as generation:
                        await _read(generation, traffic)
        names = set(there)
        await asyncio.sleep(POLL_S)


async def _read(generation: OpenGeneration, traffic: Traffic) -> None:
    ids = await generation.first_ids(MOST_CHUNKS)
    for start in range(0, len(ids), AT_ONCE):
        while traffic.readers:  # noqa: ASYNC110 - a reader who leaves sends no signal
            await asyncio.sleep(REST_S)
        portion = await generation.chunks(ids[start : start + AT_ONCE])
        text = "\n".join(chunk.embedded_text() for chunk in portion)
        await generation.document_frequency(lexical.words(text))
        await generation.keep_terms(text)
        for filename in {chunk.filename for chunk in portion}:
            await generation.source(filename)
        for chunk in portion:
            plain(chunk.text)
            for unit in chunk.units:
                stem_set(unit.text)
                word_count(unit.text)
                gives_orders(unit.text)
            await asyncio.sleep(REST_S / AT_ONCE)


STUCK_S = 10.0
"""Seconds after which a stage of a search is logged as slow."""


async def watch_stages() -> None:
    """Log, until cancelled, which stage of a search or of storing takes too long."""
    while True:
        await asyncio.sleep(STUCK_S)
        for name, seconds in stages.running_for(STUCK_S):
            get_logger("watchdog").error("stage_is_slow", stage=name, seconds=round(seconds))


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A question that the book does not answer, without its author."""

    chapter: str
    """Chapter with the nearest passages; empty if the question is far from the book."""
    question: str
    times: int
    last: str
    """Last day on which it was asked, ISO 8601."""


async def serve_tools(settings: Settings) -> None:
    """Speak the Model Context Protocol on standard input and output until the other side hangs up."""
    try:
        from lutrin.serve.tools import book_server  # noqa: PLC0415 - an extra, loaded where it is asked for
    except ModuleNotFoundError as error:
        package = (error.name or "mcp").partition(".")[0]
        raise LutrinError(
            f"The package {package} is not installed.", remedy=f"Run `{command_to_add([package])}`."
        ) from error
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as runtime:
        loading = asyncio.create_task(runtime.generator.start()) if runtime.generator is not None else None
        try:
            await book_server(runtime.answers, runtime.retrieve).run_stdio_async()
        finally:
            if loading is not None:
                loading.cancel()


async def gaps(settings: Settings) -> list[Gap]:
    """Return the questions that the present index does not answer either, by chapter, the most asked first.

    Each refused question is searched for again; those that the books now answer are left out.
    """
    configure_logging(settings, quiet=True)
    if database_url(settings) is None and not settings.chats_path.exists():
        return []
    async with open_runtime(settings, with_model=False, with_chats=True) as runtime:
        refusals = await runtime.chats.refusals() if runtime.chats is not None else []
        counts = Counter(" ".join(item.text.split()) for item in refusals)
        last = {" ".join(item.text.split()): item.created[:10] for item in refusals}
        result = [
            Gap(chapter=chapter, question=text, times=times, last=last[text])
            for text, times in counts.items()
            if (chapter := await nearest_chapter(runtime, text)) is not None
        ]
    return sorted(result, key=lambda gap: (not gap.chapter, gap.chapter, -gap.times, gap.question))


async def nearest_chapter(runtime: Runtime, text: str) -> str | None:
    """Return the chapter nearest to a question; empty if none is near, None if the books answer it."""
    async with runtime.shelf.lease_books() as generations:
        query = alone(Question(text=text))
        best = await runtime.searcher.search(generations, query, k=runtime.settings.top_k)
    if is_far(best.odds, found=bool(best.passages)):
        return ""
    if best.verdict != "no":
        return None
    return best.passages[0].chunk.chapter or best.passages[0].chunk.section_title


def gap_lines(gaps: Sequence[Gap]) -> str:
    """Format gaps for the terminal: a heading for each chapter, a line for each question."""
    if not gaps:
        return "Readers have asked nothing that the books do not answer."
    lines: list[str] = []
    for number, gap in enumerate(gaps):
        if not number or gap.chapter != gaps[number - 1].chapter:
            lines += ["", gap.chapter or "Far from the book"]
        lines.append(f"  {gap.times:4}  {gap.last}  {gap.question}")
    return "\n".join(lines).lstrip("\n")
