"""The model is asked to say one passage in fewer words, and nothing else."""

from tests.answer.book import chunk, unit

from lutrin.answer.prompt import MAX_WORDS, build, warm_request
from lutrin.answer.quote import Quote
from lutrin.records import Unit


def quote(*units: Unit, added: frozenset[int] = frozenset()) -> Quote:
    """Units of one page, quoted together."""
    return Quote(chunk=chunk(*units), units=units, score=0.9, added=added)


def passage(said: Quote, *scores: float) -> str:
    """What the model is given of a quote whose units have these scores."""
    places = {(said.chunk.chunk_id, unit.char_start): score for unit, score in zip(said.units, scores, strict=True)}
    return build([said], places)[-1].content


def test_all_prompts_begin_alike() -> None:
    """Instructions and examples are computed before the first reader comes."""
    asked = build([quote(unit("The arm lifts 2 kg."))], {})
    assert asked[:-1] == warm_request().messages[:-1]
    assert asked[-1].content == "Passage: The arm lifts 2 kg."


def test_the_passage_is_the_unit_that_answers_best_and_what_follows_it() -> None:
    """It stands alone, and has at most as many words as one or two sentences."""
    texts = ("Batteries are heavy.", "The arm is light.", "It lifts a load of 2 kg.", "word " * MAX_WORDS)
    units = [unit(text, start=40 * n) for n, text in enumerate(texts)]
    assert passage(quote(*units), 0.2, 0.7, 0.9, 0.1) == "Passage: The arm is light. It lifts a load of 2 kg."
    assert build([quote(units[2])], {}) == (), "what it is stands elsewhere"


def test_items_that_only_complete_a_list_are_not_said_first() -> None:
    """Those that were found answer the question, with what announces the list; one alone is no news."""
    units = [
        unit(text, start=40 * n, kind="list_item", lead="To start the robot:")
        for n, text in enumerate(("1. Charge it.", "2. Open the valve.", "3. Press the button."))
    ]
    said = quote(*units, added=frozenset({0}))
    assert passage(said, 0.9, 0.5, 0.4) == "Passage: To start the robot: 2. Open the valve. 3. Press the button."
    assert build([quote(units[1])], {}) == ()


def test_a_table_is_left_to_speak_for_itself() -> None:
    """A small model makes wrong sentences of its rows; code is shown as it stands."""
    row = quote(unit("| Camera | 2 m |", kind="table_row", lead="| Sensor | Depth |"))
    code = quote(unit("arm.move()\n", kind="code"))
    prose = quote(unit("The camera sees 2 m deep."))
    assert build([row, prose], {}) == ()
    assert build([code], {}) == ()
    assert build([code, prose], {})[-1].content == "Passage: The camera sees 2 m deep."
