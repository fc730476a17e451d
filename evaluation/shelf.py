"""Ask the questions about every real book of a shelf, in one table: `python -m evaluation.shelf [FOLDER]`.

FOLDER (default `../shared/shelf` beside the checkout) holds `books/BOOK/`, as its authors publish it, and
`questions/BOOK.jsonl`. Each book is ingested into a data folder of its own, `bench/out/shelf/BOOK` unless `--data` says
otherwise; a second run embeds nothing. Then its questions are asked, without a model unless `--model` names a tier.

The table also has the baselines of `rivals`. Questions about a selection count like all others: Lutrin gets the
selection, and plain search gets it after the question.

Half of the questions, by the hash of their ids, is for testing only: `--verbose` prints failures of the other half.
`--save` writes figures and ids but no word of a book, so the file may be kept in the repository.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from evaluation import rivals, shelf_peers, shelf_report
from evaluation.asking import PATIENT_S, ingest, opened_pipeline
from evaluation.pipeline import Pipeline, complete
from evaluation.questions import EvalQuestion, half_of, read_questions
from evaluation.run import Outcome, run
from evaluation.shelf_report import LUTRIN, BookResult, PeerResult, Scores, ShelfResult
from lutrin.errors import InvalidInput, LutrinError
from lutrin.records import Question
from lutrin.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
SHELF = ROOT.parent / "shared" / "shelf"
DATA = ROOT / "bench" / "out" / "shelf"
TIERS = ("none", "tiny", "small", "medium", "large", "auto")


@dataclass(frozen=True, slots=True)
class ShelvedBook:
    """A book of a shelf and what is asked of it."""

    name: str
    folder: Path
    questions: tuple[EvalQuestion, ...]


def read_shelf(folder: Path, wanted: Sequence[str] = ()) -> list[ShelvedBook]:
    """The books of a shelf that have questions, or those of them that are wanted.

    Raises:
        InvalidInput: There is no shelf or no such book, or a question file is wrong.
    """
    if not (folder / "questions").is_dir() or not (folder / "books").is_dir():
        raise InvalidInput(
            f"There is no shelf at {folder}: give a FOLDER that holds books/BOOK and questions/BOOK.jsonl."
        )
    names = sorted(path.stem for path in (folder / "questions").glob("*.jsonl"))
    if unknown := sorted(set(wanted) - set(names)):
        raise InvalidInput(f"{', '.join(unknown)}: no such book on this shelf; it has {', '.join(names)}.")
    found = [
        ShelvedBook(name, folder / "books" / name, tuple(read_questions([folder / "questions" / f"{name}.jsonl"])))
        for name in names
        if not wanted or name in wanted
    ]
    if missing := [book.name for book in found if not book.folder.is_dir()]:
        raise InvalidInput(f"{', '.join(missing)}: there are questions, but no folder below {folder / 'books'}.")
    return found


async def ask_book(
    book: ShelvedBook, data: Path, model: str, *, with_prepared: bool = True
) -> tuple[BookResult, list[Outcome]]:
    """Ingest a book and ask its questions; Lutrin's outcomes come with the answers, for who wants to read them."""
    settings = load_settings(
        profile="local", data_dir=data, models_dir=ROOT / "models", model=model, explain_s=PATIENT_S, live_s=PATIENT_S,
        deadline_s=PATIENT_S, log_level="error",
    )  # fmt: skip
    summary = await ingest(settings, book.folder)
    if summary.errors:
        print("\n".join(f"{book.name}: {line}" for line in summary.errors), file=sys.stderr)
    async with opened_pipeline(settings, with_prepared=with_prepared) as pipeline:
        outcomes = await run(book.questions, pipeline.quick_subject(LUTRIN))
        systems: dict[str, list[Scores]] = {LUTRIN: [_scores(outcome) for outcome in outcomes]}
        for question in book.questions:
            if question.in_book:
                for name, scores in (await _beside(question, pipeline)).items():
                    systems.setdefault(name, []).append(scores)
    result = BookResult(
        book=book.name, systems={name: tuple(found) for name, found in systems.items()}, embedded=summary.texts_embedded
    )
    return result, outcomes


async def _beside(question: EvalQuestion, pipeline: Pipeline) -> dict[str, Scores]:
    """Score the baselines."""
    asked = Question(
        text=complete(question.question, question.previous_question),
        selected_text=question.selected_text,
        top_k=rivals.WINDOW_PASSAGES,
    )
    passages, plain = await pipeline.retrieve(asked), await pipeline.fused(asked)
    measures = {
        rivals.FUSED: rivals.fused(question, plain[:5]),
        rivals.START: rivals.start(question, passages),
        rivals.ORACLE: rivals.oracle(question, passages),
    }
    return {name: Scores(id=question.id, kind=question.kind, measures=found) for name, found in measures.items()}


def _scores(outcome: Outcome) -> Scores:
    return Scores(id=outcome.id, kind=outcome.kind, measures=outcome.measures)


async def ask_shelf(
    books: Sequence[ShelvedBook],
    data: Path,
    model: str,
    *,
    verbose: bool = False,
    answers: Path | None = None,
    with_prepared: bool = True,
) -> ShelfResult:
    """Ask book after book; what was answered is written to `answers`, one JSON object a line, to be read."""
    results = []
    start = time.perf_counter()
    for book in books:
        began = time.perf_counter()
        result, outcomes = await ask_book(book, data / book.name, model, with_prepared=with_prepared)
        results.append(result)
        took = f"{len(book.questions)} questions, {time.perf_counter() - began:.0f} s, {result.embedded} texts embedded"
        print(f"{book.name}: {took}", file=sys.stderr)
        if verbose:
            _print_failures(outcomes)
        if answers is not None:
            with answers.open("ab") as file:
                file.writelines(msgspec.json.encode(outcome) + b"\n" for outcome in outcomes)
    return shelf_report.made(results, model=model, root=ROOT, seconds=time.perf_counter() - start)


def ask_peers(books: Sequence[ShelvedBook], data: Path, count: int) -> tuple[PeerResult, ...]:
    """Ask the peers that many questions of each book; their own files are in `data/peers`."""
    found: list[PeerResult] = []
    for book in books:
        print(f"{book.name}: asking the peers", file=sys.stderr)
        questions = shelf_peers.chosen(book.questions, count)
        found += shelf_peers.ask_llamaindex(book.name, book.folder, questions, data / "peers" / book.name)
    return tuple(found)


def _print_failures(outcomes: Sequence[Outcome]) -> None:
    """Print missing facts, wrong refusals and wrong answers of the tuning half."""
    for outcome in outcomes:
        refused = outcome.answer is not None and outcome.answer.kind == "refusal"
        outside = outcome.kind in {"near", "far"}
        if half_of(outcome.id) == "tune" and (outcome.missing_facts or outcome.error or (outside and not refused)):
            said = outcome.answer.answer if outcome.answer else outcome.error
            print(f"\n{outcome.id} {outcome.kind}: {outcome.question}\n  left out: {outcome.missing_facts}\n  {said}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask a shelf and print, save or compare its figures."""
    parser = argparse.ArgumentParser(prog="evaluation.shelf", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHELF, help="with books/ and questions/")
    parser.add_argument("--book", action="append", default=[], help="ask this book only; may be repeated")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the books' data folders")
    parser.add_argument("--model", default="none", metavar="TIER", help=f"one of {', '.join(TIERS)}; default none")
    parser.add_argument(
        "--peers", type=int, default=0, metavar="N", help="ask LlamaIndex N questions a book, too; slow"
    )
    parser.add_argument("--unprepared", action="store_true", help="answer without what was prepared on the books")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write figures and each question's scores as JSON")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="append the answers as JSON, one a line")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="an earlier --save to show beside this run")
    parser.add_argument("--json", action="store_true", help="print what --save writes instead of the table")
    parser.add_argument("--verbose", action="store_true", help="print what fails in the tuning half")
    given = parser.parse_args(arguments)
    try:
        earlier = shelf_report.read(given.compare) if given.compare else None
        books = read_shelf(given.folder, given.book)
        result = asyncio.run(
            ask_shelf(
                books,
                given.data,
                given.model,
                verbose=given.verbose,
                answers=given.answers,
                with_prepared=not given.unprepared,
            )
        )
        if given.peers:
            result = msgspec.structs.replace(result, peers=ask_peers(books, given.data, given.peers))
    except LutrinError as error:
        sys.exit(f"{error.detail} {error.remedy}".strip())
    if given.save:
        given.save.parent.mkdir(parents=True, exist_ok=True)
        given.save.write_bytes(msgspec.json.encode(result) + b"\n")
    if given.json:
        print(msgspec.json.encode(result).decode())
        return
    print(shelf_report.table(result))
    if result.peers:
        print(f"\n{shelf_report.peers_table(result)}")
    if earlier is not None:
        print(f"\n{shelf_report.comparison(earlier, result)}")


if __name__ == "__main__":
    main()
