"""What leaves an answer that is too long, how quotes of several parts are put together, what comes along."""

from tests.answer.book import chunk, evidence, unit

from evaluation.text import word_count
from lutrin.answer.extract import choose_parts
from lutrin.records import Unit
from lutrin.retrieve.search import Part


def _items(name: str, *, block: int = 0) -> list[Unit]:
    """Four numbered items, 14 words each."""
    return [
        unit(f"{n}. {name} {n} {'again ' * 10}here.", kind="list_item", start=1000 * block + 100 * n, block=block)
        for n in range(1, 5)
    ]


def test_where_a_list_is_completed_the_weakest_quote_makes_room() -> None:
    """The list answers best; the sentence before it in its passage had been counted before the list was whole."""
    page = chunk(unit(f"Loops matter {'much ' * 20}here."), *_items("Step", block=1))
    quotes = choose_parts([Part("What happens?", tuple(evidence(page, 0.8, 0.95, 0.94, 0.1, 0.1)))], budget_words=70)
    assert [len(quote.units) for quote in quotes] == [4]


def test_the_best_of_each_part_stays_if_need_be_without_what_completes_its_list() -> None:
    """A list that one part has completed does not take the other part's words."""
    first, second = chunk(*_items("Turn")), chunk(*_items("Read"), chunk_id="c2", filename="02-dials.mdx")
    parts = [
        Part("How does it turn", tuple(evidence(first, 0.9, 0.89, 0.1, 0.1))),
        Part("what does it read?", tuple(evidence(second, 0.8, 0.79, 0.1, 0.1))),
    ]
    quotes = choose_parts(parts, budget_words=100)
    assert [(quote.chunk.chunk_id, len(quote.units)) for quote in quotes] == [("c1", 4), ("c2", 2)]
    assert sum(word_count(quote.text) for quote in quotes) <= 100
    quotes = choose_parts(parts, budget_words=130)
    assert [(quote.chunk.chunk_id, len(quote.units)) for quote in quotes] == [("c1", 4), ("c2", 4)]


def test_quotes_that_two_parts_chose_from_one_paragraph_are_one() -> None:
    """What goes on where the first part's quote ends stands behind it, not after what comes between."""
    page = chunk(
        unit("Thin oil runs fast."), unit("Dust escapes from it.", start=50), unit("Thick oil sticks.", start=100),
        unit("A filter is a net of wire.", start=200, block=1),
    )  # fmt: skip
    parts = [
        Part("Which oil runs fast", tuple(evidence(page, 0.9, 0.1, 0.1, 0.88))),
        Part("what does thick oil do with the dust?", tuple(evidence(page, 0.1, 0.85, 0.9, 0.1))),
    ]
    assert [quote.text for quote in choose_parts(parts, budget_words=100)] == [
        "Thin oil runs fast. Dust escapes from it. Thick oil sticks.",
        "A filter is a net of wire.",
    ]


def test_what_stands_beside_a_poor_unit_stays_away() -> None:
    """Neighbours come with what answers nearly as well as the best."""
    best = chunk(unit("A servo holds an angle by itself."))
    other = chunk(
        unit("Glue holds an angle, too."), unit("It smells of fish.", start=50), chunk_id="c2", filename="02-glue.mdx"
    )
    for score, said in ((0.87, "Glue holds an angle, too. It smells of fish."), (0.77, "Glue holds an angle, too.")):
        found = (*evidence(best, 0.93), *evidence(other, score, 0.6))
        quotes = choose_parts([Part("How is something held?", found)], budget_words=100)
        assert [quote.text for quote in quotes] == ["A servo holds an angle by itself.", said]


def test_a_caption_stands_back_for_its_table() -> None:
    """A title alone answers nothing; one whose table is too long is not quoted."""
    caption = unit("Table 1: Oils compared with fats and waxes.", kind="caption")
    for more, said in ((1, ["oil | thin"]), (100, [])):
        rows = [
            unit(f"oil{' and so on' * (more - 1)} | thin", kind="table_row", start=100 + 9 * n, block=1)
            for n in range(1)
        ]
        quotes = choose_parts(
            [Part("How are oils?", tuple(evidence(chunk(caption, *rows), 0.9, 0.1)))], budget_words=90
        )
        assert [item.text for quote in quotes for item in quote.units] == said


def test_a_sentence_that_announces_code_answers_as_well_as_the_code() -> None:
    """The words of the question stand in the command, not in the sentence before it."""
    said = chunk(unit("Oil is poured by hand in winter."))
    lead = unit("Do it in a tray of its own:")
    page = chunk(
        lead, unit("pour oil", kind="code", start=50, block=1, lead=lead.text), chunk_id="c2", filename="02-oil.mdx"
    )
    found = (*evidence(page, 0.6, 0.79), *evidence(said, 0.78))
    for question, first in (("How do I pour oil?", "Do it in a tray"), ("What is oil?", "Oil is poured")):
        quotes = choose_parts([Part(question, found)], budget_words=100)
        assert quotes[0].text.startswith(first)


def test_of_two_units_that_answer_alike_the_one_in_the_better_passage_begins() -> None:
    """The best passage's units come first in the evidence."""
    best = chunk(unit("Oil is poured by hand in winter."))
    other = chunk(unit("Wax is melted in a pan."), chunk_id="c2", filename="02-wax.mdx")
    for score, first in ((0.79, "Oil is poured by hand in winter."), (0.7, "Wax is melted in a pan.")):
        found = (*evidence(best, score), *evidence(other, 0.8))
        assert choose_parts([Part("How is it done?", found)], budget_words=100)[0].text == first
