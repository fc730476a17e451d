"""A selection as a passage of its own: its sentences and code are all the evidence there is."""

import pytest
from tests.fakes import WordHashEmbedder

from lutrin.answer.runs import choose
from lutrin.index.generation import OpenGeneration
from lutrin.search.marked import looks_like_code, search_selection, units_of

from .conftest import asked

SELECTED = "Smoke calms the bees.  It makes them\neat honey.\n\n```python\nsmoke.puff()\n```\n\nThen wait."


def test_each_unit_is_where_it_says() -> None:
    """Sentences with blanks closed up, code byte for byte; offsets are those of the selection."""
    found = [(unit.kind, unit.text) for unit in units_of(SELECTED)]
    assert found == [
        ("sentence", "Smoke calms the bees."),
        ("sentence", "It makes them eat honey."),
        ("code", "smoke.puff()\n"),
        ("sentence", "Then wait."),
    ]
    for unit in units_of(SELECTED):
        assert " ".join(SELECTED[unit.char_start : unit.char_end].split()) == " ".join(unit.text.split())


def test_a_marked_list_keeps_its_items() -> None:
    """As its author typed it, or as a browser gives it: an item in each line."""
    for text, items in (
        ("Bees need:\n1. **Water.** Clean.\n2. Food.", ["1. **Water.** Clean.", "2. Food."]),
        ("- Water. Clean.\n- Food,\n  much of it", ["Water. Clean.", "Food, much of it"]),
        ("Bees need:\n\nWater. Clean.\nFood. Much of it.", ["Water. Clean.", "Food. Much of it."]),
        ("They need clean\nwater. And food.", []),
    ):
        listed = [unit for unit in units_of(text) if unit.kind == "list_item"]
        assert [unit.text for unit in listed] == items
        assert len({unit.block for unit in listed}) <= 1
        assert all(" ".join(text[unit.char_start : unit.char_end].split()) == unit.text for unit in units_of(text))


def test_marked_code_is_code() -> None:
    """Though no fence was marked with it."""
    for text in ("import bees\nbees.fly()", "$ lutrin serve", "#include <bees.h>", "<bee>"):
        assert looks_like_code(text)
        assert [unit.kind for unit in units_of(text)] == ["code"]


@pytest.mark.parametrize("text", ["Bees fly.", "From here, import duties rise.", ""])
def test_marked_words_are_words(text: str) -> None:
    """On any subject."""
    assert not looks_like_code(text)


async def test_the_selection_s_best_sentence_has_the_best_score(generation: OpenGeneration) -> None:
    """And the selection has its place in the book."""
    query = asked(
        "What does it make them eat?", selected_text="Smoke calms the bees. It makes them eat honey.", mode="selection"
    )
    found = await search_selection(WordHashEmbedder(), generation, query)
    (read,) = found.parts[0].passages
    assert read.chunk.units[int(read.scores.argmax())].text == "It makes them eat honey."
    assert read.chunk.heading_path == ("Smoke",)
    assert read.chunk.filename.endswith("/03-smoke.md")


async def test_a_question_about_all_of_it_wants_all_of_it(generation: OpenGeneration) -> None:
    """No sentence is better than another."""
    query = asked("Explain this.", selected_text="Smoke calms the bees. It makes them eat honey.", mode="selection")
    found = await search_selection(WordHashEmbedder(), generation, query)
    assert found.odds > 0
    assert len(set(found.parts[0].passages[0].scores.tolist())) == 1


async def test_a_selection_without_words_answers_nothing(generation: OpenGeneration) -> None:
    """Marks and blanks."""
    query = asked("What does a smoker burn?", selected_text="x", mode="selection")
    found = await search_selection(WordHashEmbedder(), generation, query)
    assert found.odds < 0


async def test_a_selection_of_several_sentences_is_cut_into_excerpts(generation: OpenGeneration) -> None:
    """What its part knows of the question's tokens fits what its sentences meet of them."""
    selected = "Smoke calms the bees. It makes them eat honey.\n\nA smoker burns dry wood. Bees need flowers."
    query = asked("What does the smoker burn, and what do bees need?", selected_text=selected)
    (part,) = (await search_selection(WordHashEmbedder(), generation, query)).parts
    assert {item.matches.shape[1] for item in part.passages} == {len(part.share)}
    assert any("dry wood" in unit.text for run in choose([part]) for unit in run.units)
