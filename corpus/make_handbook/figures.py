"""The figures of the handbook, drawn with lines, circles and letters on a canvas of given width."""

from collections.abc import Callable
from itertools import pairwise

from corpus.make_handbook import style
from reportlab.lib.colors import Color
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

Draw = Callable[[Canvas, float], None]


class Figure(Flowable):  # type: ignore[misc]  # ReportLab has no annotations
    """A drawing that fills the width of its column; the drawing functions work in units of 1/100 of that width."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.draw_on, self.aspect = FIGURES[name]

    def wrap(self, width: float, _height: float) -> tuple[float, float]:
        """Width and height in points."""
        self.width, self.height = width, width * self.aspect
        return self.width, self.height

    def draw(self) -> None:
        """Draws on the page; the origin is the lower left corner."""
        self.canv.saveState()
        self.canv.setLineWidth(1)
        self.draw_on(self.canv, self.width / 100)
        self.canv.restoreState()


def label(canvas: Canvas, x: float, y: float, text: str, *, size: float = 8, bold: bool = False) -> None:
    """Text centred on x, in dark brown."""
    canvas.setFillColor(style.BROWN)
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
    canvas.drawCentredString(x, y, text)


def box(canvas: Canvas, u: float, at: tuple[float, float, float, float], text: str, fill: Color = style.BEIGE) -> None:
    """A rounded box at (left, bottom, width, height) in units, with one line of text in its middle."""
    left, bottom, width, height = (value * u for value in at)
    canvas.setStrokeColor(style.BROWN)
    canvas.setFillColor(fill)
    canvas.roundRect(left, bottom, width, height, 4, fill=1)
    label(canvas, left + width / 2, bottom + height / 2 - 3, text)


def arrow(canvas: Canvas, u: float, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A horizontal or vertical arrow between two points in units."""
    (x0, y0), (x1, y1) = start, end
    canvas.setStrokeColor(style.BROWN)
    canvas.setFillColor(style.BROWN)
    canvas.line(x0 * u, y0 * u, x1 * u, y1 * u)
    dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
    tip = canvas.beginPath()
    tip.moveTo(x1 * u, y1 * u)
    tip.lineTo(x1 * u - 6 * dx + 3 * dy, y1 * u - 6 * dy + 3 * dx)
    tip.lineTo(x1 * u - 6 * dx - 3 * dy, y1 * u - 6 * dy - 3 * dx)
    tip.close()
    canvas.drawPath(tip, fill=1, stroke=0)


def risk_matrix(canvas: Canvas, u: float) -> None:
    """Five by five cells, coloured by band."""
    size = 7.2
    for severity in range(1, 6):
        for likelihood in range(1, 6):
            risk = severity * likelihood
            colour = (
                style.GREEN if risk <= 3 else style.YELLOW if risk <= 7 else style.ORANGE if risk <= 12 else style.RED
            )
            x, y = (30 + likelihood * size) * u, (severity * size - 2) * u
            canvas.setFillColor(colour)
            canvas.setStrokeColor(style.WHITE)
            canvas.rect(x, y, size * u, size * u, fill=1)
            label(canvas, x + size * u / 2, y + size * u / 2 - 4, str(risk), size=11, bold=True)
    for level in range(1, 6):
        label(canvas, (30 + (level + 0.5) * size) * u, 2 * u, str(level), size=9)
        label(canvas, 35 * u, (level * size + 1) * u, str(level), size=9)
    label(canvas, 55 * u, -0.5 * u, "likelihood", size=9, bold=True)
    label(canvas, 25 * u, 22 * u, "severity", size=9, bold=True)


def stop_circuit(canvas: Canvas, u: float) -> None:
    """Battery, fuse and contactor above; the chain of buttons below."""
    box(canvas, u, (0, 22, 14, 8), "Battery 24 V", style.SAND)
    box(canvas, u, (20, 22, 12, 8), "Fuse 40 A")
    box(canvas, u, (38, 22, 15, 8), "Contactor", style.SAND)
    box(canvas, u, (62, 22, 15, 8), "Motor drives")
    box(canvas, u, (84, 22, 16, 8), "20 motors")
    box(canvas, u, (62, 34, 15, 7), "Jetson, sensors")
    for start, end in ((14, 20), (32, 38), (53, 62), (77, 84)):
        arrow(canvas, u, (start, 26), (end, 26))
    canvas.line(35 * u, 26 * u, 35 * u, 37.5 * u)
    arrow(canvas, u, (35, 37.5), (62, 37.5))
    box(canvas, u, (0, 4, 15, 8), "Button, post", style.PINK)
    box(canvas, u, (19, 4, 15, 8), "Button, door", style.PINK)
    box(canvas, u, (38, 4, 15, 8), "Safety relay")
    arrow(canvas, u, (15, 8), (19, 8))
    arrow(canvas, u, (34, 8), (38, 8))
    arrow(canvas, u, (45.5, 12), (45.5, 22))
    label(canvas, 66 * u, 16 * u, "coil current holds the contactor closed", size=8)
    label(canvas, 17 * u, 0.5 * u, "two channels, both must be closed", size=8)


def battery_range(canvas: Canvas, u: float) -> None:
    """Three bars over one scale from -20 to 60 degrees Celsius."""
    left, width = 22.0, 74.0

    def x_of(celsius: float) -> float:
        return (left + width * (celsius + 20) / 80) * u

    for row, (name, low, high, colour) in enumerate(
        (("Discharging", -10, 55, style.SAND), ("Charging", 5, 40, style.GREEN), ("Storage", 15, 25, style.BLUE))
    ):
        y = (20 - row * 6) * u
        canvas.setFillColor(colour)
        canvas.setStrokeColor(style.BROWN)
        canvas.rect(x_of(low), y, x_of(high) - x_of(low), 4 * u, fill=1)
        label(canvas, 11 * u, y + 1.2 * u, name, size=9)
    canvas.line(x_of(-20), 6 * u, x_of(60), 6 * u)
    for celsius in range(-20, 61, 10):
        canvas.line(x_of(celsius), 6 * u, x_of(celsius), 5 * u)
        label(canvas, x_of(celsius), 2.5 * u, f"{celsius} °C", size=8)


def pinch_points(canvas: Canvas, u: float) -> None:
    """A front view of Kestrel made of lines, with circles at the closing joints."""
    canvas.setStrokeColor(style.BROWN)
    canvas.setFillColor(style.BEIGE)
    canvas.circle(50 * u, 46 * u, 3.5 * u, fill=1)
    canvas.roundRect(45 * u, 26 * u, 10 * u, 16 * u, 6, fill=1)
    canvas.setLineWidth(5)
    for side in (-1, 1):
        points = [(50 + side * 6, 40), (50 + side * 10, 32), (50 + side * 9, 24)]
        legs = [(50 + side * 3, 25), (50 + side * 4, 14), (50 + side * 4, 3), (50 + side * 6, 2)]
        for chain in (points, legs):
            for (x0, y0), (x1, y1) in pairwise(chain):
                canvas.setStrokeColor(style.SAND)
                canvas.line(x0 * u, y0 * u, x1 * u, y1 * u)
        canvas.setLineWidth(1.6)
        canvas.setStrokeColor(style.RED)
        for x, y in (points[0], points[1], legs[0], legs[1], legs[2]):
            canvas.circle(x * u, y * u, 2 * u, fill=0)
        canvas.setLineWidth(5)
    canvas.setLineWidth(1)
    for y, text in (
        (40, "shoulder: 4 pinch points"),
        (32, "elbow: 2"),
        (25, "hip: 4"),
        (14, "knee: 2"),
        (3, "ankle: 2"),
    ):
        canvas.setStrokeColor(style.GREY)
        canvas.line(63 * u, y * u, 70 * u, y * u)
        canvas.setFillColor(style.BROWN)
        canvas.setFont("Helvetica", 9)
        canvas.drawString(71 * u, y * u - 3, text)


def safety_zone(canvas: Canvas, u: float) -> None:
    """A lab of 9 m by 6 m from above; 9 units are one metre."""
    canvas.setStrokeColor(style.BROWN)
    canvas.setFillColor(style.WHITE)
    canvas.setLineWidth(2)
    canvas.rect(9 * u, 2 * u, 81 * u, 54 * u, fill=1)
    canvas.setLineWidth(1.5)
    canvas.setStrokeColor(style.YELLOW)
    canvas.setFillColor(style.BEIGE)
    canvas.circle(42 * u, 31 * u, 18 * u, fill=1)
    canvas.setStrokeColor(style.BROWN)
    canvas.rect(35 * u, 24 * u, 14 * u, 14 * u, fill=0)
    label(canvas, 42 * u, 30 * u, "Kestrel", size=9, bold=True)
    label(canvas, 42 * u, 39.5 * u, "gantry", size=8)
    arrow(canvas, u, (42, 27), (42, 13))
    label(canvas, 45 * u, 17 * u, "2 m", size=9, bold=True)
    for x, y, text in ((18, 44, "driver"), (67, 22, "stop holder")):
        canvas.setFillColor(style.BLUE)
        canvas.circle(x * u, y * u, 1.6 * u, fill=1)
        label(canvas, x * u, (y - 4.5) * u, text, size=8)
    for x, y in ((64, 26), (88, 14)):
        canvas.setFillColor(style.RED)
        canvas.circle(x * u, y * u, 1.3 * u, fill=1)
    box(canvas, u, (70, 44, 18, 10), "charging corner", style.SAND)
    box(canvas, u, (12, 4, 20, 7), "electronics bench")
    canvas.setStrokeColor(style.GREEN)
    canvas.setLineWidth(4)
    canvas.line(90 * u, 6 * u, 90 * u, 12 * u)
    canvas.line(9 * u, 44 * u, 9 * u, 52 * u)
    label(canvas, 95 * u, 8 * u, "exit 1", size=8)
    label(canvas, 4 * u, 47 * u, "exit 2", size=8)
    label(canvas, 72 * u, 5 * u, "red dots: emergency stops", size=8)


def sound_ladder(canvas: Canvas, u: float) -> None:
    """Bars for four sources and two limits, from 30 to 100 dB(A)."""
    sources = (("Lab", 42), ("Wren", 55), ("Kestrel", 68), ("Compressor", 82), ("Cutter", 98))
    for column, (name, level) in enumerate(sources):
        x = (12 + column * 18) * u
        canvas.setFillColor(style.SAND if level < 80 else style.ORANGE)
        canvas.setStrokeColor(style.BROWN)
        canvas.rect(x, 8 * u, 10 * u, (level - 30) * 0.7 * u, fill=1)
        label(canvas, x + 5 * u, 3 * u, name, size=7)
        label(canvas, x + 5 * u, (9 + (level - 30) * 0.7) * u, str(level), size=7, bold=True)
    canvas.setDash(3, 2)
    for level in (80, 85):
        canvas.setStrokeColor(style.RED)
        canvas.line(8 * u, (8 + (level - 30) * 0.7) * u, 98 * u, (8 + (level - 30) * 0.7) * u)
    label(canvas, 22 * u, 48.5 * u, "limits: 80 and 85 dB(A)", size=7)


# Name, drawing function, height divided by width.
FIGURES: dict[str, tuple[Draw, float]] = {
    "risk-matrix": (risk_matrix, 0.43),
    "stop-circuit": (stop_circuit, 0.43),
    "battery-range": (battery_range, 0.26),
    "pinch-points": (pinch_points, 0.52),
    "safety-zone": (safety_zone, 0.58),
    "sound-ladder": (sound_ladder, 0.62),
}
