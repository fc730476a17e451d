"""Names of commands, functions and options before what stands under them."""

import msgspec
from tests.answer.book import chunk, evidence, unit

from lutrin.answer.compose import compose
from lutrin.answer.extract import choose_parts
from lutrin.retrieve.search import Part


def test_what_stands_under_a_name_comes_with_it() -> None:
    """A list of commands says under each name what it does; a sentence that says the name itself needs no heading."""
    page = msgspec.structs.replace(chunk(unit("Shows each flow.")), heading_path=("Commands", "mill ls"))
    part = Part(text="Which command lists flows?", evidence=tuple(evidence(page, 0.9)))
    assert choose_parts([part], budget_words=60)[0].text == "**mill ls**\n\nShows each flow."
    said = msgspec.structs.replace(chunk(unit("With mill ls you see each flow.")), heading_path=("Commands", "mill ls"))
    part = Part(text="Which command lists flows?", evidence=tuple(evidence(said, 0.9)))
    assert choose_parts([part], budget_words=60)[0].text == "With mill ls you see each flow."
    plain = Part(text="Which loop is it?", evidence=tuple(evidence(chunk(unit("Shows each flow.")), 0.9)))
    assert choose_parts([plain], budget_words=60)[0].text == "Shows each flow."


def test_a_small_heading_within_a_passage_names_what_stands_below_it() -> None:
    """Headings below level 3 do not part passages; the nearest above counts, and it comes once."""
    page = chunk(
        unit("http-proxy"), unit("Where plain requests go.", start=20, block=1),
        unit("https-proxy", start=60, block=2), unit("Default: none", kind="list_item", start=80, block=3),
        unit("Where secure requests go through.", start=100, block=4),
    )  # fmt: skip
    part = Part(text="Where do secure requests go?", evidence=tuple(evidence(page, 0.1, 0.1, 0.1, 0.88, 0.9)))
    quotes = choose_parts([part], budget_words=60)
    assert [quote.text for quote in quotes] == [
        "**https-proxy**\n\nWhere secure requests go through.",
        "- Default: none",
    ]


def test_a_name_takes_no_words_from_the_answer() -> None:
    """What fitted without its heading fits with it."""
    page = msgspec.structs.replace(
        chunk(unit("Shows each flow that is known."), unit("It asks nobody at all.", start=60, block=1)),
        heading_path=("Commands", "mill ls -a"),
    )
    part = Part(text="Which command lists flows?", evidence=tuple(evidence(page, 0.9, 0.89)))
    quotes = choose_parts([part], budget_words=60)
    numbers_of = {(quote.chunk.chunk_id, *quote.span): n for n, quote in enumerate(quotes, start=1)}
    words = sum(len(quote.units[0].text.split()) + 1 for quote in quotes)
    assert "It asks nobody" in compose([], quotes, numbers_of, budget_words=words)
    assert "It asks nobody" not in compose([], quotes, numbers_of, budget_words=words - 1)
