"""An answer is put together: what must stand in it stands there, whatever else does."""

import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.compose import Verified, compose, stands_twice
from lutrin.answer.draft import heard, supported
from lutrin.answer.quote import Quote
from lutrin.records import Unit

WARNING = "Keep a hand on the emergency stop before the arm moves."
CODE = "arm.execute(plan)\nmotor.set_torque(4)\n"


def quote(*units: Unit) -> Quote:
    """Units of one page, quoted together."""
    return Quote(chunk=chunk(*units), units=units, score=0.8)


def answer(quotes: list[Quote], verified: list[Verified], budget_words: int = 30) -> str:
    """The text of an answer; every quote has its place as its number."""
    numbers = {(item.chunk.chunk_id, *item.span): n for n, item in enumerate(quotes, start=1)}
    return compose(verified, quotes, numbers, budget_words=budget_words)


def passage(warning: str) -> list[Quote]:
    """A long explanation, a warning, and code that moves an arm, from one page."""
    long = unit(
        "The planner finds a path for the arm around all that the camera has seen, joint by joint, in two seconds."
    )
    warned = unit(warning, start=200, warning=True)
    return [quote(long), quote(warned), quote(unit(CODE, start=400, kind="code"))]


@pytest.mark.parametrize("generated", [False, True])
def test_code_that_moves_hardware_never_stands_without_its_warning(*, generated: bool) -> None:
    """Neither the number of words nor what the model has said takes the warning away, and it comes first."""
    quotes = passage(WARNING)
    said = (
        [Verified(text="Before the arm moves keep a hand on the emergency stop.", quote=quotes[1])] if generated else []
    )
    text = answer(quotes, said)
    assert CODE in text
    assert WARNING in text
    assert text.index(WARNING) < text.index(CODE)


def test_a_warning_that_no_code_needs_is_a_quote_like_any_other() -> None:
    """It may be one too many."""
    assert WARNING not in answer(passage(WARNING)[:2], [])


def test_the_best_quote_stands_whatever_the_model_has_said_before() -> None:
    """A procedure of which the model told the beginning comes whole, and what would come after it stays away."""
    steps = [
        unit(f"{n}. Do the {name} thing.", kind="list_item", start=40 * n) for n, name in enumerate(("a", "b", "c"), 1)
    ]
    quotes = [quote(*steps), quote(unit("It is a long day.", start=400))]
    said = [Verified(text="Do the a thing and be sure that nobody stands near the robot or its arm.", quote=quotes[0])]
    text = answer(quotes, said, budget_words=20)
    assert all(step.text in text for step in steps)
    assert "long day" not in text


def test_what_the_model_copied_does_not_stand_again_below() -> None:
    """The quote goes on after it, also with a sentence that leans on it."""
    first, second = unit("The arm of the robot is light."), unit("It lifts a load of 2 kg.", start=40)
    quotes = [quote(first, second)]
    assert not stands_twice(first.text, "", quotes)
    assert answer(quotes, [Verified(text=first.text, quote=quotes[0])]) == f"{first.text} [1]\n\n{second.text} [1]"


def test_a_copy_that_the_quotes_need_is_recognised() -> None:
    """A list is shown whole, and so is a quote in which a sentence would lean on one that is gone."""
    items = [
        unit(f"Do the {name} thing with care.", kind="list_item", start=40 * n) for n, name in enumerate(("a", "b"))
    ]
    assert stands_twice("Do the a thing with care.", "", [quote(*items)])
    told = [unit("Robots have arms."), unit("The arm is light.", start=40), unit("It lifts 2 kg.", start=80)]
    assert stands_twice("The arm is light.", "", [quote(*told)])
    assert stands_twice("The arm is light.", "", [quote(unit("A robot has wheels.")), quote(*told[1:])])
    assert not stands_twice("The arm is light.", "Robots have arms.", [quote(*told)])
    assert stands_twice(WARNING, "", passage(WARNING))


def test_numbers_have_no_gaps() -> None:
    """What is too long ends the answer, unless code stands behind it."""
    long, short = unit("A robot " + "really " * 30 + "works.", start=100), unit("It sleeps.", start=600)
    quotes = [quote(unit("A robot has arms.")), quote(long), quote(short)]
    assert answer(quotes, []) == "A robot has arms. [1]"
    shown = answer([*quotes, quote(unit("print(1)\n", start=700, kind="code"))], [])
    assert [n for n in range(1, 5) if f"[{n}]" in shown] == [1, 2, 3, 4]


def test_a_sentence_cites_the_first_quote_that_proves_it() -> None:
    """That is the passage which the model was asked to say; another may say the same word for word."""
    asked = quote(unit("The arm lifts 2 kg, and the hand holds it."))
    same = quote(unit("The arm lifts 2 kg.", start=500))
    (found,) = supported(["The arm lifts 2 kg."], [asked, same], "How much?", [])
    assert found.quote == asked


def test_the_model_says_no_warning_that_belongs_to_code() -> None:
    """It stands in the book's words; a warning without code may be said."""
    quotes = passage(WARNING)
    assert heard(quotes) == [quotes[0], quotes[2]]
    assert heard(quotes[:2]) == quotes[:2]
