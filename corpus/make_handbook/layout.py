"""From blocks to pages: templates with one and two columns, running headers, page labels, outline and contents."""

from collections.abc import Iterator
from pathlib import Path

from corpus.make_handbook import style
from corpus.make_handbook.blocks import Block, Box, Column, Grid, Heading, Items, Picture, Text, hyphenated, inline
from corpus.make_handbook.figures import Figure
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)
from reportlab.platypus.tableofcontents import TableOfContents

TITLE = "Robot Lab Safety Handbook"
EDITION = "First Edition"
BOOK = "Physical AI & Humanoid Robotics"
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


class Title(Paragraph):  # type: ignore[misc]  # ReportLab has no annotations
    """A heading that the outline and the contents can lead to, to its line and not only to its page."""

    def __init__(self, level: int, text: str, key: str, paragraph_style: ParagraphStyle) -> None:
        super().__init__(inline(text), paragraph_style)
        self.level, self.text, self.key = level, text, key

    def draw(self) -> None:
        """The bookmark at the upper edge, then the text."""
        self.canv.bookmarkHorizontal(self.key, 0, self.height + 4)
        super().draw()


class Check(Paragraph):  # type: ignore[misc]  # ReportLab has no annotations
    """A line of a check list with a square to tick before it."""

    def draw(self) -> None:
        """The square, then the text."""
        self.canv.setStrokeColor(style.BROWN)
        self.canv.rect(2, self.height - self.style.leading + 1.5, 8, 8)
        super().draw()

    def split(self, _width: float, _height: float) -> list[Flowable]:
        """An item is never cut in two, else it would have two squares."""
        return []


class Handbook(BaseDocTemplate):  # type: ignore[misc]  # ReportLab has no annotations
    """The document; it learns on its first pass where the body starts and what the contents are."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            str(path),
            pagesize=(style.PAGE_WIDTH, style.PAGE_HEIGHT),
            title=TITLE,
            author="The authors of Lutrin",
            subject=f"Safety rules of the robot lab, companion of {BOOK}",
            keywords="safety, emergency stop, battery, risk assessment, first aid",
            invariant=1,  # no date and no random identifier: the same text gives the same bytes
            pageCompression=0,  # plain streams, because deflate differs between zlib builds
        )
        bottom = style.MARGIN
        whole = Frame(style.MARGIN, bottom, style.TEXT_WIDTH, style.TEXT_HEIGHT, 0, 0, 0, 0)
        columns = [
            Frame(left, bottom, style.COLUMN_WIDTH, style.TEXT_HEIGHT, 0, 0, 0, 0)
            for left in (style.MARGIN, style.MARGIN + style.COLUMN_WIDTH + style.GUTTER)
        ]
        self.addPageTemplates(
            [
                PageTemplate("title", [whole], onPage=_title_page),
                PageTemplate("columns-1", [whole], onPageEnd=self._running_lines),
                PageTemplate("columns-2", columns, onPageEnd=self._running_lines),
            ]
        )
        self.body_page = 0  # physical page of chapter 1, counted from 1
        self.chapter = "Contents"

    def beforeDocument(self) -> None:  # noqa: N802 - the name is ReportLab's
        """Each pass starts with the front matter."""
        self.chapter = "Contents"
        self.canv.addPageLabel(0, style="ROMAN_LOWER")

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - the name is ReportLab's
        """Headings go to the outline, the contents and the running header."""
        if not isinstance(flowable, Title):
            return
        level = flowable.level - 1
        if level == 0:
            self.chapter = flowable.text
            if flowable.text.startswith("1 "):
                self.body_page = self.page
                self.canv.addPageLabel(self.page - 1, style="ARABIC", start=1)
        self.canv.addOutlineEntry(flowable.text, flowable.key, level=level, closed=level == 0)
        self.notify("TOCEntry", (level, inline(flowable.text), self.page, flowable.key))

    def page_label(self, page: int) -> str:
        """The printed label of a physical page: roman before chapter 1, arabic from there."""
        if self.body_page and page >= self.body_page:
            return str(page - self.body_page + 1)
        return ROMAN[max(page, 1) - 1]

    def _running_lines(self, canvas: Canvas, _document: object) -> None:
        canvas.saveState()
        canvas.setStrokeColor(style.SAND)
        top = style.PAGE_HEIGHT - style.MARGIN + 1
        canvas.line(style.MARGIN, top, style.PAGE_WIDTH - style.MARGIN, top)
        canvas.setFillColor(style.GREY)
        canvas.setFont("Helvetica", 8.5)
        canvas.drawString(style.MARGIN, top + 4, f"{TITLE}, {EDITION}")
        canvas.drawRightString(style.PAGE_WIDTH - style.MARGIN, top + 4, self.chapter)
        canvas.drawCentredString(style.PAGE_WIDTH / 2, style.MARGIN - 18, self.page_label(canvas.getPageNumber()))
        canvas.restoreState()


def _title_page(canvas: Canvas, _document: object) -> None:
    canvas.saveState()
    canvas.setFillColor(style.BROWN)
    canvas.rect(0, style.PAGE_HEIGHT - 130, style.PAGE_WIDTH, 130, stroke=0, fill=1)
    canvas.rect(0, 0, style.PAGE_WIDTH, 40, stroke=0, fill=1)
    centre, height = style.PAGE_WIDTH / 2, style.PAGE_HEIGHT * 0.42
    canvas.setFillColor(style.YELLOW)
    canvas.circle(centre, height, 70, stroke=0, fill=1)
    canvas.setFillColor(style.RED)
    canvas.circle(centre, height, 45, stroke=0, fill=1)
    canvas.setFillColor(style.WHITE)
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawCentredString(centre, height - 7, "STOP")
    canvas.restoreState()


def build(blocks: list[Block], path: Path) -> None:
    """Writes the PDF; two runs on the same blocks give the same bytes."""
    document = Handbook(path)
    contents = TableOfContents(
        levelStyles=[style.TOC_CHAPTER, style.TOC_SECTION], dotsMinLevel=-1, formatter=document.page_label
    )
    story: list[Flowable] = [
        Spacer(1, 150),
        Paragraph(TITLE, style.TITLE),
        Spacer(1, 16),
        Paragraph(f"{EDITION}<br/>Companion of<br/><i>{inline(BOOK)}</i>", style.SUBTITLE),
        NextPageTemplate("columns-2"),
        PageBreak(),
        Paragraph("Contents", style.CHAPTER),
        contents,
    ]
    narrow = False
    for number, block in enumerate(blocks):
        if isinstance(block, Heading) and block.level == 1:
            narrow = block.columns == 2
            story += [NextPageTemplate(f"columns-{block.columns}"), PageBreak()]
        story.extend(_flowables(block, f"block-{number}", narrow=narrow))
    document.multiBuild(story)


def _flowables(block: Block, key: str, *, narrow: bool) -> Iterator[Flowable]:
    body = style.NARROW if narrow else style.BODY
    width = style.COLUMN_WIDTH if narrow else style.TEXT_WIDTH
    match block:
        case Heading(1, text):
            yield Title(1, text, key, style.CHAPTER)
        case Heading(level, text):
            yield Title(level, text, key, style.NARROW_SECTION if narrow else style.SECTION)
        case Text(markup):
            yield Paragraph(hyphenated(markup) if narrow else markup, body)
        case Items(kind, items):
            yield from _list(kind, items, body, narrow=narrow)
        case Grid(caption, rows):
            yield Paragraph(caption, style.TABLE_CAPTION)
            yield _table(rows, width)
            yield Spacer(1, 8)
        case Column():
            yield FrameBreak()
        case Picture(name, caption):
            yield KeepTogether([Spacer(1, 4), Figure(name), Paragraph(caption, style.CAPTION)])
        case Box():
            yield KeepTogether([Spacer(1, 4), _notice(block, body, width), Spacer(1, 8)])


def _list(kind: str, items: tuple[str, ...], body: ParagraphStyle, *, narrow: bool) -> Iterator[Flowable]:
    indent, bullet_indent = (32, 14) if kind == "check" else (18, 4)
    item_style = body.clone(f"{kind}-item", leftIndent=indent, bulletIndent=bullet_indent, spaceAfter=3)
    if kind == "bullet":
        item_style.bulletFontName = "Symbol"  # the text fonts have no code of their own for this sign
    for number, item in enumerate(items, start=1):
        markup = hyphenated(item) if narrow else item
        kind_of_item = Check if kind == "check" else Paragraph
        yield kind_of_item(markup, item_style, bulletText="•" if kind == "bullet" else f"{number}.")
    yield Spacer(1, 4)


def _table(rows: tuple[tuple[str, ...], ...], width: float) -> Table:
    cells = [
        [Paragraph(cell, style.HEAD_CELL if index == 0 else style.CELL) for cell in row]
        for index, row in enumerate(rows)
    ]
    columns = list(zip(*cells, strict=True))
    # No column is narrower than its longest word; what is left goes where the text is longest.
    least = [max(cell.minWidth() for cell in column) + 13 for column in columns]
    weights = [min(max(len(cell.getPlainText()) for cell in column), 50) for column in columns]
    spare = width - sum(least)
    widths = [low + spare * weight / sum(weights) for low, weight in zip(least, weights, strict=True)]
    table = Table(cells, colWidths=widths, repeatRows=1)
    table.setStyle(
        [
            ("BACKGROUND", (0, 0), (-1, 0), style.BROWN),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [style.WHITE, style.BEIGE]),
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, style.SAND),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
        ]
    )
    return table


def _notice(block: Box, body: ParagraphStyle, width: float) -> Table:
    colour = style.SIGNAL_COLOURS[block.kind]
    title = Paragraph(f"{block.kind.upper()}: {inline(block.title)}", style.BOX_TITLE)
    table = Table([[[title, Paragraph(block.markup, body)]]], colWidths=[width])
    table.setStyle([("BACKGROUND", (0, 0), (-1, -1), style.BEIGE), ("LINEBEFORE", (0, 0), (0, -1), 5, colour)])
    return table
