"""The glyphs of a PDF's pages, with the places and widths that the file gives them, joined to runs of text.

pdfminer.six interprets what a page paints: fonts and their widths, spacing, kerning. A run ends where the font or the
baseline changes, and where the pen leaves a gap that is wider than a letter's.
"""

import math
from collections.abc import Iterator
from typing import Any, BinaryIO

from pdfminer.pdfdevice import PDFTextDevice
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdffont import PDFFont, PDFSimpleFont, PDFUnicodeNotDefined
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager, PDFTextState
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser

from lutrin.ingest.pdf_layout import WORD_GAP, Run

_MONO = ("courier", "mono", "consol", "menlo", "typewriter", "cmtt")
_BOLD = ("bold", "black", "heavy", "semibold", "demi")
_BACK = 0.5
"""Sizes by which a glyph may stand left of where the one before it ended, and still continue it."""
_LEVEL = 0.05
"""Sizes by which two baselines may differ and be one."""
_PAGES_HELD = 25
"""What was read of the file, pictures too, is forgotten after so many pages: all of it would fill the memory."""
_SIGNS = {"\n": " ", "\0": ""}
_BULLETS = frozenset({0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D})
"""Codes that WinAnsiEncoding leaves unused show a bullet (PDF 32000-1, annex D.2, note 3)."""


class _Pen(PDFTextDevice):
    """Collects runs while a page is interpreted."""

    def __init__(self, resources: PDFResourceManager) -> None:
        super().__init__(resources)
        self.runs: list[Run] = []
        self.unmapped = 0
        """Glyphs for which the file gives no letter."""
        self._kinds: dict[str, tuple[bool, bool]] = {}
        self._spaced = 0.0
        """Space that the file puts between all letters, in units of the text's own space."""

    def render_string(self, textstate: PDFTextState, seq: Any, ncs: Any, graphicstate: Any) -> None:  # noqa: ANN401 - as pdfminer has it
        """Take the glyphs of one string."""
        self._spaced = max(0.0, textstate.charspace * textstate.scaling / 100)
        super().render_string(textstate, seq, ncs, graphicstate)

    def begin_page(self, page: PDFPage, ctm: Any) -> None:  # noqa: ANN401, ARG002 - pdfminer's signature
        self.runs = []

    def render_char(  # noqa: PLR0917 - pdfminer's signature
        self,
        matrix: tuple[float, float, float, float, float, float],
        font: PDFFont,
        fontsize: float,
        scaling: float,
        rise: float,  # noqa: ARG002 - as above
        cid: int,
        ncs: Any,  # noqa: ANN401, ARG002 - as above
        graphicstate: Any,  # noqa: ANN401, ARG002 - as above
    ) -> float:
        """Take one glyph; return how far it moves the pen, in units of the text's own space."""
        advance = float(font.char_width(cid) * fontsize * scaling)
        try:
            letter = font.to_unichr(cid)
        except PDFUnicodeNotDefined:
            if not isinstance(font, PDFSimpleFont) or cid not in _BULLETS:
                self.unmapped += 1
                return advance
            letter = "•"
        a, b, _, _, x, y = matrix
        scale = math.hypot(a, b)
        name = str(font.fontname)
        if name not in self._kinds:
            kind = name.lower()
            self._kinds[name] = any(mark in kind for mark in _BOLD), any(mark in kind for mark in _MONO)
        bold, mono = self._kinds[name]
        self._add(
            Run(
                x=x,
                y=y,
                size=max(1.0, abs(fontsize) * scale),
                text=_SIGNS.get(letter, letter),
                length=advance * scale,
                bold=bold,
                mono=mono,
                angle=round(math.degrees(math.atan2(b, a)) / 90) * 90 % 360,
            ),
            self._spaced * scale,
        )
        return advance

    def _add(self, glyph: Run, spaced: float) -> None:
        last = self.runs[-1] if self.runs else None
        if last is None or not _continues(last, glyph, spaced):
            if glyph.mono or glyph.text.strip():
                self.runs.append(glyph)
            return
        along, _ = _pen(last, glyph)
        self.runs[-1] = last.extended(glyph.text, along + glyph.length)


def _pen(run: Run, glyph: Run) -> tuple[float, float]:
    """Where a glyph stands as a run sees it: points along its baseline from its start, and above it."""
    dx, dy = glyph.x - run.x, glyph.y - run.y
    return {0: (dx, dy), 90: (dy, -dx), 180: (-dx, -dy), 270: (-dy, dx)}[run.angle]


def _continues(run: Run, glyph: Run, spaced: float) -> bool:
    """Whether a glyph stands in a run's last word, or goes on with a blank that is painted.

    Args:
        run: So far.
        glyph: The next one.
        spaced: Points that the file puts between all letters here.
    """
    alike = (run.bold, run.mono, run.angle) == (glyph.bold, glyph.mono, glyph.angle)
    if not alike or abs(run.size - glyph.size) > _LEVEL * run.size:
        return False
    along, above = _pen(run, glyph)
    gap = along - run.length
    return abs(above) <= _LEVEL * run.size and -_BACK * run.size <= gap <= WORD_GAP * run.size + spaced


def pages_of(file: BinaryIO, password: str) -> Iterator[tuple[list[Run], int]]:
    """The runs of each page in the order in which they are painted, and how many glyphs have no letter.

    Args:
        file: A PDF that can be sought.
        password: Of an encrypted file; one that its owner only protects from changes needs none.

    Raises:
        Exception: Of pdfminer's or of any kind, where a page is broken; the next one can still be asked for.
    """
    file.seek(0)
    parser = PDFParser(file)
    try:
        document = PDFDocument(parser, password)
    except PDFPasswordIncorrect:
        document = PDFDocument(parser, "")
    return _Pages(document)


class _Pages(Iterator[tuple[list[Run], int]]):
    """Pages one by one; one that raises does not end the others."""

    def __init__(self, document: PDFDocument) -> None:
        resources = PDFResourceManager()
        self._document, self._count = document, 0
        self._pages = PDFPage.create_pages(document)
        self._pen = _Pen(resources)
        self._interpreter = PDFPageInterpreter(resources, self._pen)

    def __next__(self) -> tuple[list[Run], int]:
        page = next(self._pages)
        self._count += 1
        if self._count % _PAGES_HELD == 0:
            self._document._cached_objs.clear()  # noqa: SLF001 - pdfminer has no other way to let go of what it read
        self._pen.runs, self._pen.unmapped = [], 0
        self._interpreter.process_page(page)
        return self._pen.runs, self._pen.unmapped
