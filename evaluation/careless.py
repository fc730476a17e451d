"""Ask the questions of a shelf as hurried people type them: `python -m evaluation.careless [FOLDER] [--book BOOK]`.

Forms of each question are made from lists in `evaluation/careless`, the same for the same seed: words taken for
others that sound alike ("how do robots no where they are"), the speech of messages ("wat r nodes 4 lol"), words that
are left out, words that run together, and both (missing). Printed is, for the questions as they stand and for each
form, the share of the key facts in the answers and of the questions that are refused, and what each form loses.
"""

import argparse
import asyncio
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Literal, get_args

import msgspec

from evaluation.asking import PATIENT_S, ingest, opened_pipeline
from evaluation.command_line import ROOT
from evaluation.questions import EvalQuestion
from evaluation.run import run
from evaluation.shelf import DATA, SHELF, ShelvedBook, read_shelf
from lutrin.settings import load_settings

Form = Literal["as it stands", "sounds", "speech", "left out", "run together", "missing"]
WORDS = ROOT / "evaluation" / "careless"
SEED = 56
CHANGED = 0.5
"""Chance that a word with a careless spelling is spelt so; one at least is."""
LEFT_OUT, RUN_TOGETHER = 0.12, 0.12
"""Chances that a word of a question is left out, and that it is written together with the next one."""
ENDINGS = ("", "", " lol", " plz", " thx")
_WORD = re.compile(r"[\w'\u2019/]+")
Chance = random.Random


class Loss(msgspec.Struct, frozen=True):
    """Figures of a shelf in one form of the questions."""

    form: Form
    questions: int
    facts: float
    """Share of the key facts in the first 160 words, mean of the questions."""
    refused: float


@cache
def spellings(name: str, every: int = 1) -> dict[str, str]:
    """Words of a list with their careless spelling, the last word of a line; `every` 2: half of the list."""
    lines = (WORDS / name).read_text("utf-8").splitlines()[::every]
    return {word: spelt for word, _, spelt in (line.rpartition(" ") for line in lines)}


def respelt(text: str, careless: Mapping[str, str], chance: Chance) -> str:
    """Respell about half of the words of a text that a list contains, and at least one if there are any."""
    places = [match for match in _WORD.finditer(text) if match[0].lower() in careless]
    chosen = [match for match in places if chance.random() < CHANGED] or places[:1]
    for match in reversed(chosen):
        text = text[: match.start()] + careless[match[0].lower()] + text[match.end() :]
    return text


def sounds(text: str, chance: Chance, *, every: int = 1) -> str:
    """Replace words of a text by words that sound alike; `every` 2: by half of the list."""
    return respelt(text, spellings("sounds.txt", every), chance)


def speech(text: str, chance: Chance, *, every: int = 1) -> str:
    """A text as people write messages: short, in lower case, without a full stop; `every` 2: by half of the list."""
    return respelt(text, spellings("speech.txt", every), chance).lower().rstrip(" ?.!") + chance.choice(ENDINGS)


def missing(text: str, chance: Chance, *, left_out: float = LEFT_OUT, together: float = RUN_TOGETHER) -> str:
    """A text in which some words are left out, and some run together, by these chances."""
    written = ""
    for word in text.split():
        if chance.random() >= left_out:
            written += word if chance.random() < together else f"{word} "
    return written.strip() or text


FORMS: Mapping[Form, Callable[[str, Chance], str]] = {
    "as it stands": lambda text, _: text,
    "sounds": sounds,
    "speech": speech,
    "left out": partial(missing, together=0.0),
    "run together": partial(missing, left_out=0.0),
    "missing": missing,
}


def careless(question: EvalQuestion, form: Form) -> EvalQuestion:
    """A question in one form; always the same for the same question."""
    chance = random.Random(f"{SEED}{form}{question.id}")  # noqa: S311 - draws spellings, guards nothing
    return msgspec.structs.replace(question, question=FORMS[form](question.question, chance))


async def ask(books: Sequence[ShelvedBook], data: Path) -> list[Loss]:
    """Ask the questions that the books answer, in each form."""
    facts: dict[Form, list[float]] = {form: [] for form in get_args(Form)}
    refused: dict[Form, int] = dict.fromkeys(get_args(Form), 0)
    for book in books:
        settings = load_settings(
            profile="local", data_dir=data / book.name, models_dir=ROOT / "models", model="none", explain_s=PATIENT_S,
            deadline_s=PATIENT_S, log_level="error",
        )  # fmt: skip
        await ingest(settings, book.folder)
        asked = [one for one in book.questions if one.in_book and one.key_facts]
        async with opened_pipeline(settings) as pipeline:
            for form in get_args(Form):
                outcomes = await run([careless(one, form) for one in asked], pipeline.quick_subject(form))
                facts[form] += [one.measures["facts"][0] for one in outcomes if "facts" in one.measures]
                refused[form] += sum(one.answer is not None and one.answer.kind == "refusal" for one in outcomes)
    return [
        Loss(form, len(own), sum(own) / max(1, len(own)), refused[form] / max(1, len(own)))
        for form, own in facts.items()
    ]


def table(losses: Sequence[Loss]) -> str:
    """A line for each form."""
    first = losses[0].facts
    return "\n".join(
        f"{one.form}: {one.questions} questions, facts {one.facts:.3f}, lost {first - one.facts:.3f}, "
        f"refused {one.refused:.3f}"
        for one in losses
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(prog="evaluation.careless", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHELF, help="with books/ and questions/")
    parser.add_argument("--book", action="append", default=[], help="ask this book only; may be repeated")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the books' data folders")
    given = parser.parse_args(arguments)
    print(table(asyncio.run(ask(read_shelf(given.folder, given.book), given.data))))


if __name__ == "__main__":
    main()
