"""A class asks over HTTP: when quotes and answers come, how many the model writes, and what a repeat costs.

    python bench/http_answers.py [--data-dir DIR] [--model small] [--rounds 6] [--crowds 10 30]

A real server (`lutrin serve`, no rate limits) on the sample book; in each round so many readers, each a session of
their own, ask different questions at the same moment and read the stream. No question is asked twice, but for the
last part: there each answer is asked for again. *Useful text* is the first excerpt; *generated* means that the model
wrote at least one sentence that was proven and came before the deadline. `--prepared` asks what the companion of the
book answers, in its words; *explained* counts such answers and the model's. `--data-dir` holds an index (and perhaps
what `lutrin models tune` chose); without it the sample book is read into a folder of its own first. The readers' side
of HTTP is that of wire.py.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from common import CORPUS, QUESTIONS, ROOT, finish, machine
from serving import ingested, served
from wire import Connections

from evaluation.questions import read_questions

OUT = ROOT / "bench" / "out" / "http-answers"
COMPANION = CORPUS / "physical-ai" / "companion.jsonl"
PAUSE_S = 1.0
"""Between rounds, so that none begins in another's tail."""
OPENINGS = ("{}", "Please tell me: {}", "I would like to know: {}", "One question: {}", "For my homework: {}")


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What one reader saw; seconds since the question was sent."""

    useful_s: float
    """Until the first excerpt, or until the answer where there is none."""
    sentence_s: float | None
    """Until the model's first sentence."""
    done_s: float
    kind: str
    """`generated`, `extractive`, `refusal`, or `failed`."""
    failed: bool = False
    explained: bool = False
    """Whether a model, now or beforehand, or the authors explain it."""


def questions(*, prepared: bool = False) -> Iterator[str]:
    """Independent questions, each once, then reworded: a new question to the server.

    Args:
        prepared: Those that the companion of the sample book answers, as it words them.
    """
    if prepared:
        entries = map(json.loads, COMPANION.read_text(encoding="utf-8").splitlines())
        rows = [entry["topic"] for entry in entries if entry["kind"] == "question"]
    else:
        rows = [item.question for item in read_questions(QUESTIONS) if item.in_book and not item.previous_question]
    spread = [rows[at * 37 % len(rows)] for at in range(len(rows))] if len(rows) % 37 else rows
    return (opening.format(text) for opening in OPENINGS for text in spread)


async def ask(readers: Connections, text: str) -> Seen:
    """One reader: ask, and read the stream to its end."""
    began = time.perf_counter()
    useful_s = sentence_s = None
    body = {"query": text, "session_id": uuid.uuid4().hex}
    seen = None
    try:
        async for event in readers.events("/api/query", body):
            now_s = time.perf_counter() - began
            if event["type"] in {"excerpt", "done"}:
                useful_s = useful_s if useful_s is not None else now_s
            if event["type"] == "sentence" and sentence_s is None:
                sentence_s = now_s
            if event["type"] == "done":
                seen = Seen(
                    useful_s=useful_s or now_s,
                    sentence_s=sentence_s,
                    done_s=now_s,
                    kind=str(event["kind"]),
                    explained=bool(event.get("prepared_by") or event.get("model_used")),
                )
    except (RuntimeError, OSError, asyncio.IncompleteReadError) as error:
        print(f"failed: {error}", file=sys.stderr)
    ended_s = time.perf_counter() - began
    return seen or Seen(useful_s=ended_s, sentence_s=None, done_s=ended_s, kind="failed", failed=True)


async def crowd(readers: Connections, asked: Sequence[str]) -> list[Seen]:
    """All at once."""
    seen = list(await asyncio.gather(*(ask(readers, text) for text in asked)))
    await asyncio.sleep(PAUSE_S)
    return seen


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All rounds, then the repeats."""
    stock = questions(prepared=arguments.prepared)
    found: dict[int, list[list[Seen]]] = {}
    async with served(arguments.data_dir, MODEL=arguments.model) as server:
        class_ = Connections(server.client.base_url.port or 80)
        await crowd(class_, list(itertools.islice(stock, 4)))
        for readers, _ in itertools.product(arguments.crowds, range(arguments.rounds)):
            found.setdefault(readers, []).append(await crowd(class_, list(itertools.islice(stock, readers))))
        firsts, repeats = [], []
        for text in itertools.islice(stock, arguments.repeats):
            first, again = await ask(class_, text), await ask(class_, text)
            if first.kind == "generated":
                firsts.append(first.done_s)
                repeats.append(again.done_s)
        class_.close()
    result: dict[str, Any] = {str(readers): figures(rounds) for readers, rounds in found.items()}
    if firsts:
        ratio = statistics.median(again / first for first, again in zip(firsts, repeats, strict=True))
        result["repeat"] = {
            "first_s": round(statistics.median(firsts), 3),
            "again_s": round(statistics.median(repeats), 5),
            "ratio": round(ratio, 5),
            "answers": len(firsts),
        }
    return result


def figures(rounds: Sequence[Sequence[Seen]]) -> dict[str, Any]:
    """Of all rounds with the same number of readers; ratios are the worst of any round."""
    seen = [one for each in rounds for one in each]
    kinds = [one.kind for one in seen]
    return {
        "useful_p95_s": percentile([one.useful_s for one in seen], 0.95),
        "sentence_p95_s": percentile([one.sentence_s for one in seen if one.sentence_s is not None], 0.95),
        "done_median_s": percentile([one.done_s for one in seen], 0.5),
        "done_max_s": percentile([one.done_s for one in seen], 1.0),
        "useful_max_to_median": max(unfair([one.useful_s for one in each]) for each in rounds),
        "done_max_to_median": max(unfair([one.done_s for one in each]) for each in rounds),
        "explained_within_1_s": round(sum(one.explained and one.done_s <= 1 for one in seen) / len(seen), 3),
        "explained": round(sum(one.explained for one in seen) / len(seen), 3),
        "generated": round(kinds.count("generated") / len(kinds), 3),
        "refused": kinds.count("refusal"),
        "failed": sum(one.failed for one in seen),
        "answers": len(seen),
    }


def unfair(seconds: Sequence[float]) -> float:
    """How many times the median the longest wait was."""
    return round(max(seconds) / statistics.median(seconds), 2)


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else 0.0


def table(result: dict[str, Any]) -> str:
    """A column for each number of readers."""
    crowds = [name for name in result if name.isdigit()]
    lines = [f"| | {' | '.join(f'{name} at once' for name in crowds)} |", f"|---|{'--:|' * len(crowds)}"]
    lines += [
        f"| {name} | {' | '.join(f'{result[crowd][name]:g}' for crowd in crowds)} |" for name in result[crowds[0]]
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=OUT)
    parser.add_argument("--model", default="small", help="as LUTRIN_MODEL")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--crowds", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--repeats", type=int, default=10, help="answers that are asked for again")
    parser.add_argument("--prepared", action="store_true", help="ask only what the companion answers, in its words")
    arguments = parser.parse_args()
    ingested(arguments.data_dir)
    result = asyncio.run(measure(arguments))
    tuned = (arguments.data_dir / "tuning.json").exists()
    about = machine("litestar", "llama-cpp-python") | {"model": arguments.model, "tuned": "yes" if tuned else "no"}
    tables = [table(result)]
    if repeat := result.get("repeat"):
        again_ms = repeat["again_s"] * 1000
        tables.append(f"Exact repeat: {again_ms:.1f} ms after {repeat['first_s']:.2f} s, 1/{1 / repeat['ratio']:.0f}.")
    finish("A class over HTTP", tables, result, about)


if __name__ == "__main__":
    main()
