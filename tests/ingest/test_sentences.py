"""Running text is cut into sentences."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lutrin.ingest.sentences import paragraph_ranges, sentence_ranges


def cut(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[a:b] for a, b in sentence_ranges(text)]


def test_a_full_stop_inside_a_sentence_ends_nothing() -> None:
    """Decimals, abbreviations, versions, addresses, initials, ellipses and item numbers."""
    for text in (
        "It weighs 28.5 kg.",
        "See Fig. 3 for the sensor.",
        "Some robots, e.g. Kestrel, walk.",
        "Use v1.2.3 of the driver.",
        "Visit https://example.org/a.html?b=c.d for more.",
        "Ask Dr. Smith or J. R. Jones.",
        "Stop... or go on.",
        "1. Press the button",
        "Does 'why?' end a sentence?",
    ):
        assert cut(text) == [text]


def test_sentences_end_where_a_reader_pauses() -> None:
    """At a mark that is followed by a blank and no small letter; in scripts without capitals at each mark."""
    for text, expected in (
        ("It runs. It stops.", ["It runs.", "It stops."]),
        ('"It runs." Then it stops.', ['"It runs."', "Then it stops."]),
        ("Really? Yes! Good.", ["Really?", "Yes!", "Good."]),
        ("It has 3. The other has 4.", ["It has 3.", "The other has 4."]),
        ("Up to 60 V. Fuse it.", ["Up to 60 V.", "Fuse it."]),
        ("(It runs.) It stops.", ["(It runs.)", "It stops."]),
        ("机器人。它会走。", ["机器人。", "它会走。"]),
        ("الروبوت آلة. لها محركات.", ["الروبوت آلة.", "لها محركات."]),
        ("One line\ngoes on. Two.", ["One line\ngoes on.", "Two."]),
    ):
        assert cut(text) == expected


def test_code_and_addresses_are_not_cut() -> None:
    """A stop inside a protected range ends nothing."""
    text = "Use a. B there. End."
    assert [text[a:b] for a, b in sentence_ranges(text, [(4, 8)])] == ["Use a. B there.", "End."]


def test_a_run_in_title_stays_with_its_sentence() -> None:
    """A definition without its term defines nothing; bold text that is no whole sentence changes nothing."""
    text = "Near miss. An event without harm. More."
    assert [text[a:b] for a, b in paragraph_ranges(text, run_in=10)] == ["Near miss. An event without harm.", "More."]
    assert len(paragraph_ranges(text)) == len(paragraph_ranges(text, run_in=4)) == 3


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab A.!?…\n\"'(1。 "), max_size=200))
def test_no_character_is_lost(text: str) -> None:
    """Sentences in order, joined, are the text without its white space."""
    assert "".join("".join(piece.split()) for piece in cut(text)) == "".join(text.split())


def test_hostile_text_takes_linear_time() -> None:
    """A million characters of marks, letters or initials are cut at once, and no sentence is endless."""
    for text in ("." * 1_000_000, ". " * 300_000, "a" * 1_000_000, ".'" * 300_000, "A. " * 200_000):
        assert max((b - a for a, b in sentence_ranges(text)), default=0) <= 1200
