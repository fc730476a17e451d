"""Word documents (DOCX): headings, lists, tables, notes and formulas, by way of HTML.

What Word shows but does not store as text is put into WordprocessingML (ECMA-376, part 1, chapter 17) before mammoth
reads it: numbers of lists and headings, formulas, outline levels. Hidden text goes. Each number and each formula
becomes a run between marks of the private use area, which are taken out of the HTML.
"""

import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET

import mammoth

from lutrin.errors import DocumentError
from lutrin.ingest.formulas import tex_of
from lutrin.ingest.html_seen import tag_of
from lutrin.ingest.hypertext import document_of, soup_of, to_markdown
from lutrin.ingest.numerals import numeral
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
    if "\ue000" in html:
        _labels(soup)
    if "\ue002" in html:
        _formulas(soup)
    name = soup_of(core).find("dc:title") if core else None
    named = soup.find("h1", class_="title")
    title = "" if named is not None else true_title(name.get_text() if name is not None else "")
    if named is not None:
        _level(soup, named)
    text, unread = to_markdown(soup)
    return document_of(text, filename, title=title, unread=unread)


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


def _level(soup: Any, title: Any) -> None:  # noqa: ANN401 - as bs4 has it
    """Under a title of the whole document, make chapters headings of the second level."""
    for heading in soup.find_all(["h1", "h2", "h3", "h4", "h5"]):
        if heading is not title:
            heading.name = f"h{int(heading.name[1]) + 1}"


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
LABEL = re.compile("\ue000([^\ue001]*)\ue001")
"""The number that Word shows before a paragraph."""
FORMULA = re.compile("\ue002(block|inline)\ue003([^\ue004]*)\ue004")
"""How a formula stands, and its TeX; empty if it cannot be read."""
_PART = re.compile(r"word/(?:document|footnotes|endnotes|comments)\d*\.xml")
_LISTED = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)|index \d", re.IGNORECASE)
"""Names of Word's styles for lists of what stands elsewhere."""
_PLACE = re.compile(r"%(\d)")
_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_DEEPEST = 9
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("fldSimple", "smartTag", "customXml", "dir", "bdo"))
_SHADED = tuple(f"{place}/{{{_W[1:-1]}}}{name}" for place in ("rPr", "pPr") for name in ("shd", "highlight"))
_GROUNDS = frozenset(f"{_W}{name}" for name in ("tc", "txbxContent"))
"""Cells of tables, whose styles shade rows and columns, and boxes, which are filled elsewhere."""
_READ_OF_RUNS = frozenset(
    f"{_W}{name}" for name in ("rStyle", "b", "i", "u", "strike", "caps", "smallCaps", "vertAlign", "ins", "del")
)
"""Properties of letters that mammoth shows; it takes longer than we to read the others: fonts, sizes, languages."""
_LEAST_MOVED = 3
"""Half points: text that is moved by less is set so for looks."""


@dataclass
class _Level:
    start: int = 1
    kind: str = "decimal"
    text: str = ""
    legal: bool = False
    """Whether all its numbers are decimal ones, whatever those of the levels above are."""


@dataclass
class _Style:
    """What a style of paragraphs or letters says, its ancestors included."""

    base: str = ""
    numbers: str = ""
    level: int | None = None
    outline: int | None = None
    hidden: bool | None = None
    shift: str = ""
    """`superscript` or `subscript`."""
    shaded: bool = False
    """Whether it has a ground of its own."""
    listed: bool = False
    """Whether it is for lines of a table of contents or of figures."""


_PLAIN = _Style()


@dataclass
class _Numbering:
    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    """By the list's id and level."""
    groups: dict[str, str] = field(default_factory=dict)
    """The list that one goes on with: all that have the same abstract one count together."""
    counts: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    restarted: set[tuple[str, int]] = field(default_factory=set)

    def label(self, number: str, level: int) -> str:
        """Count a paragraph and return what Word shows before it; empty for bullets."""
        levels = self.levels.get(number, {})
        known = levels.get(level)
        if known is None:
            return ""
        counts = self.counts[self.groups.get(number, number)]
        if (number, level) in self.restarted:
            self.restarted.discard((number, level))
            counts.pop(level, None)
        counts[level] = counts.get(level, known.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if known.kind in {"bullet", "none"}:
            return ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other = levels.get(place, _Level())
            kind = "decimal" if known.legal and place < level else other.kind
            shown = numeral(counts.get(place, other.start), _KINDS.get(kind, "1"))
            return shown.zfill(2) if kind == "decimalZero" else shown

        return _PLACE.sub(shown, known.text).strip()


def as_shown(data: bytes) -> tuple[bytes, str]:
    """Put all that Word shows into a file's text; also return mammoth's rules for styles with an outline level."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = set(archive.namelist())
        styles = _styles(archive.read("word/styles.xml")) if "word/styles.xml" in names else {}
        numbering = _numbering(archive.read("word/numbering.xml")) if "word/numbering.xml" in names else _Numbering()
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as copy:
            for name in archive.namelist():
                part = archive.read(name) if name.endswith((".xml", ".rels")) else b""
                copy.writestr(name, _part(part, styles, numbering) if _PART.fullmatch(name) else part)
    rules = [
        f"p.{identifier} => h{style.outline + 1}:fresh"
        for identifier, style in styles.items()
        if style.outline is not None and style.outline < 6 and re.fullmatch(r"[\w-]+", identifier)
    ]
    return out.getvalue(), "\n".join([*rules, ""])


def _tree(xml: bytes) -> ET.Element:
    """The root of a part; expat itself stops entities that grow without end (since 2.4.1)."""
    return ET.fromstring(xml)  # noqa: S314 - the document is read in a limited process


def _part(xml: bytes, styles: dict[str, _Style], numbering: _Numbering) -> bytes:
    root = _tree(xml)
    names = {element.tag for element in root.iter()}
    if not names.isdisjoint(_WRAPPERS):
        _unwrap(root)
    parents = {child: parent for parent in root.iter() for child in parent}
    for ruby in list(root.iter(f"{_W}ruby")):
        _spell(ruby, parents[ruby])
    objects = f".//{_W}object" if f"{_W}object" in names else ""
    for run in list(root.iter(f"{_W}r")):
        properties = run.find(f"{_W}rPr")
        style = _style_of(run, properties, parents, styles)
        hidden = _is_hidden(properties)
        hidden = style.hidden if hidden is None else hidden
        if hidden or (_is_white(properties) and not _has_ground(run, parents, styles)):
            parents[run].remove(run)
            continue
        _align(run, properties, style)
        if properties is not None:
            properties[:] = [child for child in properties if child.tag in _READ_OF_RUNS]
        if objects and run.find(objects) is not None:
            _append(run, _formula("", block=False))
    if f"{_M}oMath" in names:
        _write_formulas(root)
    for paragraph in list(root.iter(f"{_W}p")):
        style = styles.get(_value(paragraph.find(f"{_W}pPr"), "pStyle"), _PLAIN)
        if style.listed:
            parents[paragraph].remove(paragraph)
        else:
            _number(paragraph, style, numbering)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _write_formulas(root: ET.Element) -> None:
    """Put runs of TeX in the place of formulas."""
    for holder in list(root.iter()):
        for place, child in enumerate(list(holder)):
            if child.tag in {f"{_M}oMathPara", f"{_M}oMath"} and holder.tag != f"{_M}oMathPara":
                formulas = [child] if child.tag == f"{_M}oMath" else list(child.iter(f"{_M}oMath"))
                run = ET.Element(f"{_W}r")
                block = child.tag == f"{_M}oMathPara"
                _append(run, " ".join(_formula(_tex(formula), block=block) for formula in formulas))
                holder[place] = run


def _unwrap(root: ET.Element) -> None:
    """Put the runs of fields, smart tags and the like in their place: mammoth does not look into these."""
    for holder in list(root.iter()):
        while any(child.tag in _WRAPPERS for child in holder):
            inside: list[ET.Element] = []
            for child in holder:
                inside += list(child) if child.tag in _WRAPPERS else [child]
            holder[:] = inside


def _spell(ruby: ET.Element, run: ET.Element) -> None:
    """Put letters and, in parentheses, how they are read into the run that holds both."""
    base, reading = (
        "".join(text.text or "" for part in ruby.iter(f"{_W}{name}") for text in part.iter(f"{_W}t"))
        for name in ("rubyBase", "rt")
    )
    letters = ET.Element(f"{_W}t")
    letters.text = f"{base} ({reading})" if reading.strip() else base
    run[:] = [letters if child is ruby else child for child in run]


def _style_of(
    run: ET.Element,
    properties: ET.Element | None,
    parents: Mapping[ET.Element, ET.Element],
    styles: dict[str, _Style],
) -> _Style:
    """What the styles of a run and of its paragraph say of its letters; the run's own comes first."""
    inside: ET.Element | None = run
    while inside is not None and inside.tag != f"{_W}p":
        inside = parents.get(inside)
    below = styles.get(_value(inside.find(f"{_W}pPr"), "pStyle") if inside is not None else "", _PLAIN)
    own = styles.get(_value(properties, "rStyle"), _PLAIN)
    if own is below is _PLAIN:
        return _PLAIN
    return _Style(hidden=below.hidden if own.hidden is None else own.hidden, shift=own.shift or below.shift)


def _shift_of(properties: ET.Element | None) -> str:
    """How properties set letters: `superscript`, `subscript`, `baseline`; empty if they say nothing."""
    align, moved = _value(properties, "vertAlign"), _value(properties, "position")
    if align or not re.fullmatch(r"-?\d{1,3}", moved) or abs(int(moved)) < _LEAST_MOVED:
        return align
    return "superscript" if int(moved) > 0 else "subscript"


def _align(run: ET.Element, properties: ET.Element | None, style: _Style) -> None:
    """Say of a run that a style, or half points, set higher or lower that it is raised or lowered."""
    shift = _shift_of(properties) or style.shift
    if not shift or _value(properties, "vertAlign"):
        return
    if properties is None:
        properties = ET.Element(f"{_W}rPr")
        run.insert(0, properties)
    ET.SubElement(properties, f"{_W}vertAlign").set(f"{_W}val", shift)


def _number(paragraph: ET.Element, style: _Style, numbering: _Numbering) -> None:
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return
    own = properties.find(f"{_W}numPr")
    number = (_value(own, "numId") if own is not None else "") or style.numbers
    level = _value(own, "ilvl") if own is not None else ""
    depth = int(level) if level.isdecimal() else style.level or 0
    outline = _value(properties, "outlineLvl")
    if number and number != "0" and depth < _DEEPEST and any(text.text for text in paragraph.iter(f"{_W}t")):
        label = numbering.label(number, depth)
        if label:
            run = ET.Element(f"{_W}r")
            _append(run, f"\ue000{label}\ue001")
            paragraph.insert(1, run)
    if outline.isdecimal() and int(outline) < 6 and style.outline is None:
        named = properties.find(f"{_W}pStyle")
        if named is None:
            named = ET.SubElement(properties, f"{_W}pStyle")
        named.set(f"{_W}val", f"Heading{int(outline) + 1}")


def _tex(formula: ET.Element) -> str:
    return tex_of(soup_of(ET.tostring(formula, encoding="unicode")))


def _formula(tex: str, *, block: bool) -> str:
    return f"\ue002{'block' if block else 'inline'}\ue003{' '.join(tex.split())}\ue004"


def _append(run: ET.Element, text: str) -> None:
    for child in list(run):
        if child.tag != f"{_W}rPr":
            run.remove(child)
    holder = ET.SubElement(run, f"{_W}t")
    holder.text = text
    holder.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")


def _is_hidden(properties: ET.Element | None) -> bool | None:
    """Whether properties hide letters; None if they say nothing."""
    hidden = properties.find(f"{_W}vanish") if properties is not None else None
    return None if hidden is None else hidden.get(f"{_W}val", "1") not in {"0", "false", "off"}


def _is_white(properties: ET.Element | None) -> bool:
    """Whether properties write in white, or in the colour of the page."""
    colour = properties.find(f"{_W}color") if properties is not None else None
    if colour is None:
        return False
    return colour.get(f"{_W}val", "").upper() == "FFFFFF" or colour.get(f"{_W}themeColor") in {"background1", "light1"}


def _has_ground(run: ET.Element, parents: Mapping[ET.Element, ET.Element], styles: dict[str, _Style]) -> bool:
    """Whether something around a run may have another ground than the white page: shading, a table, a text box."""
    inside: ET.Element | None = run
    while inside is not None:
        if inside.tag in _GROUNDS or any(inside.find(f"{_W}{name}") is not None for name in _SHADED):
            return True
        named = _value(inside.find(f"{_W}pPr"), "pStyle") or _value(inside.find(f"{_W}rPr"), "rStyle")
        if named and styles.get(named, _PLAIN).shaded:
            return True
        inside = parents.get(inside)
    return False


def _value(element: ET.Element | None, name: str) -> str:
    found = element.find(f"{_W}{name}") if element is not None else None
    return found.get(f"{_W}val", "") if found is not None else ""


def _styles(xml: bytes) -> dict[str, _Style]:
    found: dict[str, _Style] = {}
    for style in _tree(xml).iter(f"{_W}style"):
        properties = style.find(f"{_W}pPr")
        numbers = properties.find(f"{_W}numPr") if properties is not None else None
        level, outline = _value(numbers, "ilvl"), _value(properties, "outlineLvl")
        found[style.get(f"{_W}styleId", "")] = _Style(
            _value(style, "basedOn"),
            _value(numbers, "numId"),
            int(level) if level.isdecimal() else None,
            int(outline) if outline.isdecimal() else None,
            _is_hidden(style.find(f"{_W}rPr")),
            _shift_of(style.find(f"{_W}rPr")),
            shaded=any(style.find(f"{_W}{name}") is not None for name in _SHADED),
            listed=_LISTED.fullmatch(_value(style, "name")) is not None,
        )
    return {name: _with_base(name, found) for name in found}


def _with_base(name: str, styles: dict[str, _Style]) -> _Style:
    """A style with what it takes over from those that it is based on."""
    known = _Style()
    for _ in range(_DEEPEST):
        style = styles.get(name)
        if style is None:
            break
        known.numbers = known.numbers or style.numbers
        known.shaded = known.shaded or style.shaded
        known.listed = known.listed or style.listed
        known.hidden = style.hidden if known.hidden is None else known.hidden
        known.shift = known.shift or style.shift
        known.level = style.level if known.level is None else known.level
        known.outline = style.outline if known.outline is None else known.outline
        name = style.base
    return known


def _numbering(xml: bytes) -> _Numbering:
    root = _tree(xml)
    abstract = {item.get(f"{_W}abstractNumId", ""): _levels(item) for item in root.iter(f"{_W}abstractNum")}
    found = _Numbering()
    for item in root.iter(f"{_W}num"):
        number, group = item.get(f"{_W}numId", ""), _value(item, "abstractNumId")
        levels = dict(abstract.get(group, {}))
        for override in item.iter(f"{_W}lvlOverride"):
            place, start = override.get(f"{_W}ilvl", "0"), _value(override, "startOverride")
            levels.update(_levels(override))
            if start.isdecimal() and place.isdecimal():
                old = levels.get(int(place), _Level())
                levels[int(place)] = _Level(int(start), old.kind, old.text, old.legal)
                found.restarted.add((number, int(place)))
        found.levels[number], found.groups[number] = levels, group
    return found


def _levels(holder: ET.Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for item in holder.iter(f"{_W}lvl"):
        place, start = item.get(f"{_W}ilvl", "0"), _value(item, "start")
        kind = _value(item, "numFmt") or "decimal"
        if place.isdecimal():
            legal = item.find(f"{_W}isLgl") is not None
            levels[int(place)] = _Level(int(start) if start.isdecimal() else 1, kind, _value(item, "lvlText"), legal)
    return levels
