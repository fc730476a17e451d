"""Search while one types, over HTTP: every key of ten simultaneous readers is a search of its own.

    python bench/retrieval.py typing [--chunks 2500] [--readers 10]

The book is that of http_retrieval.py, and so is the server. Each reader types questions of the sample book letter by
letter, each second one with two letters of a word exchanged, and waits for the list after each key, which no person
does. The goal is 150 ms at the 95th percentile.
"""

import argparse
from urllib.parse import quote

from common import QUESTIONS, finish, machine, spread
from http_retrieval import CHUNKS_OF_A_COPY, OUT, served, simultaneous, write_copies
from wire import Connections

from evaluation.questions import read_questions
from evaluation.show import aligned

GOAL_MS = 150.0
LEAST_LETTERS = 8
"""Letters of the shortest word in which two letters are swapped."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of `typing`."""
    parser.add_argument("--chunks", type=int, default=2500, help="chunks of the book")
    parser.add_argument("--readers", type=int, default=10, help="who type at the same time")
    parser.add_argument("--questions", type=int, default=40, help="how many questions are typed")


async def run_typing(arguments: argparse.Namespace) -> None:
    """Measure and print the table."""
    from evaluation.searches import indexed  # noqa: PLC0415 - its vendors load only when it runs

    name = f"http-{arguments.chunks}"
    corpus = write_copies(OUT / f"{name}-corpus", -(-arguments.chunks // CHUNKS_OF_A_COPY))
    questions = [item.question for item in read_questions(QUESTIONS) if item.in_book][: arguments.questions]
    keys = [part for number, text in enumerate(questions) for part in typed(slipped(text) if number % 2 else text)]
    async with indexed(corpus, name) as peers, served(peers.settings) as port:
        chunks = peers.generations[0].manifest.chunks
        connections = Connections(port)

        async def look(text: str) -> object:
            return await connections.get(f"/api/search?q={quote(text)}")

        await simultaneous(look, keys[:50], 1)
        alone = spread(await simultaneous(look, keys, 1))
        together = spread(await simultaneous(look, keys, arguments.readers))
        connections.close()
    rows = [
        ["", "median ms", "p95 ms", "keys"],
        ["one reader", *(f"{value:.1f}" for value in alone), str(len(keys))],
        [f"{arguments.readers} readers at once", *(f"{value:.1f}" for value in together), str(len(keys))],
        ["goal", "", f"{GOAL_MS:.0f}", "yes" if together[1] <= GOAL_MS else "no"],
    ]
    data = {
        "chunks": chunks,
        "readers": arguments.readers,
        "alone_ms": [round(value, 2) for value in alone],
        "together_ms": [round(value, 2) for value in together],
    }
    finish(
        f"Search while one types, over HTTP, {chunks:,} chunks", [aligned(rows)], data, machine("litestar", "uvicorn")
    )


def typed(text: str) -> list[str]:
    """Content of the search box after each key.

    >>> typed("to")
    ['t', 'to']
    """
    return [text[:end] for end in range(1, len(text) + 1)]


def slipped(text: str) -> str:
    """A text with two letters of its longest word exchanged, if it has a long one.

    >>> slipped("what is odometry")
    'what is odmoetry'
    """
    longest = max(text.split(), key=len)
    if len(longest) < LEAST_LETTERS:
        return text
    wrong = longest[:2] + longest[3] + longest[2] + longest[4:]
    return text.replace(longest, wrong, 1)
