"""The glyphs of a PDF's pages, with the file's positions and widths, joined to runs of text.

pdfminer.six interprets a page's drawing commands: fonts and their widths, spacing, kerning. A run ends if the font or
the baseline changes, or if the pen leaves a gap wider than a letter's.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from pdfminer.pdfdevice import PDFTextDevice
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdffont import PDFFont, PDFSimpleFont, PDFUnicodeNotDefined
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager, PDFTextState
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pdfminer.psparser import literal_name
from pdfminer.utils import MATRIX_IDENTITY, apply_matrix_pt

from lutrin.ingest.wording import without_ligatures
from lutrin_formats.pdf_layout import TWICE, WORD_GAP, Box, Line, TextRun, page_lines, with_drawings

_MONO = ("courier", "mono", "consol", "menlo", "typewriter", "cmtt")
_BOLD = ("bold", "black", "heavy", "semibold", "demi")
_BACK = 0.5
"""Sizes by which a glyph may overlap the end of the previous one, and still continue it."""
_LEVEL = 0.05
"""Sizes by which two baselines may differ and still be one."""
_PAGES_HELD = 25
"""Data read from the file, including pictures, is dropped after this many pages: all of it would fill the memory."""
_MARKS = {
    "\u00b4": "\u0301", "\u0060": "\u0300", "\u00a8": "\u0308", "\u02c6": "\u0302", "\u02dc": "\u0303",
    "\u00af": "\u0304", "\u02d8": "\u0306", "\u02d9": "\u0307", "\u02da": "\u030a", "\u02c7": "\u030c",
    "\u02dd": "\u030b", "\u00b8": "\u0327",
}  # fmt: skip
"""Accents that occupy a place of their own, and those placed on the letter before them."""
_ACCENTED = re.compile("([\u00b4\u00a8\u02c6\u02dc\u00af\u02d8\u02d9\u02da\u02c7\u02dd\u00b8]) ?([A-Za-z\u0131])")
_LEVEL_DEGREES = 5
"""Text this close to a right angle counts as level: a page scanned askew."""
_FOR_PRINTERS = frozenset({"Watermark", "Header", "Footer", "Bates", "PageNum"})
"""Parts of a page that its file marks as outside of its text (PDF 32000-1, 14.8.2.2)."""
_COLOUR_SPACES = frozenset({"DeviceGray", "DeviceRGB", "DeviceCMYK", "CalGray", "CalRGB", "ICCBased"})
_INKS = 4
_FAINT = 0.01
_SOFT_HYPHEN = "\u00ad"
"""Is drawn as a hyphen; also the code of one in WinAnsiEncoding (PDF 32000-1, annex D.2, note 6)."""
_BULLETS = frozenset({0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D})
"""Codes that WinAnsiEncoding leaves unused show a bullet (PDF 32000-1, annex D.2, note 3)."""


@dataclass(slots=True)
class _Growing:
    x: float
    y: float
    size: float
    font: PDFFont
    angle: int
    letters: list[str]
    length: float
    cosine: float
    sine: float
    last: float = 0.0
    """Where its last glyph starts."""

    def takes(self, x: float, y: float, size: float, angle: int, spaced: float) -> float | None:
        """Points along the baseline to a glyph that continues it, letters `spaced` apart; None if it does not."""
        if angle != self.angle or abs(self.size - size) > _LEVEL * self.size:
            return None
        dx, dy = x - self.x, y - self.y
        along = dx * self.cosine + dy * self.sine
        gap = along - self.length
        level = abs(dy * self.cosine - dx * self.sine) <= _LEVEL * self.size
        return along if level and -_BACK * self.size <= gap <= WORD_GAP * self.size + spaced else None


class _Pen(PDFTextDevice):
    """Collects runs while a page is interpreted."""

    def __init__(self, resources: PDFResourceManager) -> None:
        super().__init__(resources)
        self.unmapped_glyphs = 0
        self.covered = False
        """Whether anything except text and white has been painted: white text may be visible on it."""
        self.shapes: list[tuple[float, float]] = []
        """Lower and upper edge of shapes on the page."""
        self._runs: list[TextRun] = []
        self._open: _Growing | None = None
        self._marked: list[bool] = []
        """For each open marked content, whether it is for printers only."""
        self._spaced = 0.0
        """The file's spacing between all letters, in units of text space."""
        self._unseen = False
        """Whether the present string is white on white."""
        self._fonts: defaultdict[Any, dict[int, tuple[float, str | None]]] = defaultdict(dict)
        """Width and letter of each glyph of a font, since pdfminer looks both up anew each time."""

    def runs(self) -> list[TextRun]:
        """Return the text painted since the last call."""
        self._close()
        self._marked.clear()
        self.covered = False
        self.shapes = []
        runs, self._runs = self._runs, []
        return runs

    def paint_path(self, graphicstate: Any, stroke: bool, fill: bool, evenodd: bool, path: Any) -> None:  # noqa: ANN401, ARG002, FBT001 - pdfminer's signature
        self.covered |= fill and not _is_white(graphicstate)
        heights = [
            apply_matrix_pt(self.ctm or MATRIX_IDENTITY, point)[1]
            for step in path
            for point in zip(step[1::2], step[2::2], strict=True)
        ]
        if heights and (stroke or fill):
            self.shapes.append((min(heights), max(heights)))

    def render_image(self, name: str, stream: Any) -> None:  # noqa: ANN401, ARG002 - pdfminer's signature
        self.covered = True

    def render_string(self, textstate: PDFTextState, seq: Any, ncs: Any, graphicstate: Any) -> None:  # noqa: ANN401 - as pdfminer has it
        self._spaced = max(0.0, textstate.charspace * textstate.scaling / 100)
        self._unseen = not self.covered and _is_white(graphicstate)
        super().render_string(textstate, seq, ncs, graphicstate)

    def render_char(  # noqa: PLR0917 - pdfminer's signature
        self,
        matrix: tuple[float, float, float, float, float, float],
        font: PDFFont,
        fontsize: float,
        scaling: float,
        rise: float,
        cid: int,
        ncs: Any,  # noqa: ANN401, ARG002 - pdfminer's signature
        graphicstate: Any,  # noqa: ANN401, ARG002 - pdfminer's signature
    ) -> float:
        """Add one glyph; return its advance, in units of text space."""
        glyphs = self._fonts[font]
        width, letter = glyphs.get(cid) or glyphs.setdefault(cid, _glyph(font, cid))
        advance = width * fontsize * scaling
        if self._unseen:
            return advance
        if letter is None:
            self.unmapped_glyphs += 1
            return advance
        a, b, c, d, x, y = matrix
        x, y = x + c * rise, y + d * rise
        scale = math.hypot(a, b)
        size = max(1.0, abs(fontsize) * scale)
        angle = 0 if b == 0.0 < a else _angle(math.degrees(math.atan2(b, a)))
        run = self._open
        along = run.takes(x, y, size, angle, self._spaced * scale) if run is not None and run.font is font else None
        if run is None or along is None:
            self._close()
            direction = math.radians(angle)
            length = advance * scale
            self._open = _Growing(x, y, size, font, angle, [letter], length, math.cos(direction), math.sin(direction))
            return advance
        if letter == run.letters[-1] and along - run.last < TWICE * size < advance * scale:
            return advance  # painted again to look bold
        if along < (run.last + run.length) / 2 and (joined := _combine(run.letters[-1], letter)):
            run.letters[-1] = joined
            run.last, run.length = min(run.last, along), max(run.length, along + advance * scale)
        else:
            run.letters.append(letter)
            run.last, run.length = along, along + advance * scale
        return advance

    def begin_tag(self, tag: Any, props: Any = None) -> None:  # noqa: ANN401 - as pdfminer has it
        inside = isinstance(props, dict) and literal_name(props.get("Subtype", "")) in _FOR_PRINTERS
        self._marked.append(literal_name(tag) == "Artifact" and inside)
        self._close()

    def end_tag(self) -> None:
        self._close()
        if self._marked:
            self._marked.pop()

    def _close(self) -> None:
        """End the present run; blanks alone do not form one, and leading blanks only count in code."""
        run, self._open = self._open, None
        if run is None:
            return
        text = _letters("".join(run.letters).replace("\n", " ").replace("\0", ""))
        if text.strip() and not any(self._marked):
            name = str(run.font.fontname).lower()
            bold, mono = any(mark in name for mark in _BOLD), any(mark in name for mark in _MONO)
            self._runs.append(TextRun(run.x, run.y, run.size, text, run.length, bold, mono, run.angle))


class _Interpreter(PDFPageInterpreter):
    """Also reports shades to the pen."""

    device: _Pen

    def do_sh(self, name: object) -> None:
        """Paint a shade."""
        super().do_sh(name)
        self.device.covered = True


class Pages(Iterator[list[Line]]):
    """The lines of each page; a broken page raises pdfminer's error, and does not end the others."""

    def __init__(self, file: BinaryIO, password: str) -> None:
        file.seek(0)
        parser = PDFParser(file)
        try:
            self._document = PDFDocument(parser, password)
        except PDFPasswordIncorrect:
            self._document = PDFDocument(parser, "")
        self._pages = enumerate(PDFPage.create_pages(self._document), 1)
        resources = PDFResourceManager()
        self._pen = _Pen(resources)
        self._interpreter = _Interpreter(resources, self._pen)

    def __next__(self) -> list[Line]:
        number, page = next(self._pages)
        if number % _PAGES_HELD == 0:
            self._document._cached_objs.clear()  # noqa: SLF001 - pdfminer has no other way to let go of what it read
        self._pen.runs()  # what a broken page left behind
        self._interpreter.process_page(page)
        shapes = self._pen.shapes
        return with_drawings(page_lines(self._pen.runs(), _visible(page)), shapes)

    @property
    def unmapped_glyphs(self) -> int:
        """Glyphs so far without a letter in the file."""
        return self._pen.unmapped_glyphs


def _visible(page: PDFPage) -> Box:
    """The part of a page that viewers show, positioned and rotated like the interpreter's output."""
    x0, y0, x1, y1 = page.mediabox

    def turn(x: float, y: float) -> tuple[float, float]:
        return {90: (y - y0, x1 - x), 180: (x1 - x, y1 - y), 270: (y1 - y, x - x0)}.get(page.rotate, (x - x0, y - y0))

    (a, b), (c, d) = turn(*page.cropbox[:2]), turn(*page.cropbox[2:])
    return min(a, c), min(b, d), max(a, c), max(b, d)


def _glyph(font: PDFFont, cid: int) -> tuple[float, str | None]:
    """Width of a glyph, in units of text space, and its letter; None if the file gives none."""
    width = float(font.char_width(cid))
    is_simple = isinstance(font, PDFSimpleFont)
    try:
        letter = font.to_unichr(cid)
    except PDFUnicodeNotDefined:
        return width, "•" if is_simple and cid in _BULLETS else None
    is_hyphen = letter == _SOFT_HYPHEN or (is_simple and cid == ord(_SOFT_HYPHEN) and not letter.strip())
    return width, "-" if is_hyphen else letter


def _is_white(graphicstate: Any) -> bool:  # noqa: ANN401 - as pdfminer has it
    """Whether the fill colour is white, in the colour spaces of screens and printers."""
    colour, space = graphicstate.ncolor, graphicstate.ncs.name
    parts = colour if isinstance(colour, tuple | list) else (colour,)
    if space not in _COLOUR_SPACES or not all(isinstance(part, int | float) for part in parts):
        return False
    return bool(max(parts) < _FAINT if len(parts) == _INKS else min(parts) > 1 - _FAINT)


def _angle(degrees: float) -> int:
    """Degrees from 0 to 359 as a whole number; right angles exactly, if it is close to one."""
    right = round(degrees / 90) * 90
    return (right if abs(degrees - right) <= _LEVEL_DEGREES else round(degrees)) % 360


def _letters(text: str) -> str:
    """Text with its ligatures split into letters and each accent on its letter."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(
        lambda match: _combine(match[1], match[2]) or match[0],
        without_ligatures(text).replace("\u0131\u0301", "\u00ed"),
    )
    return unicodedata.normalize("NFC", text)


def _combine(first: str, second: str) -> str:
    """A letter with the accent painted over it, in either order; empty if there is no such letter."""
    mark, letter = (first, second) if first in _MARKS else (second, first)
    if mark not in _MARKS or not letter.isalpha():
        return ""
    joined = unicodedata.normalize("NFC", letter.replace("\u0131", "i") + _MARKS[mark])
    return joined if len(joined) == 1 else ""
