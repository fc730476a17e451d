"""Site generators' extensions of Markdown are read as the built page shows them, in passages and in the reader."""

import re
from pathlib import Path

import pytest

from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html
from lutrin.records import BookInfo

PAGES = Path(__file__).parent / "pages"
BOOK = BookInfo(slug="robots", title="Robots")


def texts(source: str, name: str = "arm.md") -> list[str]:
    """The text of each unit of a page."""
    return [unit.text for section in parse_markdown(source, name).sections for unit in section.units]


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"[A-Za-z]{2,}", text))


@pytest.mark.parametrize("name", ["dialects.md", "branches.mdx"])
def test_passages_and_the_readers_page_hold_the_same_words(name: str) -> None:
    """Nothing is lost in one of them, and no markup is left in either."""
    source = (PAGES / name).read_text(encoding="utf-8")
    document = parse_markdown(source, name)
    html = page_html(source, name)
    shown = re.sub(r"<[^>]+>", " ", html) + " ".join(re.findall(r'alt="([^"]*)"', html))
    variants = {unit.variant for section in document.sections for unit in section.units}
    read = " ".join((document.title, *(s.title for s in document.sections), *texts(source, name), *variants))
    # The reader's page names what unfolds, notes that have no title, and code of other files.
    shown = re.sub(r"This code stands in another file: +\S+", "", shown)
    assert words(shown) - {"Solution"} == words(read) - {"Solution"}
    assert not re.search(r"\{[:#.%{]|:::|!!!|\?\?\?|===|\]\{|\[\[|classNames", shown + read)


@pytest.mark.parametrize(
    "include", ["{% include arm.html %}", "{{#include arm.md}}", "```rust\n{{#rustdoc_include arm.rs:here}}\n```"]
)
def test_an_include_is_named_and_not_shown(include: str) -> None:
    """The author learns which file was left out, with its line."""
    document = parse_markdown(f"# Arm\n\nIt lifts.\n\n{include}\n\nIt lowers.\n", "arm.md")
    assert [unit.text for unit in document.sections[0].units] == ["It lifts.", "It lowers."]
    assert [notice.line for notice in document.notices] in ([5], [6])
    assert "includes arm." in document.notices[0].message


def test_a_passage_knows_the_variant_that_it_is_for() -> None:
    """Tabs of every site generator; text outside them is for all readers and in passages of its own."""
    for name, source in (
        ("a.mdx", '<Tabs>\n<TabItem value="p" label="Pi">\n\nPin 4.\n\n</TabItem>\n</Tabs>\n\nIt blinks.\n'),
        ("a.mdx", '<hfoptions id="x">\n<hfoption id="Pi">\n\nPin 4.\n\n</hfoption>\n</hfoptions>\n\nIt blinks.\n'),
        ("a.mdx", "{#if board === 'Pi'}\n\nPin 4.\n\n{/if}\n\nIt blinks.\n"),
        ("a.md", '=== "Pi"\n\n    Pin 4.\n\nIt blinks.\n'),
        ("a.md", "::::{tab-set}\n:::{tab-item} Pi\nPin 4.\n:::\n::::\n\nIt blinks.\n"),
        ("a.md", "::: group-tab\n\n### Pi\n\nPin 4.\n\n:::\n\nIt blinks.\n"),
    ):
        chunks = chunk_document(parse_markdown(source, name), BOOK, lambda text: [(0, 1)] * len(text.split()), 400, 50)
        assert [(chunk.variant, chunk.text.split("\n")[-1]) for chunk in chunks] == [
            ("Pi", "Pin 4."),
            ("", "It blinks."),
        ]


def test_a_page_may_begin_with_a_smaller_heading() -> None:
    """It is the page's title, and not a section below a title made of the file's name."""
    document = parse_markdown("## Lifting\n\nIt lifts.\n\n### Loads\n\nMany.\n", "ch01-02-lifting.md")
    assert [section.heading_path for section in document.sections] == [("Lifting",), ("Lifting", "Loads")]


def test_a_definition_is_one_sentence_with_its_term() -> None:
    """So that it can be quoted alone; what follows belongs to the same block."""
    units = parse_markdown("# Arm\n\ntorque\n: What turns a joint. In newton metres.\n", "a.md").sections[0].units
    assert [(unit.kind, unit.text) for unit in units] == [
        ("list_item", "torque: What turns a joint."),
        ("sentence", "In newton metres."),
    ]


def test_what_only_looks_like_markup_stays_text() -> None:
    """In code, in running text, and without the form of an attribute."""
    for text in (
        "Write `{: .lead}` or `{% raw %}`.",
        "The set {a, b} is small.",
        "A colon : stands here.",
        "Is 3 === 3?",
        "!!! Stop",
    ):
        assert " ".join(texts(text)).replace("`", "") == text.replace("`", "")


def test_tags_in_the_strings_of_a_component_are_no_text() -> None:
    """Quiz components set their strings as HTML; a tag that nothing ends is what the text speaks of."""
    source = (
        "# Quiz\n\n<Question\n\tchoices={[\n\t\t{\n"
        "\t\t\ttext: \"With <code>git-lfs</code> and <a href='https://lfs.example'>its <em>server</em></a>.\",\n"
        '\t\t\texplain: "The token <unk> stands for the rest."\n\t\t}\n\t]}\n/>\n'
    )
    shown = page_html(source, "quiz.mdx")
    for said in ("With git-lfs and its server.", "The token &lt;unk&gt; stands for the rest."):
        assert said in shown
    assert "With git-lfs and its server." in " ".join(texts(source, "quiz.mdx"))
