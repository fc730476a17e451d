"""Converts HTML to Markdown, so that all kinds of pages share one parser, one reader and one set of anchors."""

import contextlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import bs4
import msgspec
from bs4.dammit import EncodingDetector
from bs4.element import Comment, PreformattedString
from markdownify import MarkdownConverter

from lutrin.errors import DocumentError
from lutrin.ingest.decoding import codec_of
from lutrin.ingest.formulas import UNREAD
from lutrin.ingest.grids import Cell, grid_of, spans
from lutrin.ingest.html_view import settle, words_of
from lutrin.ingest.markdown import named, parse_markdown
from lutrin.ingest.wording import true_title, without_ligatures
from lutrin.records import Document, Notice

_MAIN = ("main", "[role=main]", "article", "#content", "body")
_LEAST_MAIN = 0.4
"""Least share of the page's text in an element that may be its whole content."""
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_BAR = re.compile(r"(?<!\\)\|")
_RUN = re.compile(r"`{3,}")
_TITLE = re.compile(r"^# ", re.MULTILINE)
_HEADING = re.compile(r"^(?:(?P<fence>`{3,})(?P<info>[^\n]*)|(?P<level>#{1,6}) )", re.MULTILINE)
"""The beginning of a heading, or the beginning or end of code."""
_BLOCKS = frozenset(
    "div section article aside main body [document] p hr ul ol li dl dt dd pre table td th blockquote "
    "h1 h2 h3 h4 h5 h6".split()
)
_BLOCK = re.compile(r"```|[-|>#:]|\d+[.)] |!\[")
"""Begins a block other than running text."""
_STRUCK = frozenset({"del", "s", "strike"})
_DEEPEST = 200
_LONG_NAMED, _MOST_NAMED = 200, 12
"""Characters of a page's part that a notice quotes, and the number of parts."""


class _Tag(bs4.Tag):
    """An element that finds its ancestors by a simple walk: the converter asks each of them for a `pre`."""

    # Without it, bs4 searches each element for a child of this name when asked whether it was removed.
    _decomposed = False

    def find_parent(self, name: Any = None, attrs: Any = None, **others: Any) -> Any:  # noqa: ANN401 - as its base has it
        if not isinstance(name, str) or attrs or others:
            return super().find_parent(name, attrs or {}, **others)
        return next((parent for parent in self.parents if parent.name == name), None)


class _Converter(MarkdownConverter):
    """Writes a settled tree as Markdown for Lutrin's own parser."""

    def __init__(self) -> None:
        super().__init__(
            heading_style="atx", bullets="-", escape_misc=True, newline_style="backslash", wrap=False,
            sub_symbol="<sub>", sup_symbol="<sup>",
        )  # fmt: skip
        self._cells: dict[int, str] = {}
        """Texts of the cells read so far, by the identity of their elements."""

    def convert_a(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        address = str(el.get("href") or "")
        if address.startswith(("http://", "https://", "mailto:")):
            return str(super().convert_a(el, text, parent_tags))  # type: ignore[misc]  # its package has no annotations
        return text  # others lead into files that the reader does not have

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Escape Markdown characters; three colons would begin a box. Replace ligatures by letters."""
        escaped = str(super().escape(without_ligatures(text), parent_tags))  # type: ignore[misc]  # its package has no annotations
        return escaped.replace(":::", "\\:::")

    def convert_div(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        kind, text = el.get("data-box"), text.strip()
        title = str(el.get("data-title") or "").replace("]", "\\]").replace("[", "\\[")
        if not kind or "_inline" in parent_tags:
            return f" {title} {text} " if "_inline" in parent_tags else f"\n\n{text}\n\n"
        return f"\n\n:::{kind}{f'[{title}]' if title else ''}\n\n{text}\n\n:::\n\n"

    convert_aside = convert_section = convert_article = convert_address = convert_center = convert_div

    def convert_del(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Mark struck-out text only once: nested marks would form a fence."""
        if not _STRUCK.isdisjoint(parent_tags):
            return text
        return str(super().convert_del(el, text, parent_tags))  # type: ignore[misc]  # its package has no annotations

    convert_s = convert_strike = convert_del
    convert_fieldset = convert_legend = convert_dialog = convert_menu = convert_hgroup = convert_div

    def convert_br(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Break a line; between blocks there is none."""
        beside = (_beside(el.previous_siblings), _beside(el.next_siblings))
        is_apart = any(one is None or one.name in _BLOCKS for one in beside) and el.parent.name in _BLOCKS
        return text if is_apart else str(super().convert_br(el, text, parent_tags))  # type: ignore[misc]  # its package has no annotations

    def convert_tex(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        tex = str(el["data-tex"]).replace("$", r"\$")
        if "_inline" in parent_tags:
            tex = tex.replace("|", r"\vert ")
        elif el.get("display"):
            return f"\n\n$$\n{tex}\n$$\n\n"
        return f"${tex}$"

    def convert_note(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        return f"[^{el['data-name']}]"

    def convert_notetext(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        return f"\n\n[^{el['data-name']}]: {_indent(text.strip())}\n\n" if text.strip() else ""

    def convert_dt(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        text, following, before = " ".join(text.split()), el.find_next_sibling(), el.find_previous_sibling()
        if following is None or following.name not in {"dt", "dd"} or "_inline" in parent_tags:
            return f"\n\n**{text}**\n\n" if text else ""
        apart = "" if before is not None and before.name == "dt" else "\n\n"
        return f"{apart}{text}\n" if text else ""

    def convert_summary(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        return f"\n\n{text.strip()}\n\n" if text.strip() else ""

    def convert_dd(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Write a term's definition below it; further paragraphs follow."""
        text, before = text.strip(), el.find_previous_sibling()
        if "_inline" in parent_tags or before is None or before.name not in {"dt", "dd"}:
            return f"\n\n{text}\n\n"
        if not text or el.find_previous_sibling("dt") is None:
            return f"{text}\n\n"
        if text.startswith(("`", "|", ":")) and "\n" in text:  # a block, which needs a line of its own
            text = f"&#8203;\n\n{text}"
        return f":   {_indent(text)}\n\n"

    def convert_figcaption(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        caption, *legend = text.strip().split("\n\n")
        while legend and caption.strip()[-1:] not in ".!?" and not _BLOCK.match(legend[0]):
            caption = f"{caption.strip()} {legend.pop(0)}"  # "Figure 3", and what it shows in a paragraph of its own
        return "\n\n".join(["", f"*{caption.strip()}*", *legend, ""]) if caption else ""

    convert_caption = convert_figcaption

    def convert_li(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Write an item with its number in the browser; letters are written as text, for Markdown has no such lists."""
        mark, text = str(el.get("data-mark") or ""), text.strip()
        if "_inline" in parent_tags:
            return f" {mark} {text};" if text else ""
        if mark and not re.fullmatch(r"\d{1,9}[.)]", mark):
            mark, text = "-", f"{escape(mark)} {text}".strip()
        bullet = f"{mark or '-'} "
        lines = "\n".join(f"{' ' * len(bullet)}{line}" if line else "" for line in text.split("\n"))
        return f"{bullet}{lines[len(bullet) :]}\n" if text else "\n"

    def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        if "_inline" in parent_tags:
            return (
                f" `{' '.join(text.split())}` " if text.strip() and "`" not in text else f" {' '.join(text.split())} "
            )
        text = text.removeprefix("\n").removesuffix("\n")
        return f"\n\n{fence(text, el.get('data-code') or '')}\n\n" if text.strip() else ""

    def convert_td(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        self._cells[id(el)] = _BAR.sub(r"\\|", " ".join(text.replace("\\\n", " ").split()))
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401, ARG002 - as its base has it
        return ""

    def convert_table(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ANN401 - as its base has it
        """Write a table's grid: a row of heads, then full rows; a nested table becomes running text."""
        rows = [row for row in el.find_all("tr") if row.find_parent("table") is el]
        cells = [[self._cell(cell) for cell in row.children if cell.name in {"td", "th"}] for row in rows]
        if "_inline" in parent_tags:
            caption = text.strip().strip("*")
            rows_of_text = (": ".join(cell.text for cell in row if cell.text) for row in cells)
            return f" {'; '.join(part for part in (caption, *rows_of_text) if part)} "
        marked = sum(row.parent is not None and row.parent.name == "thead" for row in rows)
        grid = grid_of(cells, marked, infer=True)
        if len(grid.header) == 1 and not marked:
            return f"{text}\n\n" + "\n\n".join(cell.text for row in cells for cell in row if cell.text) + "\n\n"
        lines = [grid.header, ["---"] * len(grid.header), *(row for row in grid.rows if any(row))]
        drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{text}\n\n{drawn}\n\n" if any(grid.header) or len(lines) > 2 else ""

    def _cell(self, cell: Any) -> Cell:  # noqa: ANN401 - as bs4 has it
        across, down = spans(str(cell.get("colspan") or ""), str(cell.get("rowspan") or ""))
        return Cell(self._cells.pop(id(cell), ""), cell.name == "th", across, down)


def _beside(siblings: Iterable[Any]) -> Any:  # noqa: ANN401 - as bs4 has it
    """The next visible sibling of an element; None at the end of its parent."""
    return next((one for one in siblings if not isinstance(one, Comment) and str(one).strip()), None)


def _indent(text: str) -> str:
    """Indent the lines after the first as Markdown requires for a definition or a note."""
    first, *others = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line else "" for line in others)])


def escape(text: str) -> str:
    """Text with backslashes before markup characters."""
    return re.sub(r"([\\`*_\[\]<>{}#|~$&])", r"\\\1", text)


def fence(code: str, language: str) -> str:
    """Code between fences longer than any inside it."""
    fence = "`" * max([3, *(len(run) + 1 for run in _RUN.findall(code))])
    return f"{fence}{language}\n{code}\n{fence}"


def to_markdown(element: Any, styles: str = "", left_out: list[str] | None = None) -> str:  # noqa: ANN401 - as bs4 has it
    """Convert an element with its children to Markdown; words outside of the page's text are added to `left_out`."""
    _close(element)
    _flatten(element)
    words = settle(element, styles)
    if left_out is not None:
        left_out += words
    text = str(_Converter().convert_soup(element)).replace("\u00a0", " ").replace("\r", "")
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


_CLOSES = {name: names for names in ({"li"}, {"p"}, {"dt", "dd"}, {"td", "th"}, {"option"}) for name in names}
_CLOSES["tr"] = {"tr", "td", "th"}
"""Elements that end the previous one, whose end tag HTML lets authors omit."""


def _close(element: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Separate siblings that the parser nested for lack of an end tag."""
    for tag in [tag for tag in element.descendants if tag.name in _CLOSES]:
        while tag.parent is not None and tag.parent is not element and tag.parent.name in _CLOSES[tag.name]:
            before = tag.parent
            for moved in [*tag.next_siblings][::-1]:
                before.insert_after(moved)
            before.insert_after(tag)


def _flatten(element: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Remove tags that are nested more deeply than any page needs, keeping their words."""
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
    """Parse HTML or XHTML into a tree; decode bytes as UTF-8 if valid, else in the encoding declared to browsers."""
    if isinstance(markup, bytes) and b"\x1b" not in markup:  # with which 7-bit encodings of Japanese change alphabets
        with contextlib.suppress(UnicodeDecodeError):
            markup = markup.decode("utf-8-sig")
    if isinstance(markup, bytes) and not markup.startswith((b"\xff\xfe", b"\xfe\xff")):
        label = EncodingDetector.find_declared_encoding(markup, is_html=True) or ""
        codec = codec_of(label) if label else ""
        markup = markup.decode(codec, errors="replace") if codec and codec != "utf-8" else markup
    with warnings.catch_warnings():
        # XHTML and the few XML files of an EPUB deliberately go through the same forgiving parser.
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        return bs4.BeautifulSoup(markup, "html.parser", element_classes={bs4.Tag: _Tag})


def main_of(soup: bs4.BeautifulSoup) -> Any:  # noqa: ANN401 - as bs4 has it
    """The element with the page's own text."""
    whole = len(soup.get_text())
    for selector in _MAIN:
        found = soup.select(selector, limit=2)
        if len(found) == 1 and (selector == "body" or len(found[0].get_text()) >= _LEAST_MAIN * whole):
            return found[0]
    return soup


def document_of(text: str, filename: str, *, title: str = "", notices: tuple[Notice, ...] = ()) -> Document:
    """Build the document from a file's text converted to Markdown, and report unreadable formulas.

    Raises:
        DocumentError: There is no text.
    """
    if not any(c.isalnum() for c in text):
        raise DocumentError(filename, "holds no text")
    if title:  # in the front matter, where the reader and the parser look for it
        text = f"---\ntitle: {json.dumps(' '.join(title.split()), ensure_ascii=False)}\n---\n\n{text}"
    if unread := text.count(escape(UNREAD)):
        count = "1 formula" if unread == 1 else f"{unread} formulas"
        message = f"{count} cannot be read: only a picture is left; [formula ...] stands in the text"
        notices = (*notices, Notice(filename=filename, message=message))
    document = parse_markdown(text, filename)
    # Line numbers of the Markdown are not those of the file.
    own = (msgspec.structs.replace(notice, line=None) for notice in document.notices)
    return msgspec.structs.replace(document, notices=(*notices, *own))


def left_out_notices(filename: str, texts: Iterable[str]) -> tuple[Notice, ...]:
    """List the words of a file outside of its text, such as menus: the beginning of each, once."""
    shown = [
        text if len(text) <= _LONG_NAMED else f"{text[:_LONG_NAMED]}\u2026" for text in dict.fromkeys(texts) if text
    ]
    if not shown:
        return ()
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    message = f"left out, as no part of the text: {named(shown[:_MOST_NAMED])}{more}"
    return (Notice(filename=filename, message=message),)


def words_beside(main: Any) -> list[str]:  # noqa: ANN401 - as bs4 has it
    """The visible words outside of the element with a page's own text."""
    return [
        text
        for holder in (main, *main.parents)
        for siblings in (holder.previous_siblings, holder.next_siblings)
        for one in siblings
        if holder.name not in {"body", "html"} and not isinstance(one, PreformattedString)
        if (text := words_of(one) if isinstance(one, bs4.Tag) else one.strip())
    ]


def lower_headings(text: str) -> str:
    """Move Markdown headings one level down, because the first level is a book's own title."""
    parts, done = [], 0
    for heading in _headings(text):
        parts += [text[done : heading.start()], "#" * min(6, len(heading["level"]) + 1), " "]
        done = heading.end()
    return "".join(parts) + text[done:]


def _headings(text: str) -> Iterator[re.Match[str]]:
    """The beginnings of headings, outside of code."""
    fence = ""
    for match in _HEADING.finditer(text):
        if match["level"]:
            if not fence:
                yield match
        elif not fence:
            fence = match["fence"]
        elif match["fence"].startswith(fence) and not match["info"]:
            fence = ""


def _with_title(text: str) -> str:
    """Make a page's first heading its title if nothing comes before it, and no heading is on its level or above."""
    levels = [len(match["level"]) for match in _headings(text)]
    is_title = text.startswith("#") and bool(levels) and min(levels[1:], default=7) > levels[0] > 1
    return f"# {text[levels[0] :].lstrip()}" if is_title else text


def parse_html(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a page of HTML; menus and other parts of its site are dropped, and reported.

    Raises:
        DocumentError: It contains no text.
    """
    soup = soup_of(data)
    title = true_title(soup.title.get_text()) if soup.title else ""
    styles = "\n".join(style.get_text() for style in soup.find_all("style"))
    main = main_of(soup)
    left_out = words_beside(main)
    text = _with_title(to_markdown(main, styles, left_out))
    notices = left_out_notices(filename, left_out)
    return document_of(text, filename, title="" if _TITLE.search(text) else title, notices=notices)
