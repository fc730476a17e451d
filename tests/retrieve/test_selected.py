"""Whether a marked text answers a question, or only the rest of the book does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.retrieve.test_search import published

from lutrin.adapters.fakes import WordHashEmbedder
from lutrin.index.generation import OpenGeneration
from lutrin.retrieve.selected import ELSEWHERE, ELSEWHERE_WEIGHTS, PLACED, PLACED_WEIGHTS, _defines, _says
from lutrin.retrieve.selection import search_selection

PAGES = {
    "01/a.md": ["The lock of the button has category 0.", "A harmonic drive has the least backlash of all gearboxes."],
    "01/b.md": ["Backlash is the free play between gear teeth.", "The lamp of Kestrel is red at night."],
}
NUMBER, DEFINITION, AMOUNT, HERE = range(4)


@pytest.fixture
async def generation(tmp_path: Path) -> AsyncIterator[OpenGeneration]:
    """A book on gears and buttons, open."""
    async with published(tmp_path, PAGES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "text", "signal", "expected"),
    [
        ("What is category 1?", "The lab uses category 0.", NUMBER, 1),
        ("What is category 0?", "The lab uses category 0.", NUMBER, 0),
        ("What is the wake word?", "The lamp turns blue as soon as the wake word is heard.", DEFINITION, 1),
        ("What is a wake word?", "A **wake word** is a short phrase.", DEFINITION, 0),
        ("How many microphones are there?", "The array listens all the time.", AMOUNT, 1),
        ("How many microphones are there?", "There are four microphones.", AMOUNT, 0),
        ("What is the score in this example?", "Box A covers box B.", HERE, 1),
        ("What is the score?", "Box A covers box B.", HERE, 0),
    ],
)
def test_what_a_text_lacks_is_read_off_its_words(question: str, text: str, signal: int, expected: float) -> None:
    """A number or a definition that is asked for, any number at all, or what "in this example" speaks of."""
    assert _says(question, text)[signal] == expected


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("a costmap", "A costmap is a grid.", True),
        ("costmap", "Such a grid is called a costmap.", True),
        ("costmap", "**Costmap**: a grid of costs.", True),
        ("zero moment point", "The zero moment point (ZMP) is where no moment tips.", True),
        ("costmap", "The planner reads the costmap.", False),
    ],
)
def test_a_definition_is_known_by_its_form(term: str, text: str, expected: bool) -> None:
    """As in an index of definitions, but of any text."""
    assert _defines(term, text) is expected


def test_each_signal_has_a_weight_that_says_what_one_expects() -> None:
    """More of the question is for a text; a better sentence elsewhere and whatever is missing are against it."""
    placed, elsewhere = (
        dict(zip(PLACED, PLACED_WEIGHTS, strict=True)),
        dict(zip(ELSEWHERE, ELSEWHERE_WEIGHTS, strict=True)),
    )
    assert all(placed[name] > 0 for name in ("best sentence", "against the nearest", "near", "here"))
    assert placed["better sentences"] < 0
    for weights in (placed, elsewhere):
        assert all(weights[name] < 0 for name in ("lacks a number", "no number"))


@pytest.mark.parametrize(
    ("question", "selected", "answered"),
    [
        ("What is backlash?", "Backlash is the free play between gear teeth.", True),
        ("Which gearbox has the least backlash?", "Backlash is the free play between gear teeth.", False),
        ("What is category 0?", "The lock of the button has category 0.", True),
        ("What is category 1?", "The lock of the button has category 0.", False),
        ("Which colour is the lamp of Kestrel at night?", "The lamp of Kestrel is red at night.", True),
        ("Which dish do whales eat?", "The lamp of Kestrel is red at night.", False),
        ("Explain this passage", "The lamp of Kestrel is red at night.", True),
        ("How deep is the lake of Como?", "The lake of Como is 410 m deep.", True),
    ],
)
async def test_a_selection_answers_what_it_says(
    generation: OpenGeneration, question: str, selected: str, answered: bool
) -> None:
    """What the book says better elsewhere is not answered from it; what the book does not have may be."""
    found = await search_selection(WordHashEmbedder(), generation, question, selected)
    assert bool(found.parts) is answered


async def test_a_selection_about_something_else_answers_nothing(generation: OpenGeneration) -> None:
    """Though the book says nothing better of it, of which there is no word anywhere."""
    for text in (PAGES["01/b.md"][1], "Its own words, of no book."):
        found = await search_selection(WordHashEmbedder(), generation, "Which soup tastes of onions tomorrow?", text)
        assert found.odds == float("-inf")
        assert not found.passages
