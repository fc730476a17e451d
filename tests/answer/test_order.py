"""The order of an answer: what answers comes first, what it needs stays before it."""

from tests.answer.book import chunk, evidence, unit

from lutrin.answer.extract import choose, choose_parts
from lutrin.answer.quote import cells_of, leans_back
from lutrin.answer.steps import exceptions
from lutrin.answer.wanted import wanted
from lutrin.records import Chunk
from lutrin.retrieve.search import Part


def quoted(page: Chunk, *scores: float, question: str = "How do wheels roll?", widened: int = 0) -> list[str]:
    """What is quoted from a page whose units have these scores."""
    found = choose(wanted(question), evidence(page, *scores), budget_words=100, widened=widened)
    return [quote.text for quote in found]


def test_the_passage_is_told_from_its_best_quote_on() -> None:
    """What follows explains it; what stands before it comes last. Of two that answer alike the book's order holds."""
    page = chunk(
        *(unit(f"{word} wheels roll.", start=100 * n, block=n) for n, word in enumerate(("Old", "New", "Dry")))
    )
    assert quoted(page, 0.85, 0.95, 0.84) == ["New wheels roll.", "Dry wheels roll.", "Old wheels roll."]
    assert quoted(page, 0.94, 0.95, 0.84) == ["Old wheels roll.", "New wheels roll.", "Dry wheels roll."]


def test_what_a_quote_needs_stays_before_it() -> None:
    """A sentence that leans back, a later step, and code or a formula with the sentence that runs into it."""
    first = unit("Old wheels roll.")
    leaning = chunk(first, unit("For that reason they wear.", start=100, block=1))
    assert quoted(leaning, 0.85, 0.95)[0] == "Old wheels roll."
    steps = [unit(f"{n}. Roll wheel {n}.", kind="list_item", start=100 * n, block=n) for n in (1, 2)]
    assert quoted(chunk(*steps), 0.85, 0.95, question="What does the wheel do?")[0] == "1. Roll wheel 1."
    code = chunk(unit("Roll them so:"), unit("spin(7)\n", kind="code", start=100, block=1, lead="Roll them so:"))
    (told, shown) = quoted(code, 0.85, 0.95, question="Which command rolls wheels?")
    assert told == "Roll them so:"
    assert shown.startswith("```")


def test_a_warning_is_never_put_behind_what_it_warns_of() -> None:
    """However poorly it answers."""
    warning = unit("Keep your fingers off rolling wheels.", warning=True)
    page = chunk(warning, unit("New wheels roll.", start=100, block=1))
    assert quoted(page, 0.85, 0.95) == ["Keep your fingers off rolling wheels.", "New wheels roll."]


def test_the_sentence_that_a_list_has_brought_along_does_not_come_twice() -> None:
    """It stood before the list; now it stands in it."""
    lead = "Wheels roll for three reasons:"
    items = [unit(f"{word}.", kind="list_item", start=100 + 50 * n, block=1, lead=lead) for n, word in enumerate("abc")]
    page = chunk(unit(lead), *items)
    (only,) = quoted(page, 0.85, 0.95, 0.95, 0.95)
    assert only == f"{lead}\n\n- a.\n- b.\n- c."


def test_a_sentence_that_leads_to_a_table_does_not_come_after_it() -> None:
    """The table says it; what leads to it is of no use once the table has been read; anything else is."""
    row = unit("old | slow", kind="table_row", start=100, block=1, lead="Wheel | Rolls")
    for text, stays in (("The following table says how wheels roll.", False), ("Wheels roll on anything.", True)):
        told = quoted(chunk(unit(text), row), 0.85, 0.95)
        assert told[0].startswith("|Wheel|Rolls|")
        assert (text in told) is stays


def test_letters_come_behind_their_formula() -> None:
    """However well the sentence answers that explains them, by itself or as a neighbour."""
    page = chunk(
        unit("The force is a product:"), unit("$$ F = k x $$", start=40, block=1),
        unit("$k$ is the stiffness.", start=80, block=2), unit("Stiff springs pull hard.", start=110, block=2),
    )  # fmt: skip
    told = quoted(page, 0.85, 0.84, 0.83, 0.95, question="What do stiff springs do?", widened=1)
    assert told == ["The force is a product:", "$$ F = k x $$", "$k$ is the stiffness. Stiff springs pull hard."]


def test_a_table_whose_first_column_has_no_name_keeps_its_columns() -> None:
    """Each value stands below the name of its own column; a bar within a cell parts none."""
    row = unit("High water | 4.9 m | 3.8 m", kind="table_row", lead=" | Springs | Neaps")
    (quote,) = choose(wanted("How high is the water?"), evidence(chunk(row), 0.9), budget_words=50)
    assert quote.text == "||Springs|Neaps|\n|---|---|---|\n|High water|4.9 m|3.8 m|"
    assert cells_of("a || b | c") == ["a || b", "c"]


def test_rows_of_the_same_words_in_other_columns_say_something_else() -> None:
    """Fast, slow, yes: that is not "slow, fast, no"; a row that stands there twice is told once."""
    rows = ("fast | slow | yes", "slow | fast | no", "slow | fast | no")
    page = chunk(
        *(unit(text, kind="table_row", start=40 * n, lead="Sends | Hears | Works") for n, text in enumerate(rows))
    )
    (quote,) = choose(wanted("Does slow work with fast?"), evidence(page, 0.9, 0.9, 0.9), budget_words=50)
    assert quote.text.splitlines()[2:] == ["|fast|slow|yes|", "|slow|fast|no|"]


def test_what_is_said_of_single_steps_comes_with_them_where_it_is_asked_for() -> None:
    """What the rain changes matters to who asks how to do it in the rain."""
    steps = [unit(f"{n}. Oil wheel {n}.", kind="list_item", start=100 * n) for n in (1, 2)]
    said = unit("In the rain you may skip step 1.", start=400, block=1)
    more = unit("In the sun you may skip none.", start=440, block=1)
    page = chunk(*steps, said, more)
    (listed, told) = quoted(page, 0.9, 0.9, 0.1, 0.1, question="How do I oil a wheel in the rain?")
    assert listed.startswith("1. Oil wheel 1.")
    assert told == "In the rain you may skip step 1. In the sun you may skip none."
    assert len(quoted(page, 0.9, 0.9, 0.1, 0.1, question="How do I oil a wheel?")) == 1
    assert exceptions(page, [0, 1], frozenset({"snow"})) == []


def test_who_asks_what_not_to_do_hears_what_is_forbidden() -> None:
    """A sentence that denies is preferred, and only there."""
    page = chunk(unit("Wheels are oiled in spring."), unit("Never oil a wheel that turns.", start=100, block=1))
    for question, first in (
        ("When should I not oil a wheel?", "Never oil a wheel that turns."),
        ("When shouldn't we oil the wheel?", "Never oil a wheel that turns."),
        ("When should I oil a wheel?", "Wheels are oiled in spring."),
        ("Why did you not oil the wheel?", "Wheels are oiled in spring."),
    ):
        quotes = choose_parts([Part(question, tuple(evidence(page, 0.9, 0.87)))], budget_words=50)
        assert quotes[0].text == first, question


def test_so_many_of_them_leans_back() -> None:
    """Of whom stands in the sentence before; of those that a sentence names itself it does not."""
    assert leans_back("Kestrel has fourteen of them, all near its joints.")
    assert not leans_back("Pinch points are dangerous, and Kestrel has fourteen of them.")
    assert not leans_back("Kestrel has fourteen of them all.")


def test_who_asks_for_code_gets_some() -> None:
    """That of a passage which is quoted, else of the first ones; not a poor match, and not whoever asks for words."""
    said = unit("Wheels turn slowly here.", start=60, block=1)
    code = unit("spin(7)\n", kind="code", start=120, block=2)
    quoted, other = chunk(said, code), chunk(unit("The axle is oiled."), chunk_id="c2", filename="02.mdx")
    for question, scores, found in (
        ("Give me a node that turns wheels", (0.9, 0.5), True),
        ("Give me a node that turns wheels", (0.9, 0.2), False),
        ("How slowly do wheels turn?", (0.9, 0.5), False),
        ("Give me a node that turns wheels", (0.1, 0.5), True),
    ):
        items = [*evidence(quoted, *scores), *evidence(other, 0.8)]
        quotes = choose(wanted(question), items, budget_words=50)
        assert any(quote.units[0].kind == "code" for quote in quotes) is found, (question, scores)


def test_a_column_of_numbers_comes_with_its_sum() -> None:
    """Who asks for the power when standing wants all of it; who names no column, or asks for no number, does not."""
    texts = ("Motors | 90 W | 320 W", "Computer | 15 W | 25 W", "Sum | 105 W | 345 W")
    rows = [
        unit(text, kind="table_row", start=40 * n, lead="Consumer | Standing | Walking") for n, text in enumerate(texts)
    ]
    page = chunk(*rows)
    for question, has_sum in (
        ("How much power do the motors take when standing?", True),
        ("How much power do the motors take?", False),
        ("Why do motors take power when standing?", False),
    ):
        quotes = choose(wanted(question), evidence(page, 0.9, 0.1, 0.1), budget_words=50)
        assert any("Sum" in quote.text for quote in quotes) is has_sum, question


def test_a_list_within_an_item_stands_below_it() -> None:
    """Further in, as in the book; what belongs to no item that is quoted stands at the margin."""
    lead = "A wheel has parts:"
    texts = (("1. a rim", lead), ("steel", "a rim"), ("wood", "a rim"), ("2. a hub", lead), ("oiled", "a spoke"))
    items = [unit(text, kind="list_item", start=40 * n, lead=above) for n, (text, above) in enumerate(texts)]
    (quote,) = choose(wanted("What parts are there?"), evidence(chunk(*items), *[0.9] * 5), budget_words=50)
    assert quote.text == f"{lead}\n\n1. a rim\n   - steel\n   - wood\n2. a hub\n- oiled"
