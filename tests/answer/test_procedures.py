"""Steps that are asked for, and the form of the units around them."""

from dataclasses import replace

import pytest
from tests.answer.book import chunk, evidence, unit

from lutrin.answer.extract import choose
from lutrin.answer.kinds import kind_of
from lutrin.answer.steps import best_steps
from lutrin.answer.wanted import wanted
from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.rank import form

TASKS = ("Lift the loop off the hook", "Oil the bearing of the wheel", "Turn it by hand", "Hang it up again")


def steps(*texts: str, block: int = 0, start: int = 0, lead: str = "") -> list[Unit]:
    """A numbered list."""
    return [
        unit(f"{number}. {text}.", kind="list_item", block=block, start=start + 60 * number, lead=lead)
        for number, text in enumerate(texts, start=1)
    ]


def quoted(page: Chunk, question: str, *scores: float, budget_words: int = 100) -> list[str]:
    """What is quoted for a question from a page whose units have these scores."""
    return [
        quote.text for quote in choose(wanted(question), evidence(page, *scores), budget_words=budget_words, widened=0)
    ]


def test_a_procedure_under_a_heading_that_names_what_is_asked_comes_whole_and_first() -> None:
    """The sentence that shares words with the question says less than the steps do."""
    page = chunk(*steps(*TASKS, lead="Greasing the loop"), unit("A loop is greased in spring.", start=500, block=1))
    # There is room for one of them only.
    (first,) = quoted(page, "How do I grease a loop?", 0.7, 0.1, 0.1, 0.1, 0.8, budget_words=24)
    assert first == "Greasing the loop\n\n" + "\n".join(f"{n}. {task}." for n, task in enumerate(TASKS, start=1))


def test_steps_under_another_heading_have_no_advantage() -> None:
    """Nor have those of which the question asks for more than the headings name."""
    page = chunk(*steps(*TASKS))
    for question, is_procedure in (
        ("How do I grease the loop?", False),  # No heading speaks of grease.
        ("How do I loop?", True),
        ("Why is there a loop?", False),
        ("How do I do that?", False),
    ):
        assert wanted(question).is_procedure(page, page.units[0]) is is_procedure, question
    said = chunk(unit("Lift the loop off the hook."))
    assert not wanted("How do I loop?").is_procedure(said, said.units[0])


def test_steps_whose_headings_name_a_part_of_what_is_asked_are_preferred_the_less_the_smaller_it_is() -> None:
    """Readers name more than a heading does: "a modern loop without threads"."""
    page = chunk(*steps(*TASKS), unit("Lift the loop off the hook."))
    told, step = page.units[-1], page.units[0]
    bonuses = [
        wanted(question).bonus(page, step) - wanted(question).bonus(page, told)
        for question in ("How do I mend a hook?", "How do I grease a loop?", "How do I loop?")
    ]
    assert bonuses == sorted(bonuses)
    assert len(set(bonuses)) == len(bonuses)


def test_a_torn_step_of_another_passage_is_not_quoted() -> None:
    """Its list would be needed for it to make sense; a sentence of that passage may stay."""
    best = chunk(*steps(*TASKS))
    other = chunk(
        *steps("Weigh the anchor", "Set the sail", start=2000), unit("Ships are slow.", block=1, start=2400),
        chunk_id="c2", filename="02-ships.mdx",
    )  # fmt: skip
    found = [*evidence(best, 0.9, 0.9, 0.9, 0.9), *evidence(other, 0.1, 0.8, 0.81)]
    texts = [quote.text for quote in choose(wanted("How do I mend it?"), found, budget_words=200)]
    assert texts[1:] == ["Ships are slow."]
    # Nobody asks for a way here, and a single step may say what is asked.
    texts = [quote.text for quote in choose(wanted("Is that a sail?"), found, budget_words=200)]
    assert any("Set the sail" in text for text in texts)


def test_a_numbered_list_of_which_one_step_is_quoted_is_completed_unless_a_number_is_asked_for() -> None:
    """However long it is, within what a procedure may have: a step without the others leads astray.

    A number that is asked for may stand in one of them.
    """
    items = steps(*(f"{task} and then {'wait a little ' * 6}" for task in TASKS))
    page = chunk(*items)
    for question, count in (("How do I mend it?", 4), ("What happens?", 4), ("How long does it take?", 1)):
        (quote,) = choose(wanted(question), evidence(page, 0.9, 0.1, 0.1, 0.1), budget_words=200, widened=0)
        assert len(quote.units) == count, question


def test_what_came_as_a_neighbour_brings_its_own() -> None:
    """The first brings the second, and that, nearly as good, the fourth, which alone would be too weak."""
    said = ("The oil is thin.", "So it runs off.", "The gear runs dry.", "Then the teeth whistle.")
    page = chunk(*(unit(text, start=40 * number) for number, text in enumerate(said)))
    (quote,) = choose(wanted("Why does it squeak?"), evidence(page, 0.9, 0.85, 0.6, 0.6), budget_words=100)
    assert len(quote.units) == len(said)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("For more, see the next chapter.", True),
        ("That is described in section 4.", True),
        ("We come back to it in a later part.", True),
        ("Bearings are treated on the following page.", True),
        ("The next chapter of her life was long.", False),
        ("Described in section 4 of the law is how each owner of a loop must oil it once every spring.", False),
    ],
)
def test_a_sentence_that_only_points_elsewhere_stands_back(text: str, points: bool) -> None:
    """It tells where to look, not what is asked; a longer sentence says something besides."""
    told = " ".join("word" for _ in text.split()) + "."
    page = chunk(unit(text), unit(told))
    nothing: frozenset[str] = frozenset()
    assert (form(page, page.units[0], nothing) < form(page, page.units[1], nothing)) is points


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How tight does the loop go?", "number"),
        ("How thin may the plate be?", "number"),
        ("How well does it hold?", "other"),
        ("How exactly is it held?", "other"),
        ("How can I hold it?", "steps"),
        ("How are hooks and loops different?", "compare"),
        ("What are the pros and cons of hooks?", "compare"),
        ("Which different hooks are there?", "list"),
    ],
)
def test_a_measure_and_a_difference_are_heard_in_the_question(question: str, kind: str) -> None:
    """Whatever adjective it asks with."""
    assert kind_of(question) == kind


def test_the_numbered_list_of_the_best_passage_is_preferred_where_a_way_is_asked_for() -> None:
    """Whatever its items say: the passage has the words of the question."""
    page = chunk(unit("A loop is a loop."), *steps(*TASKS, block=1, start=100))
    scores = (0.8, 0.5, 0.5, 0.75, 0.5)
    for question in ("How do I put the system on it?", "How is the true radius measured?"):
        assert any("1. Lift" in text and "4. Hang" in text for text in quoted(page, question, *scores)), question
    assert quoted(page, "How wide is the loop?", *scores, budget_words=5) == ["A loop is a loop."]
    other = chunk(unit("A ship is slow."), chunk_id="c2", filename="02-ships.mdx")
    found = [*evidence(other, 0.8), *evidence(page, *scores)]
    (first,) = choose(wanted("How is the radius measured?"), found, budget_words=4, widened=0)
    assert first.text == "A loop is a loop."


def whole(items: list[Evidence], score: float) -> list[Evidence]:
    """Items of a list that match so well together."""
    return [replace(item, whole=score) for item in items]


def test_of_several_numbered_lists_the_one_that_answers_best_as_a_whole_is_preferred() -> None:
    """The other has no advantage; where there is none, nothing has."""
    page = chunk(*steps(*TASKS), *steps("Weigh the anchor", "Set the sail", block=1, start=900))
    found = evidence(page, 0.3, 0.1, 0.1, 0.1, 0.2, 0.1)
    assert best_steps([*whole(found[:4], 0.3), *whole(found[4:], 0.4)]) == {("c1", 4), ("c1", 5)}
    assert not best_steps(evidence(chunk(unit("A loop is a loop.")), 0.9))


def test_a_procedure_may_stand_in_a_passage_that_is_not_the_best_one() -> None:
    """If as a whole it is nearly as good as the best unit; in the best passage it need not be."""
    said = chunk(unit("A ship is slow."), chunk_id="c2", filename="02-ships.mdx")
    page = chunk(*steps(*TASKS))
    for score, count in ((0.7, 4), (0.5, 0)):
        found = whole(evidence(page, 0.4, 0.4, 0.4, 0.4), score)
        assert len(best_steps([*evidence(said, 0.8), *found])) == count, score
        assert len(best_steps([*found, *evidence(said, 0.8)])) == len(TASKS), score


def test_a_long_procedure_is_preferred_in_the_best_passage_only() -> None:
    """Elsewhere it would take the words of all that matches better."""
    said = chunk(unit("A ship is slow."), chunk_id="c2", filename="02-ships.mdx")
    page = chunk(*steps(*(f"{task} {'slowly ' * 30}" for task in TASKS)))
    found = whole(evidence(page, 0.4, 0.4, 0.4, 0.4), 0.8)
    assert not best_steps([*evidence(said, 0.8), *found])
    assert len(best_steps([*found, *evidence(said, 0.8)])) == len(TASKS)


def test_of_two_procedures_that_answer_alike_the_one_in_the_better_passage_is_preferred() -> None:
    """The passage has the words that steps lack."""
    page, other = chunk(*steps(*TASKS)), chunk(*steps("Weigh the anchor", "Set the sail"), chunk_id="c2")
    scores = evidence(page, 0.4, 0.4, 0.4, 0.4)
    for score, name in ((0.71, "c1"), (0.75, "c2")):
        found = best_steps([*whole(scores, 0.7), *whole(evidence(other, 0.4, 0.4), score)])
        assert {chunk_id for chunk_id, _ in found} == {name}, score


def test_a_procedure_counts_as_much_as_all_of_its_steps_where_a_way_is_asked_for() -> None:
    """Each step alone has few words of the question."""
    page = chunk(unit("A loop is mended."), *steps(*TASKS, block=1, start=100))
    plain = evidence(page, 0.7, 0.3, 0.3, 0.3, 0.3)
    found = [plain[0], *whole(plain[1:], 0.65)]
    for question, first in (("How do I mend it?", "1. Lift"), ("How long is it?", "A loop")):
        (quote,) = choose(wanted(question), found, budget_words=5, widened=0)
        assert quote.text.startswith(first), question


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("how mend a split pipe", True),
        ("What is the right way to plug it in?", True),
        ("Is there a way to test it? How?", True),
        ("how do they go about it", True),
        ("mixing a fresh tank", True),
        ("How thin do I roll it?", False),
        ("Which tank is fresh?", False),
        ("Does it leak?", False),
    ],
)
def test_a_way_is_asked_for_in_many_forms(question: str, asks: bool) -> None:
    """As typed into a search box, too."""
    assert wanted(question).asks_way is asks


def test_steps_stand_back_where_a_reason_or_a_definition_is_asked_for() -> None:
    """They say what to do, and would come with all the others."""
    step, said = unit("1. Oil the loop well.", kind="list_item"), unit("The loop is well oiled.")
    page = chunk(step, said)
    for question in ("Why is the hook dry?", "What is a hook?"):
        assert wanted(question).bonus(page, step) < wanted(question).bonus(page, said), question
    assert wanted("Which hook?").bonus(page, step) == wanted("Which hook?").bonus(page, said)


def test_how_something_differs_is_not_how_it_is_done() -> None:
    """Nor does a follow-up ask for a way because the question before it did."""
    assert wanted("How is a loop made?").asks_way
    assert not wanted("How do loops and knots differ?").asks_way
    assert not wanted("How do I mend it? And what if it breaks", typed="And what if it breaks").asks_way
