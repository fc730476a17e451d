"""Measure the grades of sentences on a strong model's answers: `python -m evaluation.remote [FILE ...]`.

FILE (default `evaluation/remote/*.jsonl`) holds one answer a line: a question, the stretches of a book that were found,
and the sentences that a strong model says of them, each with its citations; in half of the answers one sentence is
false. A service on the loopback interface says them in OpenAI's protocol to the adapter of the remote profile, and what
reaches a reader is counted: sentences of good answers, sentences that are false, and the true ones beside these.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec

from evaluation.claims import ROOT, SHELF, Place, folder_of, stretch_as_passage
from evaluation.rows import read_rows
from evaluation.show import aligned
from lutrin.answer.explain import Explainer, Explanation
from lutrin.answer.grade import Grader, bare_sentence, fitted_weights
from lutrin.answer.plan import Plan
from lutrin.answer.prompt import prompt_of
from lutrin.answer.runs import whole
from lutrin.answer.traffic import Traffic
from lutrin.errors import InvalidInput, LutrinError
from lutrin.ports import Embedder
from lutrin.query.understand import alone
from lutrin.records import Question, Sentence
from lutrin.settings import Settings, load_settings
from lutrin_remote.remote_openai import RemoteGenerator

ANSWERS = ROOT / "evaluation" / "remote"
TOLD_EVERY = 10
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class RemoteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A strong model's answer to a question."""

    id: str
    question: str
    book: str
    passages: tuple[Place, ...]
    """File, offset and length in characters, SHA-256; cited as `[1]`, `[2]`, ... in this order."""
    sentences: tuple[str, ...]
    false_sentence: int | None = None
    """Index of the false sentence, from 0."""
    kind: str = ""
    """The fault of that sentence."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Which sentences of an answer were shown."""

    answer: RemoteAnswer
    shown: tuple[bool, ...]
    """By sentence: whether a reader sees it."""
    marked: tuple[bool, ...]
    """By sentence: whether it stands with the mark of what is not word for word in the book."""
    ms: float
    """A sentence."""


class Service:
    """A service that streams a given answer word by word to every request for a completion."""

    def __init__(self) -> None:
        self.answer = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve on the loopback interface; gives the address."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.splitlines() if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        writer.write(HEAD)
        words = self.answer.split(" ")
        for n, word in enumerate(words):
            writer.write(_chunk({"content": word if n == 0 else f" {word}"}))
        writer.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "played", "choices": [choice]}
    return b"data: " + msgspec.json.encode(body) + b"\n\n"


def read_answers(files: Sequence[Path]) -> list[RemoteAnswer]:
    """The answers of several files.

    Raises:
        InvalidInput: A line is not an answer, or there are no lines.
    """
    return read_rows(files, RemoteAnswer, f"There are no answers in {', '.join(map(str, files)) or ANSWERS}.")


async def play(answers: Sequence[RemoteAnswer], shelf: Path, settings: Settings, embedder: Embedder) -> list[Judged]:
    """Have the service give each answer, and record which sentences pass the check."""
    service = Service()
    judged = []
    async with service.serving() as address:
        generator = RemoteGenerator("played", address, "none")
        explainer = Explainer(generator, Grader(embedder, fitted_weights().strong), settings, Traffic(), time.monotonic)
        for number, answer in enumerate(answers, start=1):
            service.answer = " ".join(answer.sentences)
            judged.append(await _played(answer, explainer, folder_of(answer.book, shelf)))
            if number % TOLD_EVERY == 0:
                print(f"{number} of {len(answers)} answers", file=sys.stderr)
        await generator.close()
    return judged


async def _played(answer: RemoteAnswer, explainer: Explainer, folder: Path) -> Judged:
    chunks = [stretch_as_passage(answer.book, folder / place[0], place) for place in answer.passages]
    plan = Plan(alone(Question(text=answer.question)), answer.book, "played", "")
    prompt = prompt_of(plan.query, plan.title, [(number, whole(chunk)) for number, chunk in enumerate(chunks, 1)])
    if prompt is None:
        raise InvalidInput(f"{answer.id}: its passages give a model orders.")
    explanation = Explanation()
    began = time.perf_counter()
    unsaid = asyncio.create_task(_nothing())
    async with aclosing(explainer.sentences(plan, prompt, time.monotonic(), explanation, unsaid)) as events:
        said = [event async for event in events if isinstance(event, Sentence)]
    ms = 1000 * (time.perf_counter() - began) / len(answer.sentences)
    found = [_of(bare_sentence(sentence), said) for sentence in answer.sentences]
    return Judged(
        answer=answer,
        shown=tuple(one is not None for one in found),
        marked=tuple(one is not None and one.support == "likely" for one in found),
        ms=ms,
    )


async def _nothing() -> None:
    """The yes of a service that says none."""


def _of(text: str, said: Sequence[Sentence]) -> Sentence | None:
    """The shown sentence that a sentence became."""
    return next((one for one in said if text in one.text or one.text in text), None)


def table(judged: Sequence[Judged]) -> str:
    """Format the shares of sentences that reach a reader."""
    good = [item for item in judged if item.answer.false_sentence is None]
    bad = [item for item in judged if item.answer.false_sentence is not None]
    false = [item.shown[item.answer.false_sentence or 0] for item in bad]
    beside = [kept for item in bad for n, kept in enumerate(item.shown) if n != item.answer.false_sentence]
    rows = [
        ["what", "sentences", "shown", "goal"],
        _row("of good answers", [kept for item in good for kept in item.shown], ">= 0.85"),
        _row("that are false", false, "<= 0.01"),
        _row("true ones beside them", beside, ""),
        _row("of good answers, with a mark", [kept for item in good for kept in item.marked], ""),
    ]
    kinds = sorted({item.answer.kind for item in bad})
    rows += [
        _row(f"false: {kind}", [k for i, k in zip(bad, false, strict=True) if i.answer.kind == kind], "")
        for kind in kinds
    ]
    return aligned(rows)


def _row(name: str, kept: Sequence[bool], goal: str) -> list[str]:
    return [name, str(len(kept)), f"{sum(kept) / len(kept):.3f}" if kept else "", goal]


async def main_async(options: argparse.Namespace) -> None:
    """Read, play, print."""
    from lutrin.runtime.profile import open_embedder  # noqa: PLC0415 - models load only when sentences are graded

    settings = load_settings(profile="local", models_dir=ROOT / "models", model="none", explain_s=60, log_level="error")
    answers = read_answers(options.files or sorted(ANSWERS.glob("*.jsonl")))
    judged = await play(answers, options.shelf, settings, open_embedder(settings))
    print(f"{len(answers)} answers, {sum(item.ms for item in judged) / len(judged):.0f} ms a sentence")
    print(table(judged))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--shelf", type=Path, default=SHELF, help="folder of the shelf's books")
    try:
        asyncio.run(main_async(parser.parse_args()))
    except LutrinError as error:
        print(error.detail, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
