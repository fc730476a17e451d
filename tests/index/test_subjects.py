"""The names that a book is about."""

from tests.answer.book import chunk, unit

from lutrin.index.subjects import subjects_of
from lutrin.records import Chunk

RANKS = {"drayline": [2852, 4710, 4179], "queue": [24240]}


def ranks(word: str) -> list[int]:
    """As a vocabulary has them that knows every other word."""
    return RANKS.get(word, [5000])


def book(*texts: str) -> list[Chunk]:
    """A passage of each, and as many others of which nothing is special."""
    others = [chunk(unit("pumps move the water"), chunk_id=f"o{place}") for place in range(len(texts))]
    return [chunk(unit(text), chunk_id=str(place)) for place, text in enumerate(texts)] + others


def test_a_name_stands_in_many_passages_and_begins_with_a_capital() -> None:
    """A word of the book that is written small, a name that stands in few passages, and a unit are none."""
    pages = book("At 5 V Kestrel walks.", "Kestrel's hand closes at 3 V.", "A Wren rolls.", "Water cools it.", "Pumps.")
    assert subjects_of(pages, "Robots", ranks) == ("kestrel",)


def test_a_title_that_is_no_english_word_is_one_however_it_is_written() -> None:
    """A product's name stands in its commands; "queue" is a word, and what the title lacks is not the book's name."""
    pages = book("pip install drayline", "a queue of drayline is short", "a queue waits")
    assert subjects_of(pages, "Drayline, a queue", ranks) == ("drayline",)
    assert subjects_of(pages, "A handbook", ranks) == ()


def test_in_code_a_capital_says_nothing() -> None:
    """Names of classes begin with one everywhere."""
    pages = [chunk(unit("Node = make()", kind="code")), chunk(unit("A node waits."))]
    assert subjects_of(pages, "Programs", ranks) == ()
    assert subjects_of([], "Programs", ranks) == ()
