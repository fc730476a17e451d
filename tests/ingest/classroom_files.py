"""Write a teacher's three files into a folder, for journeys in a browser: `python -m tests.ingest.classroom_files`."""

import sys
from pathlib import Path

from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.drawn import heading, pdf, text
from tests.ingest.made import docx, paragraph

SLIDES = {
    "Chlorophyll": "Chlorophyll absorbs red and blue light and reflects green light.",
    "Stomata": "Stomata are small pores of a leaf that let carbon dioxide in and water vapour out.",
}


def slides(path: Path) -> None:
    """Three slides, two with notes."""
    deck = Presentation()
    deck.core_properties.title = "Photosynthesis"
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Photosynthesis"
    for title, words in SLIDES.items():
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = words
        slide.notes_slide.notes_text_frame.text = f"Ask the class what {title.lower()} does."
    deck.save(str(path))


def lens(canvas: Canvas) -> None:
    """Draw a page."""
    heading(canvas, "Lenses")
    text(canvas, ["A convex lens bends parallel light to one point, the focus."])
    text(canvas, ["The focal length of our school lens is 15 cm."], top=690)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    slides(folder / "photosynthesis.pptx")
    (folder / "tides.docx").write_bytes(
        docx(
            paragraph("Tides", "heading1"),
            paragraph("A spring tide comes when sun, moon and earth stand in one line."),
            paragraph("A neap tide comes a week later, when they stand at a right angle."),
        )
    )
    (folder / "lenses.pdf").write_bytes(pdf(lens, title="Lenses"))
