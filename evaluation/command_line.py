"""Shared by the commands of this package: sample questions, description of the machine, printing of results."""

import argparse
import datetime as dt
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from evaluation.questions import EvalQuestion, read_questions, select

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus"
QUESTIONS = (ROOT / "corpus" / "questions" / "in_book.jsonl", ROOT / "corpus" / "questions" / "out_of_book.jsonl")
EMBED_MODEL = ROOT / "models" / "reader"


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Options that choose questions."""
    parser.add_argument("--questions", type=Path, nargs="+", default=QUESTIONS, help="question files")
    parser.add_argument("--split", choices=("tune", "test", "all"), default="test", help="half of the questions")
    parser.add_argument("--limit", type=int, default=0, help="ask only so many, spread over the file")


def chosen_questions(arguments: argparse.Namespace) -> list[EvalQuestion]:
    """The questions that the options choose; with a limit, evenly spread over the files."""
    questions = select(read_questions(arguments.questions), arguments.split)
    if not 0 < arguments.limit < len(questions):
        return questions
    step = len(questions) / arguments.limit
    return [questions[int(index * step)] for index in range(arguments.limit)]


def machine(*packages: str) -> dict[str, str]:
    """Processor, cores, Python, versions of packages, and the date: what a figure must be read with."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    found = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
    }
    return found | {package: metadata.version(package) for package in packages}


def spread(seconds: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2] * 1000, ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] * 1000


def finish(title: str, tables: Sequence[str], data: Mapping[str, object], about: Mapping[str, str]) -> None:
    """Print a result: title, machine, tables, and as the last line everything as JSON."""
    print(f"## {title}\n")
    print(", ".join(f"{name} {value}" for name, value in about.items()) + "\n")
    for table in tables:
        print(table + "\n")
    print(json.dumps({"benchmark": title, "machine": dict(about), **data}))
