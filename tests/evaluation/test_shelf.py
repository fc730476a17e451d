"""The shelf of books: how it is read, the baselines beside Lutrin, and its table."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.evaluation.made import chunk, passages

from evaluation import rivals, shelf_report
from evaluation.questions import EvalQuestion, half_of
from evaluation.shelf import main, read_shelf
from evaluation.shelf_peers import chosen
from evaluation.shelf_report import LUTRIN, BookResult, PeerResult, Scores
from lutrin.errors import InvalidInput

QUESTION = EvalQuestion(
    id="q",
    question="How far and how fast?",
    kind="number",
    expected_files=("a.md",),
    key_facts=("140 degrees", "68 Nm"),
)


def shelf(root: Path, **books: list[dict[str, object]]) -> Path:
    """A shelf with one page a book and these questions."""
    (root / "questions").mkdir(parents=True)
    for name, questions in books.items():
        (root / "books" / name).mkdir(parents=True)
        (root / "books" / name / "arm.md").write_text("# Arm\n\nThe elbow turns 140 degrees.\n", encoding="utf-8")
        lines = "".join(f"{json.dumps(item)}\n" for item in questions)
        (root / "questions" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return root


def elbow(name: str) -> dict[str, object]:
    """A question of the book that `shelf` makes."""
    question = "How far does the elbow turn?"
    return {
        "id": name, "question": question, "kind": "number", "expected_files": ["arm.md"], "key_facts": ["140 degrees"]
    }  # fmt: skip


def test_no_shelf_is_said_in_a_sentence(tmp_path: Path) -> None:
    """Without a shelf, the message says what a shelf contains."""
    with pytest.raises(SystemExit, match=r"There is no shelf at .*: give a FOLDER that holds books/BOOK"):
        main([str(tmp_path / "nowhere")])


def test_an_unknown_book_is_named_with_those_there_are(tmp_path: Path) -> None:
    """A slip of the pen costs no search in folders."""
    folder = shelf(tmp_path, arms=[elbow("a")], legs=[elbow("b")])
    with pytest.raises(InvalidInput, match="armz: no such book on this shelf; it has arms, legs"):
        read_shelf(folder, ["armz"])
    assert [book.name for book in read_shelf(folder, ["legs"])] == ["legs"]


def test_the_oracle_chooses_one_run_of_words() -> None:
    """Two facts that stand further apart than an answer is long are never both in the best run."""
    near = f"It turns 140 degrees {'and on ' * 70} with 68 Nm."
    apart = f"It turns 140 degrees {'and on ' * 80} with 68 Nm."
    assert rivals.oracle(QUESTION, passages(chunk("a.md", near)))["facts"] == (1.0, 1)
    assert rivals.oracle(QUESTION, passages(chunk("a.md", apart)))["facts"] == (0.5, 1)


def test_the_oracle_does_not_join_passages() -> None:
    """A run lies in one passage, and only the first twelve are looked at."""
    one, two = chunk("a.md", "It turns 140 degrees."), chunk("b.md", "It has 68 Nm.")
    empty = [chunk(f"{n}.md", "Nothing.") for n in range(rivals.WINDOW_PASSAGES)]
    assert rivals.oracle(QUESTION, passages(one, two))["facts"] == (0.5, 1)
    assert rivals.oracle(QUESTION, passages(*empty, one))["facts"] == (0.0, 1)


def test_the_start_is_cut_where_an_answer_is() -> None:
    """Facts beyond the 160th word of the best passage do not count."""
    late = f"{'word ' * 160}140 degrees"
    assert rivals.start(QUESTION, passages(chunk("a.md", late)))["facts"] == (0.0, 1)
    assert rivals.start(QUESTION, passages(chunk("a.md", "140 degrees, 68 Nm")))["facts soon"] == (1.0, 1)


def scores(name: str, value: float, *, refused: float = 0.0) -> Scores:
    """One question of the book."""
    return Scores(id=name, kind="number", measures={"facts": (value, 1), "refused wrongly": (refused, 1)})


def test_the_table_has_mean_worst_and_the_testing_half() -> None:
    """The worst is the lowest share of facts, but the highest share of wrong refusals."""
    tuning = next(name for name in "abcdef" if half_of(name) == "tune")
    testing = next(name for name in "abcdef" if half_of(name) == "test")
    one = BookResult(book="one", systems={LUTRIN: (scores(tuning, 1.0), scores(testing, 0.0))})
    two = BookResult(book="two", systems={LUTRIN: (scores(testing, 1.0, refused=1.0),)})
    figures = shelf_report.made([one, two], model="none", root=Path(), seconds=1).figures
    assert (figures["one"]["facts"], figures["two"]["facts"]) == ((0.5, 0.0), (1.0, 1.0))
    assert (figures["mean"]["facts"], figures["worst"]["facts"]) == ((0.75, 0.5), (0.5, 0.0))
    assert (figures["worst"]["wrongly"], figures["worst"]["words"]) == ((1.0, 1.0), (None, None))


def asked(name: str, kind: str, *, selected: str = "") -> EvalQuestion:
    """A question of this kind."""
    return EvalQuestion(id=name, question="?", kind=kind, expected_files=("a.md",), selected_text=selected)


def test_peers_get_questions_of_the_book_and_near_ones() -> None:
    """A fourth of them is near the book; those about a selection, which no peer knows, are left out."""
    inside = [asked(f"in{n}", "why") for n in range(8)]
    near = [asked(f"near{n}", "near") for n in range(4)]
    found = chosen([asked("marked", "why", selected="this"), *inside, asked("far", "far"), *near], 4)
    assert [item.id for item in found] == ["in1", "in4", "in6", "near2"]


def test_lutrin_stands_beside_peers_on_their_questions_only() -> None:
    """What a peer was not asked does not count for Lutrin either."""
    book = BookResult(book="one", systems={LUTRIN: (scores("a", 1.0), scores("b", 0.0))})
    result = shelf_report.made([book], model="none", root=Path(), seconds=1)
    peer = PeerResult(peer="Other", book="one", scores=(scores("a", 0.5),))
    text = shelf_report.peers_table(msgspec.structs.replace(result, peers=(peer,)))
    assert "| Lutrin, none | 1         | 1.000 |" in text
    assert "| Other        | 1         | .500  |" in text


@pytest.mark.model
def test_a_second_run_embeds_nothing_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shelf is asked, saved without a word of its books, asked again and compared, all by the command."""
    folder = shelf(tmp_path / "shelf", arms=[elbow("a"), elbow("b")])
    saved, data = tmp_path / "saved.json", tmp_path / "data"
    main([str(folder), "--data", str(data), "--save", str(saved)])
    first = capsys.readouterr()
    assert "2 questions" in first.err
    assert "| arms  | 1.000 / " in first.out
    figures = shelf_report.read(saved).figures["arms"]
    assert [figures[head][0] for head in ("RRF file@1", "RRF facts", "start facts", "oracle facts")] == [1.0] * 4
    assert "elbow" not in saved.read_text(encoding="utf-8")
    main([str(folder), "--data", str(data), "--compare", str(saved), "--model", "none"])
    again = capsys.readouterr()
    assert "0 texts embedded" in again.err
    assert "| arms | 1.000      | 1.000     | +0.000" in again.out
