"""What a page draws of an excerpt and of an answer: blocks and inlines, from the parser that reads the books."""

import time
from collections.abc import Sequence

import pytest
from tests.ingest.test_hostile import BOMBS

from lutrin.ingest.display import LONGEST, quotation_blocks, statement_blocks
from lutrin.records import (
    Block,
    CodeBlock,
    Deletion,
    Emphasis,
    Formula,
    Heading,
    Inline,
    InlineCode,
    LineBreak,
    Link,
    Listing,
    ListItem,
    Mark,
    Marker,
    Paragraph,
    Picture,
    Quotation,
    Rule,
    Strong,
    Table,
)


def shown(text: str, *words: str, header: Sequence[str] = (), filename: str = "page.md") -> list[str]:
    """What is shown of an excerpt, a line for each block: marked words in brackets, styled ones between < and >."""
    marks = [(text.index(word), text.index(word) + len(word)) for word in words]
    return lines(quotation_blocks(text, marks, header, filename))


def lines(blocks: Sequence[Block]) -> list[str]:
    """A line for each block."""
    return [line for block in blocks for line in lines_of(block)]


def lines_of(block: Block) -> list[str]:
    """The lines of one block."""
    match block:
        case Quotation(blocks):
            return [f"> {line}" for line in lines(blocks)]
        case Listing(items):
            signs = ["-" if item.number is None else f"{item.number}." for item in items]
            return [f"{sign} {line}" for sign, item in zip(signs, items, strict=True) for line in lines(item.blocks)]
        case Table(header, rows):
            return [" | ".join(map(words_of, row)) for row in (header, *rows)]
        case Rule():
            return ["---"]
        case _:
            return [words_of(block.children)]


def words_of(nodes: Sequence[Inline]) -> str:
    """The words of a line."""
    return "".join(map(word_of, nodes))


def word_of(node: Inline) -> str:
    """The words of one inline."""
    match node:
        case str(text) | InlineCode(text) | Picture(text) | Formula(text):
            return text
        case Mark(children):
            return f"[{words_of(children)}]"
        case Marker(n):
            return f"({n})"
        case LineBreak():
            return "/"
        case _:
            return f"<{words_of(node.children)}>"


def text(value: str) -> Paragraph:
    """A paragraph of plain text."""
    return Paragraph((value,))


# Answers --------------------------------------------------------------------------------------------------------------


def test_the_marker_of_a_source_is_one_and_a_link_that_looks_so_is_a_link() -> None:
    """`[2]` in an answer leads to its source."""
    assert statement_blocks("So it is. [2]") == (Paragraph(("So it is. ", Marker(2))),)
    assert statement_blocks("[1](https://a.example)") == (Paragraph((Link("https://a.example", ("1",)),)),)
    assert statement_blocks("`a[1]` and\n\n```\nb[2]\n```") == (
        Paragraph((InlineCode("a[1]"), " and")),
        CodeBlock(("b[2]",), ""),
    )


def test_a_number_in_brackets_in_the_book_is_no_source_of_the_answer() -> None:
    """Books number their references, too."""
    assert quotation_blocks("See [3] there.") == (text("See [3] there."),)


def test_emphasis_nests_and_stars_in_numbers_stay_stars() -> None:
    """As CommonMark reads it."""
    assert statement_blocks("**a *b* c**") == (Paragraph((Strong(("a ", Emphasis(("b",)), " c")),)),)
    assert statement_blocks("2 * 3 and snake_case_name") == (text("2 * 3 and snake_case_name"),)
    assert statement_blocks("~~gone~~") == (Paragraph((Deletion(("gone",)),)),)


def test_angle_brackets_of_an_answer_are_text() -> None:
    """An answer has no HTML, so that whatever a model writes is read as it stands."""
    hostile = "<img src=x onerror=alert(1)> <script>alert(1)</script> <type as trait>"
    assert statement_blocks(hostile) == (text(hostile),)
    assert statement_blocks("Use `std::vector<int>` here.") == (
        Paragraph(("Use ", InlineCode("std::vector<int>"), " here.")),
    )


def test_character_references_are_decoded_once() -> None:
    """`&amp;lt;` is what its author wrote."""
    assert statement_blocks("a &lt; b &amp;lt; c &#8364;") == (text("a < b &lt; c €"),)


def test_dollars_around_maths_are_maths_and_those_of_prices_are_not() -> None:
    """A formula keeps its TeX."""
    assert statement_blocks("$x_1 + 2$") == (Paragraph((Formula("x_1 + 2", display=False),)),)
    assert statement_blocks("$$\nE = mc^2\n$$") == (Paragraph((Formula("E = mc^2", display=True),)),)
    assert statement_blocks("from $5 to $10 each") == (text("from $5 to $10 each"),)
    assert quotation_blocks(r"a \\(C\\) and \\[x_1\\]") == (
        Paragraph(("a ", Formula("C", display=False), " and ", Formula("x_1", display=True))),
    )


def test_a_bare_address_ends_before_the_full_stop() -> None:
    """It can be followed."""
    address = "https://a.example/b"
    assert statement_blocks(f"See {address}.") == (Paragraph(("See ", Link(address, (address,)), ".")),)


def test_a_link_holds_no_link() -> None:
    """Its words may be an address."""
    address = "https://a.example/b"
    assert statement_blocks(f"[{address}]({address})") == (Paragraph((Link(address, (address,)),)),)
    assert quotation_blocks(f"See <{address}>.") == (Paragraph(("See ", Link(address, (address,)), ".")),)


@pytest.mark.parametrize("href", ["javascript:alert(1)", " JaVaScRiPt:x", "data:text/html,x", "/relative", "//host"])
def test_only_the_web_and_mail_are_linked(href: str) -> None:
    """A relative address was meant for another page."""
    assert quotation_blocks(f"[x](<{href}>)") == (text("x"),)


def test_an_image_is_its_description_and_never_an_address() -> None:
    """Loading it would tell another server who reads what."""
    assert quotation_blocks("![an *arm*](https://elsewhere.example/pixel.png)") == (Paragraph((Picture("an arm"),)),)
    assert quotation_blocks("![](fig/pipe.svg){alt='A pipe' width=50%}") == (Paragraph((Picture("A pipe"),)),)


def test_lists_nest_count_from_where_they_say_and_know_their_tasks() -> None:
    """Each item knows its number."""
    assert statement_blocks("3. one\n   - inner\n4. two") == (
        Listing(
            (
                ListItem(number=3, blocks=(text("one"), Listing((ListItem(blocks=(text("inner"),)),)))),
                ListItem(number=4, blocks=(text("two"),)),
            )
        ),
    )
    assert statement_blocks("- [x] done\n- [ ] open") == (
        Listing((ListItem(checked=True, blocks=(text("done"),)), ListItem(checked=False, blocks=(text("open"),)))),
    )


def test_a_table_has_as_many_cells_in_each_row_as_in_its_header() -> None:
    """A bar in code can be escaped."""
    table = Table(
        (("a",), ("b",)),
        ((("1",), ()), ((InlineCode("x | y"),), ("2",))),
    )
    assert statement_blocks("| a | b |\n|---|:-:|\n| 1 |\n| `x \\| y` | 2 | 3 |") == (table,)


def test_a_text_that_begins_with_a_rule_has_no_front_matter() -> None:
    """Only a file has."""
    assert lines(statement_blocks("---\n\ntitle\n\n---")) == ["---", "title", "---"]


def test_a_heading_loses_its_identifier() -> None:
    """Only the words are shown."""
    assert quotation_blocks("## Nodes {#nodes}") == (Heading(("Nodes",)),)


# Excerpts -------------------------------------------------------------------------------------------------------------


def test_the_words_that_answer_are_marked_whatever_emphasis_they_begin_or_end_in() -> None:
    """A mark may begin and end in different elements."""
    assert shown("A node does one job.", "one job") == ["A node does [one job]."]
    assert shown("A **node** is _one_ process.", "**node** is _one_") == ["A <[node]>[ is ]<[one]> process."]
    assert shown("It was ~~two~~ one, and no more.", "one, and") == ["It was <two> [one, and] no more."]
    assert shown("It is **a small process** there.", "It is **a small") == ["[It is ]<[a small] process> there."]


def test_offsets_count_characters() -> None:
    """Not the halves that some of them are stored in."""
    assert shown("🤖🤖 A robot 機械 moves.", "機械") == ["🤖🤖 A robot [機械] moves."]


def test_a_mark_over_lines_items_and_cells_keeps_the_form_of_each() -> None:
    """Signs of lists and tables are not words."""
    assert shown("- one\n- two\n- three", "one\n- two") == ["- [one]", "- [two]", "- three"]
    assert shown("1. Press.\n2. Wait.", "1. Press.\n2. W") == ["1. [Press.]", "2. [W]ait."]
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    assert shown(table, "| 3 | 4 |") == ["a | b", "1 | 2", "[3] | [4]"]
    assert shown("one\ntwo three", "one\ntwo") == ["[one\ntwo] three"]


def test_code_is_marked_in_its_lines_and_stays_code_byte_for_byte() -> None:
    """Code in a line is marked as a whole."""
    assert shown("Run:\n\n```bash\n# install\nros2 run a b\n```", "ros2 run") == ["Run:", "# install\n[ros2 run] a b"]
    assert shown("```python\nif x:\n    go(x)\n```", "if x:\n    go") == ["[if x:]\n    [go](x)"]
    assert shown("Use `ros2 topic list` now.", "topic") == ["Use [ros2 topic list] now."]
    assert shown("The torque $F r$ turns it.", "torque $F") == ["The [torque ][F r] turns it."]


def test_a_mark_over_everything_says_nothing() -> None:
    """So it is not drawn."""
    assert shown("A node does one job.", "A node does one job.") == ["A node does one job."]


def test_tags_comments_and_imports_are_not_shown_and_comparisons_are() -> None:
    """A page does not show them either."""
    source = "import X from 'x'\n\n<Tabs>\n\nPress <kbd>Ctrl</kbd> if a &lt; b.\n\n</Tabs>\n{/* note */}\n\nUse `<br>`."
    assert shown(source, "Ctrl</kbd> if") == ["Press [Ctrl if] a < b.", "Use <br>."]
    assert shown("Name <file> and Option<T> here.", "here") == ["Name <file> and Option<T> [here]."]


def test_the_title_that_is_left_of_a_boxs_first_line_is_a_title() -> None:
    """An excerpt begins with the first word of it."""
    assert shown("Safety]\nNever charge it alone.", "Never") == ["<Safety>", "[Never] charge it alone."]


def test_a_box_begins_with_its_name_or_its_title() -> None:
    """Whatever program made it."""
    assert shown("> [!TIP]\n> Stop first.", "Stop") == ["> <Tip>", "> [Stop] first."]
    assert shown("> [!warning] Before you start\n> Stop.") == ["> <Before you start>", "> Stop."]
    assert shown(":::danger[Moving arm]\nKeep clear.\n:::\nGo on.") == ["> <Moving arm>", "> Keep clear.", "Go on."]


def test_rows_whose_header_is_cut_off_are_rows() -> None:
    """They get the header that their units have, if it is known."""
    rows = "| Battery | Weekly |\n| Stop | Daily |"
    assert shown(rows, "Stop") == ["", "Battery | Weekly", "[Stop] | Daily"]
    assert shown(rows, header=("Part", "Check")) == ["Part | Check", "Battery | Weekly", "Stop | Daily"]
    assert shown("Battery | Weekly\nStop | Daily") == ["", "Battery | Weekly", "Stop | Daily"]
    assert shown("Stop | Daily |") == ["", "Stop | Daily"]
    assert shown("Use a | b here.", "here") == ["Use a | b [here]."]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("A<!-- ignore --> b.\n\n<!-- over\nlines -->\n\nC.", ["A b.", "C."]),
        ("See [“Types”][types] and [`match`][match].", ["See “Types” and match."]),
        ("Set it:\n\n{#if fw === 'pt'}\n\nYes.", ["Set it:", "Yes."]),
        ("It moves.\n\n:::::::::\n\nThen it stops.", ["It moves.", "Then it stops."]),
        ("So:\n\n```rust\n{{#include ../a.rs}}\n```\n\nIt runs.", ["So:", "It runs."]),
        ("It sank in 1905[^fn1], they say.", ["It sank in 1905, they say."]),
    ],
)
def test_what_a_page_does_not_show(source: str, wanted: list[str]) -> None:
    """Comments, labels, conditions, ends of boxes that began before, code of other files, marks of notes."""
    assert shown(source) == wanted


def test_a_condition_within_code_is_code() -> None:
    """It is what the book teaches."""
    assert shown("```svelte\n{#if x}\n```") == ["{#if x}"]


def test_what_stands_further_in_within_an_item_is_no_code_but_for_its_code() -> None:
    """An excerpt from within a list keeps the indentation of its lines."""
    code = "    ```sh\n    ls -l\n    ```\n\n    Then wait.\n\n1. Go on."
    assert shown(code, "ls -l") == ["[ls -l]", "Then wait.", "1. Go on."]
    assert shown("Replace it.\n\n    Then wait.", "wait") == ["Replace it.", "Then [wait]."]


def test_raised_and_lowered_signs_keep_their_place() -> None:
    """As the units of the book have them."""
    assert shown("10<sup>9</sup> bytes, H<sub>2</sub>O, 1011<sub>2</sub> and the 21<sup>st</sup>.") == [
        "10^9 bytes, H2O, 1011_2 and the 21st."
    ]


def test_a_definition_is_its_term_and_its_meaning() -> None:
    """The term is set apart."""
    assert shown("filter\n:   A program that reads.") == ["<filter>", "A program that reads."]


def test_a_table_in_html_is_a_table() -> None:
    """A row of heads is its header."""
    source = "<table><tr><th>Key</th><th>Does</th></tr><tr><td>q</td><td>quits</td></tr></table>"
    assert shown(source) == ["Key | Does", "q | quits"]


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_text_is_parsed_in_little_time(name: str) -> None:
    """A server parses it for every reader who is shown it; the slowest takes half a second on a processor of 2024."""
    began_s = time.process_time()
    quotation_blocks(f"x {BOMBS[name]}", [(0, 5), (9, 20_000)])
    statement_blocks(BOMBS[name])
    assert time.process_time() - began_s < 4.0


def test_what_is_longer_than_any_answer_is_cut() -> None:
    """So that its time is bounded."""
    assert statement_blocks("a" * (LONGEST + 1)) == quotation_blocks("a" * (LONGEST + 9)) == (text("a" * LONGEST),)
