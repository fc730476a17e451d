"""Scanned pages: read only where the operator wants it, and never taken for what is printed, letter by letter."""

from io import BytesIO
from typing import BinaryIO

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.fakes import WordHashEmbedder
from tests.ingest.drawn import BODY, pdf, text, texts

from lutrin.errors import DocumentError
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.page import page_html
from lutrin.ingest.sandbox import read_in_sandbox
from lutrin.ingest.wording import RECOGNIZED
from lutrin.records import BookInfo
from lutrin_formats.pdf import Recognize, parse_pdf
from lutrin_formats.pdf_layout import TextRun


def blank(canvas: Canvas) -> None:
    """Draw a page that has no letters."""
    canvas.rect(100, 100, 200, 200)


def recognizer(file: BinaryIO, filename: str, password: str) -> Recognize:
    """A recogniser that returns the same text for every picture."""
    assert (file.readable(), filename, password) == (True, "a.pdf", "")

    def recognize(number: int) -> list[TextRun]:
        lines = ["SCANNED", f"Page {number + 1} says that the mill turns", "when the wind blows from the west."]
        return [TextRun(72, 700 - 14 * place, 20 if not place else 11, line, 200) for place, line in enumerate(lines)]

    return recognize


def test_a_scanned_page_is_read_and_marked_among_others() -> None:
    """In the source, on the page and in its passages; the notice names how many there are."""
    document = parse_pdf(pdf(lambda canvas: text(canvas, BODY), blank), "a.pdf", recognizer=recognizer)
    assert "Page 2 says that the mill turns when the wind blows from the west." in texts(document)
    assert document.recognized_pages == (2,)
    assert [notice.message for notice in document.notices] == [
        "the text of 1 of its pages was recognised from pictures and may hold wrong letters"
    ]
    assert page_html(document.source, "a.pdf").count('<p class="recognised">') == 1
    assert RECOGNIZED not in texts(document)
    chunks = chunk_document(document, BookInfo(slug="b", title="B"), WordHashEmbedder().token_offsets, 400, 50)
    assert {chunk.page: chunk.recognized for chunk in chunks} == {1: False, 2: True}


def test_without_the_setting_pictures_are_named_as_such() -> None:
    """With the way out."""
    with pytest.raises(DocumentError, match="only pictures of it; set LUTRIN_OCR=true"):
        parse_pdf(pdf(blank), "a.pdf")
    with pytest.raises(DocumentError, match="none can be recognised"):
        parse_pdf(pdf(blank), "a.pdf", recognizer=lambda *_: lambda _: [])


@pytest.mark.nightly
def test_a_picture_of_a_page_is_recognised_in_the_limited_process() -> None:
    """By the library that `just ocr` installs."""
    pypdfium2 = pytest.importorskip("pypdfium2", reason="just ocr")
    pytest.importorskip("rapidocr", reason="just ocr")
    printed = pdf(lambda canvas: text(canvas, [*BODY[1:], "", "The mill turns when the wind blows."], size=13))
    picture = BytesIO()
    pypdfium2.PdfDocument(printed)[0].render(scale=2).to_pil().convert("L").save(picture, "PDF", resolution=144)
    with pytest.raises(DocumentError, match="only pictures"):
        read_in_sandbox(picture.getvalue(), "a.pdf")
    document = read_in_sandbox(picture.getvalue(), "a.pdf", recognize=True)
    assert document.recognized_pages == (1,)
    assert "The mill turns when the wind blows." in " ".join(texts(document))
