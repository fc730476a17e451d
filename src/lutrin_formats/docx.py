"""Word documents (DOCX): headings, lists, tables, notes and formulas, by way of HTML.

Text that Word shows but does not store is inserted into WordprocessingML (ECMA-376, part 1, chapter 17) before mammoth
reads it: numbers of lists and headings, formulas, outline levels. Hidden text is removed. Each number and each formula
becomes a run between marks of the private use area, which are removed from the HTML.
"""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import mammoth

from lutrin.errors import DocumentError
from lutrin.ingest.formulas import tex_of
from lutrin.ingest.html_view import HEADINGS, tag_of
from lutrin.ingest.hypertext import document_of, left_out_notices, soup_of, to_markdown
from lutrin.ingest.wording import numeral, true_title
from lutrin.records import Document

MAX_UNPACKED_BYTES = 200 * 1024 * 1024
_STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Caption'] => p:fresh > em:fresh
p[style-name='caption'] => p:fresh > em:fresh
"""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_LABEL = re.compile("\ue000([^\ue000\ue001]*)\ue001")
"""The number that Word shows before a paragraph."""
_FORMULA = re.compile("\ue002(block|inline)\ue003([^\ue002\ue004]*)\ue004")
"""The display style of a formula, and its TeX; empty if it is unreadable."""
_PART = re.compile(r"word/(?:document|footnotes|endnotes|comments)\d*\.xml")
_RUNNING = re.compile(r"word/(?:header|footer)\d*\.xml")
_LISTED = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)|index \d", re.IGNORECASE)
"""Names of Word's styles for tables of contents and figures."""
_PLACE = re.compile(r"%(\d)")
_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_DEEPEST = 9
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("fldSimple", "smartTag", "customXml", "dir", "bdo"))
_SHADED = ("rPr/shd", "rPr/highlight", "pPr/shd", "pPr/highlight")
_GROUNDS = frozenset(f"{_W}{name}" for name in ("tc", "txbxContent"))
"""Table cells, whose styles shade rows and columns, and boxes, which are filled elsewhere."""
_READ_OF_RUNS = frozenset(
    f"{_W}{name}" for name in ("rStyle", "b", "i", "u", "strike", "caps", "smallCaps", "vertAlign", "ins", "del")
)
"""Properties of letters that mammoth renders; the others (fonts, sizes, languages) are dropped, because it reads them
slowly."""
_LEAST_MOVED = 3
"""Half points: a smaller shift of text is only cosmetic."""


def parse_docx(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a Word document of 2007 or later.

    Raises:
        DocumentError: It is encrypted, broken, too large when unpacked, or contains no text.
    """
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise DocumentError(filename, "is encrypted, or an old Word document; save it as .docx without a password")
    try:
        replacement, styles, core, running = _as_shown(data, filename)
        html = mammoth.convert_to_html(replacement, style_map=styles + _STYLES, convert_image=_no_image).value
    except (DocumentError, MemoryError):
        raise
    except Exception as error:
        raise DocumentError(filename, "is damaged, or no Word document; open it in Word and save it again") from error
    soup = soup_of(html)
    _set_labels(soup)
    _set_formulas(soup)
    own_title = soup.find("h1", class_="title")
    name = soup_of(core).find("dc:title") if own_title is None else None
    title = true_title(name.get_text()) if name is not None else ""
    for heading in soup.find_all(HEADINGS[:5]) if own_title is not None else ():
        if heading is not own_title:  # under a title of the whole document chapters have the second level
            heading.name = f"h{int(heading.name[1]) + 1}"
    notices = left_out_notices(filename, running)
    return document_of(to_markdown(soup), filename, title=title, notices=notices)


def _no_image(image: Any) -> list[Any]:  # noqa: ANN401 - as mammoth has it
    """Keep a picture's description, drop its bytes."""
    text = getattr(image, "alt_text", None)
    return [mammoth.html.text(text)] if text else []


def _set_labels(soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Give each list item and heading the number that Word shows before it."""
    for text in list(soup.find_all(string=_LABEL)):
        holder = text.find_parent(["li", *HEADINGS])
        is_item = holder is not None and holder.name == "li"
        if is_item and (match := _LABEL.search(text)):
            holder["data-mark"] = match[1]
        text.replace_with(_LABEL.sub("" if is_item else r"\1 ", text, count=1))


def _set_formulas(soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
    for text in list(soup.find_all(string=_FORMULA)):
        parts = _FORMULA.split(text)
        alone = len(parts) == 4 and not (parts[0] + parts[3]).strip() and parts[1] == "block"
        pieces = [[part] if part else [] for part in parts]
        pieces[1::3] = [[] for _ in parts[1::3]]
        pieces[2::3] = [[tag_of(tex, display=alone)] for tex in parts[2::3]]
        text.replace_with(*(one for part in pieces for one in part))


# What Word shows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Level:
    start: int = 1
    kind: str = "decimal"
    text: str = ""
    legal: bool = False
    """Whether all its numbers are decimal, even if those of the levels above are not."""


@dataclass(frozen=True)
class _Style:
    """Properties of a paragraph or character style, including its ancestors'; None for unset ones."""

    base: str | None = None
    numbers: str | None = None
    level: int | None = None
    outline: int | None = None
    hidden: bool | None = None
    shift: str | None = None
    """`superscript` or `subscript`."""
    shaded: bool | None = None
    """Whether it has its own background."""
    listed: bool | None = None
    """Whether it is for lines of a table of contents or of figures."""


_PLAIN = _Style()


@dataclass
class _Numbering:
    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    """Counts by the list's id and level."""
    groups: dict[str, str] = field(default_factory=dict)
    """The list that one continues: lists with the same abstract one share their count."""
    counts: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    restarted: set[tuple[str, int]] = field(default_factory=set)

    def label(self, number: str, level: int) -> str:
        """Count a paragraph and return its visible number; empty for bullets."""
        levels = self.levels.get(number, {})
        definition = levels.get(level)
        if definition is None:
            return ""
        counts = self.counts[self.groups.get(number, number)]
        if (number, level) in self.restarted:
            self.restarted.discard((number, level))
            counts.pop(level, None)
        counts[level] = counts.get(level, definition.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if definition.kind in {"bullet", "none"}:
            return ""

        def replacement(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other = levels.get(place, _Level())
            kind = "decimal" if definition.legal and place < level else other.kind
            replacement = numeral(counts.get(place, other.start), _KINDS.get(kind, "1"))
            return replacement.zfill(2) if kind == "decimalZero" else replacement

        return _PLACE.sub(replacement, definition.text).strip()


def _as_shown(data: bytes, filename: str) -> tuple[BytesIO, str, bytes, list[str]]:
    """Insert everything that Word shows into a file's text.

    Also return mammoth's rules for styles with an outline level, and the file's own properties.
    """
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if sum(item.file_size for item in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise DocumentError(filename, f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB")
        parts = {name: archive.read(name) if name.endswith((".xml", ".rels")) else b"" for name in archive.namelist()}
    styles = _styles(parts["word/styles.xml"]) if "word/styles.xml" in parts else {}
    numbering = _numbering(parts["word/numbering.xml"]) if "word/numbering.xml" in parts else _Numbering()
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as copy:
        for name, part in parts.items():
            copy.writestr(name, _part(part, styles, numbering) if _PART.fullmatch(name) else part)
    rules = [
        f"p.{identifier} => h{style.outline + 1}:fresh\n"
        for identifier, style in styles.items()
        if style.outline is not None and style.outline < 6 and re.fullmatch(r"[\w-]+", identifier)
    ]
    return out, "".join(rules), parts.get("docProps/core.xml", b""), list(_running_titles(parts))


def _running_titles(parts: Mapping[str, bytes]) -> Iterator[str]:
    """The words of headers and footers, which do not belong to the page's text, without page numbers."""
    for name, part in parts.items():
        if _RUNNING.fullmatch(name):
            for paragraph in _tree(part).iter(f"{_W}p"):
                text = " ".join("".join(piece.text or "" for piece in paragraph.iter(f"{_W}t")).split())
                if any(letter.isalpha() for letter in text):
                    yield text


def _tree(xml: bytes) -> ET.Element:
    """The root of a part; expat itself stops entities that expand without end (since 2.4.1)."""
    return ET.fromstring(xml)  # noqa: S314 - the document is read in a limited process


@cache
def _path(names: str) -> str:
    return "/".join(f"{_W}{name}" for name in names.split("/"))


def _find(element: ET.Element | None, path: str) -> ET.Element | None:
    return None if element is None else element.find(_path(path))


def _value(element: ET.Element | None, path: str) -> str:
    child = _find(element, path)
    return "" if child is None else child.get(f"{_W}val", "")


def _number_in(element: ET.Element | None, path: str) -> int | None:
    value = _value(element, path)
    return int(value) if value.isdecimal() else None


def _part(xml: bytes, styles: dict[str, _Style], numbering: _Numbering) -> bytes:
    root = _tree(xml)
    names = {element.tag for element in root.iter()}
    if not names.isdisjoint(_WRAPPERS):
        _unwrap(root)
    parents = {child: parent for parent in root.iter() for child in parent}
    for ruby in list(root.iter(f"{_W}ruby")):
        _spell(ruby, parents[ruby])
    paragraph_of = {run: paragraph for paragraph in root.iter(f"{_W}p") for run in paragraph.iter(f"{_W}r")}
    for run, paragraph in paragraph_of.items():
        own = styles.get(_value(run, "rPr/rStyle"), _PLAIN)
        below = styles.get(_value(paragraph, "pPr/pStyle"), _PLAIN)
        hidden = next((one for one in (_is_hidden(run), own.hidden, below.hidden) if one is not None), False)
        if hidden or (_is_white(run) and not _has_ground(run, parents, styles)):
            parents[run].remove(run)
            continue
        _align(run, own.shift or below.shift or "")
        if f"{_W}object" in names and run.find(f".//{_W}object") is not None:
            _fill(run, _formula("", block=False))
    if f"{_M}oMath" in names:
        _write_formulas(root)
    for paragraph in list(root.iter(f"{_W}p")):
        style = styles.get(_value(paragraph, "pPr/pStyle"), _PLAIN)
        if style.listed:
            parents[paragraph].remove(paragraph)
        else:
            _number(paragraph, style, numbering)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _write_formulas(root: ET.Element) -> None:
    """Replace formulas by runs of TeX."""
    for holder in list(root.iter()):
        for place, child in enumerate(list(holder)):
            block = child.tag == f"{_M}oMathPara"
            if block or (child.tag == f"{_M}oMath" and holder.tag != f"{_M}oMathPara"):
                trees = [soup_of(ET.tostring(formula, encoding="unicode")) for formula in child.iter(f"{_M}oMath")]
                shown = [tex_of(tree) for tree in trees if tree.get_text().strip()]
                holder[place] = _fill(ET.Element(f"{_W}r"), " ".join(_formula(tex, block=block) for tex in shown))


def _unwrap(root: ET.Element) -> None:
    """Replace fields, smart tags and the like by their runs: mammoth does not look inside them."""
    for holder in list(root.iter()):
        while any(child.tag in _WRAPPERS for child in holder):
            inside: list[ET.Element] = []
            for child in holder:
                inside += list(child) if child.tag in _WRAPPERS else [child]
            holder[:] = inside


def _spell(ruby: ET.Element, run: ET.Element) -> None:
    """Merge letters and, in parentheses, their reading into the run that contains both."""
    base, reading = (
        "".join(text.text or "" for part in ruby.iter(f"{_W}{name}") for text in part.iter(f"{_W}t"))
        for name in ("rubyBase", "rt")
    )
    letters = ET.Element(f"{_W}t")
    letters.text = f"{base} ({reading})" if reading.strip() else base
    run[:] = [letters if child is ruby else child for child in run]


def _shift_of(holder: ET.Element) -> str:
    """The vertical position that properties give letters: `superscript`, `subscript`, `baseline`; empty if unset."""
    align, moved = _value(holder, "rPr/vertAlign"), _value(holder, "rPr/position")
    if align or not re.fullmatch(r"-?\d{1,3}", moved) or abs(int(moved)) < _LEAST_MOVED:
        return align
    return "superscript" if int(moved) > 0 else "subscript"


def _align(run: ET.Element, shift: str) -> None:
    """Mark a run as raised or lowered if a style, or half points, shift it."""
    shift = _shift_of(run) or shift
    properties = run.find(f"{_W}rPr")
    if shift and not _value(properties, "vertAlign"):
        if properties is None:
            properties = ET.Element(f"{_W}rPr")
            run.insert(0, properties)
        ET.SubElement(properties, f"{_W}vertAlign").set(f"{_W}val", shift)
    if properties is not None:
        properties[:] = [child for child in properties if child.tag in _READ_OF_RUNS]


def _number(paragraph: ET.Element, style: _Style, numbering: _Numbering) -> None:
    """Write the number of a paragraph before it, and turn one with an outline level into a heading."""
    properties = paragraph.find(f"{_W}pPr")
    number = _value(properties, "numPr/numId") or style.numbers or "0"
    level = _number_in(properties, "numPr/ilvl")
    depth = (style.level or 0) if level is None else level
    if properties is None:
        return
    if number != "0" and depth < _DEEPEST and any(text.text for text in paragraph.iter(f"{_W}t")):
        label = numbering.label(number, depth)
        if label:
            paragraph.insert(1, _fill(ET.Element(f"{_W}r"), f"\ue000{label}\ue001"))
    outline = _number_in(properties, "outlineLvl")
    if outline is not None and outline < 6 and style.outline is None:
        style_tag = properties.find(f"{_W}pStyle")
        if style_tag is None:
            style_tag = ET.SubElement(properties, f"{_W}pStyle")
        style_tag.set(f"{_W}val", f"Heading{outline + 1}")


def _formula(tex: str, *, block: bool) -> str:
    return f"\ue002{'block' if block else 'inline'}\ue003{' '.join(tex.split())}\ue004"


def _fill(run: ET.Element, text: str) -> ET.Element:
    """Replace a run's content, except its properties, by a text."""
    run[:] = [child for child in run if child.tag == f"{_W}rPr"]
    holder = ET.SubElement(run, f"{_W}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"})
    holder.text = text
    return run


def _is_hidden(holder: ET.Element) -> bool | None:
    """Whether properties hide letters; None if unset."""
    hidden = _find(holder, "rPr/vanish")
    return None if hidden is None else hidden.get(f"{_W}val", "1") not in {"0", "false", "off"}


def _is_white(run: ET.Element) -> bool:
    """Whether a run is white, or in the colour of the page."""
    colour = _find(run, "rPr/color")
    if colour is None:
        return False
    return colour.get(f"{_W}val", "").upper() == "FFFFFF" or colour.get(f"{_W}themeColor") in {"background1", "light1"}


def _has_ground(run: ET.Element, parents: Mapping[ET.Element, ET.Element], styles: dict[str, _Style]) -> bool:
    """Whether a run may be on another background than the white page: shading, a table, a text box."""
    inside: ET.Element | None = run
    while inside is not None:
        if inside.tag in _GROUNDS or _is_shaded(inside):
            return True
        if styles.get(_value(inside, "pPr/pStyle") or _value(inside, "rPr/rStyle"), _PLAIN).shaded:
            return True
        inside = parents.get(inside)
    return False


def _is_shaded(holder: ET.Element) -> bool:
    return any(_find(holder, path) is not None for path in _SHADED)


def _styles(xml: bytes) -> dict[str, _Style]:
    styles = {
        style.get(f"{_W}styleId", ""): _Style(
            base=_value(style, "basedOn") or None,
            numbers=_value(style, "pPr/numPr/numId") or None,
            level=_number_in(style, "pPr/numPr/ilvl"),
            outline=_number_in(style, "pPr/outlineLvl"),
            hidden=_is_hidden(style),
            shift=_shift_of(style) or None,
            shaded=_is_shaded(style) or None,
            listed=_LISTED.fullmatch(_value(style, "name")) is not None or None,
        )
        for style in _tree(xml).iter(f"{_W}style")
    }
    return {name: _with_base(style, styles) for name, style in styles.items()}


def _with_base(style: _Style, styles: dict[str, _Style], depth: int = 1) -> _Style:
    """A style including the properties inherited from its ancestors."""
    if style.base not in styles or depth == _DEEPEST:
        return style
    base = _with_base(styles[style.base], styles, depth + 1)
    return replace(base, **{name: value for name, value in vars(style).items() if value is not None})


def _numbering(xml: bytes) -> _Numbering:
    root = _tree(xml)
    abstract = {item.get(f"{_W}abstractNumId", ""): _levels(item) for item in root.iter(f"{_W}abstractNum")}
    numbering = _Numbering()
    for item in root.iter(f"{_W}num"):
        number, group = item.get(f"{_W}numId", ""), _value(item, "abstractNumId")
        levels = dict(abstract.get(group, {}))
        for override in item.iter(f"{_W}lvlOverride"):
            place, start = override.get(f"{_W}ilvl", "0"), _number_in(override, "startOverride")
            levels.update(_levels(override))
            if start is not None and place.isdecimal():
                levels[int(place)] = replace(levels.get(int(place), _Level()), start=start)
                numbering.restarted.add((number, int(place)))
        numbering.levels[number], numbering.groups[number] = levels, group
    return numbering


def _levels(holder: ET.Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for item in holder.iter(f"{_W}lvl"):
        place, start = item.get(f"{_W}ilvl", "0"), _number_in(item, "start")
        if place.isdecimal():
            levels[int(place)] = _Level(
                start=1 if start is None else start,
                kind=_value(item, "numFmt") or "decimal",
                text=_value(item, "lvlText"),
                legal=item.find(f"{_W}isLgl") is not None,
            )
    return levels
