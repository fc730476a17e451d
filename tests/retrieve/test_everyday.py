"""Words that name no subject: that a book lacks them says little."""

import numpy as np
import pytest

from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk
from lutrin.retrieve.asked import Asked, Topic
from lutrin.retrieve.candidates import Pool, Scored
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.signals import signals_of
from lutrin.retrieve.words import stem

WORDS_IN_FIVE = 2


def share(
    *asked: str, held: str, between_books: bool = False, unusual: float = 1.0, alike: float = 0.0, told: str = ""
) -> float:
    """The share of a question's words, each of weight 4, that a book of one passage holds.

    Its nearest word has the cosine `alike` to each of them; `told` is one with which the reader does not ask.
    """
    page = Chunk(
        chunk_id="c", text=held, book="b", book_title="B", edition="", module="", chapter="", section="",
        section_title="", heading_path=("Page",), filename="c.md", page=None, page_label="", anchor="", chunk_index=0,
        char_start=0, char_end=1, token_count=1, content_type="text", is_simulation=None, content_hash="", units=(),
    )  # fmt: skip
    one, table = np.ones(1, dtype=np.float32), np.full((1, 1), alike, dtype=np.float32)
    starts, numbers = np.array([0, 0]), np.zeros(0, dtype=np.int32)
    late = MaxSim(one, table, one[:0], table[:0], table[:0], starts, numbers)
    topics = {stem(word): Topic(weight=4.0, unusual=unusual, places=(0,), told=word == told) for word in asked}
    question = Asked(
        text="", searched="", vector=one, tokens=table, weights=one, topics=topics, usual=0.0, chunks=1
    )  # fmt: skip
    scored = Scored(asked=question, cosines=one, lexical={}, late=late, fused=one)
    pool = Pool(chunks=[page], rows=[0], apart=one)
    judged, compared = signals_of(pool, scored, one)
    return float((compared if between_books else judged)[WORDS_IN_FIVE])


@pytest.mark.parametrize(
    "word",
    ["takes", "breaks", "longest", "largest", "easiest", "biggest", "wrongly", "reasons", "said", "gets", "teacher's"],
)
def test_what_is_said_of_anything_is_everyday(word: str) -> None:
    """In each of its forms."""
    assert is_everyday(stem(word))


@pytest.mark.parametrize("word", ["hurricane", "queen", "topic", "water", "number", "container", "commit", "install"])
def test_what_names_a_subject_is_not(word: str) -> None:
    """Nouns for things, and verbs of a trade."""
    assert not is_everyday(stem(word))


def test_a_missing_everyday_word_counts_little_and_a_missing_subject_much() -> None:
    """Readers use other words than the book; about other things they ask with other nouns."""
    assert share("longest", "pause", held="It pauses.") == pytest.approx(4 / 4.5)
    assert share("hurricane", "pause", held="It pauses.") == pytest.approx(0.5)


def test_an_everyday_word_that_stands_there_counts_like_any_other() -> None:
    """It is a match."""
    assert share("break", "hurricane", held="A break.") == pytest.approx(0.5)


def test_a_missing_word_counts_the_less_the_commoner_it_is_in_english() -> None:
    """Few texts speak of ribosomes; many say bag."""
    assert share("ribosome", "cell", held="A cell.", unusual=1.0) == pytest.approx(0.5)
    assert share("bag", "cell", held="A cell.", unusual=0.5) == pytest.approx(4 / 6)


def test_a_missing_word_counts_little_if_the_reader_only_tells_it() -> None:
    """Somebody's sandpaper is no subject, as long as it is not asked about; between books it counts."""
    assert share("sandpaper", "balance", held="A balance.", told="sandpaper") == pytest.approx(4 / 5)
    assert share("sandpaper", "balance", held="A balance.", told="sandpaper", between_books=True) == 0.5


def test_a_missing_word_counts_less_where_another_one_of_its_meaning_stands() -> None:
    """The reader's bike is the book's bicycle; a word that is like nothing there is missed in full."""
    assert share("bike", "chain", held="A chain.", alike=0.65) == pytest.approx(4 / 6)
    assert share("bike", "chain", held="A chain.", alike=0.2) == pytest.approx(0.5)
    assert share("bike", "chain", held="A chain.", alike=1.0) == pytest.approx(1.0)


def test_between_books_every_word_counts() -> None:
    """The one that has it is the better one."""
    told = {"held": "It pauses.", "unusual": 0.2, "alike": 0.9}
    assert share("break", "pause", between_books=True, **told) == pytest.approx(0.5)  # type: ignore[arg-type]
