"""Open Lutrin and ask it: settings and question files in, outcomes out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from evaluation.memory_chat import MemoryChatStore
from evaluation.pipeline import Pipeline
from evaluation.questions import EvalQuestion, read_questions
from evaluation.run import Outcome
from evaluation.run import run as run_questions
from lutrin.answer.grade import Grader
from lutrin.answer.prompt import Ability
from lutrin.ingest.lock import ingest_lock
from lutrin.ingest.summary import IngestSummary
from lutrin.log import configure_logging
from lutrin.ports import Embedder
from lutrin.runtime.ingestion import run_ingest
from lutrin.runtime.wiring import answering, open_runtime
from lutrin.settings import Settings

PATIENT_S = 600.0
"""Deadline while answers are judged, not timed: the longest there is, so that a busy machine cuts none."""


@asynccontextmanager
async def opened_pipeline(
    settings: Settings,
    ability: Ability | None = None,
    grader: Callable[[Embedder], Grader] | None = None,
    *,
    with_prepared: bool = True,
) -> AsyncIterator[Pipeline]:
    """Lutrin over the books of a data folder, with the model of the settings, until the block ends.

    Args:
        settings: Name folder and model.
        ability: How much the model reads and writes; None: as its tier.
        grader: Makes the grader of its sentences; None: the usual one.
        with_prepared: Use what was prepared on the books.
    """
    configure_logging(settings, quiet=True)
    async with open_runtime(settings) as house:
        if house.generator is not None:
            await house.generator.start()
        yield Pipeline(
            house.shelf,
            house.searcher,
            (MemoryChatStore(), MemoryChatStore()),
            lambda chats: answering(
                settings,
                house.shelf,
                house.searcher,
                generator=house.generator,
                ability=ability or house.answers.ability,
                chats=chats,
                grader=grader(house.searcher.embedder) if grader is not None else None,
                with_prepared=with_prepared,
            ),
        )


async def run_eval(
    settings: Settings, questions: Sequence[EvalQuestion], ability: Ability | None = None
) -> list[Outcome]:
    """Ask every question of the real pipeline; see `evaluation.run.run`."""
    async with opened_pipeline(settings, ability) as pipeline:
        return await run_questions(questions, pipeline.subject(f"lutrin/{settings.model}"))


async def ingest(settings: Settings, folder: Path) -> IngestSummary:
    """Bring the index of a data folder up to a folder of books; what has not changed is not read again."""
    with ingest_lock(settings.data_dir):
        return await run_ingest(settings, folder)


def scorer(settings: Settings, questions: Path) -> Callable[[Path], float]:
    """A judge for `models tune`: the share of 20 sample questions to which a file writes what the book supports."""

    def score(path: Path) -> float:
        asked = [item for item in read_questions([questions]) if not item.previous_question][::7][:20]
        patient = settings.model_copy(update={"model": str(path), "explain_s": PATIENT_S, "live_s": PATIENT_S})
        outcomes = asyncio.run(run_eval(patient, asked, Ability()))
        generated = [outcome.answer is not None and outcome.answer.kind == "generated" for outcome in outcomes]
        return sum(generated) / len(generated)

    return score
