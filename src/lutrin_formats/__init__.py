"""Formats beside the core's: PDF with recognition, Word, OpenDocument, slides, transcripts, notebooks and more.

The core finds them by the entry point `lutrin.formats`; each parser loads with the first file of its kind.
"""

from dataclasses import replace

from lutrin.ingest.formats import MEGABYTE, Format

BOOK_BYTES = 100 * MEGABYTE
SLIDES = Format(
    "PowerPoint slides", "lutrin_formats.slides:parse_pptx", 2 * BOOK_BYTES,
    time_limit_s=120.0, becomes=".html", stands_alone=True,
)  # fmt: skip
TRANSCRIPT = Format("transcripts", "lutrin_formats.transcript:parse_transcript", becomes=".html", stands_alone=True)
FORMATS = {
    ".ipynb": Format("Jupyter notebook", "lutrin_formats.notebook:parse_notebook", BOOK_BYTES),
    ".rst": Format("reStructuredText", "lutrin_formats.rst:parse_rst"),
    ".pdf": Format(
        "PDF", "lutrin_formats.pdf:parse_pdf", 2 * BOOK_BYTES,
        holds_chapters=True, time_limit_s=300.0, recognizer="lutrin_formats.ocr:recognizer_of", stands_alone=True,
    ),
    ".docx": Format(
        "Word document", "lutrin_formats.docx:parse_docx", BOOK_BYTES,
        holds_chapters=True, time_limit_s=120.0, becomes=".html", stands_alone=True,
    ),
    ".odt": Format(
        "OpenDocument text", "lutrin_formats.opendocument:parse_odt", BOOK_BYTES,
        holds_chapters=True, time_limit_s=120.0, becomes=".html", stands_alone=True,
    ),
    ".pptx": SLIDES,
    ".odp": replace(SLIDES, name="OpenDocument slides", parser="lutrin_formats.opendocument:parse_odp"),
    ".vtt": TRANSCRIPT,
    ".srt": TRANSCRIPT,
}  # fmt: skip
