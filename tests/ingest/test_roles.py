"""Every passage is known for what it is: matter, exercise, quiz, objectives and so on."""

from itertools import pairwise

import pytest

from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.roles import role_of_title
from lutrin.records import BookInfo, Chunk

BOOK = BookInfo(slug="robots", title="Robots")


def chunks_of(source: str, name: str = "arm.md") -> list[Chunk]:
    """The chunks of a page, tokens being words."""
    return chunk_document(parse_markdown(source, name), BOOK, lambda text: [(0, 1)] * len(text.split()), 400, 50)


def roles(source: str, name: str = "arm.md") -> dict[str, str]:
    """The role of each chunk by its first words."""
    return {" ".join(chunk.text.split()[:3]): chunk.role for chunk in chunks_of(source, name)}


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Exercises", "exercise"),
        ("🚀 Challenge", "exercise"),
        ("Exercise 2.3: lift the arm", "exercise"),
        ("Pre-lecture quiz", "quiz"),
        ("What you’ll learn", "objectives"),
        ("Chapter 4: Learning objectives", "objectives"),
        ("Homework 2", "assignment"),
        ("Rubric", "rubric"),
        ("Chapter summary", "summary"),
        ("Review & Self Study", "references"),
        ("Further reading", "references"),
        ("Table of contents", "contents"),
        ("Glossary", "glossary"),
        ("Safety", "warning"),
        ("The challenge of balance", None),
        ("Assignment operators", None),
        ("Links and joints", None),
        ("Topics", None),
        ("Dangling references", None),
        ("Reading a sensor", None),
    ],
)
def test_a_heading_names_a_role(title: str, role: str | None) -> None:
    """As books write it, with emoji and number; a heading that only has such a word in it says nothing."""
    assert role_of_title(title) == role


def test_what_stands_below_a_heading_with_a_role_has_it_too() -> None:
    """Down to the next heading of its level, smaller ones included unless they name a role of their own."""
    source = (
        "# Arm\n\nIt lifts.\n\n## Exercises\n\nLift it.\n\n### With load\n\nTwo kilograms.\n\n## Motors\n\nThey turn.\n"
    )
    assert roles(source) == {
        "It lifts.": "text",
        "Lift it.": "exercise",
        "Two kilograms.": "exercise",
        "They turn.": "text",
    }


def test_boxes_and_components_name_a_role() -> None:
    """Fenced divs of lessons, admonitions, what unfolds, quiz components and classes."""
    source = (
        "# Arm\n\n::: objectives\n\n- Name its joints.\n\n:::\n\nMatter comes first.\n\n"
        "::::: challenge\n\n## Lift it\n\nHow high?\n\n::: solution\n\nTo the shoulder.\n\n:::\n\n:::::\n\n"
        "<details>\n<summary>Answer</summary>\n\nForty two.\n\n</details>\n\n"
        '<div class="rubric">\n\nFull marks.\n\n</div>\n\n::: keypoints\n\n- It lifts.\n\n:::\n'
    )
    assert [(chunk.role, chunk.text.split("\n")[0]) for chunk in chunks_of(source)] == [
        ("objectives", "- Name its joints."),
        ("text", "Matter comes first."),
        ("exercise", "Lift it"),
        ("rubric", "Full marks."),
        ("summary", "- It lifts."),
    ]


def test_lists_are_known_by_what_they_consist_of() -> None:
    """Only links to places in the book, only links elsewhere, only questions; what announces a list goes with it."""
    source = (
        "# Arm\n\nPages:\n\n- [Joints](joints.md)\n- [Motors](#motors)\n\nSites:\n\n- [One](https://one.example)\n"
        "- [Two](https://two.example), a maker\n\nThink:\n\n- How far does it reach?\n- What limits it?\n\n"
        "Parts:\n\n- The [gripper](https://grip.example) holds what the arm lifts and lets go of it.\n- The base.\n"
    )
    found = [(chunk.role, chunk.units[0].text) for chunk in chunks_of(source)]
    assert found == [("contents", "Pages:"), ("references", "Sites:"), ("quiz", "Think:"), ("text", "Parts:")]


def test_a_paragraph_that_sets_a_task_is_an_exercise() -> None:
    """By the mark or the words it begins with; what stands around it stays matter, in chunks of its own."""
    source = (
        "# Arm\n\nIt lifts.\n\n✅ Do some research. What lifts more?\n\n> ✏️ **Try it out!** Lift it.\n\nIt lowers.\n"
    )
    assert [(chunk.role, len(chunk.units)) for chunk in chunks_of(source)] == [
        ("text", 1),
        ("exercise", 4),
        ("text", 1),
    ]


def test_a_chunk_never_mixes_roles_nor_repeats_across_them() -> None:
    """Neither by being short nor by its overlap."""
    source = "# Arm\n\n" + "\n\n".join(f"It lifts {n}.\n\n::: challenge\n\nWhy {n}?\n\n:::" for n in range(9))
    chunks = chunks_of(source)
    assert all({unit.role for unit in chunk.units} == {chunk.role} for chunk in chunks)
    assert all(one.char_end <= other.char_start for one, other in pairwise(chunks))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("lesson/assignment.md", "# Watch a plant\n\nWater it.\n"),
        ("one.md", "---\nrole: assignment\n---\n\n# Watch a plant\n\nWater it.\n"),
        ("two.md", "# Homework\n\nWater it.\n"),
    ],
)
def test_a_whole_page_can_have_a_role(name: str, source: str) -> None:
    """By its file's name, its front matter or its title."""
    assert [chunk.role for chunk in chunks_of(source, name)] == ["assignment"]


def test_a_section_of_warnings_is_a_warning() -> None:
    """A warning among other text stays with that text, which it is about."""
    source = "# Arm\n\n## Power\n\n:::danger\nSwitch it off.\n:::\n\n## Lift\n\nPull.\n\n:::danger\nStand back.\n:::\n"
    assert roles(source) == {"Switch it off.": "warning", "Pull. Stand back.": "text"}
