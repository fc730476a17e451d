"""Fit when a further excerpt is shown: `python -m evaluation.further FOLDER... [--write]`.

Each FOLDER is a data folder with books of `bench/books`. Their questions, and pairs of them joined as
`evaluation.joints` joins them, are searched for; a run of units is a right further excerpt if it holds a key fact that
the excerpts before do not hold. A logistic regression on the signals of `lutrin.answer.runs` is fitted on half of the
books, by the hash of their names. The floor is the least at which no more excerpts of that half are irrelevant than
without the gain, at a seventh of the first one's likelihood. Printed are, for both halves and both rules, the facts in
the excerpts, the excerpts, and those that hold no fact.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from evaluation.asking import PATIENT_S, opened_pipeline
from evaluation.command_line import ROOT
from evaluation.joints import NOT_ONE, QUESTIONS, pairs_of
from evaluation.measures import facts_in
from evaluation.pipeline import ANY
from evaluation.questions import half_of, read_questions
from evaluation.written import Array, fitted
from lutrin.answer.runs import SIGNALS, Fit, Run, candidates, choose, firsts
from lutrin.query.frames import Frame
from lutrin.query.understand import understand
from lutrin.records import Question
from lutrin.search.joints import parted
from lutrin.search.result import Part
from lutrin.settings import load_settings

FILE = ROOT / "src" / "lutrin" / "answer" / "cover.json"
PAIRS = 15
LIKELIHOOD = Fit(weights=(1.0, 0.0, -99.0, 0.0), least=-1.9)
"""Without the gain: a seventh as likely as the first, and none where several things are asked."""
GRID = np.arange(-3.0, 0.0, 0.1)


class Asked(msgspec.Struct, frozen=True):
    """A question with what was found."""

    book: str
    facts: tuple[str, ...]
    parts: tuple[Part, ...]
    frame: Frame


def text_of(run: Run) -> str:
    """The visible text of a run."""
    return " ".join(f"{unit.lead} {unit.text}" for unit in run.units)


def rows_of(one: Asked) -> tuple[list[tuple[float, ...]], list[bool]]:
    """Signals of the likeliest runs of each section, and of those with the most gain, and whether they are right."""
    chosen, found = firsts(one.parts, one.frame)
    have = set(facts_in(one.facts, list(map(text_of, chosen))))
    by_section: dict[tuple[str, tuple[str, ...]], list[tuple[tuple[float, ...], bool]]] = {}
    for candidate in candidates(found, chosen):
        chunk, new = candidate.run.chunk, set(facts_in(one.facts, [text_of(candidate.run)])) - have
        by_section.setdefault((chunk.filename, chunk.heading_path), []).append((candidate.signals, bool(new)))
    best = [max(own, key=lambda row: row[0][place]) for own in by_section.values() for place in (0, 1)]
    return [signals for signals, _ in best], [right for _, right in best]


def score(asked: Sequence[Asked], fit: Fit) -> tuple[float, float, float]:
    """Share of the facts in the excerpts, excerpts a question, and those of them without a fact."""
    held = shown = irrelevant = 0.0
    for one in asked:
        texts = list(map(text_of, choose(one.parts, one.frame, fit)))
        held += len(facts_in(one.facts, texts)) / len(one.facts)
        shown += len(texts)
        irrelevant += sum(not facts_in(one.facts, [text]) for text in texts)
    count = max(1, len(asked))
    return held / count, shown / count, irrelevant / count


def fit_cover(asked: Sequence[Asked]) -> Fit:
    """Fit weights and floor."""
    rows = [rows_of(one) for one in asked]
    signals: Array = np.array([row for own, _ in rows for row in own], dtype=np.float64)
    weights, bias = fitted(signals, np.array([one for _, own in rows for one in own], dtype=np.float64))
    found = Fit(weights=tuple(round(float(one), 4) for one in (*weights, bias)), least=0.0)
    most = score(asked, LIKELIHOOD)[2]
    for least in GRID:
        candidate = msgspec.structs.replace(found, least=round(float(least), 2))
        if score(asked, candidate)[2] <= most:
            return candidate
    return found


def table(asked: Sequence[Asked], fit: Fit) -> str:
    """Both rules on both halves."""
    lines = [", ".join(f"{name} {weight}" for name, weight in zip((*SIGNALS, "bias"), fit.weights, strict=True))]
    for half in ("tune", "test"):
        own = [one for one in asked if half_of(one.book) == half]
        for name, rule in (("likelihood", LIKELIHOOD), ("with the gain", fit)):
            held, shown, irrelevant = score(own, rule)
            lines.append(f"{half}, {name}: facts {held:.3f}, excerpts {shown:.2f}, without a fact {irrelevant:.2f}")
    return "\n".join(lines)


async def collect(folders: Sequence[Path]) -> list[Asked]:
    """Results of the questions about the books of some data folders."""
    found: list[Asked] = []
    for folder in folders:
        settings = load_settings(
            profile="local", data_dir=folder, models_dir=ROOT / "models", model="none", explain_s=PATIENT_S,
            deadline_s=PATIENT_S, log_level="error",
        )  # fmt: skip
        async with opened_pipeline(settings) as pipeline, pipeline.shelf.lease_books() as generations:
            for generation in generations:
                (file,) = QUESTIONS.glob(f"*/{generation.book.slug}.jsonl")
                own = [one for one in read_questions([file]) if one.key_facts and not one.selected_text]
                own = [one for one in own if not one.previous_question]
                pairs = list(pairs_of(generation.book.slug, [one for one in own if one.kind not in NOT_ONE], PAIRS))
                for text, facts in [(one.question, one.key_facts) for one in own] + [(p.text, p.facts) for p in pairs]:
                    asked = Question(text=text)
                    query = understand(asked, history=(), language=ANY, embedder=pipeline.searcher.embedder)
                    query = await parted(pipeline.searcher, [generation], query)
                    result = await pipeline.searcher.search([generation], query, k=5)
                    parts = [one for one in result.parts if one.verdict == "answers"] or result.parts[:1]
                    found.append(Asked(generation.book.slug, facts, tuple(parts), query.frame))
                print(f"{generation.book.slug}: {len(found)} questions so far", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect, fit, print and write."""
    parser = argparse.ArgumentParser(prog="evaluation.further", description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="data folders with books of bench/books")
    parser.add_argument("--write", action="store_true", help="write the file that Lutrin reads")
    given = parser.parse_args(arguments)
    asked = asyncio.run(collect(given.folders))
    found = fit_cover([one for one in asked if half_of(one.book) == "tune"])
    print(table(asked, found))
    if given.write:
        FILE.write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main()
