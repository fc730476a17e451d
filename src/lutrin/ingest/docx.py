"""Word documents (DOCX): headings, lists, tables, notes and formulas, by way of HTML."""

import zipfile
from io import BytesIO
from typing import Any

import mammoth

from lutrin.errors import DocumentError
from lutrin.ingest.docx_shown import FORMULA, LABEL, as_shown
from lutrin.ingest.formulas import tag_of
from lutrin.ingest.hypertext import document_of, soup_of, titled, to_markdown, unread_notices
from lutrin.ingest.titles import true_title
from lutrin.records import Document

MAX_UNPACKED_BYTES = 200 * 1024 * 1024
_CORE = "docProps/core.xml"
_STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Caption'] => p:fresh > em:fresh
p[style-name='caption'] => p:fresh > em:fresh
"""


def parse_docx(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a Word document of 2007 or later.

    Raises:
        DocumentError: It is encrypted, broken, larger than the limit when unpacked, or holds no text.
    """
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise DocumentError(filename, "is encrypted, or an old Word document; save it as .docx without a password")
    try:
        core = _properties(data, filename)
        shown, styles = as_shown(data)
        html = mammoth.convert_to_html(BytesIO(shown), style_map=styles + _STYLES, convert_image=_no_image).value
    except DocumentError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file mammoth raises whatever its parser stumbles on
        raise DocumentError(filename, f"is not a complete Word document ({type(error).__name__}: {error})") from None
    soup = soup_of(html)
    _labels(soup)
    _formulas(soup)
    name = soup_of(core).find("dc:title") if core else None
    named = soup.select_one("h1.title")
    title = "" if named is not None else true_title(name.get_text() if name is not None else "")
    _level(soup)
    text, unread = to_markdown(soup)
    return document_of(titled(title, text), filename, unread_notices(filename, unread))


def _labels(soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Give each item of a list, and each heading, the number that Word shows before it."""
    for text in list(soup.find_all(string=LABEL)):
        match = LABEL.search(text)
        if match is None:
            continue
        holder = text.find_parent(["li", *(f"h{level}" for level in range(1, 7))])
        if holder is not None and holder.name == "li":
            holder["data-mark"] = match[1]
        shown = "" if holder is not None and holder.name == "li" else f"{match[1]} "
        text.replace_with(f"{text[: match.start()]}{shown}{text[match.end() :]}")


def _formulas(soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
    for text in list(soup.find_all(string=FORMULA)):
        parts = FORMULA.split(text)
        alone = len(parts) == 4 and not (parts[0] + parts[3]).strip() and parts[1] == "block"
        made: list[Any] = []
        for place, part in enumerate(parts):
            if place % 3 == 2:
                made.append(tag_of(part, display=alone))
            elif place % 3 == 0 and part:
                made.append(part)
        text.replace_with(*made)


def _properties(data: bytes, filename: str) -> bytes:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if sum(item.file_size for item in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise DocumentError(filename, f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB")
        return archive.read(_CORE) if _CORE in archive.namelist() else b""


def _no_image(image: Any) -> list[Any]:  # noqa: ANN401 - as mammoth has it
    """Keep a picture's description, but not its bytes."""
    text = getattr(image, "alt_text", None)
    return [mammoth.html.text(text)] if text else []


def _level(soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Under a title of the whole document, make chapters headings of the second level."""
    title = soup.select_one("h1.title")
    if title is None:
        return
    for level in range(5, 0, -1):
        for heading in soup.find_all(f"h{level}"):
            if heading is not title:
                heading.name = f"h{level + 1}"
