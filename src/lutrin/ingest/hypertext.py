"""Converts HTML to Markdown, so that all kinds of pages share one parser, one reader and one set of anchors."""

import json
import re
import warnings
from typing import Any

import bs4
import msgspec
from markdownify import MarkdownConverter

from lutrin.errors import DocumentError
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import Document, Notice

_UNSEEN = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "form", "button", "iframe", "object", "svg",
    "head", "aside.sidebar", "[role=navigation]", "[hidden]", "[aria-hidden=true]", ".headerlink", ".anchor-link",
)  # fmt: skip
_MAIN = ("main", "[role=main]", "article", "#content", "body")
_LEAST_MAIN = 0.4
"""An element with a smaller share of the page's text does not hold all its content."""
_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|sourceCode|brush:)[-_ ]?([\w+#]+)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_DEEPEST = 200


class _Converter(MarkdownConverter):
    """Writes Markdown for Lutrin's own parser."""

    def convert_a(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Keep links to the web; others lead into files that the reader does not have."""
        address = str(el.get("href") or "")
        if address.startswith(("http://", "https://", "mailto:")):
            return str(super().convert_a(el, text, parent_tags))  # type: ignore[misc]  # its package has no annotations
        return text

    def convert_aside(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        """A box: a warning stays one."""
        return _box(el, text) or f"\n\n{text.strip()}\n\n"

    def convert_div(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        """A box, or nothing but a block."""
        return _box(el, text) or f"\n\n{text.strip()}\n\n"

    def convert_dt(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        """Write a term before its meaning."""
        return f"\n\n**{text.strip()}**\n\n" if text.strip() else ""

    def convert_dd(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        """Write a term's meaning as a paragraph."""
        return f"\n\n{text.strip()}\n\n"

    def convert_figcaption(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        """Write a caption as its own paragraph."""
        return f"\n\n*{text.strip()}*\n\n" if text.strip() else ""


_BOXES = {
    "warning": "warning",
    "caution": "caution",
    "danger": "danger",
    "note": "note",
    "tip": "tip",
    "important": "info",
}


def _box(element: Any, text: str) -> str:  # noqa: ANN401 - as bs4 has it
    """Convert an admonition of a site generator to ours."""
    names = {str(name).lower() for name in element.get("class") or ()}
    kind = next((_BOXES[name] for name in _BOXES if name in names), "")
    if (
        not kind
        or not names & {"admonition", "alert", "callout", "theme-admonition", "box", *_BOXES}
        or not text.strip()
    ):
        return ""
    return f"\n\n:::{kind}\n\n{text.strip()}\n\n:::\n\n"


def _language(element: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """The language of a code block, from the classes of the generators."""
    around = (
        element,
        *element.find_all("code", limit=1),
        element.parent,
        element.parent.parent if element.parent else None,
    )
    for tag in around:
        names = " ".join(tag.get("class") or ()) if tag is not None else ""
        if match := _LANGUAGE.search(names):
            return match[1]
    return ""


def to_markdown(element: Any) -> str:  # noqa: ANN401 - as bs4 has it
    """An element with its children as Markdown."""
    for unseen in element.select(", ".join(_UNSEEN)):
        unseen.decompose()
    _flatten(element)
    converter = _Converter(
        heading_style="atx", bullets="-", code_language_callback=_language, escape_misc=True, newline_style="backslash",
        wrap=False, strip_pre=None, table_infer_header=True,
    )  # fmt: skip
    text = str(converter.convert_soup(element)).replace("\u00a0", " ").replace("\r", "")
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


def _flatten(element: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Remove tags that are nested more deeply than any page needs, but keep their words."""
    pending = [(element, 0)]
    while pending:
        tag, depth = pending.pop()
        for child in list(tag.children):
            if not isinstance(child, bs4.Tag):
                continue
            if depth >= _DEEPEST:
                child.replace_with(child.get_text(" "))
            else:
                pending.append((child, depth + 1))


def soup_of(markup: str | bytes) -> bs4.BeautifulSoup:
    """HTML or XHTML as a tree; bytes in whatever encoding they declare."""
    with warnings.catch_warnings():
        # XHTML and the few XML files of an EPUB deliberately go through the same forgiving parser.
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        return bs4.BeautifulSoup(markup, "html.parser")


def main_of(soup: bs4.BeautifulSoup) -> Any:  # noqa: ANN401 - as bs4 has it
    """The element that holds the page's own text."""
    whole = len(soup.get_text())
    for selector in _MAIN:
        found = soup.select_one(selector)
        if found is not None and (selector == "body" or len(found.get_text()) >= _LEAST_MAIN * whole):
            return found
    return soup


def titled(title: str, body: str) -> str:
    """Markdown with its title in the front matter, where the reader and the parser look for it."""
    return f"---\ntitle: {json.dumps(' '.join(title.split()), ensure_ascii=False)}\n---\n\n{body}" if title else body


def document_of(source: str, filename: str, notices: tuple[Notice, ...] = ()) -> Document:
    """Build the document from a file's text converted to Markdown.

    Raises:
        DocumentError: There is no text.
    """
    if not any(c.isalnum() for c in source.partition("\n---\n")[2] or source):
        raise DocumentError(filename, "holds no text")
    document = parse_markdown(source, filename)
    return msgspec.structs.replace(document, notices=notices)


def parse_html(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a page of HTML; menus, forms and scripts are left out.

    Args:
        data: The file.
        filename: Path relative to the book's folder.

    Returns:
        The document; its source is the page's text as Markdown.

    Raises:
        DocumentError: It holds no text.
    """
    soup = soup_of(data)
    heading = soup.find("h1")
    title = "" if heading is not None else (soup.title.get_text() if soup.title else "")
    return document_of(titled(title, to_markdown(main_of(soup))), filename)
