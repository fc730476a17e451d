"""Many readers at once: does each get an answer in time, and does a repeat get the same bytes at once?

    python bench/at_once.py [--data-dir data] [--readers 30] [--tier small]

Different questions of the sample book are asked at the same moment, in one process, without HTTP. Then each is asked
again alone.
"""

import argparse
import asyncio
import statistics
import time
from pathlib import Path

from common import add_question_options, chosen_questions

from evaluation.show import aligned
from lutrin.answer.flow import AnswerFlow
from lutrin.records import Answer, DoneEvent, ExcerptEvent, Question
from lutrin.runtime import wiring
from lutrin.settings import load_settings


async def timed(flow: AnswerFlow, text: str) -> tuple[Answer, float, float]:
    """The answer, seconds to its first excerpt, seconds to its end."""
    began, first = time.perf_counter(), 0.0
    answer = None
    async for event in flow.answer(Question(text=text)):
        if isinstance(event, ExcerptEvent) and not first:
            first = time.perf_counter() - began
        if isinstance(event, DoneEvent):
            answer = event.answer
    if answer is None:
        raise TypeError("an answer ends with a DoneEvent")
    return answer, first, time.perf_counter() - began


async def measure(data_dir: Path | None, tier: str, texts: list[str]) -> str:
    """Ask all at once, then each again."""
    settings = load_settings(data_dir=data_dir, model=tier)
    async with wiring.open_runtime(settings) as house:
        if house.generator is not None:
            await house.generator.start()
        await timed(house.answers, "What is the first chapter about?")
        given = await asyncio.gather(*(timed(house.answers, text) for text in texts))
        again = [await timed(house.answers, text) for text in texts]
    ends = sorted(end for _, _, end in given)
    kept = [(one, two) for one, two in zip(given, again, strict=True) if one[0].kind != "extractive"]
    ratios = [two[2] / one[2] for one, two in kept]
    same = sum(one[0].answer == two[0].answer for one, two in kept)
    rows = [
        ["figure", "value", "goal"],
        ["readers at once", str(len(texts)), ""],
        ["slowest answer", f"{ends[-1]:.2f} s", f"<= {settings.deadline_s:g} s"],
        ["median answer", f"{statistics.median(ends):.2f} s", ""],
        ["slowest first excerpt", f"{max(first for _, first, _ in given):.2f} s", ""],
        ["generated", f"{sum(item[0].kind == 'generated' for item in given)} of {len(given)}", ""],
        ["repeat / first answer, median", f"1/{1 / statistics.median(ratios):.0f}" if ratios else "-", "<= 1/50"],
        ["repeats with the same bytes", f"{same} of {len(kept)}", "all"],
    ]
    return aligned(rows)


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, help="where the index lies")
    parser.add_argument("--readers", type=int, default=30, help="how many ask at once")
    parser.add_argument("--tier", default="small", help="tiny, small, medium or none")
    add_question_options(parser)
    arguments = parser.parse_args()
    texts = [item.question for item in chosen_questions(arguments) if item.in_book and not item.previous_question]
    print(asyncio.run(measure(arguments.data_dir, arguments.tier, texts[: arguments.readers])))


if __name__ == "__main__":
    main()
