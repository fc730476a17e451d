"""What is read from the form of a question and of a unit."""

import msgspec
import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.kinds import kind_of, term_of
from lutrin.answer.quote import Quote, leans_back
from lutrin.answer.safety import warning_for
from lutrin.answer.wanted import defines, wanted


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why is the far picture worse than the near one?", "why"),
        ("And why does it differ?", "why"),
        ("It is better than that, so how come people use the other?", "why"),
        ("Many do it in a cup of water. What's wrong with that?", "why"),
        ("Which is worse, and why?", "compare"),
        ("Which code is shown?", "code"),
        ("What does exit code 3 mean?", "definition"),
        ("Which error code does it give?", "other"),
        ("What does a unit file for a worker look like?", "code"),
        ("What does a ripe starter look like?", "definition"),
    ],
)
def test_a_question_that_begins_with_why_wants_a_reason_and_an_exit_code_is_no_program(
    question: str, kind: str
) -> None:
    """Whatever other words it holds."""
    assert kind_of(question) == kind


def test_a_number_of_a_measure_may_be_written_as_a_word() -> None:
    """The row of 1.0 m answers what is asked of one metre; "one" alone is no number."""
    row, other = unit("1.0 m | 4.5 mm", kind="table_row"), unit("2.0 m | 18 mm", kind="table_row")
    page = chunk(row, other)
    near = wanted("How exact is it from one metre?")
    assert near.bonus(page, row) > near.bonus(page, other)
    alone = wanted("How exact is the one from there?")
    assert alone.bonus(page, row) == alone.bonus(page, other)


def test_what_a_reader_tells_before_asking_says_nothing_of_what_is_wanted_but_its_numbers() -> None:
    """What is "worse than mine" there is no comparison, and the brother no topic."""
    wants = wanted("My brother's camera is worse than mine at 2 m. How do I calibrate it?")
    assert wants.kind == "steps"
    assert wants.topics == {"calibr"}
    assert wants.numbers == {"2"}
    assert wanted("It is worse than mine. What about that?").kind == "compare"


def test_where_a_reason_is_asked_for_a_row_has_no_advantage() -> None:
    """A row tells what, not why."""
    row, said = unit("oil | 3", kind="table_row"), unit("Oil has the number three here.")
    page = chunk(row, said)
    assert wanted("Why does oil burn?").bonus(page, row) < wanted("Why does oil burn?").bonus(page, said)
    assert wanted("Which oil burns?").bonus(page, row) == wanted("Which oil burns?").bonus(page, said)


def test_where_a_way_is_asked_for_a_definition_stands_back() -> None:
    """What a thing is does not say what to do with it."""
    defined, told = unit("Oil is a liquid."), unit("Pour the oil by hand.")
    page = chunk(defined, told)
    asked = wanted("What should I do with oil?")
    assert asked.bonus(page, defined) < asked.bonus(page, told)


def test_the_title_of_a_box_is_no_warning() -> None:
    """The sentences in it are."""
    title, said = unit("Safety", warning=True, start=100), unit("Oil burns the skin.", warning=True, start=200, block=1)
    page = chunk(unit("pour oil", kind="code", block=2), title, said)
    code = Quote(chunk=page, units=page.units[:1], score=1.0)
    assert (warning := warning_for(code, [page])) is not None
    assert warning.units == (said,)
    alone = chunk(*page.units[:2])
    assert (warning := warning_for(code, [alone])) is not None
    assert warning.units == (title,)


def test_a_kind_of_the_thing_is_not_the_thing() -> None:
    """What is true of thick oil does not say what oil is."""
    topics = frozenset({"oil"})
    for text, is_definition in (("Oil is a liquid.", True), ("Oil with dust is sticky.", False)):
        sentence = unit(text)
        assert defines(chunk(sentence), sentence, topics) is is_definition


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("While it is hot the oil is called thin.", True),
        ("Only this kind of oil burns.", True),
        ("Some of them burn.", True),
        ("With these the oil burns.", True),
        ("While the oil is hot it is called thin.", False),
        ("Only oil burns.", False),
        ("One metre is enough.", False),
        ("The last line explains the mystery.", True),
        ("The pressure so produced is called thrust.", True),
        ("The following command drives Wren.", True),
        ("The last mile is the longest.", False),
    ],
)
def test_a_sentence_leans_back_where_it_begins_with_what_was_named_before(sentence: str, leans: bool) -> None:
    """Behind a conjunction, too, or a word that picks from what was named."""
    assert leans_back(sentence) is leans


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What exactly is a topic in ROS?", "topic"),
        ("what's a costmap", "costmap"),
        ("What’s a costmap?", "costmap"),
        ("What does turgid mean?", "turgid"),
        ("In a robot description file, what counts as a link?", "link"),
        ("What is meant by a degree of freedom?", "degree of freedom"),
        ("How far does it reach?", ""),
    ],
)
def test_the_term_that_a_question_asks_for_is_told_from_where_it_asks_for_it(question: str, term: str) -> None:
    """The rest of the question says where the term is used."""
    assert term_of(question) == term


def test_the_sentence_that_defines_the_term_is_preferred_wherever_it_stands() -> None:
    """No heading names the file that the question speaks of; a sentence on the term alone defines it all the same."""
    defined, other = unit("A link is a rigid piece."), unit("Each file has a link.")
    page = chunk(defined, other)
    asked = wanted("In a description file, what counts as a link?")
    assert asked.bonus(page, defined) > asked.bonus(page, other) + 0.1
    assert wanted("How many links does a file have?").bonus(page, defined) < 0.1


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("And how often should that be done?", "number"),
        ("What if it still moves?", "other"),
        ("And on a Jetson?", "steps"),
        ("", "steps"),
    ],
)
def test_a_follow_up_that_asks_for_itself_is_answered_in_its_own_kind(typed: str, kind: str) -> None:
    """How often is a number, whatever was asked before; "And on a Jetson?" asks for the steps once more."""
    assert wanted(f"How do I oil the wheel {typed}", typed=typed).kind == kind


def test_what_defines_one_of_two_compared_things_is_preferred() -> None:
    """The difference is easiest to see from what each of them is."""
    says, other = unit("Weather is the state of the air."), unit("The air of the weather is warm or cold.")
    page = msgspec.structs.replace(chunk(says, other), heading_path=("Weather and climate",))
    asked = wanted("weather vs climate, whats the difference")
    assert asked.bonus(page, says) > asked.bonus(page, other)
    # What weather is says nothing where climate is never spoken of.
    assert asked.bonus(chunk(says, other), says) == asked.bonus(chunk(says, other), other)
    plain = wanted("How often does the weather change?")
    assert plain.bonus(page, says) == plain.bonus(page, other)


def test_what_a_broker_in_loops_is_says_a_sentence_on_the_broker() -> None:
    """Not one on loops, though the headings name the broker; nor one that says which broker is ours."""
    asked = wanted("whats a broker in loops")
    assert asked.head == {"broker"}
    page = chunk(
        unit("A broker is the program in the middle."),
        unit("Loops are a plain way to turn round."),
        unit("Our broker is called by its name."),
    )
    bonuses = [asked.bonus(page, item) for item in page.units]
    assert bonuses[0] > max(bonuses[1:])
    headed = msgspec.structs.replace(page, heading_path=("Loops", "The broker"))
    assert not defines(headed, page.units[1], asked.topics, asked.head)
    assert defines(headed, page.units[1], asked.topics)


@pytest.mark.parametrize(
    "question",
    ["A boy lost a tooth, what now?", "I want a picture of the stars. how", "What is the right sequence?",
     "whats the order of the checks", "In which order do I look?"],
)  # fmt: skip
def test_a_way_is_asked_for_in_many_words(question: str) -> None:
    """Readers are in a hurry."""
    assert kind_of(question) == "steps"


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        ("Drawdown: pumping level less static level.", True),
        ("Drawdown and head: both are levels.", False),
        ("Levels: drawdown and head.", False),
        ("A level. Drawdown: none.", False),
    ],
)
def test_an_entry_of_a_list_of_words_defines_its_term(text: str, defined: bool) -> None:
    """Nothing but the term stands before its colon."""
    item = unit(text, kind="list_item")
    assert defines(chunk(item), item, wanted("What is drawdown?").topics) is defined
    assert not defines(chunk(item), item, frozenset())


def test_what_something_is_called_for_tells_its_kind() -> None:
    """How that can be asks for a reason, "the ffmpeg line" for code."""
    for question, kind in (
        ("It has plenty of oil and squeaks all the same. How can that be?", "why"),
        ("How could it be that no oil is left?", "why"),
        ("Give me the ffmpeg line that measures the loudness.", "code"),
        ("Show me the URDF model of the thigh", "code"),
        ("Give me the best line on loudness.", "other"),
    ):
        assert wanted(question).kind == kind, question
