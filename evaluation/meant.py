"""Ask what is meant: `python -m evaluation.meant [--kind KIND] [--half tune|test|all] [--show]`.

`evaluation/meant` holds two small books of different makes and questions on them whose answer depends on what is
meant: a follow-up, both sides of a comparison, every step of a procedure, the thing asked for, several parts, the open
page, a selection alone, everyday questions that no book answers, careless spelling. A question is right if its answer
holds all that is wanted and nothing that is banned, in its first paragraph where `first` is set; or if it is refused,
or shown as the closest passage, where the book does not answer. Numbers are fitted on the half `tune`.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from evaluation.asking import PATIENT_S, ingest, opened_pipeline
from evaluation.command_line import ROOT
from evaluation.pipeline import Pipeline
from evaluation.questions import half_of
from evaluation.show import aligned
from lutrin.records import Answer, Mode, Question
from lutrin.settings import load_settings

FOLDER = ROOT / "evaluation" / "meant"
DATA = ROOT / "bench" / "out" / "meant"


class MeantQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last turn of a conversation, with what a right answer holds."""

    id: str
    kind: str
    book: str
    turns: tuple[str, ...]
    want: tuple[str, ...] = ()
    ban: tuple[str, ...] = ()
    first: bool = False
    """Whether the first paragraph has to hold it; `ban` holds for the first paragraph, too."""
    refused: bool = False
    page: str = ""
    selected_text: str = ""
    mode: Mode = "book"

    def is_right(self, answer: Answer) -> bool:
        """Whether an answer is one."""
        if self.refused or answer.kind == "refusal":
            return self.refused and (answer.kind == "refusal" or answer.closest)
        text = "\n".join([*answer.warnings, answer.answer])
        first = answer.answer.partition("[1]")[0]
        place = first if self.first else text
        return all(one in place for one in self.want) and not any(one in first for one in self.ban)


def read_questions(kind: str = "", half: str = "all") -> list[MeantQuestion]:
    """The questions of one kind and half, or all."""
    lines = (FOLDER / "questions.jsonl").read_bytes().splitlines()
    questions = [msgspec.json.decode(line, type=MeantQuestion) for line in lines]
    return [one for one in questions if kind in {"", one.kind} and half in {"all", half_of(one.id)}]


async def ask(questions: Sequence[MeantQuestion], *, show: bool = False) -> dict[str, list[bool]]:
    """Whether each question is answered right, by kind."""
    right: dict[str, list[bool]] = defaultdict(list)
    for book in dict.fromkeys(one.book for one in questions):
        settings = load_settings(
            profile="local", data_dir=DATA / book, models_dir=ROOT / "models", model="none", explain_s=PATIENT_S,
            deadline_s=PATIENT_S, log_level="error",
        )  # fmt: skip
        await ingest(settings, FOLDER / book)
        async with opened_pipeline(settings) as pipeline:
            for one in (one for one in questions if one.book == book):
                answer = await answer_last(pipeline, one)
                right[one.kind].append(one.is_right(answer))
                if show and not right[one.kind][-1]:
                    print(f"\n{one.id}: {' / '.join(one.turns)}\n  wanted {one.want} not {one.ban}\n  {answer.answer}")
    return right


async def answer_last(pipeline: Pipeline, item: MeantQuestion) -> Answer:
    """The answer to the last turn of a conversation."""
    for turn in item.turns:
        question = Question(
            text=turn, session_id=item.id, page=item.page, selected_text=item.selected_text, mode=item.mode
        )
        answer = await pipeline.answer(question)
    return answer


def table(right: dict[str, list[bool]]) -> str:
    """Shares by kind."""
    everything = [one for found in right.values() for one in found]
    rows = [["kind", "right", "questions"]]
    rows += [
        [kind, f"{sum(found) / len(found):.3f}", str(len(found))]
        for kind, found in (*right.items(), ("all", everything))
        if found
    ]
    return aligned(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask and print the shares."""
    parser = argparse.ArgumentParser(prog="evaluation.meant", description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", default="")
    parser.add_argument("--half", choices=("tune", "test", "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print what is answered wrongly")
    given = parser.parse_args(arguments)
    print(table(asyncio.run(ask(read_questions(given.kind, given.half), show=given.show))))


if __name__ == "__main__":
    main()
