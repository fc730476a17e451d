"""Figures, tables and listings are known by the numbers under which a book refers to them, in every format."""

from collections.abc import Callable

import pytest
from tests.ingest.drawn import BODY, pdf, text
from tests.ingest.made import docx, epub, paragraph

from lutrin.ingest.epub import parse_epub
from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.labels import labels_in, with_labels
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.plaintext import parse_text
from lutrin.records import Document
from lutrin_formats.docx import parse_docx
from lutrin_formats.notebook import parse_notebook
from lutrin_formats.pdf import parse_pdf


def named(document: Document) -> dict[str, str]:
    """Text of what has a label."""
    units = [unit for section in with_labels(document).sections for unit in section.units]
    return {unit.label: unit.text for unit in units if unit.label}


def markdown(body: str, name: str = "a.md") -> Document:
    """A page of Markdown."""
    return parse_markdown(f"# Page\n\n{body}\n", name)


def html(body: str) -> Document:
    """A page of HTML."""
    return parse_html(f"<h1>Page</h1><p>Text.</p>{body}".encode(), "a.html")


CAPTIONS = [
    ("figure 2.1", "Figure 2.1: A kiln.", "![Kiln](kiln.png)\n\n*Figure 2.1: A kiln.*"),
    ("figure 3", "Fig. 3 – The lid", "Fig. 3 – The lid"),
    ("table 4", "Table 4. Loads", "Table 4. Loads\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ("table 4", "TABLE IV: Loads", "**TABLE IV: Loads**\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ("listing 6.3", "Listing 6-3: Ramp", "Listing 6-3: Ramp\n\n```c\nramp();\n```"),
    ("figure a.2", "Figure A-2: The arch", "Figure A-2: The arch"),
    ("figure 7b", "Figure 7b: The arch", "Figure 7b: The arch"),
    ("figure 5", "Figure 5 the arch from below", "*Figure 5 the arch from below*"),
    ("figure 5", "Figure 5 The arch from below", "Figure 5 The arch from below"),
    ("example 3.1", "Example 3.1: A beam of two metres bends.", "Example 3.1: A beam of two metres bends."),
    ("theorem 2", "Every beam bends.", "## Theorem 2 (Beams)\n\nEvery beam bends."),
    ("exercise 4", "Bend a beam.", "## Exercise 4\n\nBend a beam."),
]


def test_a_caption_in_markdown() -> None:
    """With any mark: colon, dot, dash, type, capital letters."""
    for label, shown, body in CAPTIONS:
        assert named(markdown(body)) == {label: shown}


NO_CAPTIONS = [
    "Figure 2.1 shows a kiln.",
    "Table 4 lists loads, Table 5 more of them.",
    "Chapter 3: Kilns",
    "The table 4 metres away is full.",
    "Step 2: Close the lid.",
    "Example: a beam of two metres.",
]


def test_what_only_refers_or_only_looks_so_has_no_label() -> None:
    """A sentence about a figure is not the figure."""
    for body in NO_CAPTIONS:
        assert named(markdown(body)) == {}


def test_a_numbered_component_of_mdbook_is_called_as_its_page_calls_it() -> None:
    """With its caption or without one."""
    body = '<Listing number="6-3" file-name="src/a.rs" caption="A `ramp`">\n\n```rust\nramp();\n```\n\n</Listing>\n'
    assert named(markdown(body)) == {"listing 6.3": "Listing 6-3: A ramp"}
    assert named(markdown(body.replace(' caption="A `ramp`"', ""))) == {"listing 6.3": "Listing 6-3"}


FIGURE = '<figure><img src="a.png" alt="A drawing"><figcaption>Figure 1.4 the arch</figcaption></figure>'
TABLE = "<table><caption>Table 2-2. Loads</caption><tr><th>A</th></tr><tr><td>1</td></tr></table>"


@pytest.mark.parametrize(
    ("label", "shown", "body"),
    [("figure 1.4", "Figure 1.4 the arch", FIGURE), ("table 2.2", "Table 2-2. Loads", TABLE)],
)
@pytest.mark.parametrize(
    "read", [html, markdown, lambda body: parse_epub(epub({"a.xhtml": f"<h1>P</h1>{body}"}), "a.epub")]
)
def test_a_caption_of_html(read: Callable[[str], Document], label: str, shown: str, body: str) -> None:
    """In a page, in an EPUB, and in Markdown."""
    assert named(read(body)) == {label: shown}


def test_a_caption_of_word_of_plain_text_of_a_pdf_and_of_a_notebook() -> None:
    """By its style or its words."""
    word = docx(paragraph("Bridges", "Title"), paragraph("Steel."), paragraph("Figure 8 the arch", "caption"))
    assert named(parse_docx(word, "a.docx")) == {"figure 8": "Figure 8 the arch"}
    assert named(parse_text(b"BRIDGES\n\nSteel is heavy.\n\nFigure 8: The arch\n", "a.txt")) == {
        "figure 8": "Figure 8: The arch"
    }
    cells = b'{"cells": [{"cell_type": "markdown", "source": ["# A\\n", "\\n", "*Figure 8: The arch*"]}]}'
    assert named(parse_notebook(cells, "a.ipynb")) == {"figure 8": "Figure 8: The arch"}
    assert named(parse_pdf(pdf(lambda canvas: text(canvas, [*BODY, "", "Figure 8.2 The arch of steel"])), "a.pdf")) == {
        "figure 8.2": "Figure 8.2 The arch of steel"
    }


WRITTEN_LABELS = [
    ("What does Figure 2.1 show?", "figure 2.1"),
    ("explain listing 6-3 please", "listing 6.3"),
    ("fig. 2–1", "figure 2.1"),
    ("what's in TABLE IV", "table 4"),
    ("table iv?", "table 4"),
    ("Figure A.2 and its meaning", "figure a.2"),
    ("see fig.3", "figure 3"),
]


def test_a_question_may_write_a_label_in_any_way() -> None:
    """As its reader's keyboard has it."""
    for question, label in WRITTEN_LABELS:
        assert label in {found for found, _ in labels_in(question)}
