"""Below an answer stands one question on the same passage; a hint is the sentence with its key word left out."""

from lutrin.prepared import Card
from lutrin.records import Chunk, Unit
from lutrin.study.deck import GAP
from lutrin.study.recall import answering_unit, key_words, recall

from .test_deck import cut

PAGE = """# Robots

## Watchdogs

A **watchdog** stops the motors when commands stay away. It must be reset within 100 ms by every loop.

```bash
ros2 run watchdog reset now and then again
```
"""
URL = "/read/robots/01#watchdogs"
STOPS = "A **watchdog** stops the motors when commands stay away."
CARD = Card(
    id="a", kind="question", front="How soon must it be reset?", back="Within 100 ms.",
    proof="It must be reset within 100 ms", url=URL, section="Watchdogs", chapter="Robots", author="the authors",
)  # fmt: skip


def passage() -> Chunk:
    """The one section."""
    return next(chunk for chunk in cut(PAGE) if chunk.anchor == "watchdogs")


def test_a_hint_is_the_sentence_that_answers_without_its_rarest_word() -> None:
    """The word left out is neither in the question nor common in the book."""
    unit = answering_unit(passage(), STOPS)
    assert unit is not None
    keys = key_words(unit, "What does a watchdog stop?")
    assert "watchdog" not in keys
    assert "stops" not in keys
    often = {"motors": 1, "commands": 9, "stay": 8, "away": 5}
    found = recall("What does a watchdog stop?", passage(), unit, url=URL, cards=(), frequency=often)
    assert found.hint == f"A watchdog stops the {GAP} when commands stay away."


def test_a_hint_at_a_number_hides_the_number() -> None:
    """If the question asks for a number; otherwise a rarer word may tell more."""
    unit = answering_unit(passage(), "It must be reset within 100 ms by every loop.")
    assert unit is not None
    hints = [
        recall(asked, passage(), unit, url=URL, cards=(), frequency={"loop": 1, "100": 7, "ms": 9}).hint
        for asked in ("How many ms has a watchdog to be reset?", "What resets a watchdog?")
    ]
    assert hints == [
        f"It must be reset within {GAP} ms by every loop.",
        f"It must be reset within 100 ms by every {GAP}.",
    ]


def test_a_row_is_asked_with_the_names_of_its_columns() -> None:
    """And not with bars between its cells."""
    row = Unit(
        kind="table_row",
        text="GSV | satellites in sight of the receiver",
        lead="Type | Meaning",
        char_start=0,
        char_end=41,
    )
    found = recall(
        "What is GSV?", passage(), row, url=URL, cards=(), frequency={"satellites": 1, "sight": 5, "receiver": 5}
    )
    assert found.hint == f"Type: GSV; Meaning: {GAP} in sight of the receiver"


def test_the_question_asked_back_is_a_prepared_one_that_was_not_just_asked() -> None:
    """Only from the same section; repeating the last question would ask nothing."""
    unit = answering_unit(passage(), STOPS)
    assert recall("What is a watchdog?", passage(), unit, url=URL, cards=(CARD,), frequency={}).card == CARD
    again = recall("How soon must it be reset?", passage(), unit, url=URL, cards=(CARD,), frequency={}).card
    assert again is not None
    assert again.kind == "gap"
    assert (
        recall("What is a watchdog?", passage(), unit, url="/read/robots/02", cards=(CARD,), frequency={}).card != CARD
    )


def test_without_a_prepared_question_the_sentence_asks_for_its_word() -> None:
    """The card proves itself by the sentence and leads to its section; the same question gives the same card."""
    unit = answering_unit(passage(), STOPS)
    cards = [
        recall("What does a watchdog stop?", passage(), unit, url=URL, cards=(), frequency={}).card for _ in range(2)
    ]
    assert cards[0] is not None
    assert cards[0] == cards[1]
    assert (cards[0].kind, cards[0].url, cards[0].section) == ("gap", URL, "Watchdogs")
    assert cards[0].proof == "A watchdog stops the motors when commands stay away."
    assert cards[0].front.replace(GAP, cards[0].back) == cards[0].proof


def test_code_gives_no_gap() -> None:
    """A command with a hole teaches nothing."""
    unit = answering_unit(passage(), "ros2 run watchdog reset now and then again")
    assert unit is not None
    assert unit.kind == "code"
    found = recall("How is it reset?", passage(), unit, url=URL, cards=(), frequency={})
    assert (found.hint, found.card) == ("", None)


def test_words_that_the_passage_does_not_hold_give_nothing() -> None:
    """An answer that a person wrote has no sentence in the book."""
    assert answering_unit(passage(), "Nothing like this stands here") is None
    assert answering_unit(passage(), "") is None
    assert recall("Why?", passage(), None, url=URL, cards=(), frequency={}).card is None
