"""Questions through a pipeline: figures, tables, bars and comparisons of a small honest one."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.evaluation.made import ARM_CHUNK, LEG_CHUNK, SOURCES, answer, citation, passages

import lutrin
from evaluation.bars import Bar, goal_bars, missed, parse_bar
from evaluation.questions import EvalQuestion
from evaluation.report import Report, compare, read_report, report, to_json
from evaluation.run import Subject, run
from evaluation.show import comparison_table, kinds_table, side_by_side, table
from lutrin.errors import IndexUnavailable, InvalidInput, NotFound
from lutrin.records import Answer, Passage, Question

ELBOW = EvalQuestion(id="e", question="Elbow?", kind="number", expected_files=("ch1/arm.md",), key_facts=("140",))
KNEE = EvalQuestion(
    id="k", question="And the knee?", kind="followup", expected_files=("ch2/leg.md",), key_facts=("68", "20"),
    previous_question="What does the elbow do?",
)  # fmt: skip
WEATHER = EvalQuestion(id="w", question="Weather?", kind="far")
BROKEN = EvalQuestion(id="x", question="Broken?", kind="why", expected_files=("ch1/arm.md",), key_facts=("140",))


class Tutor:
    """Answers by looking for a word; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.searched: list[str] = []

    async def retrieve(self, question: Question) -> Sequence[Passage]:
        """The leg for the knee, else the arm."""
        self.searched.append(question.text)
        return passages(LEG_CHUNK, ARM_CHUNK) if "knee" in question.text else passages(ARM_CHUNK, LEG_CHUNK)

    async def answer(self, question: Question) -> Answer:
        """The elbow's angle, half of what is known of the knee, and a refusal of the weather."""
        self.asked.append(question)
        if "Broken" in question.text:
            raise IndexUnavailable("Away.")
        if "Weather" in question.text:
            return answer("Not covered.", refusal="out_of_scope")
        if "knee" in question.text:
            return answer("The knee gives 68 N·m. [1]", citation(1, LEG_CHUNK, "The knee gives 68"), kind="generated")
        return answer("The elbow joint turns 140 degrees. [1]", citation(1, ARM_CHUNK, "turns 140 degrees"))

    async def again(self, question: Question) -> Answer:
        """Another time, but the same answer, except for the knee."""
        if "knee" in question.text:
            return answer("Another.")
        first = await self.answer(question)
        return answer(first.answer, *first.sources, refusal=first.refusal, latency_ms=99)


async def source(book: str, filename: str) -> str:
    """The file's text."""
    if (book, filename) not in SOURCES:
        raise NotFound("There is nothing by that name here.")
    return SOURCES[book, filename]


async def resolves(url: str) -> bool:
    """Every page of this book is there."""
    return url.startswith("/read/robots/")


def subject(tutor: Tutor, name: str = "tutor") -> Subject:
    """The tutor under judgement."""
    return Subject(
        name=name, retrieve=tutor.retrieve, answer=tutor.answer, again=tutor.again, source=source, resolves=resolves
    )


async def judged(tutor: Tutor, *questions: EvalQuestion, name: str = "tutor") -> Report:
    """The tutor's report; each answer takes one second of its clock."""
    ticks = itertools.count()
    outcomes = await run(questions, subject(tutor, name), clock=lambda: float(next(ticks)), session="s")
    return report(outcomes, name=name, resamples=200)


async def test_every_figure_is_counted() -> None:
    """Two questions of the book, half of the knee's facts missing, one refusal, one difference when asked again."""
    result = await judged(Tutor(), ELBOW, KNEE, WEATHER)
    assert {item.name: (item.value, item.questions) for item in result.figures} == {
        "file@1": (1, 2),
        "file@5": (1, 2),
        "facts@5": (1, 2),
        "facts": (0.75, 2),
        "facts soon": (0.75, 2),
        "length": (6.5, 2),
        "cited": (1, 2),
        "first source": (1, 2),
        "quotes": (1, 2),
        "sentences proven": (1, 2),
        "refused far": (1, 1),
        "refused wrongly": (0, 2),
        "generated": (0.5, 2),
        "same answer twice": (pytest.approx(2 / 3), 3),
        "errors": (0, 3),
        "latency median": (1, 3),
        "latency p95": (1, 3),
    }
    assert result.outcomes[1].missing_facts == ("20",)
    assert list(result.kinds) == ["number", "followup", "far"]


async def test_a_followup_has_its_conversation() -> None:
    """The question before it is asked first in the same session, and search gets both; other questions have none."""
    tutor = Tutor()
    await judged(tutor, ELBOW, KNEE)
    first, second = [item for item in tutor.asked if item.session_id == "s-k"]
    assert (first.text, second.text) == (KNEE.previous_question, KNEE.question)
    assert [item.session_id for item in tutor.asked if item.text == "Elbow?"] == ["", ""]
    assert tutor.searched == ["Elbow?", "What does the elbow do? And the knee?"]


async def test_an_error_is_an_outcome() -> None:
    """Its facts count as missing, the rest goes on."""
    result = await judged(Tutor(), BROKEN, ELBOW)
    assert result.outcomes[0].error == "IndexUnavailable: Away."
    values = {item.name: item.value for item in result.figures}
    assert (values["errors"], values["facts"], values["cited"], values["file@1"]) == (0.5, 0.5, 0.5, 1)


async def test_a_searcher_alone_is_judged_too() -> None:
    """Without answers there are the figures of retrieval only."""
    outcomes = await run([ELBOW, WEATHER], Subject(name="search", retrieve=Tutor().retrieve))
    assert [item.name for item in report(outcomes, name="search").figures] == ["file@1", "file@5", "facts@5"]


async def test_a_report_survives_its_file(tmp_path: Path) -> None:
    """JSON and back is the same report; anything else is named."""
    result = await judged(Tutor(), ELBOW, KNEE)
    path = tmp_path / "report.json"
    path.write_text(to_json(result), encoding="utf-8")
    assert read_report(path) == result
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"report\.json"):
        read_report(path)
    with pytest.raises(InvalidInput, match="No such file"):
        read_report(tmp_path / "away.json")


async def test_two_settings_are_compared_on_the_same_questions() -> None:
    """Against itself nothing changes; a better one is better only where the interval leaves out zero."""
    first = await judged(Tutor(), *[numbered(KNEE, n) for n in range(20)], name="half")
    second = await judged(Tutor(), *[numbered(ELBOW, n) for n in range(5, 20)], name="whole")
    facts = next(item for item in compare(first, second, resamples=200).changes if item.name == "facts")
    assert (facts.first, facts.second, facts.questions, facts.shown) == (0.5, 1.0, 15, True)
    assert "better" in comparison_table(compare(first, second, resamples=200))
    assert not any(item.shown for item in compare(first, first, resamples=200).changes)
    with pytest.raises(InvalidInput, match="no question in common"):
        compare(first, await judged(Tutor(), WEATHER))


def numbered(question: EvalQuestion, number: int) -> EvalQuestion:
    """The same question under another id."""
    return msgspec.structs.replace(question, id=str(number))


async def test_bars_are_reached_or_named() -> None:
    """More is better for facts, less for length; what was not measured is not reached."""
    result = await judged(Tutor(), ELBOW, KNEE)
    assert missed(result, [Bar("facts", 0.75), Bar("length", 7), parse_bar("refused_wrongly=0")]) == []
    assert missed(result, [parse_bar("facts=0.9"), parse_bar("length=6"), parse_bar("refused-near=0.9")]) == [
        "facts is 0.750; at least 0.9 is wanted.",
        "length is 6.500; at most 6 is wanted.",
        "refused near was not measured; 0.9 is wanted.",
    ]
    assert parse_bar("file@1=0.92") in goal_bars()


@pytest.mark.parametrize("text", ["facts", "fact=1", "facts=much"])
def test_a_wrong_bar_is_named(text: str) -> None:
    """The message holds what was given."""
    with pytest.raises(InvalidInput, match=text):
        parse_bar(text)


async def test_tables_line_up() -> None:
    """Every line of a table is as long as its first, and a figure out of its goal says no."""
    result = await judged(Tutor(), ELBOW, KNEE, WEATHER)
    for shown in (table(result), kinds_table(result), side_by_side([result, result])):
        assert len({len(line) for line in shown.splitlines()}) == 1
    lines = {line.split("|")[1].strip(): line for line in table(result).splitlines()}
    assert lines["facts"].rstrip(" |").endswith("no")
    assert lines["cited"].rstrip(" |").endswith("yes")
    assert "far" not in kinds_table(result)


def test_without_its_judge_the_command_says_where_to_run_it(tmp_path: Path) -> None:
    """A wheel holds no judge: `lutrin eval` ends with a sentence, not with a failed import."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "f", "question": "Who won?", "kind": "far"}\n', encoding="utf-8")
    shutil.copytree(Path(lutrin.__file__).parent, tmp_path / "site" / "lutrin")
    ended = subprocess.run(
        [sys.executable, "-c", "from lutrin.cli.main import main; main()", "eval", str(questions)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr.strip()) == (
        1,
        "This Lutrin was installed without its judge. Run it in a checkout of the repository: `./justw eval`.",
    )
