"""A companion's additions to a book's pages, to the shelf, and to suggestions while typing."""

import pytest

from lutrin.index.companion import Companion
from lutrin.index.lexical import stem_of
from lutrin.index.typeahead import TypedWord
from lutrin.prepared import Entry, Kind, PreparedEntry, State
from lutrin.serve import notes
from lutrin.serve.notes import MOST_CHECKS, MOST_TERMS_FOUND, find_terms, glossary, notes_of, starters, terms_by_name


def entry(
    kind: Kind,
    topic: str,
    *,
    file: str = "a.md",
    state: State = "approved",
    aka: tuple[str, ...] = (),
    author: str = "the authors",
) -> PreparedEntry:
    """An entry of a section."""
    made = Entry(
        kind=kind, file=file, heading="A", anchor="a", topic=topic, text="Text.", state=state, aka=aka, author=author
    )
    return PreparedEntry(entry=made, chunk_id="c1")


def companion(*entries: PreparedEntry) -> Companion:
    """A companion without vectors, which are for answers."""
    return Companion(entries)


def test_a_section_is_checked_by_a_few_questions_those_with_choices_first() -> None:
    """What is hidden, and what belongs to other pages, is not shown."""
    made = companion(
        *(entry("question", f"Q{number}") for number in range(6)),
        entry("quiz", "Which?"),
        entry("question", "Hidden?", state="hidden"),
        entry("term", "loop"),
        entry("term", "other", file="b.md"),
        entry("analogy", "loop"),
    )
    notes = notes_of(made, "a.md")["a"]
    assert [check.topic for check in notes.checks] == ["Which?", "Q0", "Q1", "Q2"][:MOST_CHECKS]
    assert [term.topic for term in notes.terms] == ["loop"]
    assert notes_of(made, "c.md") == {}


def test_questions_to_begin_with_are_spread_over_the_book() -> None:
    """One of a page at most, and only what a person stands for."""
    made = companion(
        *(entry("question", f"Q{n}", file=f"{n:02}.md") for n in range(20)),
        *(entry("question", f"P{n}", file=f"{n:02}.md", state="proposed") for n in range(20, 40)),
    )
    assert starters(made, 3) == ["Q5", "Q10", "Q15"]
    assert starters(companion(), 3) == []
    assert starters(companion(entry("question", "Only?")), 3) == ["Only?"]


def test_a_book_that_nobody_prepared_begins_with_its_own_terms_and_headings() -> None:
    """From all over it, those of the page first; what a model drafted waits for a person."""
    own = [entry("term", name, file=f"{name}.md", author="the book") for name in ("loop", "gain", "node", "topic")]
    made = companion(*own, entry("question", "Why so?", author="medium@2026-11-28", state="proposed"))
    assert starters(made, 2) == ["What does loop mean?", "What does node mean?"]
    assert starters(made, 2, "topic.md") == ["What does topic mean?"]
    assert starters(companion(*own, entry("question", "Asked?")), 2) == ["Asked?"]


def test_a_page_offers_its_own_questions_to_begin_with() -> None:
    """A page without questions offers those of the book."""
    made = companion(*(entry("question", f"Q{file}{n}", file=f"{file}.md") for file in "ab" for n in range(4)))
    assert starters(made, 3, "b.md") == ["Qb0", "Qb1", "Qb2"]
    assert starters(made, 1, "none.md") == starters(made, 1)


def test_a_term_is_found_by_any_of_its_names_as_it_is_typed() -> None:
    """The shorter name first; not by a part of what was typed."""
    made = companion(entry("term", "torque density"), entry("term", "torque", aka=("moment",)), entry("term", "loop"))
    found = find_terms(terms_by_name(made), "lab", [TypedWord("torq", ("torque",))])
    assert [(term.name, term.url) for term in found] == [
        ("torque", "/read/lab/a#a"),
        ("torque density", "/read/lab/a#a"),
    ]
    assert [term.name for term in find_terms(terms_by_name(made), "lab", [TypedWord("mom", ("moment",))])] == ["torque"]
    assert find_terms(terms_by_name(made), "lab", [TypedWord("torque", ("torque",)), TypedWord("of", ("of",))]) == []
    assert find_terms(terms_by_name(made), "lab", []) == []


def test_many_terms_hold_up_nobody_who_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked through for each letter is prepared once: only what was typed is stemmed."""
    terms = terms_by_name(companion(*(entry("term", f"needle number{n}", aka=(f"nail {n}",)) for n in range(2_000))))
    words: list[str] = []

    def stem(word: str) -> str:
        words.append(word)
        return stem_of(word)

    monkeypatch.setattr(notes, "stem_of", stem)
    assert len(find_terms(terms, "lab", [TypedWord("needle", ("needle",))])) == MOST_TERMS_FOUND
    assert words == ["needle", "needle"]


def test_a_page_defines_no_common_word_that_a_term_is_also_called() -> None:
    """A frame is called "map" by those who know; most maps are none."""
    made = companion(entry("term", "map frame", aka=("map", "world map frame")))
    assert [term.name for term in glossary(made, "lab")] == ["map frame", "world map frame"]
