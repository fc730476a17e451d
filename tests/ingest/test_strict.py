"""Pages that MDX itself would refuse are told from those that only look odd."""

import time
from pathlib import Path

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest.discover import discover
from lutrin.ingest.documents import read_document
from lutrin.ingest.strict import refusal


def test_what_mdx_refuses_is_named_with_its_line() -> None:
    """The line where it begins."""
    for source, line, reason in (
        ("---\ntitle: x\n---\n\n<Tabs>\n\ntext\n", 5, "<Tabs> is never closed"),
        ("text\n\n</Card>\n", 3, "</Card> closes nothing"),
        ("<Tabs>\n<TabItem>\n</Tabs>\n</TabItem>\n", 2, "<TabItem> is not closed before </Tabs>"),
        ("a {b\n", 1, "a brace ({) is never closed"),
        ("a\n\n{/* never\n", 3, "a brace ({) is never closed"),
        ("<!-- never\n", 1, "a comment (<!--) is never closed"),
        ('<Card title="x\n', 1, "the tag <Card is incomplete"),
        ("<Card title={'x}\n", 1, "the tag <Card is incomplete"),
        ("text\n\n<Card title=>\n", 3, "the tag <Card is incomplete"),
        ("export const a = {\n  b: 1,\n\n# A heading\n", 1, "a brace ({) is never closed"),
    ):
        assert refusal(source) == (line, reason)


def test_what_mdx_or_docusaurus_read_is_not_refused() -> None:
    """Code, formulas, comments, expressions, void elements."""
    for source in (
        "x < 5 and y <= 3\n",
        'import A from "a"\n\nexport const b = {\n\n  c: "}",\n}\n\n<A b={{c: 1}} d="<" />\n<></>\n',
        "```jsx\n<Tabs>{\n```\n\n`<a>` and \\<b and \\{\n",
        "> ```\n> <a>\n> ```\n\n- ~~~\n  {\n  ~~~\n",
        "$x_{i}$ and $$\n\\frac{1}{2\n$$\n",
        "## A {#id}\n\n<!-- a <comment> -->\n\na <br> b <img src='x'>\n",
        "<a\n  href='x'>it's</a> and {/* it's */}\n",
        "<Foo render={() => <b>{`${a}`}</b>} />\n",
        "<https://example.org/a> and <mailto:a@example.org> are links\n",
        "<td>https://example.org/a</td>\n",
    ):
        assert refusal(source) is None


def test_a_refused_page_is_skipped_unless_its_operator_says_otherwise(tmp_path: Path) -> None:
    """A file of plain Markdown is never refused."""
    for name in ("a.mdx", "b.md"):
        (tmp_path / name).write_text("# A\n\n<Tabs>\n\nA sentence that can be read.\n", encoding="utf-8")
    ((book, files),) = discover(tmp_path).books
    mdx, plain = files
    with pytest.raises(DocumentError, match=r"a\.mdx: line 3: <Tabs> is never closed.*--lenient"):
        read_document(mdx, book)
    for document in (read_document(mdx, book, lenient=True), read_document(plain, book)):
        assert any("can be read" in unit.text for section in document.sections for unit in section.units)


def test_hostile_pages_are_told_apart_at_once() -> None:
    """Marks that open nothing are accepted, tags and braces that never close are refused."""
    for source, reason in (
        ("`" * 20_000, None),
        ("{" * 50_000, "a brace ({) is never closed"),
        ("<a " * 20_000, "the tag <a is incomplete"),
        ("<a>" * 20_000, "<a> is never closed"),
        ("$" * 50_000, None),
        ("`a" * 9_000, None),
    ):
        began = time.monotonic()
        assert refusal(source) == (reason and (1, reason))
        assert time.monotonic() - began < 5
