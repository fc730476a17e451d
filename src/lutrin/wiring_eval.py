"""The real pipeline, judged by questions."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from lutrin.adapters.fakes_chat import MemoryChatStore
from lutrin.evaluate.pipeline import Pipeline
from lutrin.evaluate.questions import EvalQuestion, read_questions
from lutrin.evaluate.run import Outcome
from lutrin.evaluate.run import run as run_questions
from lutrin.log import configure_logging
from lutrin.settings import Settings
from lutrin.wiring import answering, opened

PATIENT_S = 60.0
"""Deadline while answers are judged, not timed."""


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
            lambda chats: answering(
                settings, house.shelf, house.searcher, generator=house.generator, chats=chats, sayings=house.sayings
            ),
        )
        return await run_questions(questions, pipeline.subject(f"lutrin/{settings.model}"))


def scorer(settings: Settings, questions: Path) -> Callable[[Path], float]:
    """A judge for `models tune`: the share of 20 sample questions to which a file writes what the book supports."""

    def score(path: Path) -> float:
        asked = [item for item in read_questions([questions]) if not item.previous_question][::7][:20]
        patient = settings.model_copy(update={"model": str(path), "deadline_s": PATIENT_S, "read_ahead": False})
        outcomes = asyncio.run(run_eval(patient, asked))
        generated = [outcome.answer is not None and outcome.answer.kind == "generated" for outcome in outcomes]
        return sum(generated) / len(generated)

    return score
