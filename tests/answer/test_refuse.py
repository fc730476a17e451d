"""Topics beside a refusal: each says by itself what it is about."""

import msgspec

from lutrin.answer.plan import MAX_SUGGESTIONS, refusal_text, suggestions
from lutrin.records import Passage, Question

from .book import chunk, unit


def found(*titles: str) -> Passage:
    """A passage below these headings, the page's title first."""
    placed = msgspec.structs.replace(
        chunk(unit("Wheels slip.")),
        section_title=titles[-1] if titles else "",
        heading_path=titles,
    )
    return Passage(chunk=placed, score=1.0)


def test_a_title_that_says_what_it_is_about_stands_alone() -> None:
    """As the book has it."""
    for title in ("Nodes and topics", "Code for one real joint", "`ros2 topic list`", "Gears of a bicycle"):
        assert suggestions([found("Driving", title)]) == (title,)


def test_a_title_that_says_little_alone_stands_behind_the_one_above_it() -> None:
    """Numbers and everyday words name nothing."""
    for title in (
        "What changes",
        "In code",
        "Example",
        "A worked example",
        "Overview",
        "1.2 Overview",
        "How it works",
        "Two kinds",
        "Step 3",
        "How many?",
        "Gears",
    ):
        assert suggestions([found("Driving Wren", title)]) == (f"Driving Wren: {title}",)


def test_a_page_without_headings_above_keeps_its_title() -> None:
    """And one without any title suggests nothing."""
    assert suggestions([found("Overview")]) == ("Overview",)
    assert suggestions([found("What is a gear?", "In code")]) == ("What is a gear? In code",)
    assert suggestions([found()]) == ()


def test_the_nearest_topics_come_first_each_once() -> None:
    """The same words under two headings are one topic; there are at most five."""
    passages = [found("Wheels", "Slip"), found("Wheels", "Summary"), found("wheels", "slip"), found("Arms", "Summary")]
    assert suggestions(passages) == ("Wheels: Slip", "Wheels: Summary", "Arms: Summary")
    assert len(suggestions([found("Page", f"Gear {letter}") for letter in "PQRSTUVW"])) == MAX_SUGGESTIONS


def test_a_title_with_an_article_gets_no_second_one() -> None:
    """The Kiln Manual is not "the The Kiln Manual textbook"."""
    asked = Question(text="How old is the moon?", surface="query")
    for title, shown in (("The Kiln Manual", "Kiln Manual"), ("Theory of Kilns", "Theory of Kilns")):
        text = refusal_text("not_in_book", asked, title)
        assert text == f"This topic is not covered in the {shown} textbook."
