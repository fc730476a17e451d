"""Fit where a question joins two things: `python -m evaluation.joints FOLDER... [--write]`.

Each FOLDER is a data folder with books of `bench/books`, whose questions are in `bench/questions`. Questions of one
book are joined in pairs by "and", by ", and", or by the end of a sentence, and those are kept that no pattern parts.
The joint between the two is a place where two things are asked; all other joints are not, and neither are those of the
questions as they stand. A logistic regression on the signals of `lutrin.search.joints` is fitted on half of the books,
by the hash of their names. Printed is how many joints are found, and how many places are taken for one.
"""

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from evaluation.asking import PATIENT_S, opened_pipeline
from evaluation.command_line import ROOT
from evaluation.pipeline import ANY, Pipeline
from evaluation.questions import EvalQuestion, half_of, read_questions
from evaluation.written import Array, fitted
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import words
from lutrin.query.understand import understand
from lutrin.records import Question
from lutrin.search.fits import VectorFit
from lutrin.search.joints import SIGNALS, Joint, joints_of, model_of, signals_of
from lutrin.settings import load_settings

FILE = ROOT / "src" / "lutrin" / "search" / "joints.json"
QUESTIONS = ROOT / "bench" / "questions"
NOT_ONE = frozenset({"multi-chapter", "list", "vague", "nonenglish", "injection", "far"})
"""Kinds that may ask two things, or nothing."""
PAIRS = 60
MOST_WORDS = 13
"""Maximum length of a question that is joined with another."""
ALIKE = 0.6
"""Least share of the second question's words after the joint between both questions."""
MOST_OTHER = 2
"""Maximum number of words before that joint that the first question lacks: "what's" may become "what is"."""
FORMS = ("{} and {}", "{}, and {}", "{}? {}")
SEED = 56


class Joined(msgspec.Struct, frozen=True):
    """A question, and the second of the two of which it is made; none if it asks one thing."""

    text: str
    first: str = ""
    second: str = ""
    facts: tuple[str, ...] = ()
    """Texts that a right answer contains."""

    def is_between(self, joint: Joint) -> bool:
        """Whether a joint is between the two questions."""
        texts = (self.first, self.second, joint.left, joint.right)
        first, second, left, right = (set(words(text.lower())) for text in texts)
        is_right = bool(second) and len(right & second) >= ALIKE * len(second)
        return is_right and len(right - second) <= 1 and len(left - first) <= MOST_OTHER


class Place(msgspec.Struct, frozen=True):
    """A joint of a question."""

    book: str
    text: str
    left: str
    is_joint: bool
    signals: tuple[float, ...]


def pairs_of(book: str, questions: Sequence[EvalQuestion], count: int = PAIRS) -> Iterator[Joined]:
    """Pairs of questions of one book, joined."""
    chance = random.Random(f"{SEED}{book}")  # noqa: S311 - draws a sample, guards nothing
    short = [one for one in questions if len(one.question.split()) <= MOST_WORDS]
    for place in range(count):
        one, other = chance.sample(short, 2)
        first, second = one.question.strip(), other.question.strip()
        form = FORMS[place % len(FORMS)]
        opening = second[0].upper() if form.startswith("{}?") else second[0].lower()
        yield Joined(
            form.format(first.rstrip(" ?.!"), opening + second[1:]), first, second, (*one.key_facts, *other.key_facts)
        )


async def places_of(pipeline: Pipeline, generation: OpenGeneration, questions: Sequence[Joined]) -> list[Place]:
    """The joints of questions about one book, with their signals."""
    found: list[Place] = []
    for one in questions:
        embedder = pipeline.searcher.embedder
        query = understand(Question(text=one.text), history=(), language=ANY, embedder=embedder)
        joints = list(joints_of(query.topic))
        if query.refusal is None and len(query.parts) == 1 and joints:
            rows = await signals_of(pipeline.searcher, [generation], query, joints)
            found += [
                Place(generation.book.slug, one.text, joint.left, one.is_between(joint), tuple(row.tolist()))
                for joint, row in zip(joints, rows, strict=True)
            ]
    return found


async def collect(folders: Sequence[Path]) -> tuple[list[Place], str]:
    """The joints of all questions about the books of some data folders, and the model that read them."""
    found: list[Place] = []
    embedder = ""
    for folder in folders:
        settings = load_settings(
            profile="local", data_dir=folder, models_dir=ROOT / "models", model="none", explain_s=PATIENT_S,
            deadline_s=PATIENT_S, log_level="error",
        )  # fmt: skip
        async with opened_pipeline(settings) as pipeline, pipeline.shelf.lease_books() as generations:
            embedder = model_of(pipeline.searcher.embedder.name)
            for generation in generations:
                (file,) = QUESTIONS.glob(f"*/{generation.book.slug}.jsonl")
                own = [one for one in read_questions([file]) if one.kind not in NOT_ONE]
                own = [one for one in own if not one.selected_text and not one.previous_question]
                asked = [*pairs_of(generation.book.slug, own), *(Joined(one.question) for one in own)]
                found += await places_of(pipeline, generation, asked)
                print(f"{generation.book.slug}: {len(found)} joints so far", flush=True)
    return found, embedder


def fit(places: Sequence[Place], embedder: str) -> VectorFit:
    """Fit on the books of one half."""
    own = [one for one in places if half_of(one.book) == "tune"]
    signals: Array = np.array([one.signals for one in own], dtype=np.float64)
    weights, bias = fitted(signals, np.array([one.is_joint for one in own], dtype=np.float64))
    return VectorFit(embedder=embedder, weights=tuple(round(float(one), 4) for one in (*weights, bias)))


def table(places: Sequence[Place], found: VectorFit) -> str:
    """Results on each half of the books."""
    lines = [", ".join(f"{name} {weight}" for name, weight in zip((*SIGNALS, "bias"), found.weights, strict=True))]
    for half in ("tune", "test"):
        own = [one for one in places if half_of(one.book) == half]
        taken = [one.is_joint for one in own if found.odds(np.array(one.signals, dtype=np.float32)) > 0]
        joints = sum(one.is_joint for one in own)
        lines.append(
            f"{half}, {', '.join(sorted({one.book for one in own}))}: {sum(taken)} of {joints} joints found, "
            f"{len(taken) - sum(taken)} of {len(own) - joints} other places taken for one"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect, fit, print and write."""
    parser = argparse.ArgumentParser(prog="evaluation.joints", description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="data folders with books of bench/books")
    parser.add_argument("--write", action="store_true", help="write the file that Lutrin reads")
    given = parser.parse_args(arguments)
    places, embedder = asyncio.run(collect(given.folders))
    found = fit(places, embedder)
    print(table(places, found))
    if given.write:
        FILE.write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main()
