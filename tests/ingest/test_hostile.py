"""Hostile input is read in linear time or refused, and the text around it stays intact."""

import time
from pathlib import Path
from random import Random

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest.decoding import decode
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html
from lutrin.ingest.sandbox import read_in_sandbox
from lutrin.ingest.scan import scan
from lutrin.ingest.sites import read_site

MANY = 8_000
LINES = 2_400

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
    "escaped quotes": "{'" + "\\'" * MANY,
    "escaped backticks": "{`" + "\\`" * MANY,
    "dashes": "a\n\n" + "-" * MANY + " x\n\n: b\n",
    "short forms": "*[a]: b\n" * LINES + "c",
    "short forms that do not end": "*[" * MANY,
    "comments of a site": "{% comment %}" * MANY,
    "included files": "{{#include " + "a" * MANY,
    "boxes of many words": "!!! note " + "a " * MANY + "!",
    "attributes in braces": "<a b={" * MANY,
    "comments": "<!--" * MANY,
    "comments on lines": "<!-- a\n\n" * LINES,
    "expression comments": "{/*" * MANY,
    "quotes": ">" * MANY,
    "quotes on lines": "\n".join(">" * (i % 500) + " a" for i in range(2000)),
    "lists": "- " * MANY,
    "numbered": "1. " * MANY,
    "deep list": "\n".join("  " * i + "- a" for i in range(1000)),
    "deep quote and list": "> - " * 10_000,
    "admonitions": ":::note\n" * LINES,
    "growing admonitions": "\n".join(":" * (3 + i) + "note" for i in range(2000)),
    "fences": "```\n" * LINES + "x",
    "fences in items": "- ```a\n" * LINES,
    "fences of all lengths": "\n".join("`" * (400 - i) for i in range(390)),
    "attributes": "a]{.b " * MANY,
    "quoted attributes": "a]{b='" * MANY,
    "attributes on lines": "> a\n{: .b}\n" * LINES,
    "spans": "[a]{" * MANY,
    "liquid": "{{ a" * MANY,
    "liquid tags": "{% a " * MANY,
    "highlights": "{% highlight a %}\n\n" * LINES,
    "includes": "{{#include a" * MANY,
    "definitions": "a\n: b\n" * LINES,
    "indented tabs": '=== "a"\n    b\n' * LINES,
    "indented boxes": "\n".join("    " * (i % 400) + "!!! note\n" for i in range(2000)),
    "branches": "{#if a === 'b'}\n\n" * LINES,
    "maths in parentheses": "\\\\(" * MANY,
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
    "exported objects": "export const a = {\n" * LINES,
    "exported objects in one": "export const o = {\n" + "  export const a = { b: 'c', d: {\n" * LINES + "}\n\n{o.a}\n",
    "members": "export const o = {" + "a: {" * MANY + "}" * MANY + "}\n\n{o.a}\n",
    "choices": "{" + "a ? 'b' : " * MANY + "'c'}",
    "choices in tags": "<A b={" + "a ? 'b' : " * MANY + "'c'} />",
    "values in an element": "{a => <p>" + "b {c} " * MANY + "</p>}",
    "front names": "---\na: {b: c}\n---\n" + "{frontMatter.a} " * MANY,
    "roles": "{ref}`a " * MANY,
    "references of roles": "```{note}\na\n```\n\n" + "{ref}`" + "a " * MANY + "<b`",
    "list tables": "```{list-table}\n" + "* - a\n  - b\n" * LINES + "```\n",
    "csv tables": "```{csv-table}\n" + '"a, ' * MANY + "\n```\n",
    "options": "```{code-block} a\n" + ":b: c\n" * LINES + "```\n",
    "labels": "(a)=\n% b\n+++\n" * LINES,
    "tabs": "<CodeGroup>\n" + "```a b c\n```\n" * LINES + "</CodeGroup>\n",
    "fields": "<ParamField path='a'" + " type='b'" * MANY + " />",
    "tildes": "~~a" * MANY,
    "backslashes": "\\" * MANY,
    "front matter": "---\n" + "a: [" * 10_000 + "\n---\n",
    "aliases": "---\na: &a [x]\n" + "b: [" + "*a," * 1000 + "]\n---\n",
    "zero width": "\u200b" * MANY,
    "nulls later": "a " * MANY + "\0",
    "footnotes": "[^a]: b\n\n" * LINES,
    "asides": "^[" * MANY,
    "asides that end": "^[" * MANY + "]" * MANY,
}


@pytest.mark.slow("reads eighty bombs")
@pytest.mark.parametrize("filename", ["bomb.md", pytest.param("bomb.mdx", marks=pytest.mark.nightly)])
def test_a_bomb_does_not_go_off(filename: str) -> None:
    """Dozens of kilobytes of one trick take seconds at most, as sections and as a page, and the rest is read."""
    for name, bomb in BOMBS.items():
        source = f"# Start\n\nFirst words.\n\n{bomb}\n\n"
        if name in {"front matter", "aliases", "front names"}:
            source = bomb + "\n\nFirst words.\n"
        began = time.process_time()
        document = parse_markdown(source, filename)
        page_html(source, filename)
        assert time.process_time() - began < 6, name
        assert "First words." in {unit.text for section in document.sections for unit in section.units}, name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SUMMARY.md", "\n" * 250_000),
        ("SUMMARY.md", "[" * 250_000),
        ("SUMMARY.md", "- [a](" * 40_000),
        ("docs.json", "[" * 250_000),
        ("docs.json", '{"navigation":' + '{"pages":[' * 20_000),
        ("myst.yml", "a: &a [x]\n" + "".join(f"b{i}: &b{i} [{'*a,' * 9}]\n" for i in range(9))),
        ("_toc.yml", "- " * 50_000),
    ],
)
def test_a_hostile_table_of_contents_costs_no_time(tmp_path: Path, name: str, text: str) -> None:
    """It gives no order, at once."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    began = time.monotonic()
    assert read_site(tmp_path).entries == ()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("name", "mark"),
    [("emphasis", "a"), ("braces apart", "a"), ("table rows", "d"), ("open tags", ""), ("brackets", "a")],
)
def test_four_times_the_input_takes_about_four_times_the_time(name: str, mark: str) -> None:
    """So nothing grows with the square of the file, and every word of it is read."""

    def seconds(factor: int) -> float:
        began = time.process_time()
        document = parse_markdown(BOMBS[name] * factor, "bomb.mdx")
        took = time.process_time() - began
        text = " ".join(unit.text for section in document.sections for unit in section.units)
        assert text.count(mark) == (BOMBS[name] * factor).count(mark) if mark else not text
        return took

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


def mutated(source: bytes, seed: int) -> bytes:
    """A file with some bytes changed, doubled or cut out, the same ones each time."""
    random = Random(seed)
    data = bytearray(source)
    for _ in range(random.randint(1, 30)):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(3)
        if kind == 0:
            data[at:at] = random.randbytes(random.randint(1, 4))
        elif kind == 1:
            data[at:at] = data[at : at + random.randint(1, 40)] * random.randint(1, 3)
        else:
            del data[at : at + random.randint(1, 40)]
    return bytes(data)


def test_three_hundred_damaged_files_cost_at_most_one_line_each(tmp_path: Path) -> None:
    """Every file is read or refused in one printable line, none takes long, and good files beside them are whole."""
    pages = sorted((Path(__file__).parent / "pages").glob("*.md*[dx]"))
    for seed in range(300):
        page = pages[seed % len(pages)]
        (tmp_path / f"{seed:03} & {page.name}").write_bytes(mutated(page.read_bytes(), seed))
    (tmp_path / "good.md").write_text("# Good\n\nAll is well.\n", encoding="utf-8")
    book = find_books(tmp_path)[0]
    refused = 0
    for file in scan(tmp_path):
        began = time.monotonic()
        try:
            document = read_document(file, book, lenient=True)
        except DocumentError as error:
            refused += 1
            assert str(error).isprintable()  # noqa: PT017 - an error is one of two good outcomes
        else:
            assert all(notice.message.isprintable() for notice in document.notices)
            if file.name == "good.md":
                assert document.sections[0].units[0].text == "All is well."
        assert time.monotonic() - began < 5
    assert refused < 150


def test_a_large_file_is_read_in_a_limited_process(tmp_path: Path) -> None:
    """With the same outcome for an honest one, and one error line for one that would take minutes."""
    honest = "# Long\n\n" + "A sentence of the long page. " * 20_000
    (tmp_path / "long.md").write_text(honest, encoding="utf-8")
    book = find_books(tmp_path)[0]
    document = read_document(scan(tmp_path)[0], book)
    assert (document.source, document.title, document.chapter) == (honest, "Long", "Long")
    assert len(document.sections[0].units) == 20_000
    with pytest.raises(DocumentError, match="could not be read within 2 s"):
        read_in_sandbox(("[a](" * 2_000_000).encode(), "bomb.md", time_limit_s=2)


def test_a_legacy_encoding_is_decoded() -> None:
    """Every letter is the one that was written."""
    for text, encoding, named in (
        ("# Größe\n\nDie Tür öffnet sich für alle Gäste über die Brücke.\n", "cp1252", ""),
        ("# Глава\n\nРобот движется по комнате и видит препятствия перед собой.\n", "cp1251", "cp1251"),
        ("# 章\n\nロボットは部屋の中を移動し、前方の障害物を見ます。\n", "shift_jis", ""),
        ("# Rozdział\n\nŻółw źle śpi, gdy świeci jasne światło nad łóżkiem.\n", "cp1250", ""),
        ("# Wörter\n\nDie Tür öffnet sich.\n", "utf-16-le", ""),
    ):
        found, notices = decode(text.encode(encoding), "a.md")
        assert found == text
        assert named in "".join(notice.message for notice in notices)


def test_damaged_utf8_stays_utf8() -> None:
    """One broken byte among many good letters makes no legacy encoding of a file."""
    text, notices = decode("Größe über alles, für und für\n".encode() * 9 + b"\xff\n", "a.md")
    assert text.startswith("Größe über")
    assert [(notice.line, "were replaced" in notice.message) for notice in notices] == [(10, True)]
