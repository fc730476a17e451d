"""Other ways to compute an answer's prompt and to choose its words: what they cost and what they do to the answers.

    python bench/prompt_variants.py [--data-dir DIR] [--model FILE] [--limit 40]

The prompts are those of Lutrin for the tuning half of the sample questions. *exact*: all computed in order. *stored*:
every passage's states are computed alone, once, and placed into the prompt at their position
(`llama_memory_seq_add`), their first tokens recomputed there; what is timed is the placing and the rest. *limited*: the
answer may use words of the prompt and function words alone. *drafted*: three tokens are looked up in the prompt after
the last two written ones; how many would have been right. Facts are the key facts in the generated text itself;
supported is the share of answers with a sentence that the verifier lets through.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llama_cpp
import numpy as np
from common import QUESTIONS, ROOT, finish, machine
from serving import ingested

from evaluation.measures import facts_in
from evaluation.questions import EvalQuestion, read_questions, select
from lutrin import wiring
from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.answer.compose import SentenceStream
from lutrin.answer.flow import AnswerFlow
from lutrin.answer.ground import support
from lutrin.generate.prefix import common_length
from lutrin.generate.worker import THREADS_SLEEP
from lutrin.ports import Run
from lutrin.records import Finished, GenerationEvent, GenerationRequest, Message, Question
from lutrin.retrieve.language import LanguageCheck
from lutrin.retrieve.words import STOP_WORDS
from lutrin.settings import load_settings

OUT = ROOT / "bench" / "out" / "http-answers"
MODEL = ROOT / "bench" / "out" / "qwen2.5-coder-0.5b-instruct-q4_k_m-q4_0-all.gguf"
ANSWER, KEPT, SPARE = 0, 1, 2
"""Sequences: the answer's, one that holds a passage, one to compute it in."""
RECOMPUTED = 4
"""First tokens of a stored passage: they took on what the beginning of any text attends to."""
TOKENS = 64
DRAFTED = 3
CONTROL = 400
"""Control tokens stand among the last so many of the vocabulary."""


class Asked(NamedTuple):
    """A question and what the model was asked for it."""

    question: EvalQuestion
    messages: tuple[Message, ...]


class Listener:
    """A generator that remembers what it is asked and says nothing."""

    name = "listener"

    def __init__(self) -> None:
        self.requests: list[GenerationRequest] = []

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Nothing."""
        self.requests.append(request)
        yield Finished("stop", 0, 0)

    async def ready(self) -> bool:
        """Always."""
        return True

    async def close(self) -> None:
        """Nothing to free."""


async def prompts(data_dir: Path, limit: int) -> list[Asked]:
    """Ask the tuning half, and keep the prompts."""
    settings = load_settings(data_dir=data_dir)
    listener = Listener()
    found = []
    async with wiring.opened(settings, with_model=False) as house:
        flow = AnswerFlow(
            shelf=house.shelf,
            searcher=house.searcher,
            language=LanguageCheck(settings.languages),
            settings=settings,
            generator=listener,
        )
        for item in select(read_questions(QUESTIONS), "tune"):
            if item.in_book and not item.previous_question and not item.selected_text:
                listener.requests.clear()
                async for _ in flow.answer(Question(text=item.question)):
                    pass
                found += [Asked(item, request.messages) for request in listener.requests]
    return found[:limit]


class Writer:
    """One decoder and the ways to use it."""

    def __init__(self, model: Path) -> None:
        self.decoder: Any = open_decoder(model, n_ctx=4096, slots=4)
        # What is tried here is not for the decoder to offer, so it is reached into, in this place alone.
        self._memory, self._context = self.decoder._memory, self.decoder._context  # noqa: SLF001 - see above
        self._size: int = self.decoder._vocab_size  # noqa: SLF001 - as above
        self._prompts = self.decoder._prompts  # noqa: SLF001 - as above
        self.words = {token for word in STOP_WORDS for token in self.ids(f" {word}") + self.ids(word.capitalize())}
        self.words |= set(self.ids(" . , : ; ( ) - ' \" ` [1] [2] [3] [4] [5]\n"))

    def ids(self, text: str) -> list[int]:
        """Tokens of plain text."""
        return list(self._prompts.tokenize(text, special=False))

    def exact(self, tokens: Sequence[int], common: int) -> tuple[int, float]:
        """Everything after the common beginning in order; the first token, and the seconds to it."""
        self._begin(tokens, common)
        began = time.perf_counter()
        return self._read(ANSWER, common, tokens[common:]), time.perf_counter() - began

    def stored(self, tokens: Sequence[int], common: int, parts: Sequence[tuple[int, int]]) -> tuple[int, float]:
        """Passages from states that were computed alone; the rest as it comes."""
        self._begin(tokens, common)
        for index, (start, end) in enumerate(parts):
            self._read(KEPT + index, 0, tokens[start:end])
        began = time.perf_counter()
        at, token = common, 0
        for index, (start, end) in enumerate(parts):
            sequence = KEPT + index
            self._read(ANSWER, at, tokens[at : start + RECOMPUTED])
            llama_cpp.llama_memory_seq_add(self._memory, sequence, 0, -1, start)
            self.decoder.copy(sequence, ANSWER, start + RECOMPUTED, end)
            at = end
        token = self._read(ANSWER, at, tokens[at:])
        seconds = time.perf_counter() - began
        for index in range(len(parts)):
            self.decoder.forget(KEPT + index)
        return token, seconds

    def write(self, tokens: Sequence[int], token: int, allowed: "np.ndarray[Any, Any] | None" = None) -> list[int]:
        """Greedy from a first token on."""
        written: list[int] = []
        while not self.decoder.ends(token) and len(written) < TOKENS:
            written.append(token)
            token = self._read(ANSWER, len(tokens) + len(written) - 1, [token], allowed)
        return written

    def limited(self, tokens: Sequence[int]) -> "np.ndarray[Any, Any]":
        """The tokens that an answer to this prompt may use."""
        ends = [token for token in range(self._size - CONTROL, self._size) if self.decoder.ends(token)]
        return np.array(sorted({*tokens, *self.words, *ends}))

    def text(self, tokens: Sequence[int]) -> str:
        """Written tokens as text."""
        return b"".join(self.decoder.text(token) for token in tokens).decode("utf-8", "replace")

    def _begin(self, tokens: Sequence[int], common: int) -> None:
        for sequence in range(KEPT + 12):
            self.decoder.forget(sequence)
        self._read(ANSWER, 0, tokens[:common])

    def _read(
        self, sequence: int, at: int, tokens: Sequence[int], allowed: "np.ndarray[Any, Any] | None" = None
    ) -> int:
        size = self.decoder.step_tokens
        token: int | None = 0
        for start in range(0, len(tokens), size):
            run = Run(sequence, at + start, tuple(tokens[start : start + size]), wanted=True)
            (token,) = self.decoder.step([run])
        if allowed is None:
            return int(token or 0)
        row = np.ctypeslib.as_array(llama_cpp.llama_get_logits(self._context), shape=(self._size,))
        return int(allowed[row[allowed].argmax()])


def passages(asked: Asked) -> list[str]:
    """The book's words in a prompt."""
    return [asked.messages[-1].content.removeprefix("Passage: ")]


def spans(writer: Writer, asked: Asked, tokens: Sequence[int]) -> list[tuple[int, int]]:
    """Where each of the book's paragraphs stands in the prompt, in tokens; short ones are not worth storing."""
    found, from_ = [], 0
    for paragraph in passages(asked):
        ids = writer.ids(paragraph)[1:-1]
        at = next((n for n in range(from_, len(tokens)) if list(tokens[n : n + len(ids)]) == ids), None)
        if at is not None and len(ids) > 4 * RECOMPUTED:
            found.append((at, at + len(ids)))
            from_ = at + len(ids)
    return found


def facts_told(asked: Asked, text: str) -> float:
    """Share of a question's key facts in a text."""
    facts = asked.question.key_facts
    return len(facts_in(facts, [text])) / len(facts) if facts else 1.0


def let_through(asked: Asked, text: str) -> list[str]:
    """The sentences of an answer that the verifier lets through."""
    stream = SentenceStream()
    sentences = [*stream.feed(text), *stream.finish()]
    evidence = passages(asked)
    return [item for item in sentences if support(item, evidence, question=asked.question.question)]


def threads_sleep() -> None:
    """Go on as the model's process runs: OpenMP reads its settings when it is loaded, so this program begins anew."""
    if not THREADS_SLEEP.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **THREADS_SLEEP})  # noqa: S606 - our own


def judged(asked: Asked, text: str) -> tuple[float, float]:
    """Share of key facts in a text, and whether one of its sentences is supported."""
    return facts_told(asked, text), float(bool(let_through(asked, text)))


def drafted(tokens: Sequence[int], written: Sequence[int]) -> tuple[int, int]:
    """Steps that lookup would have needed for these tokens, and the tokens."""
    steps, at = 0, 0
    while at < len(written):
        known = [*tokens, *written[:at]]
        last = known[-2:]
        match = next((n for n in range(len(known) - 3, 0, -1) if known[n - 1 : n + 1] == last), None)
        guess = known[match + 1 : match + 1 + DRAFTED] if match is not None else []
        at += 1 + common_length(guess, list(written[at : at + DRAFTED]))
        steps += 1
    return steps, len(written)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=OUT)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--limit", type=int, default=40)
    arguments = parser.parse_args()
    threads_sleep()
    ingested(arguments.data_dir)
    asked = asyncio.run(prompts(arguments.data_dir, arguments.limit))
    writer = Writer(arguments.model)
    encoded = [writer.decoder.encode(item.messages) for item in asked]
    common = min(common_length(encoded[0], tokens) for tokens in encoded[1:])
    scores: dict[str, list[tuple[float, float]]] = {"exact": [], "stored": [], "limited": []}
    waits: dict[str, list[float]] = {"exact": [], "stored": []}
    steps = written_tokens = seen_before = paragraphs = 0
    seen: set[str] = set()
    for item, tokens in zip(asked, encoded, strict=True):
        token, seconds = writer.exact(tokens, common)
        waits["exact"].append(seconds)
        written = writer.write(tokens, token)
        scores["exact"].append(judged(item, writer.text(written)))
        needed, count = drafted(tokens, written)
        steps, written_tokens = steps + needed, written_tokens + count
        token, _ = writer.exact(tokens, common)
        allowed = writer.limited(tokens)
        scores["limited"].append(judged(item, writer.text(writer.write(tokens, token, allowed))))
        token, seconds = writer.stored(tokens, common, spans(writer, item, tokens))
        waits["stored"].append(seconds)
        scores["stored"].append(judged(item, writer.text(writer.write(tokens, token))))
        for text in passages(item):
            paragraphs, seen_before = paragraphs + 1, seen_before + (text in seen)
            seen.add(text)
    lines = ["| | facts in the text | supported | first token, ms |", "|---|--:|--:|--:|"]
    for name, found in scores.items():
        facts, held = (statistics.mean(score[part] for score in found) for part in (0, 1))
        wait = f"{1000 * statistics.median(waits[name]):.0f}" if name in waits else ""
        lines.append(f"| {name} | {facts:.3f} | {held:.3f} | {wait} |")
    data = {
        "prompts": len(asked),
        "tokens_a_step_drafted": round(written_tokens / max(1, steps), 2),
        "passages_seen_before": round(seen_before / max(1, paragraphs), 3),
        "first_passages_seen_before": round(1 - len({passages(item)[0] for item in asked}) / max(1, len(asked)), 3),
    }
    about = machine("llama-cpp-python") | {"model": arguments.model.name}
    finish("Other ways to compute an answer", ["\n".join(lines)], data, about)


if __name__ == "__main__":
    main()
