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


def test_an_assignment_with_code_is_a_statement_of_the_language() -> None:
    """Without code it is one for pupils."""
    page = "# Values\n\n## Assignment\n\nGive a name to a value.\n"
    assert roles(page) == {"Give a name": "assignment"}
    assert roles(f"{page}\n```python\nx = 1\n```\n") == {"Give a name": "text"}


def test_a_heading_names_a_role() -> None:
    """As books write it, with emoji and number; a heading that only has such a word in it says nothing."""
    for title, role in (
        ("Exercises", "exercise"),
        ("🚀 Challenge", "exercise"),
        ("Exercise 2.3: lift the arm", "exercise"),
        ("Pre-lecture quiz", "quiz"),
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
    ):
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
        ("solution", "To the shoulder."),
        ("rubric", "Full marks."),
        ("summary", "- It lifts."),
    ]


def test_lists_are_known_by_what_they_consist_of() -> None:
    """Only links to places in the book, only links elsewhere; what announces a list goes with it."""
    source = (
        "# Arm\n\nPages:\n\n- [Joints](joints.md)\n- [Motors](#motors)\n\nSites:\n\n- [One arm](https://one.example)\n"
        "- [Two](https://two.example) by a maker\n\n"
        "Parts:\n\n- The [gripper](https://grip.example) holds what the arm lifts and lets go of it.\n- The base.\n"
    )
    found = [(chunk.role, chunk.units[0].text) for chunk in chunks_of(source)]
    assert found == [("contents", "Pages:"), ("references", "Sites:"), ("text", "Parts:")]


def test_sections_are_known_by_what_they_consist_of() -> None:
    """Only questions; little else than links."""
    links = "".join(f"- [A long list {n}](https://{n}.example)\n" for n in range(9))
    assert roles("# Arm\n\n## Think\n\n- How far?\n- How high?\n") == {"- How far?": "quiz"}
    assert roles(f"# Arm\n\n## Abroad\n\nMore is elsewhere.\n\n{links}") == {"More is elsewhere.": "references"}


def test_the_linked_names_of_things_are_no_list_of_links() -> None:
    """They answer "Which models are there?"; sites to read do not."""
    names = "- [Kestrel](https://k.example)\n- [Wren](https://w.example)\n"
    assert roles(f"# Arms\n\nThree models are known:\n\n{names}") == {"Three models are": "text"}
    assert roles(f"# Arms\n\nCheck out their sites:\n\n{names}") == {"Check out their": "references"}


def test_titles_with_two_meanings_count_where_a_list_stands_below() -> None:
    """Goals may be those of a lesson or of an action; "What you'll learn" may go on with matter."""
    listed = "- Lift a load without help.\n- Lower it again.\n"
    assert roles(f"# Arm\n\n## Goals\n\n{listed}") == {"- Lift a": "objectives"}
    assert roles("# Arm\n\n## Goals\n\nA goal is sent to the arm.\n") == {"A goal is": "text"}
    assert roles(f"# Arm\n\n## What you’ll learn\n\n{listed}") == {"- Lift a": "objectives"}


def test_a_paragraph_that_sets_a_task_is_an_exercise() -> None:
    """By its mark or its first words; the text around it stays main text, in chunks of its own."""
    source = (
        "# Arm\n\nIt lifts.\n\n✅ Do some research. What lifts more?\n\n> ✏️ **Try it out!** Lift it.\n\nIt lowers.\n"
    )
    assert [(chunk.role, len(chunk.units)) for chunk in chunks_of(source)] == [
        ("text", 1),
        ("exercise", 4),
        ("text", 1),
    ]


def test_a_chunk_never_mixes_roles_nor_repeats_across_them() -> None:
    """Short passages are not merged across roles, and overlap does not cross them."""
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
