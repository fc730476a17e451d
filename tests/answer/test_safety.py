"""Code that the book itself warns of, or whose names move a machine, needs the book's warning, before all code."""

import pytest
from tests.answer.book import chunk, unit

from lutrin.adapters.fakes import WordHashEmbedder
from lutrin.answer.checks import CheckedQuestion
from lutrin.answer.compose import compose
from lutrin.answer.draft import Draft, made_safe, make_draft
from lutrin.answer.quote import Quote
from lutrin.answer.safety import is_warned_of, moves_hardware
from lutrin.index.generation import OpenGeneration
from lutrin.records import Chunk, Question, Unit

BEWARE = unit("Clear the bench, for the saw starts at once.", start=0, block=0, warning=True)
SAY = unit("Start it so:", start=100, block=1)
HARMLESS = "print('ready')\n"


def code(text: str = "go()\n", *, start: int, lead: str = "", language: str = "python", warning: bool = False) -> Unit:
    """A block of code."""
    return unit(text, kind="code", start=start, block=start, lead=lead, language=language, warning=warning)


class Page(OpenGeneration):
    """A generation that has these chunks alone."""

    def __init__(self, *chunks: Chunk) -> None:
        self._chunks = chunks

    async def chunks_of(self, filename: str) -> list[Chunk]:
        """Those of a file."""
        return [item for item in self._chunks if item.filename == filename]


def draft() -> Draft:
    """Of a question that asks for code."""
    question = Question(text="How do I start it?")
    return make_draft(question, CheckedQuestion(text=question.text), question.text, WordHashEmbedder(), started=0.0)


def quoted(page: Chunk, *units: Unit) -> Quote:
    """Units of a page as a quote."""
    return Quote(chunk=page, units=units, score=0.9)


def is_warned(*units: Unit, simulation: bool | None = None) -> bool:
    """Whether the last of these units of one section is code of which the book warns."""
    page = chunk(*units, simulation=simulation)
    return is_warned_of(page, units[-1], [page])


def test_code_right_below_a_warning_needs_it_whatever_it_is_called() -> None:
    """With or without the sentence that announces it."""
    assert is_warned(BEWARE, code(start=200))
    assert is_warned(BEWARE, SAY, code(start=200, lead=SAY.text))


def test_a_warning_holds_for_the_same_program_in_another_language_and_for_the_next_command() -> None:
    """Tabs have a caption each; what follows one after the other is announced each time."""
    tab = unit("C++", kind="caption", start=300, block=3)
    assert is_warned(BEWARE, code(start=200), tab, code(start=400, language="cpp"))
    then = unit("Then feed the wood:", start=300, block=3)
    assert is_warned(BEWARE, SAY, code(start=200, lead=SAY.text), then, code(start=400, lead=then.text))
    items = [unit(f"{n}. Do {n}:", kind="list_item", start=100 * n, block=1) for n in (1, 3)]
    assert is_warned(BEWARE, items[0], code(start=200, lead="1. Do 1:"), items[1], code(start=400, lead="3. Do 3:"))


def test_a_warning_s_own_code_needs_it() -> None:
    """It stands in the box."""
    assert is_warned(code(start=100, warning=True))


def test_a_warning_further_up_or_in_another_section_is_about_something_else() -> None:
    """Then only names tell."""
    between = unit("Wood comes from trees.", start=50, block=1)
    assert not is_warned(BEWARE, between, SAY, code(start=200, lead=SAY.text))
    assert not is_warned(BEWARE, SAY, code(start=200))
    above, below = chunk(BEWARE), chunk(code(start=200), chunk_id="c2")
    other = Chunk(**{**{name: getattr(below, name) for name in below.__struct_fields__}, "anchor": "elsewhere"})
    assert is_warned_of(below, below.units[0], [above, below])
    assert not is_warned_of(other, other.units[0], [above, other])


def test_descriptions_and_simulations_need_no_warning() -> None:
    """Nothing moves by them."""
    assert not is_warned(BEWARE, code(start=200, language="xml"))
    assert not is_warned(BEWARE, code(start=200), simulation=True)


@pytest.mark.parametrize(
    "text",
    [
        "nav.goToPose(goal)",
        "navigator.followWaypoints(poses)",
        "float pd_torque(float q) { return kp * q; }",
        "ros2 launch wren_bringup wren.launch.py",
        "ros2 launch nav2_bringup bringup_launch.py \\\n  map:=lab.yaml \\\n  use_sim_time:=False",
        "ros2 launch ur_robot_driver ur_control.launch.py ur_type:=ur5e",
    ],
)
def test_names_that_start_or_send_a_robot_are_known(text: str) -> None:
    """Navigation by goals, torques in longer names, a robot's own launch files."""
    item = code(text, start=0)
    assert moves_hardware(chunk(item), item)


@pytest.mark.parametrize(
    "text",
    [
        "ros2 launch wren_bringup wren.launch.py use_sim_time:=true",
        "ros2 launch nav2_bringup tb3_simulation_launch.py",
        "ros2 launch nav2_bringup rviz_launch.py",
        "ros2 launch realsense2_camera rs_launch.py",
        "FollowPath:\n  plugin: dwb_core::DWBLocalPlanner",
        "import torquebox",
    ],
)
def test_names_of_what_moves_nothing_are_not(text: str) -> None:
    """Simulators, screens, cameras, settings."""
    item = code(text, start=0)
    assert not moves_hardware(chunk(item), item)


async def test_the_warning_stands_before_the_first_code_not_only_before_that_which_moves() -> None:
    """The harmless block comes first in the answer, the warning before it."""
    first = code(HARMLESS, start=300)
    moving = code("nav.goToPose(goal)\n", start=200)
    page = chunk(BEWARE, moving, unit("Wood.", start=290, block=9), first)
    quotes = await made_safe(draft(), Page(page), [quoted(page, first), quoted(page, moving)])
    assert [quote.units[0] for quote in quotes] == [BEWARE, first, moving]
    numbers = {(quote.chunk.chunk_id, *quote.span): n for n, quote in enumerate(quotes, 1)}
    text = compose([], quotes, numbers, budget_words=5)
    assert text.index(BEWARE.text) < text.index("```")


async def test_a_warning_that_is_quoted_behind_the_code_comes_before_it_once() -> None:
    """And whole, where only a part of it was quoted."""
    more = unit("It cannot be stopped.", start=60, block=0, warning=True)
    moving = code(start=200)
    page = chunk(BEWARE, more, moving)
    for said in ((more,), (BEWARE, more)):
        quotes = await made_safe(draft(), Page(page), [quoted(page, moving), quoted(page, *said)])
        assert [quote.units for quote in quotes] == [(BEWARE, more), (moving,)]
    quotes = await made_safe(draft(), Page(page), [quoted(page, BEWARE), quoted(page, moving)])
    assert [quote.units for quote in quotes] == [(BEWARE, more), (moving,)]


async def test_a_box_of_several_paragraphs_is_shown_whole() -> None:
    """Its title and its code are no words of warning; what stands after the box is not of it."""
    title = unit("Safety", kind="caption", start=10, block=1, warning=True)
    told = unit("Two people must be there.", start=20, block=2, warning=True)
    items = [unit(f"{n}. Check {n}.", kind="list_item", start=50 + n, block=3, warning=True) for n in (1, 2)]
    shown = code(HARMLESS, start=70, warning=True)
    page = chunk(unit("Wood.", start=0), title, told, *items, shown, code(start=200))
    quotes = await made_safe(draft(), Page(page), [quoted(page, page.units[-1])])
    assert [quote.units for quote in quotes] == [(told,), tuple(items), (page.units[-1],)]


async def test_warnings_of_two_pages_stand_before_all_code() -> None:
    """Each once, in the order of the code."""
    pages = [chunk(BEWARE, code(start=200), chunk_id=name, filename=f"{name}.md") for name in ("a", "b")]
    quotes = await made_safe(draft(), Page(*pages), [quoted(page, page.units[1]) for page in pages])
    assert [(quote.chunk.chunk_id, quote.units[0].kind) for quote in quotes] == [
        ("a", "sentence"), ("b", "sentence"), ("a", "code"), ("b", "code"),
    ]  # fmt: skip


async def test_a_warning_for_code_without_names_is_shown_whole_whatever_the_budget() -> None:
    """As for code whose names tell."""
    page = chunk(BEWARE, code(start=200))
    long = unit("Wood " * 40 + "burns.", start=900, block=9)
    other = chunk(long, chunk_id="w", filename="w.md")
    quotes = await made_safe(draft(), Page(page, other), [quoted(other, long), quoted(page, page.units[1])])
    numbers = {(quote.chunk.chunk_id, *quote.span): n for n, quote in enumerate(quotes, 1)}
    assert BEWARE.text in compose([], quotes, numbers, budget_words=10)
