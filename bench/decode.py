"""Simultaneous answers: Lutrin's batching decoder beside its peers, the same prompts in the same run.

    python bench/decode.py [--model FILE] [--readers 1 2 4 10 30] [--tokens 48] [--rounds 1] [--peers locked ...]

Every engine is a process of its own and gets the model file as shipped and the one tuned for this CPU. In a round all
readers ask different questions about one passage at the same moment. *Cold*: no engine has seen the passage; *warm*:
it was asked about before. Engines take turns in each row, so that what else the machine does falls on all of them.

Peers: `locked` is `llama_cpp.Llama` behind a lock, which keeps the last prompt's beginning; `xllamacpp` is llama.cpp's
own server loop with ten slots (environment `.venv-xllamacpp`, made on the first run from requirements/bench.txt);
`llamaindex` is a plain LlamaIndex pipeline (`peer_llamaindex.py --first-token`, four passages, the tuned file), one
reader at a time, since that is all it does: its first token follows the table.
"""

import argparse
import asyncio
import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from common import CORPUS, ROOT, finish, machine
from decode_plot import Point, svg

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.adapters.llamacpp import quantize
from lutrin.generate.scheduler import Limits
from lutrin.generate.worker import THREADS_SLEEP, WorkerGenerator
from lutrin.platform import physical_cores
from lutrin.records import Finished, GenerationRequest, Message, Piece

HOME = ROOT / ".venv-xllamacpp"
REQUIREMENTS = ROOT / "requirements" / "bench.txt"
OUT = ROOT / "bench" / "out"
PICTURE = ROOT / "docs" / "simultaneous-answers.svg"
SYSTEM = "You are a tutor. Answer only from the context, in short sentences, and cite it as [1]."
PASSAGE_WORDS = 150
CONTEXT_TOKENS = 8192
SLOTS = 10
PEERS = ("locked", "xllamacpp", "llamaindex")
PIPELINE_QUESTIONS = 3
"""Number of questions for LlamaIndex: each takes a minute or more on two cores."""

Times = list[tuple[float, float, int]]
"""For each reader: seconds to the first and the last text, and the number of pieces."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One engine in one row of the table."""

    engine: str
    readers: int
    warm: bool
    seconds: float
    """Until the last reader has everything."""
    tokens_per_s: float
    """Of all readers together."""
    first_p50_s: float
    first_p95_s: float


class Ours:
    """Lutrin's worker."""

    def __init__(self, name: str, model: Path) -> None:
        self.name = name
        factory = functools.partial(open_decoder, model, CONTEXT_TOKENS, SLOTS)
        self._worker = WorkerGenerator(name, factory, limits=Limits(slots=SLOTS))

    async def start(self) -> None:
        """Load the model."""
        if not await self._worker.start():
            raise SystemExit(f"{self.name} does not load.")

    async def round(self, chats: Sequence[list[dict[str, str]]], tokens: int) -> Times:
        """Ask all at once."""
        began = time.perf_counter()
        return list(await asyncio.gather(*(self._ask(chat, tokens, began) for chat in chats)))

    async def _ask(self, chat: list[dict[str, str]], tokens: int, began: float) -> tuple[float, float, int]:
        times: list[float] = []
        count = 0
        messages = tuple(msgspec.convert(chat, list[Message]))
        request = GenerationRequest(messages=messages, max_tokens=tokens, deadline_s=600)
        async for event in self._worker.stream(request):
            if isinstance(event, Piece):
                times.append(time.perf_counter() - began)
            elif isinstance(event, Finished):
                count = event.tokens
        return times[0], times[-1], count

    async def close(self) -> None:
        """End the process."""
        await self._worker.close()


class Peer:
    """An engine of decode_peers.py."""

    def __init__(self, name: str, python: Path, kind: str, model: Path) -> None:
        self.name = name
        self._command = [str(python), str(ROOT / "bench" / "decode_peers.py"), kind, str(model), str(physical_cores())]

    async def start(self) -> None:
        """Load the model; OpenMP's threads sleep as ours do: what spins is far slower beside other work."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **THREADS_SLEEP},
        )
        if await self._line() != []:
            raise SystemExit(f"{self.name} does not load.")

    async def round(self, chats: Sequence[list[dict[str, str]]], tokens: int) -> Times:
        """Ask all at once."""
        task = {"chats": chats, "tokens": tokens}
        self._process.stdin.write(json.dumps(task).encode() + b"\n")  # type: ignore[union-attr]  # it is a pipe
        return [tuple(times) for times in await self._line()]

    async def close(self) -> None:
        """End the process."""
        self._process.kill()
        await self._process.wait()

    async def _line(self) -> Any:  # noqa: ANN401 - what the peer prints
        while True:
            line = await self._process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
            if not line:
                raise SystemExit(f"{self.name} has ended.")
            # What a package prints by itself is no JSON list.
            if line.startswith(b"["):
                return json.loads(line)


def peer_python() -> Path:
    """The interpreter of xllamacpp's own environment, which is made if it is not as the requirement file wants it."""
    python = HOME / "bin" / "python"
    stamp = HOME / ".lutrin-bench"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        uv = str(Path(sys.prefix) / "bin" / "uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes"]
        subprocess.run([*install, "--only-binary", ":all:", "-r", str(REQUIREMENTS)], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def plain_pipeline(file: Path, questions: int) -> dict[str, int]:
    """Milliseconds (medians) to LlamaIndex's first token, of passages not seen before and of passages seen."""
    command = [sys.executable, str(ROOT / "bench" / "peer_llamaindex.py"), "--first-token", "--top-k", "4"]
    done = subprocess.run(
        [*command, "--model", str(file), "--limit", str(questions)], check=True, stdout=subprocess.PIPE, text=True
    )
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return {name: found[name] for name in ("cold_ms", "seen_before_ms")}


def passages() -> list[str]:
    """Stretches of the sample book, each of the same number of words."""
    words = [word for page in sorted(CORPUS.rglob("*.md*")) for word in page.read_text(encoding="utf-8").split()]
    return [" ".join(words[at : at + PASSAGE_WORDS]) for at in range(500, len(words) - PASSAGE_WORDS, PASSAGE_WORDS)]


def chats(passage: str, readers: int, turn: int) -> list[list[dict[str, str]]]:
    """Different questions about one passage."""
    asked = ("Explain", "Describe in detail", "Sum up", "Teach me", "Tell a beginner about")
    return [
        [
            {"role": "system", "content": SYSTEM},
            {
                "role": "user",
                "content": f"Context: [1] {passage}\n\nQuestion {turn}.{n}: {asked[n % 5]} point {n + 1} of this.",
            },
        ]
        for n in range(readers)
    ]


def cell(engine: str, *, warm: bool, times: Times) -> Cell:
    """The figures of a round."""
    firsts = sorted(first for first, _, _ in times)
    seconds = max(last for _, last, _ in times)
    return Cell(
        engine=engine,
        readers=len(times),
        warm=warm,
        seconds=seconds,
        tokens_per_s=sum(count for _, _, count in times) / seconds,
        first_p50_s=firsts[len(firsts) // 2],
        first_p95_s=firsts[min(len(firsts) - 1, int(0.95 * len(firsts)))],
    )


async def measure(engines: Sequence[Ours | Peer], readers: Sequence[int], tokens: int, rounds: int) -> list[Cell]:
    """All rows; of several rounds each engine's best, as noise only ever adds."""
    for engine in engines:
        await engine.start()
        await engine.round(chats("Hello.", 1, 0), 4)
    stock = passages()
    cells = []
    for row, number in enumerate(readers):
        found: dict[tuple[str, bool], list[Cell]] = {}
        for turn in range(rounds):
            passage = stock[(row * rounds + turn) % len(stock)]
            for warm in (False, True):
                asked = chats(passage, number, int(warm))
                for engine in engines:
                    times = await engine.round(asked, tokens)
                    found.setdefault((engine.name, warm), []).append(cell(engine.name, warm=warm, times=times))
        best = [min(candidates, key=lambda one: one.seconds) for candidates in found.values()]
        for one in best:
            print(f"  {one.engine}, {one.readers} readers: {one.seconds:.1f} s", file=sys.stderr)
        cells += best
    for engine in engines:
        await engine.close()
    return cells


def table(cells: Sequence[Cell], base: str) -> str:
    """One line a cell, with the ratio of its tokens a second to those of `base`, our engine on the same row."""
    lines = [
        "| readers | passage | engine | tokens/s | ours is | first text p50 / p95, s | all done, s |",
        "|--:|---|---|--:|--:|--:|--:|",
    ]
    for one in cells:
        ours = next(c for c in cells if (c.engine, c.readers, c.warm) == (base, one.readers, one.warm))
        lines.append(
            f"| {one.readers} | {'warm' if one.warm else 'cold'} | {one.engine} | {one.tokens_per_s:.1f} "
            f"| {ours.tokens_per_s / one.tokens_per_s:.2f}x | {one.first_p50_s:.2f} / {one.first_p95_s:.2f} "
            f"| {one.seconds:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
    parser.add_argument("--format", default="Q4_0-all", help="of the tuned file, which is kept in bench/out")
    parser.add_argument("--readers", type=int, nargs="+", default=[1, 2, 4, 10, 30])
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--plot", action="store_true", help=f"write {PICTURE.relative_to(ROOT)} from the warm rows")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    tuned = OUT / f"{arguments.model.stem}-{arguments.format.lower()}.gguf"
    if not tuned.exists():
        quantize(arguments.model, tuned, arguments.format)
    engines: list[Ours | Peer] = [Ours("lutrin, tuned", tuned), Ours("lutrin, as shipped", arguments.model)]
    for kind in (peer for peer in arguments.peers if peer != "llamaindex"):
        python = peer_python() if kind == "xllamacpp" else Path(sys.executable)
        engines += [
            Peer(f"{kind}, tuned", python, kind, tuned),
            Peer(f"{kind}, as shipped", python, kind, arguments.model),
        ]
    cells = asyncio.run(measure(engines, arguments.readers, arguments.tokens, arguments.rounds))
    about = machine("llama-cpp-python") | {
        "load": f"{os.getloadavg()[0]:.1f}",
        "model": arguments.model.name,
        "tuned": arguments.format,
        "tokens": str(arguments.tokens),
    }
    tables, data = [table(cells, "lutrin, tuned")], {"cells": msgspec.to_builtins(cells)}
    if "llamaindex" in arguments.peers:
        data["llamaindex"] = plain = plain_pipeline(tuned, PIPELINE_QUESTIONS)
        seconds = " s, of passages seen before ".join(f"{ms / 1000:.2f}" for ms in plain.values())
        tables.append(f"LlamaIndex, tuned, one reader: first token {seconds} s (medians of {PIPELINE_QUESTIONS}).")
    if arguments.plot:
        points = [Point(one.engine, one.readers, one.tokens_per_s, one.first_p95_s) for one in cells if one.warm]
        note = f"{about['processor']}, {about['cores']} cores, {about['date']}; {arguments.tokens} tokens an answer"
        PICTURE.write_text(svg(points, note), encoding="utf-8")
    finish("Simultaneous answers", tables, data, about)


if __name__ == "__main__":
    main()
