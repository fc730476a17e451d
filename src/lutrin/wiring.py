"""Where settings become adapters and adapters become stages: the only place that knows profiles."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec

from lutrin import doctor, messages, weights
from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.fakes_chat import MemoryChatStore
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.answer.flow import AnswerFlow
from lutrin.chats.key import chat_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import (
    ChecksumMismatch,
    EmptyCorpus,
    IndexUnavailable,
    IngestError,
    IngestInProgress,
    InvalidSettings,
    ModelMissing,
)
from lutrin.evaluate.pipeline import Pipeline
from lutrin.evaluate.questions import EvalQuestion, read_questions
from lutrin.evaluate.run import Outcome
from lutrin.evaluate.run import run as run_questions
from lutrin.generate.worker import WorkerGenerator
from lutrin.index.shelf import Shelf
from lutrin.index.verify import in_fresh_process
from lutrin.ingest.books import open_book
from lutrin.ingest.chunk import chunk_document, chunk_notices
from lutrin.ingest.documents import read_document
from lutrin.ingest.explain import explain
from lutrin.ingest.run import IngestTools, Overrides
from lutrin.ingest.run import ingest as run_whole_ingest
from lutrin.ingest.scan import scan
from lutrin.ingest.summary import IngestSummary, Progress
from lutrin.log import configure_logging, get_logger
from lutrin.ports import ChatStore
from lutrin.records import Answer, AnswerEvent, DoneEvent, Passage, Question
from lutrin.restore import finish as finish_restore
from lutrin.retrieve.language import LanguageCheck
from lutrin.retrieve.passages import retrieve_passages
from lutrin.retrieve.search import Searcher
from lutrin.serve.app import listen
from lutrin.serve.app import run_server as run_app
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.schemas import RetrievedPassage
from lutrin.serve.services import Services
from lutrin.settings import Settings
from lutrin.wiring_models import model_path, open_generator

EMBED_TIER = "default"
QUERY_THREADS = 1
"""Of the embedding model while questions are answered; the language model has the cores."""
PATIENT_S = 60.0
"""Deadline while answers are judged, not timed."""


@dataclass(frozen=True, slots=True)
class House:
    """Everything that answers questions, open and started."""

    settings: Settings
    shelf: Shelf
    searcher: Searcher
    generator: WorkerGenerator | None
    answers: AnswerFlow
    chats: SqlChatStore | None

    async def retrieve(self, question: Question) -> list[Passage]:
        """The passages nearest to a question, or to the text that is selected; none if nothing is relevant."""
        return await retrieve_passages(self.shelf, self.searcher, question, default_k=self.settings.top_k)


def require_local(settings: Settings) -> None:
    """Refuse a profile that this version cannot serve.

    Raises:
        InvalidSettings: The profile is `remote`.
    """
    if settings.profile != "local":
        raise InvalidSettings(
            "LUTRIN_PROFILE=remote is not available in this version.", remedy="Use LUTRIN_PROFILE=local."
        )


def open_embedder(settings: Settings, *, threads: int = 0) -> FastembedEmbedder:
    """The embedding model, after its files matched the manifest.

    Raises:
        ModelMissing, ChecksumMismatch: Its files cannot be used.
    """
    require_local(settings)
    model = weights.load_manifest(settings.models_dir).find(EMBED_TIER)
    path = weights.verified_path(settings.models_dir, model)
    return FastembedEmbedder(path.parent, name=model.name, threads=threads)


def open_store(settings: Settings) -> ChromaStore:
    """Where vectors live."""
    return ChromaStore(settings.data_dir / "scratch")


@asynccontextmanager
async def opened(settings: Settings, *, with_model: bool = True, with_chats: bool = False) -> AsyncIterator[House]:
    """Open everything that answers questions, and close it in the end.

    Args:
        settings: Say what and where.
        with_model: Load the language model; a model file that cannot be used leaves quotes, and a line in the log.
        with_chats: Open the conversations.
    """
    log = get_logger("wiring")
    finish_restore(settings)
    async with AsyncExitStack() as stack:
        embedder = open_embedder(settings, threads=QUERY_THREADS)
        stack.callback(embedder.close)
        shelf = await stack.enter_async_context(Shelf(settings.catalog_path, settings.books_dir, open_store(settings)))
        generator = None
        if with_model:
            try:
                generator = open_generator(settings)
            except (ModelMissing, ChecksumMismatch) as error:
                log.warning("model_unusable", detail=error.detail, remedy=error.remedy)
        if generator is not None:
            stack.push_async_callback(generator.close)
            await generator.ready()
        chats = await _opened_chats(settings, stack) if with_chats else None
        searcher = Searcher(embedder)
        yield House(
            settings=settings,
            shelf=shelf,
            searcher=searcher,
            generator=generator,
            answers=_answers(settings, shelf, searcher, generator, chats),
            chats=chats,
        )


async def _opened_chats(settings: Settings, stack: AsyncExitStack) -> SqlChatStore:
    chats = await SqlChatStore.open(settings.chats_path, chat_key(settings))
    stack.push_async_callback(chats.close)
    return chats


def _answers(
    settings: Settings,
    shelf: Shelf,
    searcher: Searcher,
    generator: WorkerGenerator | None,
    chats: ChatStore | None,
) -> AnswerFlow:
    return AnswerFlow(
        shelf=shelf,
        searcher=searcher,
        language=LanguageCheck(settings.languages),
        settings=settings,
        generator=generator,
        chats=chats,
    )


async def run_ingest(
    settings: Settings, corpus: Path, *, overrides: Overrides, rebuild: bool, password: str, progress: Progress
) -> IngestSummary:
    """Bring the index up to what a folder of books holds now; see `lutrin.ingest.run.ingest`."""
    configure_logging(settings, quiet=True)
    finish_restore(settings)
    embedder, store = open_embedder(settings), open_store(settings)
    try:
        tools = IngestTools(embedder=embedder, store=store, verify=in_fresh_process(store))
        return await run_whole_ingest(
            corpus, settings, tools, overrides=overrides, rebuild=rebuild, password=password, progress=progress
        )
    finally:
        embedder.close()


def explain_file(settings: Settings, path: Path, *, password: str = "") -> str:
    """How one file of a book is understood: its headings, units and chunks, in words; nothing is indexed.

    Raises:
        DocumentError: The file cannot be read.
        EmptyCorpus: It is no file that Lutrin reads.
    """
    root = next(
        (folder for folder in path.resolve().parents if (folder / "book.toml").is_file()), path.resolve().parent
    )
    book = open_book(root)
    name = path.resolve().relative_to(root).as_posix()
    file = next((item for item in scan(root) if item.name == name), None)
    if file is None:
        raise EmptyCorpus(f"{path} is no file that Lutrin reads.", remedy="Give a .md, .mdx or .pdf file.")
    document = read_document(file, book, password=password)
    embedder = open_embedder(settings)
    target = settings.chunk_tokens
    chunks = chunk_document(document, book.info, embedder.token_offsets, target, settings.chunk_overlap_tokens)
    return explain(document, chunks, chunk_notices(document, chunks, target))


async def ask_events(settings: Settings, question: Question) -> AsyncGenerator[AnswerEvent, None]:
    """Events of one answer, with everything opened for it alone."""
    configure_logging(settings, quiet=True)
    async with opened(settings) as house:
        if house.generator is not None:
            await house.generator.start()
        async for event in house.answers.answer(question):
            yield event


async def ask(settings: Settings, question: Question) -> Answer:
    """One answer, with everything opened for it alone."""
    done = [event.answer async for event in ask_events(settings, question) if isinstance(event, DoneEvent)]
    return done[-1]


async def run_eval(settings: Settings, questions: Sequence[EvalQuestion]) -> list[Outcome]:
    """Ask every question of the real pipeline; see `lutrin.evaluate.run.run`."""
    configure_logging(settings, quiet=True)
    async with opened(settings) as house:
        if house.generator is not None:
            await house.generator.start()
        pipeline = Pipeline(
            house.shelf,
            house.searcher,
            (MemoryChatStore(), MemoryChatStore()),
            lambda chats: _answers(settings, house.shelf, house.searcher, house.generator, chats),
        )
        return await run_questions(questions, pipeline.subject(f"lutrin/{settings.model}"))


def scorer(settings: Settings, questions: Path) -> Callable[[Path], float]:
    """A judge for `models tune`: the share of 20 sample questions to which a file writes what the book supports."""

    def score(path: Path) -> float:
        asked = [item for item in read_questions([questions]) if not item.previous_question][::7][:20]
        patient = settings.model_copy(update={"model": str(path), "deadline_s": PATIENT_S})
        outcomes = asyncio.run(run_eval(patient, asked))
        generated = [outcome.answer is not None and outcome.answer.kind == "generated" for outcome in outcomes]
        return sum(generated) / len(generated)

    return score


async def retrieve(settings: Settings, question: Question) -> list[RetrievedPassage]:
    """The passages nearest to a question, as `/api/retrieve` gives them."""
    configure_logging(settings, quiet=True)
    async with opened(settings, with_model=False) as house:
        return [RetrievedPassage.of(passage) for passage in await house.retrieve(question)]


async def run_server(
    settings: Settings, *, echo: Callable[[str], None] | None, on_ready: Callable[[str], None]
) -> None:
    """Serve until a signal; see `lutrin.serve.app.run_server`."""
    configure_logging(settings)
    # A port that is taken is known before minutes are spent on models.
    with listen(settings.host, settings.port) as listener:
        await _serve(settings, listener, echo, on_ready)


async def _serve(
    settings: Settings, listener: socket.socket, echo: Callable[[str], None] | None, on_ready: Callable[[str], None]
) -> None:
    async with opened(settings, with_chats=True) as house:
        if house.chats is None:
            raise TypeError("a server has conversations")
        await _warm_up(house)
        generator = house.generator
        services = Services(
            answers=house.answers,
            retrieve=house.retrieve,
            chats=house.chats,
            library=ShelfLibrary(house.shelf),
            generator=generator,
            queue_length=(lambda: generator.load[1]) if generator is not None else (lambda: 0),
            ingest=partial(ingest_apart, settings),
            echo=echo,
            clock=time.monotonic,
        )
        await run_app(services, settings, on_ready=on_ready, listener=listener)


async def _warm_up(house: House) -> None:
    """Search once, so that the first reader does not wait for what is loaded on first use."""
    with suppress(IndexUnavailable):
        await house.retrieve(Question(text="What does the first chapter say?"))


async def ingest_apart(settings: Settings, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
    """Ingest the corpus in a process of its own, as `POST /ingest` asks for it.

    Args:
        settings: Say where corpus and data lie.
        note: Gets each line of progress.

    Returns:
        The figures of the summary.

    Raises:
        IngestInProgress: Another process is ingesting.
        IngestError: It failed; the message is the process's last line.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "lutrin.cli", "ingest", str(settings.corpus_dir),
        "--json", "--data-dir", str(settings.data_dir),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "LUTRIN_LOG_LEVEL": "error"},
    )  # fmt: skip
    if process.stdout is None or process.stderr is None:
        raise TypeError("both streams are pipes")
    last = ""
    async for raw in process.stderr:
        last = raw.decode(errors="replace").rstrip()
        note(last)
    output = await process.stdout.read()
    await process.wait()
    if not output.strip():
        raise IngestInProgress if last == messages.INGEST_IN_PROGRESS else IngestError(last or "The ingestion failed.")
    summary = msgspec.json.decode(output, type=IngestSummary)
    figures = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return {name: value for name, value in figures.items() if isinstance(value, int | float | str)}


async def forget(settings: Settings, *, session_id: str | None, older_than: timedelta | None, everything: bool) -> int:
    """Delete conversations for good, whoever owns them; how many they were."""
    finish_restore(settings)
    if not settings.chats_path.exists():
        return 0
    chats = await SqlChatStore.open(settings.chats_path, chat_key(settings))
    try:
        return await chats.forget(session_id=session_id, older_than=older_than, everything=everything)
    finally:
        await chats.close()


async def examine(settings: Settings) -> list[doctor.Check]:
    """What `lutrin doctor` looks at."""
    return await doctor.examine(settings, open_store(settings), model_path)
