"""OpenDocument text and presentations (ODT, ODP) of LibreOffice and others, by way of HTML.

Source: OASIS OpenDocument 1.3, part 3; odfdo reads the package.
"""

import zipfile
from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import Any

import odfdo

from lutrin.errors import DocumentError
from lutrin.ingest.hypertext import document_of, soup_of, to_markdown
from lutrin.ingest.wording import true_title
from lutrin.records import Document
from lutrin_formats.archives import require_small
from lutrin_formats.slides import Slide, document_of_slides

_ENCRYPTED = b"encryption-data"
_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset(
    "office:annotation office:annotation-end text:tracked-changes text:table-of-content text:alphabetical-index "
    "text:illustration-index text:table-index text:bibliography-index office:forms text:sequence-decls "
    "text:page-number text:page-count presentation:notes draw:page-thumbnail presentation:footer presentation:header "
    "presentation:date-time".split()
)
"""An editor's comments, tables of contents and figures, and repeated page elements."""
_THROUGH = frozenset("text:section draw:g draw:a text:index-body office:text".split())
_BOXED = frozenset(
    "draw:text-box draw:custom-shape draw:rect draw:ellipse draw:line draw:connector draw:caption".split()
)
_BREAKS = {"text:tab": " ", "text:line-break": "<br>", "text:soft-page-break": ""}


def parse_odt(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a text document.

    Raises:
        DocumentError: It is encrypted, broken, too large when unpacked, or contains no text.
    """
    document = _open(data, filename, "text document", "office:text")
    reader = _Reader(document)
    markup = "".join(reader.blocks(document.body))
    soup = soup_of(markup)
    own_title = soup.find("h1", class_="title")
    title = true_title(document.meta.title or "") if own_title is None else own_title.get_text()
    if own_title is not None:
        own_title.decompose()
        for heading in soup.find_all(["h1", "h2", "h3", "h4", "h5"]):
            heading.name = f"h{int(heading.name[1]) + 1}"
    return document_of(to_markdown(soup), filename, title=title)


def parse_odp(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a presentation; hidden slides are skipped and reported; raises as `parse_odt`."""
    document = _open(data, filename, "presentation", "office:presentation")
    reader = _Reader(document)
    slides = [reader.slide(page, number) for number, page in enumerate(document.body.get_elements("draw:page"), 1)]
    return document_of_slides(slides, filename, true_title(document.meta.title or ""))


def _open(data: bytes, filename: str, kind: str, body: str) -> Any:  # noqa: ANN401 - odfpy has no annotations
    require_small(data, filename, kind)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if _MANIFEST in archive.namelist() and _ENCRYPTED in archive.read(_MANIFEST):
            raise DocumentError(filename, "is encrypted; save it without a password")
    try:
        document = odfdo.Document(BytesIO(data))
        tag = document.body.tag
    except MemoryError:
        raise
    except Exception as error:
        raise DocumentError(filename, f"is damaged, or no {kind}; open it in LibreOffice and save it again") from error
    if tag != body:
        raise DocumentError(filename, f"is no {kind}, whatever its name says")
    return document


class _Reader:
    """Turns elements of a document into HTML."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401 - odfpy has no annotations
        self._document = document
        self._notes: list[str] = []
        """Notes of the present paragraph, which go below it."""

    def slide(self, page: Any, number: int) -> Slide | None:  # noqa: ANN401 - odfpy has no annotations
        """A slide; None for a hidden one."""
        style = self._document.get_style("drawing-page", page.get_attribute("draw:style-name") or "")
        properties = style.get_element("style:drawing-page-properties") if style is not None else None
        if properties is not None and properties.get_attribute("presentation:visibility") == "hidden":
            return None
        title, html = "", []
        for child in page.children:
            words = " ".join(child.inner_text.split()) if child.tag == "draw:frame" else ""
            if child.get_attribute("presentation:class") == "title" and not title:
                title = words
            elif child.tag not in _SKIPPED:
                html += list(self._block(child))
        made = Slide(title or f"Slide {number}", html)
        for notes in page.get_elements("presentation:notes"):
            for frame in notes.get_elements("draw:frame"):
                if frame.get_attribute("presentation:class") == "notes":
                    made.notes += list(self._block(frame))
        return made

    def blocks(self, element: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        """The contents of an element, block by block."""
        for child in element.children:
            yield from self._block(child)

    def _block(self, element: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        tag = element.tag
        if tag in _SKIPPED:
            return
        if tag in {"text:p", "text:h"}:
            yield from self._paragraph(element)
        elif tag == "text:list":
            items = ["".join(self.blocks(item)) for item in element.children if item.tag != "text:list-header"]
            head = [text for item in element.children if item.tag == "text:list-header" for text in self.blocks(item)]
            name = "ol" if self._is_numbered(element) else "ul"
            yield "".join([*head, f"<{name}>", *(f"<li>{item}</li>" for item in items), f"</{name}>"])
        elif tag == "table:table":
            yield self._table(element)
        elif tag == "draw:frame":
            yield from self._frame(element)
        elif tag in _THROUGH or tag in _BOXED:
            yield from self.blocks(element)
            yield from self._described(element)

    def _paragraph(self, element: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        frames = [text for frame in self._anchored(element) for text in self._frame(frame)]
        text = self._inline(element).strip()
        notes, self._notes = self._notes, []
        if text:
            style = self._style_of(element)
            if element.tag == "text:h":
                level = min(int(element.get_attribute("text:outline-level") or 1), 6)
                yield f"<h{level}>{text}</h{level}>"
            elif style == "Title":
                yield f'<h1 class="title">{text}</h1>'
            elif style in {"Preformatted_20_Text", "Preformatted Text"}:
                yield f"<pre>{text}</pre>"
            else:
                yield f"<p>{text}</p>"
        yield from frames
        yield from notes

    def _style_of(self, element: Any) -> str:  # noqa: ANN401 - odfpy has no annotations
        """The name of a paragraph's style, or of the parent of its automatic style."""
        name = element.get_attribute("text:style-name") or ""
        style = self._document.get_style("paragraph", name)
        parent = style.get_attribute("style:parent-style-name") if style is not None else None
        return str(parent or name)

    def _is_numbered(self, element: Any) -> bool:  # noqa: ANN401 - odfpy has no annotations
        name = element.get_attribute("text:style-name")
        style = self._document.get_style("list", name) if name else None
        first = next(iter(style.children), None) if style is not None else None
        return first is not None and first.tag == "text:list-level-style-number"

    def _anchored(self, element: Any) -> list[Any]:  # noqa: ANN401 - odfpy has no annotations
        """The outermost frames and shapes anchored in a paragraph."""
        found = []
        for child in element.children:
            if child.tag == "draw:frame" or child.tag in _BOXED:
                found.append(child)
            elif child.tag in {"text:span", "text:a", "draw:a"}:
                found += self._anchored(child)
        return found

    def _inline(self, element: Any) -> str:  # noqa: ANN401 - odfpy has no annotations
        pieces = [escape(element.text or "")]
        for child in element.children:
            tag = child.tag
            if tag == "text:s":
                pieces.append(" " * int(child.get_attribute("text:c") or 1))
            elif tag in _BREAKS:
                pieces.append(_BREAKS[tag])
            elif tag == "text:note":
                self._note(child)
            elif tag == "text:a":
                address = escape(child.get_attribute("xlink:href") or "")
                pieces.append(f'<a href="{address}">{self._inline(child)}</a>')
            elif tag == "text:ruby":
                pieces.append(escape(child.inner_text))
            elif tag not in _SKIPPED and tag != "draw:frame" and tag not in _BOXED:
                pieces.append(self._inline(child))
            pieces.append(escape(child.tail or ""))
        return "".join(pieces)

    def _note(self, note: Any) -> None:  # noqa: ANN401 - odfpy has no annotations
        body = note.get_element("text:note-body")
        citation = note.get_element("text:note-citation")
        number = f"{citation.inner_text.strip()}. " if citation is not None and citation.inner_text.strip() else ""
        text = "".join(self.blocks(body)) if body is not None else ""
        self._notes.append(f"<p>{number}{soup_of(text).get_text(' ', strip=True)}</p>" if text else "")

    def _table(self, table: Any) -> str:  # noqa: ANN401 - odfpy has no annotations
        rows = []
        for name, row in [
            ("th", row) for head in table.get_elements("table:table-header-rows") for row in head.children
        ] + [("td", row) for row in _rows(table)]:
            cells = []
            for cell in row.children:
                if cell.tag == "table:table-cell":
                    spans = "".join(
                        f' {html}="{cell.get_attribute(f"table:number-{kind}-spanned")}"'
                        for html, kind in (("colspan", "columns"), ("rowspan", "rows"))
                        if cell.get_attribute(f"table:number-{kind}-spanned")
                    )
                    cells.append(f"<{name}{spans}>{''.join(self.blocks(cell))}</{name}>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def _frame(self, frame: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        for child in frame.children:
            if child.tag == "draw:object":
                yield from self._formula(child)
            else:
                yield from self._block(child)
        yield from self._described(frame)

    def _formula(self, reference: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        """A formula, stored as MathML in its own part."""
        name = (reference.get_attribute("xlink:href") or "").removeprefix("./")
        try:
            content = self._document.container.get_part(f"{name}/content.xml")
        except (KeyError, ValueError, OSError):
            return
        math = soup_of(content).find(["math", "math:math"])
        if math is not None:
            yield f"<p>{str(math).replace('math:', '')}</p>"

    def _described(self, element: Any) -> Iterator[str]:  # noqa: ANN401 - odfpy has no annotations
        for child in element.children:
            if child.tag in {"svg:title", "svg:desc"} and child.inner_text.strip():
                yield f"<p>{escape(child.inner_text.strip())}</p>"


def _rows(table: Any) -> Iterator[Any]:  # noqa: ANN401 - odfpy has no annotations
    for child in table.children:
        if child.tag == "table:table-row":
            yield child
        elif child.tag in {"table:table-rows", "table:table-row-group"}:
            yield from _rows(child)
