"""Slides (PPTX): titles, text of shapes, tables, charts, diagrams and notes, slide by slide, by way of HTML.

Source: ECMA-376, part 1, chapters 19 to 21; python-pptx reads the package.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from itertools import groupby
from typing import Any

import msgspec
from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.util import Length

from lutrin.errors import DocumentError
from lutrin.ingest.hypertext import document_of, soup_of, to_markdown
from lutrin.ingest.wording import true_title
from lutrin.records import Document, Notice
from lutrin_formats.archives import require_small

_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_DATA = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_LISTED = frozenset({PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY})
"""Placeholders whose paragraphs are the points of a list."""
_FURNITURE = frozenset({PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER, PP_PLACEHOLDER.SLIDE_NUMBER})
"""Placeholders repeated on every slide."""
_BAND = Length(457_200)
"""Half an inch: shapes whose tops are closer than this are in one row."""


@dataclass
class Slide:
    """A slide, as a future section."""

    title: str
    html: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def markup(self) -> str:
        """The section with its notes below."""
        notes = ["<h3>Notes</h3>", *self.notes] if self.notes else []
        return "".join([f"<h2>{escape(self.title)}</h2>", *self.html, *notes])


def parse_pptx(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a presentation of PowerPoint 2007 or later; hidden slides are skipped and reported.

    Raises:
        DocumentError: It is encrypted, broken, too large when unpacked, or contains no text.
    """
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise DocumentError(filename, "is encrypted, or an old presentation; save it as .pptx without a password")
    require_small(data, filename, "presentation")
    try:
        deck = Presentation(BytesIO(data))
        slides = [None if _is_hidden(one) else _slide(one, number) for number, one in enumerate(deck.slides, 1)]
        title = true_title(deck.core_properties.title or "")
    except (DocumentError, MemoryError):
        raise
    except Exception as error:
        raise DocumentError(
            filename, "is damaged, or no presentation; open it in PowerPoint and save it again"
        ) from error
    return document_of_slides(slides, filename, title)


def document_of_slides(slides: Sequence[Slide | None], filename: str, title: str) -> Document:
    """Build the document of a presentation, whose sections have their slide's number as page.

    Args:
        slides: None for a hidden one.
        title: Title of the whole presentation; empty: the first slide's.
    """
    shown = [(number, slide) for number, slide in enumerate(slides, 1) if slide is not None]
    title = title or next((slide.title for _, slide in shown), "")
    markdown = to_markdown(soup_of("".join(slide.markup for _, slide in shown)))
    hidden = [str(number) for number, slide in enumerate(slides, 1) if slide is None]
    notices = []
    if hidden:
        message = f"hidden in the presentation, so not read: slide {', '.join(hidden)}"
        notices.append(Notice(filename=filename, message=message))
    document = document_of(markdown, filename, title=title, notices=tuple(notices))
    return msgspec.structs.replace(document, sections=tuple(_with_pages(document, shown)))


def _with_pages(document: Document, shown: Sequence[tuple[int, Slide]]) -> Iterator[Any]:
    """The sections with the numbers of their slides, matched by title in order."""
    place = -1
    for section in document.sections:
        if section.level == 1 and section.units:  # the first slide's title is that of the whole
            place = 0
        if section.level == 2:
            names = [_flat(slide.title) for _, slide in shown[place + 1 :]]
            place += 1 + names.index(_flat(section.title)) if _flat(section.title) in names else 0
        yield msgspec.structs.replace(section, page=shown[place][0]) if place >= 0 else section


def _flat(title: str) -> str:
    return "".join(character for character in title if character.isalnum())


def _slide(slide: Any, number: int) -> Slide:  # noqa: ANN401 - python-pptx has no annotations
    title_shape = slide.shapes.title
    title = " ".join(title_shape.text_frame.text.split()) if title_shape is not None else ""
    made = Slide(title or f"Slide {number}")
    for shape in _in_reading_order(slide.shapes):
        if title_shape is None or shape.shape_id != title_shape.shape_id:
            made.html += _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        lines = slide.notes_slide.notes_text_frame.text.splitlines()
        made.notes += [f"<p>{escape(line)}</p>" for line in lines if line.strip()]
    return made


def _is_hidden(slide: Any) -> bool:  # noqa: ANN401 - python-pptx has no annotations
    return slide.element.get("show") in {"0", "false"}


def _in_reading_order(shapes: Iterable[Any]) -> list[Any]:
    """Shapes from the top down, adjacent ones from left to right."""
    return sorted(shapes, key=lambda shape: ((shape.top or 0) // _BAND, shape.left or 0))


def _shape(shape: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx has no annotations
    if shape.is_placeholder and shape.placeholder_format.type in _FURNITURE:
        return
    if hasattr(shape, "shapes"):  # a group
        for inner in _in_reading_order(shape.shapes):
            yield from _shape(inner)
    elif getattr(shape, "has_table", False):
        yield _table(shape.table)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    elif shape.has_text_frame:
        listed = shape.is_placeholder and shape.placeholder_format.type in _LISTED
        yield from paragraphs_html(
            [(paragraph.level, _paragraph(paragraph)) for paragraph in shape.text_frame.paragraphs], listed=listed
        )
    else:
        yield from _diagram(shape)
        if description := shape.element.xpath(".//p:cNvPr/@descr"):
            yield f"<p>{escape(description[0])}</p>"


def _paragraph(paragraph: Any) -> str:  # noqa: ANN401 - python-pptx has no annotations
    """A paragraph's runs as HTML; line breaks become blanks, for a slide breaks lines for lack of room."""
    pieces = []
    for run in paragraph.runs:
        text = escape(run.text.replace("\v", " "))
        pieces.append(f"<strong>{text}</strong>" if run.font.bold and text.strip() else text)
    return " ".join("".join(pieces).split()) or escape(" ".join(paragraph.text.split()))


def paragraphs_html(paragraphs: Iterable[tuple[int, str]], *, listed: bool) -> Iterator[str]:
    """Paragraphs with their depths, as the items of a list or separately.

    >>> "".join(paragraphs_html([(0, "a"), (1, "b"), (0, "c")], listed=True))
    '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'
    """
    rows = [(level, text) for level, text in paragraphs if text]
    if not listed or len(rows) < 2:
        yield from (f"<p>{text}</p>" for _, text in rows)
        return
    depth = -1
    html = ""
    for level, text in rows:
        deeper = min(level, depth + 1)
        if deeper > depth:
            html += "<ul>"
        else:
            html += "</li>" + "</ul></li>" * (depth - deeper)
        html += f"<li>{text}"
        depth = deeper
    yield html + "</li></ul>" * (depth + 1)


def _table(table: Any) -> str:  # noqa: ANN401 - python-pptx has no annotations
    rows = []
    for number, row in enumerate(table.rows):
        name = "th" if number == 0 and table.first_row else "td"
        cells = [f"<{name}>{escape(' '.join(cell.text_frame.text.split()))}</{name}>" for cell in row.cells]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _chart(chart: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx has no annotations
    """A chart as the table behind it."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield f"<p>{escape(chart.chart_title.text_frame.text)}</p>"
    for plot in chart.plots:
        series = list(plot.series)
        head = "".join(f"<th>{escape(str(one.name or ''))}</th>" for one in series)
        rows = []
        for place, category in enumerate(plot.categories):
            values = "".join(f"<td>{_number(one.values, place)}</td>" for one in series)
            rows.append(f"<tr><th>{escape(str(category))}</th>{values}</tr>")
        if rows:
            yield f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _number(values: Sequence[float | None], place: int) -> str:
    value = values[place] if place < len(values) else None
    return "" if value is None else f"{value:g}"


def _diagram(shape: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx has no annotations
    """The words of a diagram (SmartArt), stored in its own part."""
    for reference in shape.element.iter(_DIAGRAM):
        part = shape.part.related_part(reference.get(_DATA))
        root = soup_of(part.blob).find("dgm:datamodel") or soup_of(part.blob)
        texts = [" ".join(one.get_text() for one in paragraph.find_all("a:t")) for paragraph in root.find_all("a:p")]
        yield from paragraphs_html([(0, escape(" ".join(text.split()))) for text, _ in groupby(texts)], listed=True)
