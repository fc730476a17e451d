"""Where a book says what its terms mean."""

import msgspec
import pytest

from lutrin.index.definitions import definitions_of, term_of
from lutrin.index.generation import open_generation
from lutrin.records import Chunk, Unit

from .conftest import Library, make_chunk


def chunk_of(text: str, *, kind: str = "sentence", source: str = "", headings: tuple[str, ...] = ()) -> Chunk:
    """A chunk of one unit that stands in a source of its own."""
    unit = Unit(kind=kind, text=text, char_start=0, char_end=len(source or text))  # type: ignore[arg-type]  # a name
    return msgspec.structs.replace(make_chunk("01.md", 0, text), units=(unit,), heading_path=headings or ("Page",))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A costmap is a grid that gives each cell a cost.", ["costmap"]),
        ("Inverse kinematics is the computation of joint angles.", ["invers kinemat"]),
        ("AMCL, adaptive Monte Carlo localisation, is a particle filter.", ["amcl", "adapt mont carlo localis"]),
        ("A large language model (LLM) is a neural network.", ["larg languag model", "llm"]),
        ("A degree of freedom is one of the ways to move.", ["degre of freedom"]),
        ("Such a controller is called a policy.", ["polici"]),
        ("Drift means that errors add up with time.", ["drift"]),
        ("An eye-in-hand camera is a camera on the gripper.", ["ey in hand camera"]),
        # Statements about things, and sentences that only look like definitions.
        ("The robot is a danger to whoever stands near it.", []),
        ("This is a good place to stop the robot.", []),
        ("Another reason is the weight of the battery.", []),
        ("Magnets are the delicate part of a motor.", ["magnet"]),
        ("Magnets are the weak part.", []),
        ("The best place is the middle of the room.", []),
        ("When it brakes, the toe is the limit of the foot.", []),
        ("A law is binding, whereas a standard is a technical agreement.", []),
        ("It is a grid of many cells.", []),
        ("A costmap is a grid.", ["costmap"]),
        ("Note: the battery is warm after a drive.", []),
    ],
)
def test_a_definition_is_known_by_its_form(text: str, terms: list[str]) -> None:
    """Whatever it speaks of."""
    assert [item.term for item in definitions_of(0, chunk_of(text), text)] == terms


@pytest.mark.parametrize(
    ("text", "source", "headings", "found"),
    [
        # A thing with "the" is defined where it is emphasised or names the section; else something is told of it.
        ("The top layer is the part that holds the map.", "", (), False),
        (
            "The top layer is the part that holds the map.",
            "The **top layer** is the part that holds the map.",
            (),
            True,
        ),
        ("The top layer is the part that holds the map.", "The *top layer* is the part that holds the map.", (), True),
        ("The top layer is the part that holds the map.", "", ("Costmaps", "The top layer"), True),
    ],
)
def test_the_thing_that_a_section_is_about_is_defined_there(
    text: str, source: str, headings: tuple[str, ...], *, found: bool
) -> None:
    """Emphasis and headings show what is meant as a term."""
    assert bool(list(definitions_of(0, chunk_of(text, source=source, headings=headings), source or text))) is found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("**Bottom bracket**: the bearing that the cranks turn in", True),
        ("**Bottom bracket:** the bearing that the cranks turn in", True),
        ("__Bottom bracket__ – the bearing that the cranks turn in", True),
        ("Bottom bracket: the bearing that the cranks turn in", False),
    ],
)
def test_an_entry_of_a_glossary_defines(source: str, *, found: bool) -> None:
    """If its term is emphasised: a colon alone may announce anything."""
    text = source.replace("*", "").replace("__", "")
    chunk = chunk_of(text, kind="list_item", source=source)
    assert [item.term for item in definitions_of(0, chunk, source)] == ["bottom bracket"] * found


def test_a_term_is_no_phrase() -> None:
    """Words that lean on others, or are too many, name nothing."""
    assert term_of("Inverse kinematics") == "invers kinemat"
    assert [term_of(name) for name in ("", "the", "as a rule", "what it does", "one two three four five")] == [""] * 5


async def test_the_plainest_place_of_the_longest_term_is_found(library: Library) -> None:
    """In the order of the text; a term within another one is not explained beside it."""
    pages = {
        "01.md": ["Kinematics is the geometry of motion. A link is a rigid part of a robot."],
        "link.md": ["A link is a part that cannot bend at all. Inverse kinematics is the search for joint angles."],
    }
    generation = await open_generation(await library.publish("g1", pages), library.store)
    found = await generation.definitions("The links are moved by inverse kinematics, and links again.")
    assert [(term, chunk.filename, position) for term, chunk, position in found] == [
        ("link", "link.md", 0),
        ("invers kinemat", "link.md", 1),
    ]
    assert [term for term, _, _ in await generation.definitions("Kinematics")] == ["kinemat"]
    assert await generation.definitions("Nothing of it. ?") == []
    await generation.close()
