"""Have answers read and marked by a person: `python -m evaluation.read ask LIST`, then `... sum MARKS ...`.

`ask` puts the questions of a list (`evaluation/read/*.jsonl`) to Lutrin, conversations turn by turn, and writes into
`bench/out/read/NAME-TIER/` the page `answers.md` (question, expected content, answer, sources) and `marks.tsv`, where
the person who reads enters the marks; see `read_list` for the scale. `--marks` takes an earlier file of marks:
unchanged answers keep theirs, and with `--changed` the page shows only the others.

`sum` adds the marks of one or more books up, by book and by kind, and says what is not marked yet; `--compare` shows
earlier marks beside.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evaluation.asking import PATIENT_S, ingest, opened_pipeline
from evaluation.read_list import (
    CAUSES,
    Mark,
    ReadQuestion,
    blank_mark,
    carried_over,
    read_list,
    read_marks,
    write_marks,
)
from evaluation.show import aligned
from lutrin.errors import LutrinError
from lutrin.records import Answer, Question
from lutrin.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
BOOKS = ROOT / "corpus" / "physical-ai"
OUT = ROOT / "bench" / "out" / "read"
GROUPS = {
    "plain": {"definition", "why", "how"},
    "sloppy": {"messy"},
    "tasks": {
        *("explain", "simpler", "example", "analogy", "compare", "steps", "summary", "synthesis"),
        *("code", "quiz", "about"),
    },
    "follow-ups": {"conversation"},
}
SHARES = ("give", "begins", "false")
MEANS = ("mean mark", "irrelevant")


async def ask(questions: Sequence[ReadQuestion], books: Path, data: Path, model: str) -> list[Answer]:
    """Ingest a folder of books and answer the questions; a question after another one is asked in its conversation."""
    settings = load_settings(
        profile="local",
        data_dir=data,
        models_dir=ROOT / "models",
        model=model,
        explain_s=PATIENT_S,
        live_s=PATIENT_S,
        deadline_s=PATIENT_S,
        log_level="error",
    )
    await ingest(settings, books)
    answers = []
    continued = {item.after for item in questions}
    async with opened_pipeline(settings) as pipeline:
        session = ""
        for done, item in enumerate(questions, start=1):
            session = session if item.after else item.id if item.id in continued else ""
            asked = Question(text=item.question, selected_text=item.selected_text, session_id=session)
            answers.append(await pipeline.answer(asked))
            print(f"{done}/{len(questions)}", file=sys.stderr, end="\r" if sys.stderr.isatty() else "\n")
    return answers


def page(questions: Sequence[ReadQuestion], answers: Sequence[Answer]) -> str:
    """Question, what is wanted, answer, its sentences that the book may not state, and sources, for who reads."""
    parts = [f"# {len(questions)} answers\n"]
    for item, answer in zip(questions, answers, strict=True):
        about = f"*{item.kind}, {answer.kind}{f', after {item.after}' if item.after else ''}*"
        parts.append(f"## {item.id}: {item.question}\n\n{about}\n")
        if item.selected_text:
            parts.append(f"Selected:\n\n> {item.selected_text}\n")
        if item.wanted:
            parts.append(f"Wanted: {item.wanted}\n")
        parts.append("\n".join(f"    {line}" for line in answer.answer.splitlines()) + "\n")
        doubtful = [sentence for sentence in answer.sentences if sentence.support != "stated"]
        parts += [f"- {sentence.support}: {sentence.text}" for sentence in doubtful]
        parts += [f"- warning: {text}" for text in answer.warnings]
        parts += [f"- [{source.n}] {source.filename}, {source.section_title}" for source in answer.sources]
        parts += [f"- suggests: {text}" for text in answer.suggestions]
        parts.append("")
    return "\n".join(parts)


def summary(books: Mapping[str, Sequence[Mark]]) -> dict[str, dict[str, float | None]]:
    """The marks of each book added up: for all, each book if there are several, the groups of kinds, and each kind."""
    marks = [mark for found in books.values() for mark in found]
    kinds = {mark.kind: {mark.kind} for mark in marks}
    groups = {
        "all": marks,
        **(books if len(books) > 1 else {}),
        **{name: [mark for mark in marks if mark.kind in group] for name, group in (GROUPS | kinds).items()},
    }
    return {name: _figures(found) for name, found in groups.items() if found}


def _figures(marks: Sequence[Mark]) -> dict[str, float | None]:
    refused = [mark for mark in marks if mark.answered_as == "refusal"]
    return {
        "answers": len(marks),
        "give": _share(mark.give for mark in marks),
        "begins": _share(mark.begins for mark in marks),
        "false": _share(mark.false for mark in marks if mark.answered_as != "refusal"),
        "mean mark": round(sum(mark.answers or 0 for mark in marks) / len(marks), 2),
        "irrelevant": round(sum(mark.irrelevant for mark in marks) / len(marks), 2),
        "unsafe": sum(mark.unsafe for mark in marks),
        "refusals": len(refused),
        "wrong refusals": sum(not mark.give for mark in refused),
    }


def _share(verdicts: Iterable[bool | None]) -> float | None:
    """The share of yes among what was judged; None if nothing was."""
    judged = [verdict for verdict in verdicts if verdict is not None]
    return round(sum(judged) / len(judged), 3) if judged else None


def sum_table(books: Mapping[str, Sequence[Mark]], earlier: Mapping[str, Sequence[Mark]] | None = None) -> str:
    """The figures of marks by book and kind, with those of earlier marks beside, and the causes."""
    now, then = summary(books), summary(earlier) if earlier else {}
    heads = list(next(iter(now.values())))
    rows = [["kind", *heads, *(["give then"] if then else [])]]
    for name, values in now.items():
        before = [_number("give", then[name]["give"]) if name in then else ""] if then else []
        rows.append([name, *(_number(head, values[head]) for head in heads), *before])
    found = Counter(mark.cause for marks in books.values() for mark in marks if not mark.give)
    causes = [["cause", "answers not given", "means"]]
    causes += [[cause or "none named", str(count), CAUSES[cause]] for cause, count in found.most_common()]
    return f"{aligned(rows)}\n\n{aligned(causes)}"


def _number(head: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if head in SHARES + MEANS else f"{value:.0f}"


def _ask(given: argparse.Namespace) -> None:
    questions = read_list(given.file)
    earlier = read_marks(given.marks) if given.marks else []
    out = given.out or OUT / f"{given.file.stem}-{given.model}"
    answers = asyncio.run(ask(questions, given.books, given.data, given.model))
    marks = carried_over([blank_mark(*pair) for pair in zip(questions, answers, strict=True)], earlier)
    open_ = {mark.id for mark in marks if not mark.is_marked}
    pairs = [pair for pair in zip(questions, answers, strict=True) if not given.changed or pair[0].id in open_]
    out.mkdir(parents=True, exist_ok=True)
    (out / "answers.md").write_text(page([item for item, _ in pairs], [item for _, item in pairs]), encoding="utf-8")
    (out / "marks.tsv").write_text(write_marks(marks), encoding="utf-8")
    print(f"{len(answers)} answers in {out}/answers.md; {len(open_)} of them to be marked in {out}/marks.tsv.")


def _sum(given: argparse.Namespace) -> None:
    books = {_name(path): read_marks(path) for path in given.files}
    if unmarked := [f"{book} {mark.id}" for book, marks in books.items() for mark in marks if not mark.is_marked]:
        more = " ..." if len(unmarked) > 10 else ""
        print(f"{len(unmarked)} answers are not marked yet: {', '.join(unmarked[:10])}{more}", file=sys.stderr)
    if not (done := _marked(books)):
        sys.exit("Nothing is marked yet; fill in the columns answers, give, begins and false.")
    earlier = _marked({_name(path): read_marks(path) for path in given.compare})
    print(json.dumps(summary(done)) if given.json else sum_table(done, earlier))


def _name(path: Path) -> str:
    """Name of a list with its tier: `ask` writes `NAME-TIER/marks.tsv`; the stored file is `NAME-TIER.tsv`."""
    return path.parent.name if path.stem == "marks" else path.stem


def _marked(books: Mapping[str, Sequence[Mark]]) -> dict[str, list[Mark]]:
    """The marks that somebody has given; books without any are left out."""
    done = {book: [mark for mark in marks if mark.is_marked] for book, marks in books.items()}
    return {book: marks for book, marks in done.items() if marks}


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask a list, or sum marks up."""
    parser = argparse.ArgumentParser(prog="evaluation.read", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask", help="ask a list and write a page to read and a file to mark")
    asking.add_argument("file", type=Path, metavar="LIST", help="such as evaluation/read/iot.jsonl")
    asking.add_argument("--books", type=Path, default=BOOKS, help="folder of the books; default the sample book")
    asking.add_argument("--data", type=Path, default=OUT / "data", help="data folder of the books")
    asking.add_argument("--model", default="none", metavar="TIER", help="tier that answers; default none")
    asking.add_argument("--marks", type=Path, metavar="MARKS", help="earlier marks; unchanged answers keep theirs")
    asking.add_argument("--changed", action="store_true", help="leave out of the page what is marked already")
    asking.add_argument("--out", type=Path, help="folder of the page and the marks; default bench/out/read/LIST-TIER")
    summing = commands.add_parser("sum", help="add marks up by book and kind")
    summing.add_argument("files", type=Path, nargs="+", metavar="MARKS", help="such as evaluation/read/iot-none.tsv")
    summing.add_argument(
        "--compare", type=Path, nargs="+", default=[], metavar="MARKS", help="earlier marks to show beside"
    )
    summing.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        (_ask if given.command == "ask" else _sum)(given)
    except LutrinError as error:
        sys.exit(f"{error.detail} {error.remedy}".strip())


if __name__ == "__main__":
    main()
