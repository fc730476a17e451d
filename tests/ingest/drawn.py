"""PDFs that tests draw, and what is looked at in what was read of them."""

from collections.abc import Callable, Sequence
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from lutrin.records import Document, Unit

Draw = Callable[[Canvas], object]
BODY = [
    "A robot moves when torque acts on its joints. The con-",
    "troller computes the torque every millisecond. It needs",
    "the angle of each joint, which an encoder measures.",
]


def pdf(*pages: Draw, title: str = "") -> bytes:
    """A PDF whose pages are drawn by the functions given."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def text(
    canvas: Canvas,
    lines: Sequence[str],
    *,
    x: float = 72,
    top: float = 720,
    font: str = "Helvetica",
    size: float = 11,
) -> float:
    """Draw lines from the top down; returns where the next one would stand."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(x, top, line)
        top -= 1.25 * size
    return top


def heading(canvas: Canvas, line: str, *, top: float = 760, size: float = 20) -> None:
    """Draw a line in large bold letters."""
    text(canvas, [line], top=top, font="Helvetica-Bold", size=size)


def units(document: Document) -> list[Unit]:
    """All units in order."""
    return [unit for section in document.sections for unit in section.units]


def texts(document: Document) -> list[str]:
    """Their texts."""
    return [unit.text for unit in units(document)]


def places_hold(document: Document) -> bool:
    """Whether each unit's range of the source holds its letters."""
    for unit in units(document):
        source = iter(document.source[unit.char_start : unit.char_end])
        if not all(letter in source for letter in unit.text if not letter.isspace()):
            return False
    return True
