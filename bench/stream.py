"""The overhead between the model and one reader: tokens a second through HTTP beside a bare `llama_decode` loop.

    python bench/stream.py [--data-dir DIR] [--model small] [--questions 12] [--llamaindex 4]

One reader asks a real server, in which the model's process is asked through a listener that notes when tokens come. The
rate is that of the tokens after the first, until the reader has the whole answer: searching for sentence ends, proving
sentences, JSON and HTTP are in it. The bare loop (`decode_peers.py bare`) then writes as many tokens after the same
prompt from the same file. The second part asks the same in other words: the first token after a prompt whose
passages were seen before, counted from the question's arrival at the server's door. With `--llamaindex` so many
questions are put to a plain LlamaIndex pipeline after it (`peer_llamaindex.py --first-token`, four passages, the same
file).
"""

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import time
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
from common import CORPUS, ROOT, finish, machine
from decode import Peer, plain_pipeline
from http_answers import questions
from serving import Server, ingested, served

from lutrin.cli import main as cli
from lutrin.generate.tune import read_tuning
from lutrin.generate.worker import WorkerGenerator
from lutrin.records import Finished, GenerationEvent, GenerationRequest, Message, Piece
from lutrin.runtime import language_model

OUT = ROOT / "bench" / "out" / "http-answers"
NOTES = "LUTRIN_BENCH_NOTES"
MODELS = {"small": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "medium": "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"}


class Note(msgspec.Struct, frozen=True):
    """What the model did for one request; times by the machine's monotonic clock."""

    messages: tuple[Message, ...]
    first_s: float
    tokens: int
    reason: str


class Listening(WorkerGenerator):
    """A `WorkerGenerator` that writes down when its first token came and how many they were."""

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """As its parent."""
        first_s = 0.0
        async for event in super().stream(request):
            if isinstance(event, Piece):
                first_s = first_s or time.monotonic()
            elif isinstance(event, Finished):
                note = Note(request.messages, first_s, event.tokens, event.reason)
                _write(msgspec.json.encode(note) + b"\n")
            yield event


def _write(line: bytes) -> None:
    with Path(os.environ[NOTES]).open("ab") as file:
        file.write(line)


async def ask(server: Server, text: str) -> tuple[float, float]:
    """When the question was sent, and when the reader had the answer."""
    sent_s = time.monotonic()
    body = {"query": text, "session_id": uuid.uuid4().hex}
    headers = {"Accept": "text/event-stream"}
    async with server.client.stream("POST", "/api/query", json=body, headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: done"):
                break
    return sent_s, time.monotonic()


async def measure(data_dir: Path, model: str, count: int, file: Path) -> dict[str, Any]:
    """Both sides in turn, question by question."""
    notes = data_dir / "notes.jsonl"
    notes.unlink(missing_ok=True)
    os.environ[NOTES] = str(notes)
    peer = Peer("bare loop", Path(sys.executable), "bare", file)
    ours_s, bare_s, firsts, tokens = [], [], [], 0
    async with served(data_dir, program=(sys.executable, __file__), MODEL=model, EXPLAIN_S="60") as server:
        await peer.start()
        await ask(server, "What does the first chapter say?")
        for text in itertools.islice(questions(), count):
            known = len(notes.read_bytes().splitlines()) if notes.exists() else 0
            _, done_s = await ask(server, text)
            sent_s, _ = await ask(server, f"Please tell me: {text}")
            lines = notes.read_bytes().splitlines()[known:]
            if len(lines) != 2:  # an answer of quotes alone does not count
                continue
            note, again = (msgspec.json.decode(line, type=Note) for line in lines)
            firsts.append(again.first_s - sent_s)
            if note.reason != "stop":
                continue
            chat = [{"role": message.role, "content": message.content} for message in note.messages]
            ((first_s, last_s, _),) = await peer.round([chat], note.tokens + 1)
            ours_s.append(done_s - note.first_s)
            bare_s.append(last_s - first_s)
            tokens += note.tokens
        await peer.close()
    ours, bare = tokens / sum(ours_s), tokens / sum(bare_s)
    return {
        "http_tokens_per_s": round(ours, 1),
        "bare_tokens_per_s": round(bare, 1),
        "ratio": round(ours / bare, 3),
        "answers": len(ours_s),
        "tokens": tokens,
        "first_token_seen_before_ms": round(1000 * statistics.median(firsts)),
    }


def main() -> None:
    """Measure and print; as `stream.py serve ...` be the server."""
    if sys.argv[1:2] == ["serve"]:
        language_model.WorkerGenerator = Listening  # type: ignore[misc]  # what a test would call a spy
        cli.main()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=OUT)
    parser.add_argument("--model", default="small", choices=MODELS)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--llamaindex", type=int, default=0, help="questions for a plain LlamaIndex pipeline")
    arguments = parser.parse_args()
    ingested(arguments.data_dir, CORPUS)
    tuning = read_tuning(arguments.data_dir / "tuning.json")
    shipped = ROOT / "models" / MODELS[arguments.model]
    paths = [Path(trial.path) for trial in tuning.trials if trial.path in tuning.files.values()] if tuning else []
    file = next((path for path in paths if path.name.startswith(shipped.stem)), shipped)
    result = asyncio.run(measure(arguments.data_dir, arguments.model, arguments.questions, file))
    if arguments.llamaindex:
        result |= {f"llamaindex_{name}": ms for name, ms in plain_pipeline(file, arguments.llamaindex).items()}
    lines = ["| figure | value |", "|---|--:|", *(f"| {name} | {value} |" for name, value in result.items())]
    finish("One reader's stream", ["\n".join(lines)], result, machine("llama-cpp-python") | {"file": file.name})


if __name__ == "__main__":
    main()
