"""Conversations of ten turns: does each answer still speak of what the conversation is about?

    python -m evaluation.studies.conversations [--split tune|test|all] [--indexes DIR] [--show]
    python -m evaluation.studies.conversations unrelated [--indexes DIR]

The turns are those of `tests/answer/conversations.jsonl`: a turn is right if its answer holds one of the facts within
its first 160 words, or, where it only wishes for another form, if its first source is the expected file. DIR holds an
index for each shelf of `bench/books` by its name, and `sample` for the sample books. `unrelated` asks the questions
of `bench/questions`, all of which stand alone, after a random question of another page and its answer: each that is
found worse than alone was made to lean on what it has nothing to do with.
"""

import argparse
import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from evaluation.command_line import ROOT, finish, machine
from evaluation.measures import WORDS, facts_in, holds_files
from evaluation.memory_chat import MemoryChatStore
from evaluation.pipeline import message_of
from evaluation.questions import EvalQuestion, read_questions
from evaluation.show import aligned
from evaluation.text import first_words
from lutrin.answer.flow import AnswerFlow
from lutrin.query.conversation import complete_question
from lutrin.query.understand import alone
from lutrin.records import Answer, ChatMessage, DoneEvent, Passage, Question
from lutrin.runtime import wiring
from lutrin.settings import load_settings

TURNS = ROOT / "tests" / "answer" / "conversations.jsonl"
SEED = 7


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a conversation with what a right answer holds."""

    conversation: str
    turn: int
    index: str
    split: str
    question: str
    expected_files: tuple[str, ...]
    facts: tuple[str, ...]
    """One of them is enough; none: the file is."""


class Talk:
    """A shelf, spoken with.

    Args:
        runtime: Open books.
    """

    def __init__(self, runtime: wiring.Runtime) -> None:
        self.runtime = runtime
        self.chats = MemoryChatStore()
        self.flow: AnswerFlow = wiring.answering(
            runtime.settings, runtime.shelf, runtime.searcher, generator=None, chats=self.chats
        )

    async def ask(self, text: str, session: str = "") -> Answer:
        """One answer; a conversation knows of it afterwards."""
        question = Question(text=text, session_id=session)
        answer = [event.answer async for event in self.flow.answer(question) if isinstance(event, DoneEvent)][-1]
        if session:
            await self.chats.append(session, messages(text, answer, session))
        return answer

    async def found(self, text: str) -> Sequence[Passage]:
        """The passages of the book that speaks of it most."""
        async with self.runtime.shelf.lease_books() as generations:
            found = await self.runtime.searcher.search(generations, alone(Question(text=text)), k=5)
        return found.passages


def messages(question: str, answer: Answer, session: str = "") -> list[ChatMessage]:
    """A question and its answer as a conversation keeps them."""
    return [message_of(session, "user", question), message_of(session, "assistant", answer.answer, answer)]


@contextlib.asynccontextmanager
async def talking(folder: Path) -> AsyncIterator[Talk]:
    """The books of one index."""
    settings = load_settings(profile="local", data_dir=folder, models_dir=ROOT / "models", log_level="error")
    async with wiring.open_runtime(settings, with_model=False) as runtime:
        yield Talk(runtime)


def is_right(turn: Turn, answer: Answer) -> bool:
    """Whether an answer holds what the turn wants."""
    if answer.kind == "refusal":
        return False
    if turn.facts:
        return bool(facts_in(turn.facts, [first_words(answer.answer, WORDS)]))
    return holds(turn.expected_files, [(source.book, source.filename) for source in answer.sources])


def holds(files: tuple[str, ...], places: Sequence[tuple[str, str]]) -> bool:
    """Whether one of the files is the first place."""
    wanted = EvalQuestion(id="", question="", kind="followup", expected_files=files)
    return holds_files(wanted, places, 1)


async def conversations(arguments: argparse.Namespace) -> None:
    """Ask each conversation turn by turn."""
    lines = TURNS.read_text(encoding="utf-8").splitlines()
    turns = [msgspec.json.decode(line, type=Turn) for line in lines]
    turns = [turn for turn in turns if arguments.split in {"all", turn.split}]
    rows: dict[str, list[bool]] = {}
    files: dict[str, list[bool]] = {}
    for index in dict.fromkeys(turn.index for turn in turns):
        async with talking(arguments.indexes / index) as talk:
            for turn in (turn for turn in turns if turn.index == index):
                answer = await talk.ask(turn.question, turn.conversation)
                right = is_right(turn, answer)
                places = [(source.book, source.filename) for source in answer.sources]
                for name in (turn.conversation, turn.split):
                    rows.setdefault(name, []).append(right)
                    files.setdefault(name, []).append(holds(turn.expected_files, places))
                if arguments.show:
                    asked = complete_question(turn.question, (await talk.chats.history(turn.conversation))[:-2]).text
                    print(f"{'ok ' if right else 'BAD'} {turn.conversation} {turn.turn} {turn.question} | {asked}")
                    if not right:
                        print(f"      {answer.answer[:300]!r}")
    table = [["conversation", "turns right", "right file", "turns"]]
    table += [[name, f"{mean(found):.3f}", f"{mean(files[name]):.3f}", str(len(found))] for name, found in rows.items()]
    finish("Conversations", [aligned(table)], {name: mean(found) for name, found in rows.items()}, machine())


async def unrelated(arguments: argparse.Namespace) -> None:
    """Ask questions that stand alone after others that have nothing to do with them."""
    chance = random.Random(SEED)  # noqa: S311 - draws a sample, guards nothing
    table = [["shelf", "questions", "file@1 alone", "after another", "made to lean"]]
    every: list[tuple[bool, bool, bool]] = []
    for folder in sorted((ROOT / "bench" / "questions").iterdir()):
        if not folder.is_dir():
            continue
        questions = [
            item
            for item in read_questions(sorted(folder.glob("*.jsonl")))
            if item.in_book and not item.previous_question and not item.selected_text
        ]
        found: list[tuple[bool, bool, bool]] = []
        async with talking(arguments.indexes / folder.name) as talk:
            for item in questions:
                other = chance.choice(
                    [one for one in questions if not set(one.expected_files) & set(item.expected_files)]
                )
                history = messages(other.question, await talk.ask(other.question))
                asked = complete_question(item.question, history).text
                alone = await right_file(talk, item, item.question)
                after = alone if asked == item.question else await right_file(talk, item, asked)
                found.append((alone, after, asked != item.question))
                if arguments.show and asked != item.question:
                    print(f"{'ok  ' if after >= alone else 'LOST'} {asked}")
        every += found
        table.append([folder.name, str(len(found)), *(f"{mean([row[n] for row in found]):.3f}" for n in range(3))])
    figures = [mean([row[n] for row in every]) for n in range(3)]
    table.append(["all", str(len(every)), *(f"{figure:.3f}" for figure in figures)])
    finish("After an unrelated question", [aligned(table)], {"figures": figures}, machine())


async def right_file(talk: Talk, item: EvalQuestion, text: str) -> bool:
    """Whether the first passage found for a text is of an expected file."""
    return holds(item.expected_files, [(one.chunk.book, one.chunk.filename) for one in await talk.found(text)])


def mean(found: Sequence[bool]) -> float:
    """Share of those that are true."""
    return sum(found) / max(1, len(found))


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="?", choices=("conversations", "unrelated"), default="conversations")
    parser.add_argument("--split", choices=("tune", "test", "all"), default="all", help="half of the conversations")
    parser.add_argument("--indexes", type=Path, default=ROOT / "bench" / "out" / "books", help="one folder a shelf")
    parser.add_argument("--show", action="store_true", help="each turn with what is searched for")
    arguments = parser.parse_args()
    asyncio.run((conversations if arguments.what == "conversations" else unrelated)(arguments))


if __name__ == "__main__":
    main()
