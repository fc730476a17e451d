"""Text that moves, charges, heats or opens real hardware always follows the book's own warning."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from tests.answer.book import chunk, unit

from lutrin import messages
from lutrin.answer.runs import Run
from lutrin.answer.safety import secure_runs
from lutrin.index.generation import OpenGeneration
from lutrin.records import SELECTED, BookHazards, BookInfo, Chunk, Unit

BEWARE = unit("Clear the bench, for the saw starts at once.", start=0, block=0, warning=True)
SAY = unit("Start it so:", start=100, block=1)
HARMLESS = "print('ready')\n"
MOVES = "nav.goToPose(goal)\n"


def code(text: str = "go()\n", *, start: int, lead: str = "", language: str = "python", warning: bool = False) -> Unit:
    """A block of code."""
    return unit(text, kind="code", start=start, block=start, lead=lead, language=language, warning=warning)


class Page(OpenGeneration):
    """A generation that has these chunks alone."""

    def __init__(self, *chunks: Chunk, hazards: BookHazards | None = None) -> None:
        self._chunks = chunks
        self.book = BookInfo(slug="page", title="Page", hazards=hazards or BookHazards())

    async def chunks_of(self, filename: str) -> list[Chunk]:
        """The chunks of a file."""
        return [item for item in self._chunks if item.filename == filename]

    async def matching(self, words: str, k: int, where: Mapping[str, str] | None = None) -> list[tuple[str, float]]:  # noqa: ARG002 - as its base has it
        """All of them."""
        return [(item.chunk_id, 1.0) for item in self._chunks]

    async def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids."""
        return [item for item in self._chunks if item.chunk_id in ids]


def run(page: Chunk, *units: Unit) -> Run:
    """Units of a page as an excerpt."""
    return Run(page, units, (0.0,) * len(units))


async def shown(*pages: Chunk, runs: list[Run]) -> tuple[list[tuple[Unit, ...]], list[str]]:
    """The excerpts that are shown, and the reader's other notices."""
    safe, told = await secure_runs(Page(*pages), runs)
    return [item.units for item in safe], told


async def is_warned(*units: Unit, simulation: bool | None = None) -> bool:
    """Whether the warning on a page of these units is shown with the last of them."""
    page = chunk(*units, simulation=simulation)
    safe, _ = await shown(page, runs=[run(page, units[-1])])
    return BEWARE in safe[0]


async def is_withheld(text: str, language: str = "python", *, simulation: bool | None = None) -> bool:
    """Whether code of a page without any warning is left out."""
    page = chunk(code(text, start=0, language=language), simulation=simulation)
    safe, told = await shown(page, runs=[run(page, *page.units)])
    assert (not safe) == (messages.CODE_WITHHELD in told)
    return not safe


async def test_code_right_below_a_warning_needs_it_whatever_it_is_called() -> None:
    """With or without the sentence that announces it."""
    assert await is_warned(BEWARE, code(start=200))
    assert await is_warned(BEWARE, SAY, code(start=200, lead=SAY.text))


async def test_a_warning_holds_for_the_same_program_in_another_language_and_for_the_next_command() -> None:
    """Tabs have a caption each; what follows one after the other is announced each time."""
    tab = unit("C++", kind="caption", start=300, block=3)
    assert await is_warned(BEWARE, code(start=200), tab, code(start=400, language="cpp"))
    then = unit("Then feed the wood:", start=300, block=3)
    assert await is_warned(BEWARE, SAY, code(start=200, lead=SAY.text), then, code(start=400, lead=then.text))
    items = [unit(f"{n}. Do {n}:", kind="list_item", start=100 * n, block=1) for n in (1, 3)]
    assert await is_warned(
        BEWARE, items[0], code(start=200, lead="1. Do 1:"), items[1], code(start=400, lead="3. Do 3:")
    )


async def test_a_warning_s_own_code_needs_it() -> None:
    """The code is in the warning's box."""
    assert await is_warned(BEWARE, code(start=100, warning=True))


async def test_a_warning_further_up_or_in_another_section_is_about_something_else() -> None:
    """Then only names tell."""
    between = unit("Wood comes from trees.", start=50, block=1)
    assert not await is_warned(BEWARE, between, SAY, code(start=200, lead=SAY.text))
    assert not await is_warned(BEWARE, SAY, code(start=200))


async def test_descriptions_and_simulations_need_no_warning() -> None:
    """Nothing moves by them."""
    assert not await is_warned(BEWARE, code(start=200, language="xml"))
    assert not await is_warned(BEWARE, code(start=200), simulation=True)


async def test_names_that_start_or_send_a_robot_are_known() -> None:
    """Navigation by goals, torques in longer names, a robot's own launch files."""
    for text in (
        "nav.goToPose(goal)",
        "navigator.followWaypoints(poses)",
        "float pd_torque(float q) { return kp * q; }",
        "ros2 launch wren_bringup wren.launch.py",
        "ros2 launch nav2_bringup bringup_launch.py \\\n  map:=lab.yaml \\\n  use_sim_time:=False",
        "ros2 launch ur_robot_driver ur_control.launch.py ur_type:=ur5e",
    ):
        assert await is_withheld(text)


async def test_names_of_what_moves_nothing_are_not() -> None:
    """Simulators, screens, cameras, settings."""
    for text in (
        "ros2 launch wren_bringup wren.launch.py use_sim_time:=true",
        "ros2 launch nav2_bringup tb3_simulation_launch.py",
        "ros2 launch nav2_bringup rviz_launch.py",
        "ros2 launch realsense2_camera rs_launch.py",
        "FollowPath:\n  plugin: dwb_core::DWBLocalPlanner",
        "gz sim empty.sdf",
    ):
        assert not await is_withheld(text)


async def test_a_description_that_names_a_motor_is_shown() -> None:
    """It does nothing."""
    for language in ("xml", "urdf", "yaml", "json"):
        assert not await is_withheld("motor: left", language)
        assert await is_withheld("motor.start()", "python")
        assert not await is_withheld("motor.start()", "python", simulation=True)


async def test_a_word_on_simulation_elsewhere_in_the_code_excuses_nothing() -> None:
    """It excuses only its own command."""
    assert await is_withheld("# Tried in gazebo first.\nnav.goToPose(goal)")
    assert not await is_withheld("ros2 launch arm_bringup arm.launch.py \\\n  use_sim_time:=true")


async def test_a_comment_or_a_printout_moves_nothing() -> None:
    """Code is judged by what it does; a call beside the comment still does it."""
    assert not await is_withheld("total = a + b  # the torque of both motors")
    assert not await is_withheld("Relay is on.\nRelay is off.\n", "output")
    assert await is_withheld("relay.on()  # the pump")


async def test_what_stands_around_withheld_code_is_shown() -> None:
    """The code goes, not what the book says of it."""
    page = chunk(unit("Say go.", start=0), code(MOVES, start=100), unit("Slip wears tyres.", start=200, block=1))
    answering = Run(page, page.units, (-9.0, -9.0, 0.0))
    (before, after), told = await secure_runs(Page(page), [answering])
    assert (before.units, after.units) == ((page.units[0],), (page.units[2],))
    assert told == [messages.CODE_WITHHELD]
    assert (after.cut_before, after.cut_after) == (True, False)


async def test_code_that_only_reads_is_not_withheld() -> None:
    """Importing the type of a command, or listening to it, moves nothing."""
    listens = code(
        "from geometry_msgs.msg import Twist\nnode.create_subscription(Twist, '/cmd_vel', print, 10)", start=100
    )
    page = chunk(unit("Listen.", start=0), listens)
    safe, told = await shown(page, runs=[run(page, *page.units)])
    assert (safe, told) == ([page.units], [])


async def test_the_warning_stands_before_everything_else() -> None:
    """Even before harmless code that comes first; and it appears once, however many excerpts need it."""
    first, moving = code(HARMLESS, start=300), code(MOVES, start=200)
    page = chunk(BEWARE, moving, unit("Wood.", start=290, block=9), first)
    safe, told = await shown(page, runs=[run(page, first), run(page, moving)])
    assert (safe, told) == ([(BEWARE,), (first,), (moving,)], [])


async def test_a_warning_that_is_quoted_already_is_not_repeated() -> None:
    """If it is quoted whole; a part is not enough."""
    more = unit("It cannot be stopped.", start=60, block=0, warning=True)
    page = chunk(BEWARE, more, code(start=200))
    *_, moving = page.units
    safe, _ = await shown(page, runs=[run(page, BEWARE, more, moving)])
    assert safe == [(BEWARE, more, moving)]
    safe, _ = await shown(page, runs=[run(page, more, moving)])
    assert safe == [(BEWARE, more), (more, moving)]


async def test_a_box_of_several_paragraphs_is_shown_whole() -> None:
    """With its list. A box of only a title is no warning, and text after a box does not belong to it."""
    told = unit("Two people must be there.", start=20, block=2, warning=True)
    items = [unit(f"{n}. Check {n}.", kind="list_item", start=50 + n, block=3, warning=True) for n in (1, 2)]
    page = chunk(unit("Wood.", start=0), told, *items, unit("Saws are loud.", start=80), code(MOVES, start=200))
    safe, _ = await shown(page, runs=[run(page, page.units[-1])])
    assert safe == [(told, *items), (page.units[-1],)]
    title = unit("Safety", start=10, warning=True)
    bare = chunk(title, unit("Saws are loud.", start=80), code(MOVES, start=200))
    assert await shown(bare, runs=[run(bare, bare.units[-1])]) == ([bare.units[1:2]], [messages.CODE_WITHHELD])


async def test_a_warning_between_steps_and_command_is_put_back() -> None:
    """Search found the steps and the command but not the box between them: the reader gets it in its place."""
    first, command = steps("Look at the floor.", "Test the button."), code(MOVES, start=400)
    box = unit("Run it only after both checks.", start=350, block=350, warning=True)
    page = chunk(BEWARE, *first, box, command)
    safe, _ = await shown(page, runs=[run(page, *first, command)])
    assert safe == [(BEWARE,), (*first, box, command)]


async def test_warnings_of_two_pages_stand_before_all_code() -> None:
    """Each once, in the order of the code."""
    pages = [chunk(BEWARE, code(start=200), chunk_id=name, filename=f"{name}.md") for name in ("a", "b")]
    safe, _ = await secure_runs(Page(*pages), [run(page, page.units[1]) for page in pages])
    assert [(item.chunk.chunk_id, item.units[0].kind) for item in safe] == [
        ("a", "sentence"), ("b", "sentence"), ("a", "code"), ("b", "code"),
    ]  # fmt: skip


def steps(*texts: str, start: int = 200) -> list[Unit]:
    """A numbered list."""
    return [
        unit(f"{n}. {text}", kind="list_item", start=start + 50 * n, block=start) for n, text in enumerate(texts, 1)
    ]


async def test_a_procedure_right_below_a_warning_comes_behind_it() -> None:
    """Whether or not it is dangerous itself."""
    page = chunk(BEWARE, *steps("Fetch the wood.", "Feed it."))
    safe, told = await shown(page, runs=[run(page, *page.units[1:])])
    assert (safe, told) == ([(BEWARE,), page.units[1:]], [])


async def test_a_procedure_with_something_hazardous_has_the_page_s_warning_or_a_word_of_ours() -> None:
    """It is shown in either case: what to do must be known."""
    dangerous = steps("Open the battery.", "Lift out the cells.")
    page = chunk(BEWARE, unit("Wood comes from trees.", start=60, block=1), *dangerous)
    safe, told = await shown(page, runs=[run(page, *dangerous)])
    assert (safe, told) == ([(BEWARE,), tuple(dangerous)], [])
    bare = chunk(*dangerous)
    assert await shown(bare, runs=[run(bare, *dangerous)]) == ([tuple(dangerous)], [messages.CAUTION])


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("Electric motors turn energy into motion.", "Hydraulic motors use liquid under pressure."), []),
        (("The state. The motor knows it.", "The heat. Each motor has a sensor."), []),
        (("Ankle strategy. The motor acts.", "Hip strategy. The trunk swings."), []),
        (("Hang Kestrel in its gantry.", "Switch the motors on."), [messages.CAUTION]),
        (("With the motor power off, move the joint.", "Step back to 2 m.", "Switch it on."), [messages.CAUTION]),
    ],
)
async def test_a_list_that_tells_nobody_what_to_do_needs_no_word_of_ours(
    texts: tuple[str, ...], told: list[str]
) -> None:
    """A list of what a gearbox is for is no procedure; one of whose items a third give instructions is one."""
    listed = steps(*texts)
    assert await shown(chunk(*listed), runs=[run(chunk(*listed), *listed)]) == ([tuple(listed)], told)


async def test_what_only_tells_needs_no_warning() -> None:
    """Statements move nothing, and harmless steps endanger no one."""
    page = chunk(BEWARE, unit("Wood comes from trees.", start=60), unit("The motor hums.", start=90))
    assert await shown(page, runs=[run(page, *page.units[1:])]) == ([page.units[1:]], [])
    harmless = chunk(*steps("Fetch the paper.", "Fold it."))
    assert await shown(harmless, runs=[run(harmless, *harmless.units)]) == ([harmless.units], [])


async def test_a_book_adds_hazards_of_its_own() -> None:
    """Code and procedures that `[hazards]` of its `book.toml` names are treated as those that Lutrin knows."""
    own = BookHazards(code=("my_arm.go",), words=("centrifuge",))
    page = chunk(code("My_Arm.go(3)\n", start=0))
    procedure = chunk(*steps("Open the Centrifuge.", "Lift out the tubes."))
    for hazards, of_code, of_steps in ((BookHazards(), [], []), (own, [messages.CODE_WITHHELD], [messages.CAUTION])):
        assert (await secure_runs(Page(page, hazards=hazards), [run(page, *page.units)]))[1] == of_code
        told = (await secure_runs(Page(procedure, hazards=hazards), [run(procedure, *procedure.units)]))[1]
        assert told == of_steps


async def test_withheld_code_leaves_a_source_that_leads_to_it() -> None:
    """The sentence before it, where the code alone was found."""
    page = chunk(unit("Say go.", start=0), code(MOVES, start=100))
    safe, told = await shown(page, runs=[run(page, page.units[1])])
    assert (safe, told) == ([page.units[:1]], [messages.CODE_WITHHELD])


async def test_marked_code_has_the_warning_of_its_place_in_the_book() -> None:
    """Wherever the mark begins; a selection itself is no page and warns of nothing."""
    moving = code(MOVES, start=200)
    page = chunk(BEWARE, SAY, moving)
    selected = msgspec.structs.replace(chunk(code(MOVES, start=0)), chunk_id=SELECTED, filename="")
    safe, told = await shown(page, runs=[run(selected, *selected.units)])
    assert (safe, told) == ([(BEWARE,), selected.units], [])
