"""Answers read by eye: lists, marks, and what is added up."""

from pathlib import Path

import msgspec
import pytest
from tests.evaluation.made import ARM_CHUNK, answer, citation

from evaluation.read import main, page, summary
from evaluation.read_list import ReadQuestion, blank_mark, carried_over, read_list, read_marks, write_marks
from lutrin.errors import InvalidInput
from lutrin.records import Sentence

LISTS = Path(__file__).parents[2] / "evaluation" / "read"
ELBOW = ReadQuestion(id="e1", kind="how", question="How far does the elbow turn?", wanted="140 degrees")
TOLD = answer("It turns 140 degrees. [1]", citation(1, ARM_CHUNK, "turns 140 degrees"))
REFUSED = answer("Not in this book.", refusal="not_in_book")
BLANK = blank_mark(ELBOW, TOLD)
GOOD = msgspec.structs.replace(BLANK, answers=2, give=True, begins=True, false=False, irrelevant=1)
SENT_AWAY = msgspec.structs.replace(
    blank_mark(msgspec.structs.replace(ELBOW, id="e2", kind="quiz"), REFUSED),
    answers=0,
    give=False,
    begins=False,
    false=False,
    cause="scope",
)


def test_marks_come_back_as_they_were_written(tmp_path: Path) -> None:
    """A file of marks holds marked and unmarked answers alike."""
    path = tmp_path / "marks.tsv"
    path.write_text(write_marks([GOOD, msgspec.structs.replace(BLANK, id="e3"), SENT_AWAY]), encoding="utf-8")
    assert read_marks(path) == [GOOD, msgspec.structs.replace(BLANK, id="e3"), SENT_AWAY]


def test_an_answer_that_says_the_same_keeps_its_marks() -> None:
    """Only what has changed must be read again."""
    changed = blank_mark(ELBOW, answer("It turns. [1]"))
    assert carried_over([BLANK], [GOOD]) == [GOOD]
    assert carried_over([changed], [GOOD]) == [changed]


def test_a_wrong_mark_is_named_with_its_place(tmp_path: Path) -> None:
    """A slip while marking is found before anything is added up."""
    path = tmp_path / "marks.tsv"
    path.write_text(write_marks([GOOD]).replace("\t2\ty\t", "\t3\ty\t"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"marks.tsv:2: answers is '3'; it is one of 0, 1, 2"):
        read_marks(path)


def test_marks_are_added_up_by_book_group_and_kind() -> None:
    """A refusal that no teacher would give is a wrong one, and it states nothing that could be false."""
    wrong = msgspec.structs.replace(GOOD, id="e3", kind="how", give=False, begins=False, false=True, irrelevant=0)
    found = summary({"arms": [GOOD, SENT_AWAY], "legs": [wrong]})
    assert (found["all"]["give"], found["all"]["begins"], found["all"]["false"]) == (0.333, 0.333, 0.5)
    assert (found["arms"]["give"], found["arms"]["mean mark"], found["arms"]["irrelevant"]) == (0.5, 1.0, 0.5)
    assert (found["legs"]["begins"], found["legs"]["false"]) == (0.0, 1.0)
    assert (found["plain"]["answers"], found["tasks"]["answers"]) == (2, 1)
    assert (found["quiz"]["refusals"], found["quiz"]["wrong refusals"], found["how"]["refusals"]) == (1, 1, 0)


def test_what_nobody_judged_is_no_share() -> None:
    """Marks without the verdicts on beginning and falseness do not count as no."""
    older = msgspec.structs.replace(GOOD, begins=None, false=None)
    assert (summary({"arms": [older]})["all"]["begins"], summary({"arms": [older]})["all"]["give"]) == (None, 1.0)
    assert summary({"arms": [older, GOOD]})["all"]["begins"] == 1.0


def test_a_turn_stands_below_the_one_before_it(tmp_path: Path) -> None:
    """A conversation cannot be torn apart by sorting the list."""
    path = tmp_path / "list.jsonl"
    turn = ReadQuestion(id="e2", kind="how", question="And the knee?", after="e1")
    path.write_bytes(b"\n".join(msgspec.json.encode(item) for item in (turn, ELBOW)))
    with pytest.raises(InvalidInput, match="e2 must stand right below e1"):
        read_list(path)


def test_a_page_shows_what_a_reader_judges_by() -> None:
    """Question, what is wanted, the answer and where it is from."""
    text = page([ELBOW], [TOLD])
    for part in ("e1: How far does the elbow turn?", "140 degrees", "It turns 140 degrees. [1]", "[1] ch1/arm.md, Arm"):
        assert part in text


def test_unmarked_answers_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sum over half of the answers does not pass for one over all."""
    path = tmp_path / "iot-none" / "marks.tsv"
    path.parent.mkdir()
    path.write_text(write_marks([GOOD, msgspec.structs.replace(BLANK, id="e3")]), encoding="utf-8")
    main(["sum", str(path)])
    shown = capsys.readouterr()
    assert "1 answers are not marked yet: iot-none e3" in shown.err
    assert "| how   | 1       | 1.00 | 1.00   | 0.00  |" in shown.out


def test_a_page_names_sentences_that_the_book_may_not_state() -> None:
    """The person who marks sees the sentences that readers are warned about."""
    likely = msgspec.structs.replace(TOLD, sentences=(Sentence(text="It may turn.", support="likely"),))
    assert "- likely: It may turn." in page([ELBOW], [likely])


def test_every_list_has_marks_of_all_its_questions() -> None:
    """What is kept as a baseline is whole: each question asked and judged, none twice."""
    for path in LISTS.glob("*.jsonl"):
        questions = read_list(path)
        for marks in LISTS.glob(f"{path.stem}-*.tsv"):
            kept = read_marks(marks)
            assert [mark.id for mark in kept] == [item.id for item in questions]
            assert all(mark.is_marked for mark in kept)
            assert len({mark.begins is None for mark in kept}) == len({mark.false is None for mark in kept}) == 1
        assert len(questions) >= 40
