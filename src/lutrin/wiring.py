"""Where settings become adapters and adapters become stages: the only place that knows profiles."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lutrin import doctor, weights
from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.fakes_chat import MemoryChatStore
from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.answer.flow import AnswerFlow
from lutrin.answer.prompt import warm_request
from lutrin.chats.key import chat_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChecksumMismatch, InvalidSettings, ModelMissing
from lutrin.evaluate.pipeline import Pipeline
from lutrin.evaluate.questions import EvalQuestion
from lutrin.evaluate.run import Outcome
from lutrin.evaluate.run import run as run_questions
from lutrin.generate.protocol import Limits
from lutrin.generate.worker import WorkerGenerator
from lutrin.index.shelf import Shelf
from lutrin.index.verify import in_fresh_process
from lutrin.ingest.run import IngestTools, Overrides
from lutrin.ingest.run import ingest as run_whole_ingest
from lutrin.ingest.summary import IngestSummary, Progress
from lutrin.log import configure_logging, get_logger
from lutrin.ports import ChatStore
from lutrin.records import Answer, AnswerEvent, DoneEvent, Passage, Question
from lutrin.retrieve.language import LanguageCheck
from lutrin.retrieve.passages import retrieve_passages
from lutrin.retrieve.search import Searcher
from lutrin.serve.app import run_server as run_app
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.schemas import RetrievedPassage
from lutrin.serve.services import Services
from lutrin.settings import Settings

EMBED_TIER = "default"
QUERY_THREADS = 1
"""Of the embedding model while questions are answered; the language model has the cores."""
LATEST_EVER_S = 120.0
"""How long `lutrin ask` waits for a model that is still loading."""


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


def model_path(settings: Settings) -> tuple[str, Path] | None:
    """Name and checked file of the language model of the settings; None for `none`.

    Raises:
        ModelMissing, ChecksumMismatch: The file cannot be used.
        InvalidSettings: There is no model of that name.
    """
    if settings.model == "none":
        return None
    if settings.model.endswith(".gguf"):
        path = Path(settings.model)
        if not path.is_file():
            raise ModelMissing(f"The model file {path} does not exist.", remedy="Correct LUTRIN_MODEL.")
        return path.stem, path
    model = weights.load_manifest(settings.models_dir).find(settings.model)
    return model.name, weights.verified_path(settings.models_dir, model)


def open_generator(settings: Settings) -> WorkerGenerator | None:
    """The language model in its own process, not started yet; None if there is to be none."""
    chosen = model_path(settings)
    if chosen is None:
        return None
    name, path = chosen
    factory = partial(
        open_decoder,
        path,
        n_ctx=settings.model_context_tokens,
        slots=settings.model_slots,
        threads=settings.model_threads,
    )
    limits = Limits(slots=settings.model_slots, queue=settings.queue_limit)
    return WorkerGenerator(name, factory, limits=limits, warm=warm_request())


@asynccontextmanager
async def opened(settings: Settings, *, with_model: bool = True, with_chats: bool = False) -> AsyncIterator[House]:
    """Open everything that answers questions, and close it in the end.

    Args:
        settings: Say what and where.
        with_model: Load the language model; a model file that cannot be used leaves quotes, and a line in the log.
        with_chats: Open the conversations.
    """
    log = get_logger("wiring")
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
    settings: Settings, corpus: Path, *, overrides: Overrides, rebuild: bool, progress: Progress
) -> IngestSummary:
    """Bring the index up to what a folder of books holds now; see `lutrin.ingest.run.ingest`."""
    configure_logging(settings)
    embedder, store = open_embedder(settings), open_store(settings)
    try:
        tools = IngestTools(embedder=embedder, store=store, verify=in_fresh_process(store))
        return await run_whole_ingest(corpus, settings, tools, overrides=overrides, rebuild=rebuild, progress=progress)
    finally:
        embedder.close()


async def ask_events(settings: Settings, question: Question) -> AsyncGenerator[AnswerEvent, None]:
    """Events of one answer, with everything opened for it alone."""
    configure_logging(settings)
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
    configure_logging(settings)
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


async def retrieve(settings: Settings, question: Question) -> list[RetrievedPassage]:
    """The passages nearest to a question, as `/api/retrieve` gives them."""
    configure_logging(settings)
    async with opened(settings, with_model=False) as house:
        return [RetrievedPassage.of(passage) for passage in await house.retrieve(question)]


async def run_server(
    settings: Settings, *, echo: Callable[[str], None] | None, on_ready: Callable[[str], None]
) -> None:
    """Serve until a signal; see `lutrin.serve.app.run_server`."""
    configure_logging(settings)
    async with opened(settings, with_chats=True) as house:
        if house.chats is None:
            raise TypeError("a server has conversations")
        generator = house.generator
        services = Services(
            answers=house.answers,
            retrieve=house.retrieve,
            chats=house.chats,
            library=ShelfLibrary(house.shelf),
            generator=generator,
            queue_length=(lambda: generator.load[1]) if generator is not None else (lambda: 0),
            echo=echo,
            clock=time.monotonic,
        )
        await run_app(services, settings, on_ready=on_ready)


async def examine(settings: Settings) -> list[doctor.Check]:
    """What `lutrin doctor` looks at."""
    return await doctor.examine(settings, open_store(settings), model_path)
