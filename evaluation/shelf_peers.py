"""Ask other pipelines about the books of a shelf: the same questions, models and judge, each in its own process.

A few questions a book, spread over it: a fourth of them, one at least, of the kind `near`, the rest questions of the
book. Questions about a selection are left out, for the peers know none. What was asked once is not asked again: delete
the book's folder of the peers to ask anew.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evaluation.questions import EvalQuestion
from evaluation.report import read_report
from evaluation.shelf_report import PeerResult, Scores

MODELS = ("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
ROOT = Path(__file__).resolve().parents[1]


def chosen(questions: Sequence[EvalQuestion], count: int) -> list[EvalQuestion]:
    """The questions that a peer is asked; all that there are, if there are no more."""
    near = [item for item in questions if item.kind == "near"]
    inside = [item for item in questions if item.in_book and not item.selected_text]
    return [*_spread(inside, count - max(1, count // 4)), *_spread(near, max(1, count // 4))]


def _spread(questions: Sequence[EvalQuestion], count: int) -> list[EvalQuestion]:
    if count >= len(questions):
        return list(questions)
    return [questions[int((index + 0.5) * len(questions) / count)] for index in range(count)]


def ask_llamaindex(name: str, folder: Path, questions: Sequence[EvalQuestion], out: Path) -> list[PeerResult]:
    """LlamaIndex on one book, once with each model that is here.

    Args:
        name: Of the book.
        folder: The book.
        questions: As `chosen` gives them.
        out: Folder for its index, its questions and its reports.
    """
    out.mkdir(parents=True, exist_ok=True)
    asked = out / "questions.jsonl"
    asked.write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in questions))
    results = []
    for model in (ROOT / "models" / file for file in MODELS):
        if not model.exists():
            print(f"{name}: {model.name} is not here; `lutrin models fetch small medium` brings it.", file=sys.stderr)
            continue
        report = out / f"{model.stem}.json"
        if not _answers(report, questions) and not _ask(model, folder, asked, out / "index", report):
            print(f"{name}: LlamaIndex with {model.name} failed; its message stands above.", file=sys.stderr)
            continue
        found = read_report(report)
        scores = tuple(Scores(id=item.id, kind=item.kind, measures=item.measures) for item in found.outcomes)
        results.append(PeerResult(peer=found.name, book=name, scores=scores))
    return results


def _answers(report: Path, questions: Sequence[EvalQuestion]) -> bool:
    """Whether a report of an earlier run has these questions."""
    return report.exists() and {item.id for item in read_report(report).outcomes} == {item.id for item in questions}


def _ask(model: Path, folder: Path, asked: Path, index: Path, report: Path) -> bool:
    """Run the peer; False if it failed."""
    command = [sys.executable, "-m", "evaluation.peers.llamaindex", "--corpus", str(folder), "--split", "all"]
    command += ["--questions", str(asked), "--model", str(model), "--kept", str(index), "--save", str(report)]
    return subprocess.run(command, check=False, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
