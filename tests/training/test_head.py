"""The fit of the model's own head: labels, reading of pairs, regression and floors."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.answer.book import chunk, unit
from tests.fakes_generator import ScriptedDecoder

from lutrin.answer.runs import whole
from lutrin.records import Message
from training.head import ROWS, Table, decision, left_out, logistic
from training.head_rows import Kept, Pair, Row, holds, read

ROW = Row(book="vue", id="vue-1", kind="plain", place=1, near=False, holds=True, reader=1.0)
SYSTEM = "You answer from the passage."


def pair(section: str, question: str) -> Pair:
    """A pair whose row is named by its question."""
    messages = (Message(role="system", content=SYSTEM), Message(role="user", content=f"{section}\n\n{question}"))
    return Pair(msgspec.structs.replace(ROW, id=question), messages, len(section))


def test_a_section_holds_an_answer_that_stands_in_its_units() -> None:
    """All places that answer must be in it; a part of one counts neither as yes nor as no."""
    section = whole(chunk(unit("Kestrel has two arms.", start=100), unit("Wren has none.", start=140)))
    assert holds(section, "01-loops.mdx", [(100, 121), (140, 154)]) is True
    assert holds(section, "01-loops.mdx", [(100, 121), (300, 320)]) is None
    assert holds(section, "01-loops.mdx", [(300, 320)]) is False
    assert holds(section, "02-arms.mdx", [(100, 121)]) is False


def test_a_section_is_read_once_for_all_its_questions() -> None:
    """And the rules once for all sections; each pair gets the values of its own last token."""
    sections = ("Kestrel has two arms. " * 5, "Wren has four rotors. " * 5)
    pairs = [pair(section, f"Question {n}?") for n in range(3) for section in sections]
    decoder = ScriptedDecoder(context_tokens=2000)
    found = list(read(decoder, pairs))
    assert [row.id for row, _ in found] == [f"Question {n}?" for _ in sections for n in range(3)]
    assert len({values.tobytes() for _, values in found}) == len(pairs)
    assert decoder.computed < len(SYSTEM) + sum(map(len, sections)) + len(pairs) * 40
    alone = next(read(ScriptedDecoder(context_tokens=2000), pairs[-1:]))
    assert np.array_equal(alone[1], found[-1][1])


def test_rows_and_values_are_kept_together(tmp_path: Path) -> None:
    """Several files are read as one."""
    values = np.arange(8, dtype=np.float16).reshape(1, 2, 4)
    for name in ("one", "two"):
        Kept([msgspec.structs.replace(ROW, book=name)], values).write(tmp_path / f"{name}.npz")
    kept = Kept.read([tmp_path / "one.npz", tmp_path / "two.npz"])
    assert [row.book for row in kept.rows] == ["one", "two"]
    assert kept.values.shape == (2, 2, 4)


@pytest.fixture(scope="module")
def values() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(200, 400): more numbers than rows, of which the first four tell the rows apart."""
    drawn = np.random.default_rng(1).normal(size=(200, 400))
    drawn[:100, :4] += 3.0
    return drawn


def test_the_head_finds_what_tells(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    """With more numbers than rows, on rows that it has not seen; at its best it is the regression's optimum."""
    answered = np.arange(200) < 100
    learns = np.arange(200) % 2 == 0
    weights, bias = logistic(values[learns], answered[learns], ridge=0.3)
    assert set(np.abs(weights).argsort()[-4:]) == {0, 1, 2, 3}
    right = (values[~learns] @ weights + bias > 0) == answered[~learns]
    assert right.mean() > 0.8
    odds = values[learns] @ weights + bias
    assert (1 / (1 + np.exp(-odds))).sum() == pytest.approx(answered[learns].sum(), abs=0.01)


def test_a_book_is_judged_by_what_the_others_teach() -> None:
    """A book that contradicts all others is judged wrong."""
    books, answered = np.array(["one", "two", "three"]).repeat(20), np.arange(60) % 2 == 0
    signal = np.where(answered, 1.0, -1.0)[:, None] * np.array([1.0, 0.5])
    signal[:20] *= -1
    odds = left_out(signal, answered, books, np.ones(60, np.bool_), 0.3)
    assert ((odds > 0) == answered)[:20].sum() == 0
    odds = left_out(signal, answered, books, books != "one", 0.3)
    assert ((odds > 0) == answered)[20:].all()


def test_floors_are_lower_where_books_differ() -> None:
    """What is right on average would refuse too much on half of the books; places beside the first do not count."""
    rows = [
        Row(book=book, id=f"{n}", kind="", place=1 + n % 2, near=n % 4 < 2, holds=None, reader=n % 4 + n / 100, yes=0.0)
        for book in ("vue", "discovery")
        for n in range(80)
    ]
    head = np.array([row.reader * (1 - 2 * row.near) for row in rows])
    alike = decision(Table(rows), "head", head)
    assert alike.yes == 0 < alike.head
    assert alike.closest <= alike.answers
    apart = decision(Table(rows), "head", head + 2.0 * np.array([row.book == "vue" for row in rows]))
    assert apart.answers - apart.closest >= 0
    assert apart.closest < alike.closest


def test_the_rows_of_the_head_are_in_the_repository() -> None:
    """Without a word of a book: places, labels and numbers alone."""
    rows = [msgspec.json.decode(line, type=Row) for line in ROWS.read_bytes().splitlines()]
    assert len({(row.id, row.place) for row in rows}) == len(rows) > 1000
    assert all(row.yes is not None and row.head is not None for row in rows)
    assert not any(row.near and row.holds for row in rows)
    assert len({row.book for row in rows}) > 10
