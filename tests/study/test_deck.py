"""Cards, glossary and guide: from the companion where there is one, from the book's own markup elsewhere."""

import csv
import io
import sqlite3
import zipfile
from pathlib import Path

from lutrin.index.generation import FileEntry
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.prepared import Card, Entry, Practice, PreparedEntry
from lutrin.records import BookInfo, Chunk
from lutrin.spreadsheet import MARK
from lutrin.study.deck import practice
from lutrin.study.take_away import anki, table

PAGE = """# Robots

## Watchdogs

A **watchdog** stops the motors when commands stay away. It must be reset in time.

A watchdog needs three things:

- a timer
- a reset
- a safe state

| Driver | Timeout | Action |
|---|---|---|
| wheel | 100 ms | stops as soon as it can |
| arm | 50 ms | holds what it has got |

## Exercises

1. Why is a watchdog a timer?
2. How long may a command stay away?

<details>
<summary>Solution</summary>

A tenth of a second.

</details>
"""


def cut(text: str) -> list[Chunk]:
    """The page as passages."""
    document = parse_markdown(text, "01.md")
    words = [(0, 1)]
    return chunk_document(document, BookInfo(slug="robots", title="Robots"), lambda _: words, 400, 0)


def deck(*entries: Entry) -> Practice:
    """The cards of the page."""
    return practice_of(PAGE, *entries)


def practice_of(page: str, *entries: Entry) -> Practice:
    """The cards of a page."""
    chunks = cut(page)
    file = FileEntry(
        filename="01.md", title="Robots", module="", chapter="Chapter 1", section="01", sha256="", chunks=len(chunks)
    )
    home = chunks[0].chunk_id
    prepared = [
        PreparedEntry(
            entry=entry,
            chunk_id=home,
            places=tuple((home, page.index(quote), page.index(quote) + len(quote)) for quote in entry.quotes),
        )
        for entry in entries
    ]
    address = {chunk.chunk_id: f"/read/robots/01#{chunk.anchor}" for chunk in chunks}
    return practice(prepared, [file], chunks, address)


def entry(**given: object) -> Entry:
    """An entry on the section about watchdogs."""
    fields = {"file": "01.md", "heading": "Watchdogs", "anchor": "watchdogs", "author": "the authors"}
    return Entry(**{**fields, **given})  # type: ignore[arg-type] # fields of Entry


def of_kind(found: Practice, kind: str) -> list[Card]:
    """The cards of one kind."""
    return [card for card in found.cards if card.kind == kind]


def test_a_book_without_a_companion_has_cards_of_its_own() -> None:
    """A card for each row of a table, and the exercise that the book solves."""
    found = deck()
    assert [(card.front, card.back) for card in of_kind(found, "table")] == [
        ("Driver: wheel", "Action: stops as soon as it can"),
        ("Driver: arm", "Action: holds what it has got"),
    ]
    names = PAGE.replace("100 ms", "/left/front/wheel/stops").replace("50 ms", "/upper/right/arm/holds")
    assert [card.back for card in of_kind(practice_of(names), "table")] == [
        card.back for card in of_kind(found, "table")
    ]
    assert [card.back for card in of_kind(found, "exercise")] == ["A tenth of a second."]
    assert found.guide[0].sections[0].points == ("A watchdog stops the motors when commands stay away.",)
    assert {card.author for card in found.cards} == {"the book"}


def test_the_books_own_words_stand_beside_its_lists_and_tables() -> None:
    """A term that the book defines makes one card, not a gap of the same words, and takes no other card away."""
    text = "A watchdog stops the motors when commands stay away."
    quote = text.replace("watchdog", "**watchdog**")
    term = entry(kind="term", topic="watchdog", text=text, quotes=(quote,), author="the book")
    found = deck(term)
    assert of_kind(found, "gap") == []
    assert [(card.front, card.back, card.proof) for card in of_kind(found, "term")] == [("watchdog", text, "")]
    assert len(of_kind(found, "table")) == 2
    assert [(term.term, term.url) for term in found.glossary] == [("watchdog", "/read/robots/01#watchdogs")]
    (other,) = of_kind(deck(entry(kind="term", topic="watchdog", text="A timer that guards.", quotes=(quote,))), "term")
    assert other.proof == text
    (gap,) = of_kind(deck(entry(kind="term", topic="watchdog", text="A timer that guards.", quotes=(quote,))), "gap")
    assert (gap.back, gap.front) == ("watchdog", "A _____ stops the motors when commands stay away.")


def test_a_front_names_its_section_where_it_is_not_understood_without() -> None:
    """An exercise and a table row name it; a question does not."""
    asked = deck(entry(kind="question", topic="What stops the motors?", text="A watchdog.", quotes=("a timer",)))
    assert {card.context for card in of_kind(asked, "question")} == {""}
    assert {card.context for card in of_kind(asked, "exercise")} == {"Exercises"}
    assert {card.context for card in of_kind(deck(), "table")} == {"Watchdogs"}


def test_choices_and_hints_belong_to_their_exercise() -> None:
    """An exercise is everything from its text to its solution; items of a list without a text above are exercises."""
    page = """# Paths

## Where am I?

::: challenge

Starting from `/home`, which command leads to `/`?

1. `cd ..`
2. `cd .`

A hint: two dots.

::: solution

Number 1.

:::

:::
"""
    (card,) = of_kind(practice_of(page), "exercise")
    assert card.front.startswith("Starting from /home")
    assert "cd ." in card.front
    assert card.back == "Number 1."
    assert of_kind(practice_of(PAGE), "exercise")[0].front == "2. How long may a command stay away?"


def test_what_serves_the_steps_of_a_section_is_no_card() -> None:
    """The pins that a task wires are used, not learnt."""
    task = PAGE.replace(
        "A watchdog needs three things:", "1. Open the box.\n2. Connect the timer.\n\nA watchdog needs:"
    )
    assert not of_kind(practice_of(task), "table")
    stated = task.replace("1. Open the box.", "1. Boxes open.").replace("2. Connect the timer.", "2. Timers tick.")
    assert len(of_kind(practice_of(stated), "table")) == 2


def test_a_table_makes_cards_where_one_column_says_what_each_row_is() -> None:
    """A table of values makes none, and neither does a comparison of its columns, or one whose rows have no names."""
    values = PAGE.replace("stops as soon as it can", "stop").replace("holds what it has got", "hold")
    compares = PAGE.replace("100 ms", "in the tenth of one second").replace("50 ms", "in half of such time")
    measures = values.replace("| stop |", "| 1 mm x 2 mm x 3 mm |").replace("| hold |", "| 1 mm x 2 mm x 3 mm |")
    unnamed = PAGE.replace("| Driver |", "| |")
    sentences = PAGE.replace("| wheel |", "| Stop the left wheel |").replace("| arm |", "| Hold the long arm |")
    for page in (values, compares, measures, unnamed, sentences):
        assert not of_kind(practice_of(page), "table")


def test_a_row_that_does_not_read_alone_makes_no_card() -> None:
    """One of bare numbers, and one that says its name again."""
    for row in ("| 100 | 1 |", "| wheels | a wheel |"):
        page = PAGE.replace("| 100 ms | stops as soon as it can |", row)
        page = page.replace("| arm | 50 ms | holds what it has got |", "| arm | 50 ms | holds what it has got |\n" * 2)
        assert {card.front for card in of_kind(practice_of(page), "table")} == {"Driver: arm"}


def test_a_list_makes_a_card_of_the_sentence_before_it() -> None:
    """The sentence asks, its items answer, and they are not told twice."""
    quote = "- a timer\n- a reset\n- a safe state"
    listed = entry(kind="list", topic="A watchdog needs three things:", text=quote, quotes=(quote,), author="the book")
    (card,) = of_kind(deck(listed), "list")
    assert (card.front, card.back, card.proof) == ("A watchdog needs three things:", quote, "")


def test_questions_that_share_their_answer_are_one_card() -> None:
    """The one that says most; a short answer may well be that of several questions."""
    answer = "It has twenty joints, six in each leg."
    found = deck(
        entry(kind="question", topic="How many joints are there?", text=answer),
        entry(kind="question", topic="How many joints does the robot have?", text=answer),
        entry(kind="question", topic="Does it move?", text="Yes."),
        entry(kind="question", topic="Does it stop?", text="Yes."),
    )
    fronts = [card.front for card in of_kind(found, "question")]
    assert fronts == ["How many joints does the robot have?", "Does it move?", "Does it stop?"]


def test_where_entries_were_prepared_they_make_the_cards() -> None:
    """A question, a choice, a term with its gap and key points; the markup of that section is left alone."""
    quote = "A **watchdog** stops the motors when commands stay away."
    found = deck(
        entry(kind="question", topic="What stops the motors?", text="A watchdog.", quotes=(quote,)),
        entry(kind="quiz", topic="Which one?", choices=("a", "b"), answer=1, quotes=(quote,)),
        entry(kind="term", topic="watchdog", text="A timer that stops.", quotes=(quote,)),
        entry(kind="keypoints", topic="Watchdogs", text=("One.", "Two."), quotes=(quote,)),
        entry(kind="question", topic="Hidden?", text="No.", quotes=(quote,), state="hidden"),
    )
    assert [card.kind for card in found.cards] == ["question", "choice", "term", "gap", "exercise"]
    assert found.guide[0].sections[0].points == ("One.", "Two.")
    assert [(term.term, term.text) for term in found.glossary] == [("watchdog", "A timer that stops.")]


def test_a_card_keeps_its_id_while_its_answer_is_mended() -> None:
    """A browser, and Anki, remember how well a card is known."""
    (one,), (two,) = (
        of_kind(deck(entry(kind="question", topic="Why?", text=text, quotes=("a",))), "question") for text in "ab"
    )
    assert one.id == two.id


def test_chapters_are_counted_from_one() -> None:
    """Chapter 0 is the whole book."""
    found = deck()
    assert found.chapters == ("Chapter 1",)
    assert found.of_chapter(1) == found.of_chapter(0) == found.cards


def test_anki_gets_one_note_a_card(tmp_path: Path) -> None:
    """The package holds Anki's own database with each card once, markup escaped."""
    cards = deck(entry(kind="question", topic="Is 1 < 2?", text="Yes & always.", quotes=("a",))).cards
    path = tmp_path / "deck.apkg"
    path.write_bytes(anki("Robots", "robots", cards))
    with zipfile.ZipFile(path) as package:
        (tmp_path / "c").write_bytes(package.read("collection.anki2"))
    rows = sqlite3.connect(tmp_path / "c").execute("SELECT guid, flds FROM notes").fetchall()
    assert {guid for guid, _ in rows} == {card.id for card in cards}
    assert any("Is 1 &lt; 2?" in fields and "Yes &amp; always." in fields for _, fields in rows)


def test_a_table_computes_nothing_in_a_spreadsheet() -> None:
    """A cell that begins like a formula is kept as text."""
    cards = deck(entry(kind="question", topic="=1+1", text="-2", quotes=("a",))).cards
    rows = list(csv.DictReader(io.StringIO(table(cards).removeprefix(MARK))))
    assert (rows[0]["front"], rows[0]["back"]) == ("'=1+1", "'-2")
