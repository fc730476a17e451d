"""Paper, colours and paragraph styles of the handbook. Lengths are in points unless they say `mm`."""

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm

PAGE_WIDTH, PAGE_HEIGHT = A4
MARGIN = 20 * mm
GUTTER = 7 * mm
TEXT_WIDTH = PAGE_WIDTH - 2 * MARGIN
TEXT_HEIGHT = PAGE_HEIGHT - 2 * MARGIN - 4 * mm
COLUMN_WIDTH = (TEXT_WIDTH - GUTTER) / 2

BROWN = HexColor("#4a2f1b")
BEIGE = HexColor("#f5ead7")
SAND = HexColor("#dcc7a4")
GREY = HexColor("#6b6259")
RED = HexColor("#b3261e")
PINK = HexColor("#e9a59f")
ORANGE = HexColor("#d9730d")
YELLOW = HexColor("#e5b700")
BLUE = HexColor("#2f5d8a")
GREEN = HexColor("#4f7a3a")
WHITE = HexColor("#ffffff")

SIGNAL_COLOURS = {"danger": RED, "warning": ORANGE, "caution": YELLOW, "notice": BLUE}

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.8, leading=14.4, spaceAfter=6)
NARROW = ParagraphStyle(
    "narrow", parent=BODY, fontSize=9.8, leading=12.6, spaceAfter=5, alignment=TA_JUSTIFY, embeddedHyphenation=1
)
CHAPTER = ParagraphStyle(
    "chapter", fontName="Helvetica-Bold", fontSize=20, leading=25, spaceAfter=10, textColor=BROWN, keepWithNext=1
)
SECTION = ParagraphStyle(
    "section",
    fontName="Helvetica-Bold",
    fontSize=13,
    leading=17,
    spaceBefore=8,
    spaceAfter=4,
    textColor=BROWN,
    keepWithNext=1,
)
NARROW_SECTION = ParagraphStyle("narrow-section", parent=SECTION, fontSize=11.5, leading=15)
CAPTION = ParagraphStyle(
    "caption", fontName="Times-Italic", fontSize=9.4, leading=12, spaceBefore=4, spaceAfter=4, textColor=GREY
)
TABLE_CAPTION = ParagraphStyle("table-caption", parent=CAPTION, keepWithNext=1)
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=8.8, leading=11)
HEAD_CELL = ParagraphStyle("head-cell", parent=CELL, fontName="Helvetica-Bold", textColor=WHITE)
BOX_TITLE = ParagraphStyle("box-title", fontName="Helvetica-Bold", fontSize=10, leading=13)
TITLE = ParagraphStyle(
    "title", fontName="Helvetica-Bold", fontSize=34, leading=42, textColor=BROWN, alignment=TA_CENTER
)
SUBTITLE = ParagraphStyle("subtitle", fontName="Times-Roman", fontSize=15, leading=22, alignment=TA_CENTER)
TOC_CHAPTER = ParagraphStyle("toc-chapter", fontName="Helvetica-Bold", fontSize=10.4, leading=14, spaceBefore=4)
TOC_SECTION = ParagraphStyle("toc-section", fontName="Times-Roman", fontSize=10, leading=12.4, leftIndent=14)
