"""The judge's reading of Markdown."""

from evaluation.text import Sentence, blocks, first_words, numbers, plain, sentences, stands, word_count

ANSWER = """The elbow turns 140 degrees. [1] It is light. [2]

```python
arm.turn(angle=2)  # four words of code
```

Three more words [1]
"""


def test_code_is_told_from_text() -> None:
    """A fence ends at its own mark, independent of its content."""
    found = blocks("One\ntwo\n\n````md\n```\ninner\n```\n````\nthree")
    assert [(item.text, item.is_code) for item in found] == [
        ("One\ntwo", False),
        ("```\ninner\n```", True),
        ("three", False),
    ]


def test_an_open_fence_is_code_to_the_end() -> None:
    """What a cut answer leaves open is not counted as words."""
    assert word_count("Two words\n\n~~~\na b c d") == 2


def test_words_are_counted_outside_code() -> None:
    """Six words and a marker, four and a marker, three and a marker; none of the code."""
    assert word_count(ANSWER) == 5 + 1 + 3 + 1 + 3 + 1


def test_the_first_words_take_code_along() -> None:
    """Code before the last counted word is there in full, what follows that word is not."""
    cut = first_words(ANSWER, limit=12)
    assert cut.endswith("Three more")
    assert "arm.turn(angle=2)  # four words of code" in cut
    assert "arm.turn" not in first_words(ANSWER, limit=10)


def test_markup_never_decides() -> None:
    """Emphasis, links, tables, dashes, thousands separators, glued units and markers are levelled."""
    for text, expected in (
        ("The **elbow** joint's\n`max_angle`", "the elbow joint's max_angle"),
        ("1,200 g – 40ms [3]", "1200 g - 40 ms"),
        ("see [the arm](arm.md#x) and ![pic](a.png)", "see the arm and pic"),
        ("| Baseline | 95 mm |", "baseline 95 mm"),
        ("$a \\times b$ &lt; 5", "a times b < 5"),
        ("_very_ __init__ use_sim_time", "very init use_sim_time"),
        ("zero\u200bwidth ﬁne", "zerowidth fine"),
    ):
        assert plain(text) == expected


def test_facts_stand_as_whole_words() -> None:
    """A number is never found in a longer one, nor a word in another, but inflection is allowed."""
    for fact, text, expected in (
        ("40", "It takes 40 ms.", True),
        ("40", "It takes 40ms.", True),
        ("40", "It takes 140 ms.", False),
        ("40", "It takes 40.5 ms.", False),
        ("0.07", "from 0.07 m", True),
        ("7", "from 0.7 m", False),
        ("1200", "weighs 1,200 g", True),
        ("D435", "the D435i camera", False),
        ("D435i", "The `D435i`: a camera", True),
        ("motor", "Two motors", True),
        ("motor", "motorway", False),
        ("hip", "the ship", False),
        ("senses the world", "it **senses** the\nworld [1], then acts", True),
        ("create_timer(0.05", "self.create_timer(0.05, tick)", True),
        ("-acc_x", "math.atan2(-acc_x, acc_z)", True),
        ("Not there", "There", False),
        ("**", "There", False),
    ):
        assert stands(fact, text) is expected


def test_numbers_are_those_that_stand_alone() -> None:
    """Ranges are two numbers; parts of names are none."""
    assert numbers(plain("3-5 m, -2.5 V, D435i, 1,200 g, ROS 2, 3D")) == ["3", "5", "-2.5", "1200", "2", "3"]


def test_sentences_name_their_sources() -> None:
    """A marker before or after the full stop belongs to its sentence; code and text without one take the next."""
    assert sentences(ANSWER) == [
        Sentence("The elbow turns 140 degrees.", (1,)),
        Sentence("It is light.", (2,)),
        Sentence("arm.turn(angle=2)  # four words of code", (1,), is_code=True),
        Sentence("Three more words", (1,)),
    ]


def test_a_sentence_without_a_source_takes_its_neighbours() -> None:
    """First the next marker of its block, then the one before in its block, then the next of the text."""
    found = sentences("Lead:\n\n- One. Two. [2]\n- Three [3], e.g. like this. Four.\n\nFive.")
    assert [(item.text, item.cites) for item in found] == [
        ("Lead:", (2,)),
        ("One.", (2,)),
        ("Two.", (2,)),
        ("Three, e.g. like this.", (3,)),
        ("Four.", (3,)),
        ("Five.", (3,)),
    ]


def test_tables_and_headings_are_read_row_by_row() -> None:
    """Rules and headings say nothing of their own."""
    found = sentences("## Cameras\n\n| Model | Baseline |\n| --- | --- |\n| D455 | 95 mm | [1]\n")
    assert [item.text for item in found] == ["| Model | Baseline |", "| D455 | 95 mm |"]
