"""Input that was made to hurt is read in linear time, or refused, with what stands around it intact."""

import time

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest.decoding import decode
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html

MANY = 20_000
LINES = 6_000

BOMBS = {
    "emphasis": "*a " * MANY,
    "emphasis both ways": "*a_ " * MANY,
    "strong": "**a" * MANY,
    "nested emphasis": "*" * MANY + "a" + "*" * MANY,
    "open brackets": "[" * MANY,
    "brackets": "[a](" * MANY,
    "images": "![" * MANY + "](u)" * MANY,
    "backticks": "".join("`" * (i % 300) + "a" for i in range(2000)),
    "entities": "&#" * MANY,
    "angles": "<a " * MANY,
    "tags": "<a b='" * MANY,
    "open tags": "<div>\n" * LINES,
    "closing tags": "</Card>\n" * LINES,
    "tag attributes": "<a" + " b" * MANY,
    "braces": "{" * MANY,
    "braces apart": "a { " * MANY,
    "braces on lines": "{a\n" * LINES,
    "braced strings": "{'" * MANY,
    "attributes in braces": "<a b={" * MANY,
    "comments": "<!--" * MANY,
    "comments on lines": "<!-- a\n\n" * LINES,
    "expression comments": "{/*" * MANY,
    "quotes": ">" * MANY,
    "quotes on lines": "\n".join(">" * (i % 500) + " a" for i in range(2000)),
    "lists": "- " * MANY,
    "numbered": "1. " * MANY,
    "deep list": "\n".join("  " * i + "- a" for i in range(1500)),
    "deep quote and list": "> - " * 10_000,
    "admonitions": ":::note\n" * LINES,
    "growing admonitions": "\n".join(":" * (3 + i) + "note" for i in range(2000)),
    "fences": "```\n" * LINES + "x",
    "fences in items": "- ```a\n" * LINES,
    "fences of all lengths": "\n".join("`" * (400 - i) for i in range(390)),
    "maths": "$" * MANY,
    "maths apart": "$a " * MANY,
    "displayed maths": "$$\na\n" * LINES,
    "table": "| a " * MANY + "|\n" + "|-" * MANY + "|\n",
    "table rows": "| a | b |\n|---|---|\n" + "| c | d |\n" * LINES,
    "references": "[a]: /u\n" * LINES,
    "reference labels": "[" + "a" * MANY + "]: u\n" + "[a][" * MANY,
    "headings": "# a\n" * LINES,
    "hashes": "#" * MANY,
    "setext": "a\n=\n" * LINES,
    "one long line": "word " * (MANY * 3),
    "one long word": "a" * 1_000_000,
    "dots": "." * 300_000,
    "import": "import {\n" * LINES,
    "export": "export const a = [\n" * LINES,
    "tildes": "~~a" * MANY,
    "backslashes": "\\" * MANY,
    "front matter": "---\n" + "a: [" * 10_000 + "\n---\n",
    "aliases": "---\na: &a [x]\n" + "b: [" + "*a," * 1000 + "]\n---\n",
    "zero width": "\u200b" * MANY,
    "nulls later": "a " * MANY + "\0",
    "footnotes": "[^a]: b\n\n" * LINES,
}


@pytest.mark.parametrize("filename", ["bomb.md", "bomb.mdx"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_not_go_off(name: str, filename: str) -> None:
    """Some hundred kilobytes of one trick take seconds at most, as sections and as a page, and the rest is read."""
    source = f"# Start\n\nFirst words.\n\n{BOMBS[name]}\n\n"
    if name in {"front matter", "aliases"}:
        source = BOMBS[name] + "\n\nFirst words.\n"
    began = time.monotonic()
    document = parse_markdown(source, filename)
    page_html(source, filename)
    assert time.monotonic() - began < 15
    assert "First words." in {unit.text for section in document.sections for unit in section.units}


@pytest.mark.parametrize("name", ["emphasis", "braces apart", "table rows", "fences in items", "open tags", "brackets"])
def test_four_times_the_input_takes_about_four_times_the_time(name: str) -> None:
    """So nothing grows with the square of the file."""

    def seconds(factor: int) -> float:
        began = time.perf_counter()
        parse_markdown(BOMBS[name] * factor, "bomb.mdx")
        return time.perf_counter() - began

    seconds(1)
    assert min(seconds(4), seconds(4)) < 10 * max(min(seconds(1), seconds(1)), 0.02)


def test_text_in_another_encoding_is_read() -> None:
    """UTF-16 with its mark is text too."""
    text, notices = decode("Wörter".encode("utf-16"), "a.md")
    assert (text.lstrip("\ufeff"), notices) == ("Wörter", ())


def test_a_picture_is_no_text() -> None:
    """Zero bytes at the start tell."""
    with pytest.raises(DocumentError, match="not a text file"):
        decode(b"\x89PNG\r\n\0\0", "a.md")
