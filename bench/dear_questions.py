"""The processor time of the most expensive questions beside a usual one, and the waits of other readers.

    python bench/dear_questions.py [--data-dir data] [--rounds 2]
    python bench/dear_questions.py --beside 4 [--data-dir DIR] [--seconds 60]

Each kind of question is asked in one process, past HTTP, in a wording that was never asked before. The figure is the
processor time of the whole process, the mean of the rounds, and how many usual questions (the median of ten from the
sample book) it is worth. Exits with 1 if one is worth more than five.

With `--beside`, five readers ask a running server with its usual limits, as often as a session may, first alone, then
beside so many others, each of whom sends expensive questions without a pause. All are at addresses of their own. Exits
with 1 if the p95 of the five is more than doubled.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
from common import ROOT, add_question_options, chosen_questions, machine
from serving import ingested, served

from evaluation.show import aligned
from lutrin.answer.flow import AnswerFlow
from lutrin.errors import LutrinError
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import words
from lutrin.records import Message, Question
from lutrin.runtime import wiring
from lutrin.settings import load_settings

GOAL, GOAL_BESIDE = 5.0, 2.0
OUT = ROOT / "bench" / "out" / "dear-questions"
READERS, EVERY_S = 5, 6.0
"""Honest readers, and how often each of them asks: ten questions a minute are what a session may ask."""
MAX_CHARS = 7_900
"""A little less than the server takes of a question."""
MAX_SELECTION_CHARS = 15_900
CHAT = "/v1/chat/completions"
STATUSES: Counter[int] = Counter()
"""Status codes of the attackers' questions."""
USUAL = 10
Chance = random.Random


async def processor_s(flow: AnswerFlow, question: Question) -> float:
    """Seconds of processor time of one answer."""
    began = time.process_time()
    try:
        async for _ in flow.answer(question):
            pass
    except LutrinError as error:
        print(error.detail, file=sys.stderr)
    return time.process_time() - began


def filled(chance: Chance, word: Callable[[], str], length: int = MAX_CHARS) -> str:
    """As many words as a text of this length holds, the first of them never used before."""
    text = f"{chance.randrange(10**9)} " + " ".join(word() for _ in range(length // 3))
    return text[:length]


def misspelt(chance: Chance, word: str) -> str:
    """A word with one letter wrong."""
    place = chance.randrange(1, len(word))
    return word[:place] + chance.choice("abcdefghijklmnopqrstuvwxyz") + word[place + 1 :]


def attacks(chance: Chance, vocabulary: Sequence[str]) -> dict[str, Question]:
    """One question of each kind that asks for much work."""
    long = [word for word in vocabulary if len(word) > 6]

    def noise() -> str:
        return "".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(9))

    def slip() -> str:
        return misspelt(chance, chance.choice(long))

    def word() -> str:
        return chance.choice(vocabulary)

    def turn(_: int) -> Message:
        return Message(role=chance.choice(["user", "assistant"]), content=filled(chance, slip, 4_000))

    page = filled(chance, word, MAX_SELECTION_CHARS)
    return {
        "words of the book": Question(text=filled(chance, word)),
        "words of the book, misspelt": Question(text=filled(chance, slip)),
        "words of nobody": Question(text=filled(chance, noise)),
        "one word of nobody": Question(text=f"what is {''.join(noise() for _ in range(850))}"),
        "1)": Question(text=filled(chance, lambda: "1)")),
        "a'": Question(text=str(chance.random()) + "a'" * 3_900),
        "brackets": Question(text=str(chance.random()) + "([" * 3_900),
        "letters with accents": Question(text=filled(chance, lambda: "e\u0301" * 9)),
        "signs of one letter": Question(text=filled(chance, lambda: chance.choice("一二三四五六七八九十"))),
        "parts": Question(text=filled(chance, lambda: f"what is the {word()} and why does {slip()}?")),
        "chapters": Question(text=filled(chance, lambda: f"chapter {chance.randrange(99)}, section {word()}")),
        "figures": Question(text=filled(chance, lambda: f"Figure {chance.randrange(99)}.{chance.randrange(99)}")),
        "twelve earlier messages": Question(
            text=f"And {slip()} {slip()}?", surface="chat", earlier=tuple(map(turn, range(12)))
        ),
        "a selection": Question(text=f"What does {noise()} mean?", selected_text=page),
        "a selection alone": Question(text="Why is that?", selected_text=page, mode="selection"),
        "a question and a selection": Question(text=filled(chance, slip), selected_text=page),
    }


async def measure(data_dir: Path | None, rounds: int, seed: int, only: str, texts: Sequence[str]) -> tuple[str, float]:
    """The table, and how many usual questions the most expensive one is worth."""
    settings = load_settings(data_dir=data_dir, model="none")
    chance = Chance(seed)
    async with wiring.open_runtime(settings, with_model=False) as runtime:
        generation: OpenGeneration = runtime.shelf.books()[0]
        known = await vocabulary(generation)
        for text in texts[:USUAL]:  # what a book's first reader waits for, a server has read beforehand
            await processor_s(runtime.answers, Question(text=text))
        texts = [f"Please tell me: {text}" for text in texts]
        usual = [await processor_s(runtime.answers, Question(text=text)) for text in texts[:USUAL]]
        one = statistics.median(usual)
        spent: dict[str, list[float]] = {}
        for _ in range(rounds):
            for kind, question in attacks(chance, known).items():
                if only not in kind:
                    continue
                spent.setdefault(kind, []).append(await processor_s(runtime.answers, question))
    costs = {kind: statistics.mean(each) for kind, each in spent.items()}
    rows = [["question", "processor time", "usual questions"], ["usual, median", f"{one * 1000:.0f} ms", "1"]]
    rows += [["usual, largest", f"{max(usual) * 1000:.0f} ms", f"{max(usual) / one:.1f}"]]
    rows += [[kind, f"{cost * 1000:.0f} ms", f"{cost / one:.1f}"] for kind, cost in costs.items()]
    return aligned(rows), max(costs.values()) / one


def asked_by(address: int) -> dict[str, str]:
    """Headers of a reader at an address of its own, as a trusted proxy adds them."""
    return {"X-Forwarded-For": f"192.0.2.{address}"}


async def read(client: httpx.AsyncClient, address: int, texts: Iterator[str], seconds: float) -> list[float]:
    """Seconds that an honest reader, who asks as often as a session may, waits for each answer."""
    took: list[float] = []
    next_s = time.monotonic() + address * EVERY_S / READERS
    end_s = time.monotonic() + seconds
    while next_s < end_s:
        await asyncio.sleep(next_s - time.monotonic())
        began_s = time.monotonic()
        reply = await client.post("/api/query", json={"query": next(texts)}, headers=asked_by(address))
        reply.raise_for_status()
        took.append(time.monotonic() - began_s)
        next_s = max(next_s + EVERY_S, time.monotonic())
    return took


async def read_all(client: httpx.AsyncClient, texts: Iterator[str], seconds: float) -> list[float]:
    """Seconds that honest readers, each at an address of their own, wait for their answers."""
    each = await asyncio.gather(*(read(client, address, texts, seconds) for address in range(READERS)))
    return list(itertools.chain.from_iterable(each))


async def attack(client: httpx.AsyncClient, address: int, chance: Chance, words: Sequence[str]) -> None:
    """Ask expensive questions of each kind in turn until cancelled; repeat refused ones at once."""
    while True:
        for question in attacks(chance, words).values():
            body: dict[str, object] = {"query": question.text, "selected_text": question.selected_text}
            path = "/api/query"
            if question.earlier:
                messages = [{"role": turn.role, "content": turn.content} for turn in question.earlier]
                body, path = (
                    {"model": "lutrin", "messages": [*messages, {"role": "user", "content": question.text}]},
                    CHAT,
                )
            reply = await client.post(path, json=body, headers=asked_by(address))
            STATUSES[reply.status_code] += 1


async def beside(arguments: argparse.Namespace, texts: Sequence[str]) -> tuple[str, float]:
    """The table, and how much longer the p95 of honest readers is beside attackers than alone."""
    data_dir, attackers, rounds = arguments.data_dir or OUT, arguments.beside, arguments.rounds
    ingested(data_dir)
    async with wiring.open_runtime(load_settings(data_dir=data_dir, model="none"), with_model=False) as runtime:
        known = await vocabulary(runtime.shelf.books()[0])
    wordings = (f"{opening} {text}" for opening in itertools.count(1) for text in texts)
    async with served(
        data_dir, RATE_SESSION_PER_MIN="10", RATE_PEER_PER_MIN="300", TRUSTED_PROXIES="127.0.0.1"
    ) as server:
        await read_all(server.client, wordings, 2 * EVERY_S)
        alone, among, chance = list[float](), list[float](), Chance(arguments.seed)
        for _ in range(rounds):  # in turn, for the machine may have other work now and then
            alone += await read_all(server.client, wordings, arguments.seconds / rounds)
            async with asyncio.TaskGroup() as group:
                attacking = [
                    group.create_task(attack(server.client, READERS + number, chance, known))
                    for number in range(attackers)
                ]
                await asyncio.sleep(EVERY_S)
                among += await read_all(server.client, wordings, arguments.seconds / rounds)
                for task in attacking:
                    task.cancel()
            await asyncio.sleep(EVERY_S)
    rows = [["", "alone", f"beside {attackers} attackers", "times"]]
    for name, of in (("median", 0.5), ("p95", 0.95), ("largest", 1.0)):
        before, now = at_rank(alone, of), at_rank(among, of)
        rows.append([name, f"{before * 1000:.0f} ms", f"{now * 1000:.0f} ms", f"{now / before:.1f}"])
    rows.append(["answers", str(len(alone)), str(len(among)), ""])
    told = ", ".join(f"{count} with {status}" for status, count in sorted(STATUSES.items()))
    return f"{aligned(rows)}\n\nAttackers' questions: {told}.", at_rank(among, 0.95) / at_rank(alone, 0.95)


def at_rank(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def vocabulary(generation: OpenGeneration) -> list[str]:
    """The words of a book."""
    chunks = await generation.all_chunks()
    return sorted({word.lower() for chunk in chunks for word in words(chunk.text) if word.isalpha()})


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, help="where the index lies")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the names of the kinds to ask")
    parser.add_argument("--seed", type=int, default=53)
    parser.add_argument("--beside", type=int, default=0, help="attackers beside whom honest readers ask")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="how long honest readers ask, in all rounds, alone and again beside others",
    )
    add_question_options(parser)
    arguments = parser.parse_args()
    texts = [item.question for item in chosen_questions(arguments) if item.in_book and not item.previous_question]
    if arguments.beside:
        table, times = asyncio.run(beside(arguments, texts))
        print(f"{machine()}\n\n{table}")
        raise SystemExit(times > GOAL_BESIDE)
    table, dearest = asyncio.run(measure(arguments.data_dir, arguments.rounds, arguments.seed, arguments.only, texts))
    print(f"{machine()}\n\n{table}")
    raise SystemExit(dearest > GOAL)


if __name__ == "__main__":
    main()
