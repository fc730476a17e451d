"""A plan: what answers, under which numbers, from which sources, and what the reader is told besides."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from msgspec import structs
from tests.answer.book import english
from tests.fakes import WordHashEmbedder

from lutrin import messages
from lutrin.answer.evidence import Evidence
from lutrin.answer.plan import Plan, make_plan, settle_plan
from lutrin.answer.reply import with_proof
from lutrin.index.shelf import Shelf
from lutrin.query.understand import understand
from lutrin.records import Question
from lutrin.search.marked import search_selection
from lutrin.search.search import Searcher

MakePlan = Callable[..., Awaitable[Plan]]
BATTERY = "How many watt hours does the battery of Kestrel store?"
LOOP = "What is the sensorimotor loop of sensing, deciding and acting?"
SELECTED = "The sensorimotor loop is the cycle of sensing, deciding and acting. It runs 500 times a second on Kestrel."


@pytest.fixture
def plan(shelf: Shelf) -> MakePlan:
    """Plans an answer from the small book."""
    embedder = WordHashEmbedder()

    async def make(text: str, sections: int = 0, odds: float | None = None, **fields: object) -> Plan:
        question = Question(text=text, **fields)  # type: ignore[arg-type]  # fields of Question
        query = understand(question, history=(), language=english(), embedder=embedder)
        async with shelf.lease_books() as generations:
            if query.mode == "selection":
                found = await search_selection(embedder, generations[0], query)
                return await make_plan(Evidence(query, found), sections=sections)
            found = await Searcher(embedder).search(generations, query, k=5)
            if odds is not None:
                found = replace(found, parts=tuple(replace(part, odds=odds) for part in found.parts))
            return await make_plan(Evidence(query, found), sections=sections)

    return make


async def test_excerpts_sources_and_markers_have_the_same_numbers(plan: MakePlan) -> None:
    """From 1, in the order of the text; what is cited is a source, and nothing else is."""
    made = await plan(f"{BATTERY[:-1]}, and how fast runs the sensorimotor loop on Kestrel?")
    numbers = [excerpt.n for excerpt in made.excerpts]
    assert numbers == [source.n for source in made.sources] == list(range(1, len(numbers) + 1))
    assert len(numbers) == 2
    assert all(f"[{number}]" in made.text for number in numbers)
    assert [source.quote for source in made.sources] == [excerpt.text for excerpt in made.excerpts]


async def test_a_source_is_never_worth_nothing(plan: MakePlan) -> None:
    """Its score is the probability that its passage answers; an added warning has a score, too."""
    made = await plan("Which command drives Wren forward?")
    assert len(made.sources) >= 2
    assert all(0 < source.relevance_score <= 1 for source in made.sources)


async def test_a_model_reads_the_section_of_the_excerpt_under_its_number(plan: MakePlan) -> None:
    """Without a model nothing is read."""
    made = await plan(BATTERY, sections=1)
    assert [number for number, _ in made.reading] == [1]
    assert made.sources[0].quote.split(".")[0] in made.reading[0][1].units[0].text
    assert (await plan(BATTERY)).reading == ()


async def test_a_strong_model_reads_more_than_is_quoted(plan: MakePlan) -> None:
    """Under numbers of their own, behind those of the excerpts; what is cited then is quoted as well."""
    made = await plan(BATTERY, sections=3)
    number, section = max(made.reading)
    assert number > len(made.excerpts)
    shown = with_proof(made, {number: {section.units[0].char_start}})
    assert [excerpt.n for excerpt in shown.excerpts] == [source.n for source in shown.sources] == [number]
    assert shown.text.endswith(f"[{number}]")


async def test_what_a_model_copies_is_not_said_again(plan: MakePlan) -> None:
    """The text leaves it out, the excerpt holds it."""
    made = await plan(BATTERY, sections=1)
    number, section = made.reading[0]
    first, second = section.units[:2]
    shown = with_proof(made, {number: {first.char_start, second.char_start}}, statements=[first.text])
    assert first.text not in shown.text
    assert second.text in shown.text
    assert first.text in shown.excerpts[0].text


async def test_a_hazardous_procedure_is_left_in_the_book_s_words(plan: MakePlan) -> None:
    """No model adds to it; to code with its warning one may."""
    made = replace(await plan(BATTERY, sections=1), guarded=True)
    assert [replace(made, procedural=it).explainable for it in (True, False)] == [False, True]


async def test_each_thing_that_is_asked_keeps_its_excerpt(plan: MakePlan) -> None:
    """Also where the model says something of one of them only."""
    made = await plan(f"{BATTERY[:-1]}, and how fast runs the sensorimotor loop on Kestrel?", sections=1)
    number, section = made.reading[1]
    assert [one.n for one in with_proof(made, {number: {section.units[0].char_start}}).excerpts] == [1, 2]


async def test_what_answers_best_stands_alone_and_first(plan: MakePlan) -> None:
    """The text around it follows in the second excerpt."""
    made = await plan(BATTERY)
    assert [one.text for one in made.lead] == ["The battery of Kestrel stores 480 watt hours."]
    assert "480" not in made.rest
    assert "A full charge takes three hours." in made.rest


async def test_between_yes_and_no_the_closest_passage_is_shown(plan: MakePlan) -> None:
    """And said to be no more; a no is a refusal that names what is near."""
    made = await plan(BATTERY)
    near = settle_plan(made, "closest")
    assert near.rest.startswith(messages.CLOSEST_PASSAGE)
    assert (near.lead, near.excerpts) == ((), made.excerpts)
    refused = settle_plan(made, "no")
    assert (refused.refusal, refused.excerpts, refused.sources) == ("not_in_book", (), ())


async def test_what_a_section_is_about_is_never_not_covered(plan: MakePlan) -> None:
    """A question does not ask about a title of one word that it merely contains."""
    asked = ("What is said of batteries?", "Which cheese, pizza, wine and batteries does the mayor of Naples like?")
    assert [(await plan(text, odds=-1.5)).verdict for text in asked] == ["closest", "no"]


async def test_a_part_that_the_book_does_not_answer_is_said(plan: MakePlan) -> None:
    """The other one is answered."""
    made = await plan(f"{BATTERY[:-1]}, and which cheese belongs on pizza from Naples?")
    assert [excerpt.text for excerpt in made.excerpts] != []
    assert "480 watt hours" in made.text
    assert [note for note in made.warnings if "cheese" in note] == [
        messages.PART_NOT_COVERED.format(part="which cheese belongs on pizza from Naples?")
    ]


async def test_where_nothing_is_answered_topics_of_the_book_are_named(plan: MakePlan) -> None:
    """No excerpt, no source, nothing for a model."""
    made = await plan("Which cheese belongs on a pizza from Naples?")
    assert made.refusal == "out_of_scope"
    assert (made.excerpts, made.sources, made.explainable) == ((), (), False)
    assert made.suggestions


async def test_a_form_that_the_book_does_not_have_is_not_pretended(plan: MakePlan) -> None:
    """It says so, and gives what there is."""
    made = await plan("Give me an analogy for the sensorimotor loop of sensing, deciding and acting.")
    assert made.lead[0].text == messages.NO_SUCH_FORM["analogy"]
    assert "cycle of sensing" in made.lead[1].text


@pytest.mark.parametrize(
    "text", [LOOP, "How many times a second does the sensorimotor loop run on Kestrel?", "Explain this passage."]
)
async def test_only_the_selection_speaks_where_only_it_may(plan: MakePlan, text: str) -> None:
    """Every character comes from inside of it, and the model is shown nothing else."""
    made = await plan(text, selected_text=SELECTED, mode="selection")
    assert made.excerpts
    assert all(excerpt.text in SELECTED for excerpt in made.excerpts)
    assert all(source.quote in SELECTED for source in made.sources)
    read = await plan(text, sections=1, selected_text=SELECTED, mode="selection")
    assert all(unit.text in SELECTED for _, section in read.reading for unit in section.units)


async def test_what_the_selection_does_not_say_is_refused(plan: MakePlan) -> None:
    """Though the book does."""
    made = await plan(BATTERY, selected_text=SELECTED, mode="selection")
    assert (made.refusal, made.excerpts) == ("not_in_selection", ())


async def test_a_warning_comes_first_and_has_its_number(plan: MakePlan) -> None:
    """[1] is the book's warning, [2] the code."""
    made = await plan("Which command drives Wren forward?")
    assert "Keep two metres away" in made.excerpts[0].text
    assert "ros2 topic pub" not in made.excerpts[0].text
    assert made.text.index("[1]") < made.text.index("ros2 topic pub")


async def test_where_all_code_is_withheld_the_reader_is_told(plan: MakePlan) -> None:
    """And nothing of it is quoted, nor shown to the model."""
    made = await plan("Which command moves the arm of Kestrel?")
    assert messages.CODE_WITHHELD in made.warnings
    assert "joint_trajectory" not in made.text
    assert not any("joint_trajectory" in source.quote for source in made.sources)


async def test_what_was_recognised_from_a_picture_is_never_called_exact(shelf: Shelf) -> None:
    """Its sentence carries the mark of what may differ, and the reader is told to compare the page."""
    embedder = WordHashEmbedder()
    query = understand(Question(text=BATTERY), history=(), language=english(), embedder=embedder)
    async with shelf.lease_books() as generations:
        found = await Searcher(embedder).search(generations, query, k=5)
        (part,) = found.parts
        scanned = [replace(item, chunk=structs.replace(item.chunk, recognized=True)) for item in part.passages]
        printed = await make_plan(Evidence(query, found))
        made = await make_plan(Evidence(query, replace(found, parts=(replace(part, passages=tuple(scanned)),))))
    assert [one.support for one in printed.lead] == ["stated"]
    assert [one.support for one in made.lead] == ["likely"]
    assert messages.RECOGNIZED_TEXT in made.warnings
    assert messages.RECOGNIZED_TEXT not in printed.warnings
