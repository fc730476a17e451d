"""Formats beside the core's: PDF with recognition of scanned pages, Word, notebooks, reStructuredText.

The core finds them by the entry point `lutrin.formats`; each parser loads with the first file of its kind.
"""

from lutrin.ingest.formats import MEGABYTE, Format

BOOK_BYTES = 100 * MEGABYTE
FORMATS = {
    ".ipynb": Format("Jupyter notebook", "lutrin_formats.notebook:parse_notebook", BOOK_BYTES),
    ".rst": Format("reStructuredText", "lutrin_formats.rst:parse_rst"),
    ".pdf": Format(
        "PDF", "lutrin_formats.pdf:parse_pdf", 2 * BOOK_BYTES,
        holds_chapters=True, time_limit_s=300.0, recognizer="lutrin_formats.ocr:recognizer_of",
    ),
    ".docx": Format(
        "Word document", "lutrin_formats.docx:parse_docx", BOOK_BYTES,
        holds_chapters=True, time_limit_s=120.0, becomes=".html",
    ),
}  # fmt: skip
