"""No visible word vanishes silently: it is in the text, or the report names it."""

import json
import re

import pytest
from tests.ingest.made import book, epub, html, markdown, texts, units

from lutrin.answer.render import block_text
from lutrin.ingest.epub import parse_epub
from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html
from lutrin.records import Document
from lutrin_formats.notebook import parse_notebook


def report(document: Document) -> str:
    """All notices in one text."""
    return "\n".join(notice.message for notice in document.notices)


def test_what_stands_in_a_form_is_read() -> None:
    """A page, a quiz, a sentence to fill in."""
    page = html("<form><h2>Locks</h2><p>It lifts a boat.</p><input type=hidden value=x></form>")
    assert [section.title for section in page.sections] == ["Page", "Locks"]
    assert texts(page) == ["It lifts a boat."]
    choices = html("<p>How far?</p><input type=radio id=a><label for=a>One metre</label><label><input type=radio> Two")
    assert texts(choices) == ["How far?", "One metre", "Two"]
    gap = html(
        "<form><p>A lock lifts a boat by <input size=3> metres, in <select><option>one<option>two</select> go.</p>"
    )
    assert texts(gap) == ["A lock lifts a boat by ____ metres, in one / two go."]


@pytest.mark.parametrize(
    "button",
    ["<button>Start</button>", '<input type="submit" value="Start">', "<b><button class=btn>Start</button></b>"],
)
def test_a_word_on_a_button_stands_in_its_sentence(button: str) -> None:
    """As an element, as a field, in bold letters."""
    for read in (html, book):
        assert texts(read(f"<p>Press {button}, then wait.</p>")) == ["Press Start, then wait."]
    assert texts(markdown("Press <button>Start</button>, then wait.")) == ["Press Start, then wait."]


@pytest.mark.parametrize(
    "title",
    [
        "<h2><button aria-expanded=false>Gates</button></h2>",
        "<div role=heading aria-level=2><button>Gates</button></div>",
        "<h2><a role=button><span><button>Gates</button></span></a></h2>",
    ],
)
def test_a_heading_that_is_a_button_is_a_heading(title: str) -> None:
    """By its element, by its role, deep inside."""
    assert [section.title for section in html(f"{title}<p>Push.</p>").sections] == ["Page", "Gates"]


def test_a_button_that_opens_a_part_is_its_title_and_others_are_named() -> None:
    """*Copy* is no word of the book, but the report says that it was there."""
    page = html(
        "<button class=accordion>Winter</button><div><p>No lock opens.</p></div><div><button>Copy</button></div>"
    )
    assert texts(page) == ["Winter", "No lock opens."]
    assert "“Copy”" in report(page)


def test_what_belongs_to_the_site_is_named() -> None:
    """Menus, footers and sidebars, on a single page and in a book."""
    sentence = "<p>The tide rises twice a day, and falls twice a day as well.</p>"
    whole = f"<nav>Home Stones</nav><main><h1>Tides</h1>{sentence}</main><p>Newsletter</p><footer>Imprint</footer>"
    page = parse_html(f"<html><body>{whole}</body></html>".encode(), "a.html")
    assert texts(page) == ["The tide rises twice a day, and falls twice a day as well."]
    for words in ("Home Stones", "Newsletter", "Imprint"):
        assert words in report(page)
    other = parse_epub(epub({"a.xhtml": f"<h1>Tides</h1>{sentence}<nav>Back to top</nav>"}), "a.epub")
    assert "“Back to top”" in report(other)


def test_words_in_drawings_are_read_as_their_description() -> None:
    """Labels, a title; a sign on a link has none."""
    link = "<a href=x><svg><title>Link</title></svg></a>"
    page = html(f"<p>See:</p><svg role=img><title>A pump</title><text>Valve</text></svg>{link}")
    assert [(unit.kind, unit.text) for unit in units(page)] == [("sentence", "See:"), ("caption", "A pump, Valve")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Install version <Version /> or later.", "Install version […] or later."),
        ("Install version **<Version></Version>** or later.", "Install version […] or later."),
        ("Install version <my-version pkg='x'/> or later.", "Install version […] or later."),
        ('Install <Badge text="beta" /> or later.', "Install beta or later."),
    ],
)
def test_a_component_in_a_sentence_leaves_a_mark(source: str, expected: str) -> None:
    """Unless its attribute says what it shows; the page and the report say so too."""
    document = parse_markdown(f"import a from 'b'\n\n# P\n\n{source}\n", "a.mdx")
    assert texts(document) == [expected]
    assert ("[…]" in expected) == ("is not in the file" in report(document))
    assert expected in " ".join(re.sub(r"<[^<>]*>", "", page_html(document.source, "a.mdx")).split())


def test_a_component_alone_is_named() -> None:
    """In a line, in a cell."""
    document = parse_markdown("# P\n\n<Chart data={x} />\n\n| A | B |\n|-|-|\n| Bolt | <Torque id='8' /> |\n", "a.mdx")
    assert texts(document) == ["Bolt | […]"]
    assert "<Torque>, <Chart>" in report(document)


def test_what_is_struck_out_or_embedded_is_named() -> None:
    """In Markdown, in HTML; a picture has no words."""
    assert "“30”" in report(markdown("It costs ~~30~~ 40 coins."))
    assert "“30”" in report(html("<p>It costs <del>30</del> 40 coins.</p>"))
    assert "Another note" in report(markdown("See:\n\n![[Another note]]\n\n![[a.png]]"))


def test_what_a_short_form_stands_for_is_read_once() -> None:
    """Below the text as Python-Markdown has it, behind it as HTML does."""
    assert texts(markdown("The W3C keeps it.\n*[W3C]: World Wide Web Consortium")) == [
        "The W3C keeps it.",
        "W3C: World Wide Web Consortium",
    ]
    short = '<abbr title="World Wide Web Consortium">W3C</abbr>'
    for read in (html, markdown, book):
        assert texts(read(f"<p>The {short} keeps it. Ask the {short}.</p>")) == [
            "The W3C (World Wide Web Consortium) keeps it.",
            "Ask the W3C.",
        ]


def test_a_notebook_keeps_descriptions_pages_and_raw_cells() -> None:
    """Results that are neither text nor pictures are named."""
    cells = [
        {"cell_type": "markdown", "source": "# N\n\nSee ![a falling curve](attachment:a.png)"},
        {"cell_type": "raw", "source": "Run it twice."},
        {
            "cell_type": "code",
            "source": "show()",
            "outputs": [
                {"output_type": "display_data", "data": {"text/html": "<p>Accuracy is 91 percent.</p>"}},
                {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": {}}},
                {"output_type": "stream", "text": "a" * 5000},
            ],
        },
    ]
    document = parse_notebook(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert [text[:40] for text in texts(document)] == [
        "See a falling curve", "Run it twice.", "show()", "Accuracy is 91 percent.", "a" * 40,
    ]  # fmt: skip
    assert "application/vnd.plotly.v1+json" in report(document)
    assert "a" * 100 in report(document)


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td><h2>Mill</h2><p>It turns.</p></td></tr></table>",
        "<table><tr><td colspan=2>Bar</td></tr><tr><td><p>It turns.</p><p>It stops.</p></td><td>Ads</td></tr></table>",
        "<table role=presentation><tr><td>It turns.</td></tr><tr><td>It stops.</td></tr></table>",
        "<table><tr><td>It turns.<br><br>It stops.</td><td><table><tr><td>Ads</td></tr></table></td></tr></table>",
    ],
)
def test_a_table_that_lays_out_a_page_is_none(page: str) -> None:
    """By its headings, by several blocks in a cell of uneven rows, by its role."""
    assert "It turns." in [unit.text for unit in units(html(page)) if unit.kind == "sentence"]


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>Mule</td><td><p>90 kg.</p><p>On paths.</p></td></tr><tr><td>Ox</td><td>200 kg.</td></tr>",
        "<tr><th>Beast</th><th>Load</th></tr><tr><td>Mule</td><td><h3>90 kg</h3><p>On paths.</p></td></tr>",
    ],
)
def test_a_table_of_data_stays_one(rows: str) -> None:
    """With paragraphs in its cells, with headings below its heads."""
    assert any(
        unit.kind == "table_row" and "Mule" in f"{unit.lead} {unit.text}"
        for unit in units(html(f"<table>{rows}</table>"))
    )


BLOCKS = [
    ("```sh\nboil 100\n```", ("code", "boil 100")),
    ("- softly\n- firmly", ("list_item", "softly")),
    ("> It is said so.", ("sentence", "It is said so.")),
    ("| A | B |\n|---|---|\n| x | y |", ("table_row", "x | y")),
]


@pytest.mark.parametrize(("block", "expected"), BLOCKS)
@pytest.mark.parametrize("opening", ["term\n:   Means it:", "[^a]: The note has:", "term\n: Means it:"])
def test_blocks_in_meanings_and_notes_are_blocks(opening: str, block: str, expected: tuple[str, str]) -> None:
    """Code, lists, quotations and tables; the next term stays one."""
    inside = "\n".join(f"    {line}" for line in block.split("\n"))
    document = markdown(f"Text.[^a]\n\n{opening}\n\n{inside}\n\nnext\n:   Turns.\n")
    assert expected in [(unit.kind, unit.text) for unit in units(document)]
    assert "next: Turns." in texts(document)


def test_blocks_in_meanings_of_html_are_blocks() -> None:
    """Code, paragraphs, a list within a list of terms."""
    page = "<dl><dt>warm</dt><dd><pre>warm(2)</pre></dd><dt>cool</dt><dd><p>Cools.</p><p>Slowly.</p></dd>"
    page += "<dt>rest</dt><dd>Ends:<ul><li>all</li></ul></dd></dl><p>After.</p>"
    for read in (html, book):
        assert [unit.text for unit in units(read(page))] == [
            "warm:", "warm(2)", "cool: Cools.", "Slowly.", "rest: Ends:", "all", "After.",
        ]  # fmt: skip


@pytest.mark.parametrize("gap", ["\n", "\n\n", "\n\n\n"])
def test_notes_in_a_row_are_one_each(gap: str) -> None:
    """Each mark on the page leads to its note."""
    source = f"# N\n\nTin[^1] and lead.[^b]\n\n[^1]: It creaks.{gap}[^b]: It is poisonous.\n"
    assert texts(parse_markdown(source, "a.md")) == ["Tin and lead.", "It creaks.", "It is poisonous."]
    page = page_html(source, "a.md")
    assert '<sup id="note-1">1</sup> It creaks.' in page
    assert '<sup id="note-2">2</sup> It is poisonous.' in page


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("iso-8859-1", "cp1252", "It’s “open” – 3 €."),
        ("latin1", "cp1252", "It’s 3 €."),
        ("us-ascii", "cp1252", "It’s 3 €."),
        ("iso-8859-9", "cp1254", "The “İstanbul” ferry."),
        ("gb2312", "gbk", "镕 it is."),
        ("shift_jis", "cp932", "① it is."),
        ("ks_c_5601-1987", "cp949", "똠 it is."),
    ],
)
def test_labels_of_encodings_are_read_as_browsers_read_them(label: str, codec: str, text: str) -> None:
    """In a page of HTML, in one of XHTML."""
    for head in (f'<meta charset="{label}">', f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'):
        page = f"<html><head>{head}</head><body><p>{text}</p></body></html>"
        assert texts(parse_html(page.encode(codec), "a.html")) == [text]
    page = f'<?xml version="1.0" encoding="{label}"?><html><body><p>{text}</p></body></html>'
    assert texts(parse_html(page.encode(codec), "a.xhtml")) == [text]


@pytest.mark.parametrize(
    "table",
    [
        "| Command | Use |\n|---|---|\n| `ls \\| wc -l` | counts files |",
        (
            "<table>\n<tr><th>Command</th><th>Use</th></tr>\n"
            "<tr><td><code>ls | wc -l</code></td><td>counts files</td></tr>\n</table>"
        ),
        "| Command | a \\| b |\n|---|---|\n| ls \\| wc -l | counts files |",
    ],
)
def test_a_bar_in_a_cell_parts_no_cells(table: str) -> None:
    """In code, in HTML, in heads; an answer shows as many cells as the table has."""
    for document in (markdown(table), html(table)) if table.startswith("<") else (markdown(table),):
        (row,) = units(document)
        assert row.row == ["ls | wc -l", "counts files"]
        assert len(row.header) == 2
        shown = block_text([row]).splitlines()
        assert shown[1:] == ["|---|---|", "|ls \\| wc -l|counts files|"]
