"""What a book teaches about which questions it answers."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from lutrin.index.manifest import ScopeFit
from lutrin.records import Chunk, Unit
from lutrin.retrieve import trials
from lutrin.retrieve.calibrate import fit
from lutrin.retrieve.signals import PRIOR, SIGNALS, SIZE, log_odds, strength
from lutrin.retrieve.words import topic_stems


def chunk(number: int, sentences: Sequence[str]) -> Chunk:
    """A passage of some sentences, below a heading of its own."""
    text = " ".join(sentences)
    units = tuple(Unit(kind="sentence", text=sentence, char_start=0, char_end=0) for sentence in sentences)
    return Chunk(
        chunk_id=f"chunk-{number}", text=text, book="b", book_title="B", edition="", module="", chapter="", section="",
        section_title="", heading_path=("Beekeeping", f"Frames of hive {number}"), filename=f"{number}.md", page=None,
        page_label="", anchor="", chunk_index=0, char_start=0, char_end=len(text), token_count=9, content_type="text",
        is_simulation=None, content_hash="", units=units,
    )  # fmt: skip


@pytest.fixture
def chunks() -> list[Chunk]:
    """Fifty passages, each on a queen of her own."""
    return [
        chunk(number, [f"Queen number{number} lays brood eggs beside honey combs.", "Short one."])
        for number in range(50)
    ]


def test_answerable_questions_are_made_of_the_books_words(chunks: list[Chunk]) -> None:
    """Some of one sentence, not all of it."""
    made = trials.answerable(chunks)
    known = topic_stems(" ".join(item.text for item in chunks))
    assert len(made) == len(chunks)
    assert all(topic_stems(question) < known for question in made)
    assert len(set(made)) > len(made) / 2


def test_near_questions_hold_words_of_headings(chunks: list[Chunk]) -> None:
    """Something foreign is asked of what the book is about."""
    made = trials.near(chunks)
    assert len(made) > trials.NEAR / 2
    assert all({"beekeep", "frame", "hive"} & topic_stems(question) for question in made)


def test_the_same_book_makes_the_same_questions(chunks: list[Chunk]) -> None:
    """Two ingests of a book agree on its scope."""
    assert trials.answerable(chunks) == trials.answerable(chunks)
    assert trials.near(chunks) == trials.near(chunks)


def test_no_foreign_question_is_asked_twice() -> None:
    """The list has as many different questions as lines, and enough of them."""
    questions = trials.foreign_questions()
    assert len(set(questions)) == len(questions) >= max(trials.FOREIGN, trials.NEAR)
    assert all(question.endswith("?") for question in questions)


def test_a_book_moves_its_own_threshold() -> None:
    """Where unrelated questions score higher than usual, more is asked of the others, too."""
    rng = np.random.default_rng(1)
    labels = np.array([1.0] * 100 + [0.0] * 200)

    def signals(level: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        inside = rng.normal(level + 0.3, 0.08, (100, len(SIGNALS)))
        rows = np.concatenate([inside, rng.normal(level, 0.08, (200, len(SIGNALS)))])
        rows[:, SIZE:] = 3.5, 0.3
        return rows

    usual, higher = fit(signals(0.35), labels), fit(signals(0.5), labels)
    between = np.array([*[0.63] * SIZE, 3.5, 0.3], dtype=np.float32)
    assert log_odds(between, usual) > 0 > log_odds(between, higher)
    assert usual.weights[SIZE] == higher.weights[SIZE] == PRIOR.weights[SIZE]
    assert usual.questions == 300


def test_few_questions_hardly_move_what_holds_for_all_books() -> None:
    """A handful of trials is no reason to leave the weights that come with Lutrin."""
    rows = np.full((4, len(SIGNALS)), 0.5)
    few = fit(rows, np.array([1.0, 1.0, 0.0, 0.0]))
    assert all(abs(mine - common) < 0.5 for mine, common in itertools.zip_longest(few.weights, PRIOR.weights))


def test_without_a_fit_the_common_weights_decide() -> None:
    """A book that is too small to learn from, or was fitted for other signals, is judged all the same."""
    ones, common = np.ones(len(SIGNALS), dtype=np.float32), pytest.approx(sum(PRIOR.weights) + PRIOR.bias)
    assert log_odds(ones, None) == common
    older = ScopeFit(weights=(0.0,) * len(SIGNALS), bias=-9.0, questions=300)
    assert log_odds(ones, older) == common


def test_books_of_every_size_are_compared_alike() -> None:
    """Of two books the one that matches better answers; that it is larger says only whether it answers at all."""
    small = np.array([0.6, 0.7, 1.0, 1.0, 0.8, 2.8, 0.3], dtype=np.float32)
    large = small.copy()
    large[SIZE] = 3.6
    assert strength(small) == pytest.approx(strength(large), abs=1e-4)
    assert log_odds(small, None) > log_odds(large, None) + 0.5
