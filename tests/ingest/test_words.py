"""No word that a reader sees is lost, and every unit knows where it stands.

The oracle is the `commonmark` package, an independent implementation of the specification.
"""

import html
import re
from collections import Counter

import commonmark
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lutrin.ingest.markdown import parse_markdown
from lutrin.records import Document

WORD = re.compile(r"\w+")
NUMBER = re.compile(r"\d+[.)] ")


def words_of(document: Document) -> Counter[str]:
    """Words of all titles and units, header rows of tables included."""
    texts = [section.title for section in document.sections[1:]]
    texts += [unit.text for section in document.sections for unit in section.units]
    texts += {unit.lead for section in document.sections for unit in section.units if unit.kind == "table_row"}
    title = document.title if document.title != "Page" else ""
    return Counter(WORD.findall(" ".join([title, *texts])))


def places_hold(document: Document) -> bool:
    """Whether the range of each unit holds the unit's letters and digits, in order, but for the number of an item.

    Markdown counts on from the first item, whatever its author wrote before the others.
    """
    for section in document.sections:
        for unit in section.units:
            source = iter(document.source[unit.char_start : unit.char_end])
            text = NUMBER.sub("", unit.text) if unit.kind == "list_item" else unit.text
            if not all(letter in source for letter in text if letter.isalnum()):
                return False
    return True


def visible_words(source: str) -> Counter[str]:
    """The words that the specification's reference implementation shows on a page."""
    page = commonmark.commonmark(source)
    page = re.sub(r'<img [^>]*alt="([^"]*)"[^>]*>', r" \1 ", page)
    return Counter(WORD.findall(html.unescape(re.sub(r"</?[a-z][^>]*>", "", page))))


PIECES = st.sampled_from(
    [
        "alpha",
        "beta",
        "gamma one",
        "Two words.",
        "end.",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\n\n",
        "    ",
        "\t",
        "# ",
        "## ",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "---",
        "===",
        "***",
        "```",
        "~~~",
        "````\n",
        "```py\n",
        "\n```\n",
        "*",
        "**",
        "_",
        "__",
        "`",
        "``",
        "[",
        "]",
        "(u)",
        "](u)",
        "![",
        "<https://a.b>",
        "\\",
        "\\*",
        "&amp;",
        "!",
        "[r]: /u\n",
        "[r]",
        "a*b*c",
        "snake_case_word",
        "(",
        ")",
        "\n- ",
        "\n> ",
        "\n    ",
        "\n   ",
        "+ ",
        "\n1. ",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=24).map("".join))
@example("- a\n\n      code\n- b")
@example("> ```\nfoo\n```")
@example("foo\n```\nbar\n```")
@example("a\n---\n\n    code\n\nb")
def test_no_word_is_lost_in_markdown(source: str) -> None:
    """Pieces of Markdown in any order: what the reference shows is found in titles and units."""
    document = parse_markdown(source, "Page.md")
    # The specification lets a stray closing fence swallow the rest of the page; here it is reported and dropped.
    assume(not document.notices)
    # Between two words that only marks part, the two may be told apart or not.
    missing = visible_words(source) - words_of(document)
    run = "".join(words_of(document).elements())
    assert not {word for word in missing if word not in run}
    assert places_hold(document)


MDX = st.sampled_from(
    [
        "one",
        "two three.",
        "Four!",
        "\n",
        "\n\n",
        " ",
        "  ",
        "# h\n",
        "- i\n",
        "1. i\n",
        "> q\n",
        "| a | b |\n|--|--|\n| c | d |\n",
        "<Tabs>\n",
        "</Tabs>\n",
        "<Note>",
        "</Note>",
        "<A b={1} c='x y'/>",
        "<details>\n",
        "</details>\n",
        "<b>",
        "</b>",
        "<br/>",
        "{",
        "}",
        "{/* hidden */}",
        "{/*",
        "*/}",
        "{'text'}",
        "{x}",
        "<!-- hidden -->",
        "<!--",
        "-->",
        ":::note\n",
        ":::\n",
        "::::tip[T]\n",
        "::::\n",
        "import a from 'b'\n",
        "export const a = {b: 'c d'}\n",
        "```js\n",
        "```\n",
        "~~~\n",
        "$",
        "$$",
        "$$\n",
        "`",
        "*",
        "_",
        "[",
        "](u)",
        "\\",
        "{#id}",
        "\r\n",
        "\ufeff",
        "\u200b",
        "\u202e",
        "---\n",
        "<",
        ">",
        "&lt;",
        "~~",
        "```{list-table} T\n:header-rows: 1\n",
        "* - a\n  - b\n",
        '```{csv-table}\n:header: a, "b\n',
        '"a", b\n',
        "```{code-block} py\n:caption: c\n",
        "```{math}\n",
        "```{figure} f\n:alt: d\n",
        "(label)=\n",
        "% hidden\n",
        "+++\n",
        "{ref}`a <b>`",
        "<ParamField path='p' type={1} required>",
        "<CodeGroup>\n",
        "export const o = {a: 'b', c: {d: \"e\"}\n",
        "{o.c.d}",
        "{frontMatter.a}",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(MDX, max_size=30).map("".join), st.sampled_from(["p.md", "p.mdx"]))
def test_broken_mdx_is_read_without_complaint(source: str, filename: str) -> None:
    """Pieces of MDX in any order make a document whose places lie in the file and in order of their sections."""
    document = parse_markdown(source, filename)
    assert document.source == source
    starts = [section.char_start for section in document.sections]
    assert starts == sorted(starts)
    for section in document.sections:
        for unit in section.units:
            assert 0 <= unit.char_start <= unit.char_end <= len(source)
            assert unit.text.strip()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["p.md", "p.mdx"]))
def test_any_text_is_read(source: str, filename: str) -> None:
    """With any characters."""
    document = parse_markdown(source, filename)
    assert all(source[unit.char_start : unit.char_end] for section in document.sections for unit in section.units)


CONTEXTS = st.sampled_from(
    [
        "{}",
        "Before.\n\n{}\n\nAfter.",
        "before\n{}\nafter",
        "- item\n\n{2}",
        "1. item\n{3}",
        "- a\n  - b\n\n{4}",
        ":::note[T]\n{}\n:::",
        "::::tip\n:::danger\n{}\n:::\n::::",
        "<details>\n<summary>S</summary>\n\n{}\n\n</details>",
        "<Tabs>\n<TabItem value='a' label='A'>\n\n{}\n\n</TabItem>\n</Tabs>",
        "<Tabs>\n  <TabItem>\n{4}\n  </TabItem>\n</Tabs>",
        "> quoted\n>\n{>}",
        "# H\n{}\n## I",
        "| a | b |\n|---|---|\n| c | d |\n\n{}",
    ]
)
CODE_LINES = st.sampled_from(
    [
        "x = 1",
        "# comment",
        "## not a heading",
        "---",
        "",
        "",
        "    indented",
        "\tTab",
        "<Tag attr={1}>",
        "</details>",
        ":::",
        ":::note",
        "import os",
        "export A=1",
        "{/* no comment */}",
        "{",
        "}",
        "<!-- no comment -->",
        "| a | b |",
        "> quote",
        "- item",
        "1. item",
        "std::vector<int> v;",
        "`tick`",
        "``",
        "$$",
        "$x$",
        "\\",
        "&amp;",
        "trailing  ",
        "“ünï©ode” 机器人",
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(
            CONTEXTS, st.lists(CODE_LINES, min_size=1, max_size=6), st.sampled_from(["```", "~~~", "````", "`````"])
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["p.md", "p.mdx"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_fence_comes_back_byte_for_byte(
    blocks: list[tuple[str, list[str], str]], filename: str, ending: str
) -> None:
    """In lists, quotations, admonitions, details and tabs, with content that looks like any other syntax."""
    parts, expected = [], []
    for context, lines, fence in blocks:
        match = re.search(r"\{(\d|>)?\}", context)
        assert match is not None
        prefix = "> " if match[1] == ">" else " " * int(match[1] or 0)
        fenced = [f"{fence}python", *lines, fence]
        parts.append(context.replace(match.group(), "\n".join(prefix + line for line in fenced)))
        expected.append(ending.join(lines))
    source = "\n\n".join(parts).replace("\n", ending)
    document = parse_markdown(source, filename)
    codes = [unit.text for section in document.sections for unit in section.units if unit.kind == "code"]
    assert codes == [code for code in expected if code.strip()]
