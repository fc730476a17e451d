"""Fragments of headings are those of the built page."""

from lutrin.ingest.anchors import Slugger, explicit_id, slug
from lutrin.ingest.markdown import parse_markdown


def test_slugs_follow_the_rules_of_the_site_generator() -> None:
    """Lower case; letters, marks, digits and connectors stay; each blank is a hyphen."""
    for title, expected in (
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
    ):
        assert slug(title) == expected


def test_markup_in_a_heading_counts_as_the_site_generator_counts_it() -> None:
    """The text between tags, and expressions as written; compared with Docusaurus 3.10 when this was written."""
    for heading, expected in (
        ('<Icon name="x" /> Heading with icon', "-heading-with-icon"),
        ("Text <Badge>new</Badge>", "text-new"),
        ("Text <Badge/>", "text-"),
        ("Version {VERSION} out", "version-version-out"),
        ("`code` and *emph* &amp; more", "code-and-emph--more"),
        ("![Alt words](x.png) image", "alt-words-image"),
        ("Comment {/* plain */}", "comment--plain-"),
        ("$x^2$ maths", "x2-maths"),
        ("<b>Bold</b>: title", "bold-title"),
    ):
        document = parse_markdown(f"export const VERSION = 2;\n\n## {heading}\n\nText.\n", "a.mdx")
        assert [section.anchor for section in document.sections[1:]] == [expected]


def test_repeated_headings_are_numbered() -> None:
    """The second `Setup` is `setup-1`, and a heading that is called so itself gets out of its way."""
    slugger = Slugger()
    assert [slugger.next(title) for title in ("Setup", "Setup", "Setup 1", "Setup")] == [
        "setup",
        "setup-1",
        "setup-1-1",
        "setup-2",
    ]


def test_an_author_may_name_the_fragment() -> None:
    """All forms that the site generator knows, at the end of the heading."""
    for text, expected in (
        ("Title {#my-id}", (5, "my-id")),
        ("Title {/* #my-id */}", (5, "my-id")),
        ("Title {#a b}", (12, "")),
        ("{#only}", (0, "only")),
        ("No id", (5, "")),
        ("Title {/* #my-id and words */}", (5, "my-id")),
        ("Title <!-- #my-id -->", (5, "my-id")),
        ("Title {/* no id */}", (19, "")),
    ):
        assert explicit_id(text) == expected
