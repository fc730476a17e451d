"""Documents of other formats, made for tests."""

import zipfile
from collections.abc import Mapping
from io import BytesIO

import pytest

from lutrin.ingest.epub import parse_epub
from lutrin.ingest.hypertext import parse_html
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import Document, Unit

CONTAINER = (
    '<?xml version="1.0"?><container><rootfiles><rootfile full-path="OEBPS/book.opf" '
    'media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def epub(pages: Mapping[str, str], *, title: str = "A Book", labels: Mapping[str, str] | None = None) -> bytes:
    """An EPUB of version 2 with a navigation; `pages` are bodies of XHTML in the order of the spine."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(pages)))
    points = "".join(
        f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{name}"/></navPoint>'
        for name, label in (labels or {}).items()
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": '<?xml version="1.0"?><package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{title}</dc:title></metadata><manifest>{items}"
            '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
            f'<spine toc="ncx">{spine}</spine></package>',
            "OEBPS/toc.ncx": f"<ncx><navMap>{points}</navMap></ncx>",
            **{
                f"OEBPS/{name}": f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
                f"<head><title>x</title><style>p {{}}</style></head><body>{body}</body></html>"
                for name, body in pages.items()
            },
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a Word document."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{named}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows: tuple[str, ...]) -> str:
    """A table of a Word document."""
    inside = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
    return f"<w:tbl>{inside}</w:tbl>"


def docx(*blocks: str, more_styles: str = "") -> bytes:
    """A Word document."""
    styles = more_styles + "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in ("Title", "heading 1", "heading 2", "Source Code", "caption")
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type='
            '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
            "</Relationships>",
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{"".join(blocks)}</w:body></w:document>',
        }
    )


def html(body: str) -> Document:
    """A page of HTML."""
    return parse_html(f"<h1>Page</h1>{body}".encode(), "a.html")


def markdown(body: str) -> Document:
    """A page of Markdown with HTML in it."""
    return parse_markdown(f"# Page\n\n{body}\n", "a.md")


def book(body: str) -> Document:
    """An EPUB."""
    return parse_epub(epub({"a.xhtml": f"<h1>Page</h1>{body}"}), "a.epub")


def units(document: Document) -> list[Unit]:
    """The units that can be quoted."""
    return [unit for section in document.sections for unit in section.units]


def texts(document: Document) -> list[str]:
    """Its texts."""
    return [unit.text for unit in units(document)]


READERS = pytest.mark.parametrize("read", [html, markdown, book])
