"""Fragments of headings are those of the built page."""

import pytest

from lutrin.ingest.anchors import Slugger, explicit_id, slug


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("What is ROS 2?", "what-is-ros-2"),
        ("C++ & C#", "c--c"),
        ("snake_case and-hyphen", "snake_case-and-hyphen"),
        ("Überblick – Ärger", "überblick--ärger"),
        ("6.4 Torque (N·m)", "64-torque-nm"),
        ("机器人", "机器人"),
        ("روبوت", "روبوت"),
        ("½ and ² are no letters, Ⅳ and ⓐ are", "-and--are-no-letters-ⅳ-and-ⓐ-are"),
        ("🤖 Robots", "-robots"),
        ("two  blanks", "two--blanks"),
    ],
)
def test_slugs_follow_the_rules_of_the_site_generator(title: str, expected: str) -> None:
    """Lower case; letters, marks, digits and connectors stay; each blank is a hyphen."""
    assert slug(title) == expected


def test_repeated_headings_are_numbered() -> None:
    """The second `Setup` is `setup-1`, and a heading that is called so itself gets out of its way."""
    slugger = Slugger()
    assert [slugger.next(title) for title in ("Setup", "Setup", "Setup 1", "Setup")] == [
        "setup",
        "setup-1",
        "setup-1-1",
        "setup-2",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title {#my-id}", (5, "my-id")),
        ("Title {/* #my-id */}", (5, "my-id")),
        ("Title {#a b}", (12, "")),
        ("{#only}", (0, "only")),
        ("No id", (5, "")),
    ],
)
def test_an_author_may_name_the_fragment(text: str, expected: tuple[int, str]) -> None:
    """Both forms that the site generator knows, at the end of the heading."""
    assert explicit_id(text) == expected
