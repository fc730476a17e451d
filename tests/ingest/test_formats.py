"""Files of every format become documents whose places hold, that the reader shows and citations lead into."""

import re
import zipfile
from io import BytesIO

import pytest
from tests.ingest.made import docx, epub, paragraph, table, zipped

from lutrin.errors import DocumentError
from lutrin.ingest.epub import parse_epub
from lutrin.ingest.formats import all_formats
from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.page import page_html
from lutrin.ingest.plaintext import parse_text
from lutrin.ingest.sandbox import read_in_sandbox
from lutrin.records import Document
from lutrin_formats.docx import parse_docx

TEXT = """TIDES AND CURRENTS

Chapter 1: The moon

The moon pulls *hard* on the sea_water, and
{braces} stay <here>.

- Spring tides follow the full moon.
- Neap tides follow the half moon.

2.1 Tables of heights

    port     height
    Brest    7 m

WINDS

The wind moves the surface.
"""

HTML = """<!doctype html><html><head><title>Kites</title><script>var x = "never read";</script></head><body>
<nav><a href="/">Home of the menu</a></nav>
<main><h1>How kites fly</h1><p>A kite needs <b>wind</b> of three metres a second; see <a href="b.html">more</a>.</p>
<h2 id="parts">The parts</h2><ul><li>The spar is stiff.</li><li>The sail is light.</li></ul>
<table><tr><th>Wind</th><th>Kite</th></tr><tr><td>3 m/s</td><td>Delta</td></tr></table>
<pre><code class="language-python">fly(height=30)
# a_comment</code></pre><div class="admonition warning"><p>Never fly near power lines.</p></div></main></body></html>"""

EPUB = epub(
    {
        "a b.xhtml": "<h1>The first page</h1><p>Whales breathe.</p><h2>Depth</h2><p>A whale dives two kilometres.</p>",
        "two.xhtml": "<p>Dolphins sleep with half a brain.</p>",
    },
    title="Whales &amp; Dolphins",
    labels={"a%20b.xhtml": "One", "two.xhtml": "The second page"},
)
DOCX = docx(
    paragraph("Looking after bicycles", "Title"),
    paragraph("Chains", "heading1"),
    paragraph("Oil the chain every two hundred kilometres."),
    table(("Part", "Interval"), ("Brakes", "500 km")),
    paragraph("Tyres", "heading1"),
    paragraph("Pump tyres to four bar."),
)
EXAMPLES = {
    "a.txt": (TEXT.encode(), "Spring tides follow the full moon."),
    "a.html": (HTML.encode(), "The spar is stiff."),
    "a.epub": (EPUB, "A whale dives two kilometres."),
    "a.docx": (DOCX, "Pump tyres to four bar."),
    "a.md": (b"# A\n\nText of a page.\n", "Text of a page."),
}


def texts(document: Document) -> list[str]:
    """The texts that can be quoted."""
    return [unit.text for section in document.sections for unit in section.units]


def paths(document: Document) -> list[tuple[str, ...]]:
    """The heading paths."""
    return [section.heading_path for section in document.sections if section.units]


def test_every_format_is_read_in_a_limited_process_and_shown_with_the_anchors_that_it_is_cited_by() -> None:
    """The text lies at its place in the source, and each heading's anchor is on the page."""
    for name, (data, fact) in EXAMPLES.items():
        document = read_in_sandbox(data, name)
        assert fact in texts(document)
        page = page_html(document.source, name)
        assert fact.rstrip(".") in re.sub(r"<[^>]+>", "", page)
        for section in document.sections:
            assert not section.anchor or f'id="{section.anchor}"' in page
            for unit in section.units:
                place = document.source[unit.char_start : unit.char_end]
                assert unit.text.split()[0].strip("*_{<") in place.replace("\\", "")


def test_every_format_has_its_limits() -> None:
    """A file of any kind is bounded in size, time and memory."""
    for suffix, kind in all_formats().items():
        assert suffix.startswith(".")
        assert 0 < kind.max_bytes <= 200 << 20
        assert kind.memory_limit_bytes <= 512 << 20
        assert kind.time_limit_s <= 300


def test_plain_text_keeps_its_words_and_shows_its_structure() -> None:
    """Headings by how they stand, lists, listings; what looks like markup is text."""
    document = parse_text(TEXT.encode(), "tides.txt")
    assert document.title == "TIDES AND CURRENTS"
    assert [section.title for section in document.sections][1:] == [
        "Chapter 1: The moon",
        "2.1 Tables of heights",
        "WINDS",
    ]
    assert texts(document)[0] == "The moon pulls *hard* on the sea_water, and {braces} stay <here>."
    (listing,) = [unit for section in document.sections for unit in section.units if unit.kind == "code"]
    assert listing.text == "port     height\nBrest    7 m"


def test_html_is_its_text_without_menus_and_scripts() -> None:
    """Tables keep their header, code its language, warnings their nature."""
    document = parse_html(HTML.encode(), "kites.html")
    assert document.title == "How kites fly"
    units = [unit for section in document.sections for unit in section.units]
    assert "A kite needs wind of three metres a second; see more." in texts(document)
    (row,) = [unit for unit in units if unit.kind == "table_row"]
    assert "3 m/s" in row.text
    assert "Wind" in row.lead
    (code,) = [unit for unit in units if unit.kind == "code"]
    assert (code.language, code.text) == ("python", "fly(height=30)\n# a_comment")
    assert [unit.text for unit in units if unit.warning] == ["Never fly near power lines."]
    assert not any(word in document.source for word in ("never read", "menu", "Home"))


def test_html_declares_its_encoding() -> None:
    """In its head, as old pages do."""
    page = '<html><head><meta charset="windows-1251"></head><body><h1>Ёж</h1><p>Ёж спит зимой.</p></body></html>'
    assert texts(parse_html(page.encode("cp1251"), "a.html")) == ["Ёж спит зимой."]


def test_an_epub_is_read_by_its_spine_with_the_titles_of_its_navigation() -> None:
    """Pages below the book's title; a page without a heading is called as the navigation calls it."""
    document = parse_epub(EPUB, "whales.epub")
    assert document.title == "Whales & Dolphins"
    assert paths(document) == [
        ("Whales & Dolphins", "The first page"),
        ("Whales & Dolphins", "The first page", "Depth"),
        ("Whales & Dolphins", "The second page"),
    ]


def test_a_word_document_has_headings_and_tables() -> None:
    """The title of the whole is above its chapters."""
    document = parse_docx(DOCX, "bicycles.docx")
    assert document.title == "Looking after bicycles"
    assert paths(document) == [("Looking after bicycles", "Chains"), ("Looking after bicycles", "Tyres")]
    (row,) = [unit for section in document.sections for unit in section.units if unit.kind == "table_row"]
    assert ("500 km" in row.text, "Interval" in row.lead) == (True, True)


def test_an_epub_that_calls_itself_a_table_of_contents_keeps_its_text_findable() -> None:
    """GitBook gives each of its books that title; its pages are the main text all the same."""
    pages = {"one.html": "<h1>Whales</h1><p>A whale dives two kilometres.</p>"}
    document = parse_epub(epub(pages, title="Table of Contents"), "deep-sea.epub")
    assert document.title == "Deep Sea"
    assert {section.role for section in document.sections} == {"text"}


def test_headers_of_word_are_left_out_and_named() -> None:
    """Once each, without the numbers of pages."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    out = BytesIO(DOCX)
    with zipfile.ZipFile(out, "a") as archive:
        for name, words in (
            ("header1", "Bicycle course, class 7"),
            ("header2", "Bicycle course, class 7"),
            ("footer1", "12"),
        ):
            text = f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"
            archive.writestr(f"word/{name}.xml", f"<w:hdr {space}>{text}</w:hdr>")
    document = parse_docx(out.getvalue(), "bicycles.docx")
    (notice,) = document.notices
    assert notice.message.count("Bicycle course, class 7") == 1
    assert "12" not in notice.message
    assert "class 7" not in document.source


@pytest.mark.parametrize("name", ["a.epub", "a.docx"])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"text", zipped({"x": "y"}), EPUB[: len(EPUB) // 2], DOCX[:900]])
def test_broken_archives_are_named(name: str, data: bytes) -> None:
    """One line for each fault."""
    with pytest.raises(DocumentError, match=name):
        read_in_sandbox(data, name)


@pytest.mark.parametrize("name", ["a.epub", "a.docx"])
def test_an_archive_that_unpacks_to_gigabytes_is_refused(name: str) -> None:
    """Before it is unpacked."""
    out = BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("big", "w", force_zip64=True) as member,
    ):
        for _ in range(320):
            member.write(bytes(1 << 20))
    with pytest.raises(DocumentError, match="unpacks to more than"):
        read_in_sandbox(out.getvalue(), name)


def test_hostile_markup_costs_one_line_or_nothing() -> None:
    """Never the run: it is read, or refused within the limits."""
    for markup in ("<div>" * 50_000 + "text", "<b><i>" * 20_000, "<table>" * 5_000, "<" * 100_000):
        try:
            document = read_in_sandbox(markup.encode(), "a.html", time_limit_s=60)
        except DocumentError as error:
            assert error.detail.startswith("a.html: ")  # noqa: PT017 - either outcome is right
        else:
            assert document.title
