"""Text that a reader sees although it stands in JavaScript: exported objects, components, expressions, attributes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from lutrin.ingest.script import Tag, literal_of, scan_braces, scan_tag, skip_literal, unquote
from lutrin.ingest.visible import SLOTS, is_shown

_STOP = re.compile(r"[{}()\[\],;\"'`/<]")
_KEY = re.compile(r"([A-Za-z_$][\w$]*|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s*:\s*\Z")
_NUMBER = re.compile(r"([A-Za-z_$][\w$]*)\s*:\s*(-?\d[\d_.]*(?:[eE][-+]?\d+)?)\s*\Z")
_RIGHT = re.compile(r"\b(correct|isCorrect|is_correct)\s*:\s*true\s*\Z")
"""The member by which the choices of a quiz tell the right one."""
_ADDRESS = re.compile(r"https?://|\.{0,2}/")
_BEFORE_TAG = re.compile(r"(?:[(>,=&|?:{}\[;]|\breturn)\s*\Z")
_PATH_CALL = re.compile(r"(?:\bfrom|\brequire\s*\(|\bimport\s*\(?|\buseBaseUrl\s*\()\s*\Z")
UNSEEN_KEYS = frozenset(
    "id key href src to url path type icon color className class style slug value sidebar image".split()
)
"""Members of objects whose single words no reader sees."""
_CONSTANT = re.compile(r"\bexport\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::\s*[\w.<>\[\]]+\s*)?=\s*")
_NAME = re.compile(r"\bexport\s+(?:default\s+)?(?:async\s+)?(?:const|let|var|function\*?|class)\s+([A-Za-z_$][\w$]*)")
_NUMBERED = frozenset({"Listing", "Figure", "Table", "Example", "Code"})
_FIELDS = frozenset({"ParamField", "ResponseField", "Property", "Param"})
_FIELD_NAMES = frozenset({"name", "path", "query", "body", "header"})
_MEMBER = re.compile(r"[\s,]*(?://[^\n]*\s*)?([A-Za-z_$][\w$]*|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s*:\s*(?=\S)")
_NUMERAL = re.compile(r"-?\d[\d_.]*(?:[eE][-+]?\d+)?")
_ELEMENT = re.compile(r"<(a|b|code|em|i|kbd|p|span|strong|sub|sup|u)\b[^<>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
"""An element of running text, begun and ended."""
_QUOTES = "\"'"
_DEEPEST = 6
_LONG_TEXT = 1000
_SCALAR = re.compile(r"-?\d[\d_.]*(?:[eE][-+]?\d+)?(?=\s*(?:;|\r|\n|\Z))")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text of a script and the range of the source where it stands."""

    text: str
    start: int
    end: int
    url: str = ""
    """Where it leads, if its object holds an address beside it."""


def exported_names(source: str, start: int, end: int) -> list[str]:
    """Names that the exports in a range define."""
    return [match[1] for match in _NAME.finditer(source, start, end)]


def exported_values(source: str, start: int, end: int) -> dict[str, str]:
    """What `{name}` and `{name.member}` show: strings and numbers of exported constants and objects."""
    values: dict[str, str] = {}
    reached = start
    for match in _CONSTANT.finditer(source, start, end):
        at = match.end()
        if at < reached:  # in an object that was read already
            continue
        if at < end and source[at] in "\"'`":
            literal = literal_of(source[at : skip_literal(source, at, end)])
            if literal is not None:
                values[match[1]] = literal[0]
        elif (number := _SCALAR.match(source, at, end)) is not None:
            values[match[1]] = number.group()
        elif source.startswith("{", at):
            close = scan_braces(source, at, end)
            values.update(_members(source, at + 1, (close or at + 1) - 1, match[1]))
            reached = close or end
    return values


def _members(source: str, start: int, end: int, name: str) -> dict[str, str]:
    """Members of an object literal that are strings or numbers, by their path; of objects in it, too."""
    values: dict[str, str] = {}
    pos = start
    while (key := _MEMBER.match(source, pos, end)) is not None:
        path, at = f"{name}.{key[1].strip(_QUOTES)}", key.end()
        after = _value_end(source, at, end)
        raw = source[at:after].strip()
        if source[at] == "{" and path.count(".") < _DEEPEST:
            values.update(_members(source, at + 1, after - 1, path))
        elif (literal := literal_of(raw)) is not None:
            values[path] = literal[0]
        elif _NUMERAL.fullmatch(raw):
            values[path] = raw
        pos = after
    return values


def _value_end(source: str, at: int, end: int) -> int:
    """Where the value that starts at `at` ends: at the comma outside of brackets and literals."""
    depth = 0
    while at < end:
        char = source[at]
        if char in "\"'`/":
            at = skip_literal(source, at, end)
            continue
        depth += (char in "{[(") - (char in "}])")
        if char == "," and depth == 0:
            break
        at += 1
    return at


def attribute_texts(tag: Tag) -> Iterator[Shown]:
    """Texts in the attributes of a component that a reader sees, as far as names and looks can tell."""
    if tag.name == "Translate":  # its description is for translators
        return
    if tag.name in _FIELDS:
        yield from _field(tag)
        return
    number = _number_of(tag)
    if number is not None and all(item.name != "caption" for item in tag.attributes):
        yield number
    # Docusaurus writes a tab's value on it if it has no label.
    labelled = any(item.name == "label" for item in tag.attributes)
    unnamed = tag.name == "TabItem" and not labelled
    for item in tag.attributes:
        if item.value is None:
            continue
        if not item.expression:
            seen = is_shown(tag.name, item.name, item.value) or (tag.name == "hfoption" and item.name == "label")
            if seen or (unnamed and item.name == "value" and item.value.strip()):
                named = f"{number.text}: " if number is not None and item.name == "caption" else ""
                yield Shown(f"{named}{item.value}", item.start, item.end)
        elif is_shown(tag.name, item.name, "a b"):
            for shown in script_texts(item.value, 0, len(item.value), slots=True):
                yield Shown(shown.text, item.start + shown.start, item.start + shown.end, shown.url)


def _number_of(tag: Tag) -> Shown | None:
    """What mdBook's authors call a numbered component: `Listing 6-3`."""
    item = next((item for item in tag.attributes if item.name == "number" and item.value), None)
    return Shown(f"{tag.name} {item.value}", item.start, item.end) if item and tag.name in _NUMBERED else None


def _field(tag: Tag) -> Iterator[Shown]:
    """A parameter of an interface as Mintlify heads it: `speed: number, default: 0.5, required`."""
    name = next((item for item in tag.attributes if item.name in _FIELD_NAMES and item.value), None)
    if name is None or name.value is None:
        return
    parts: list[str] = []
    start, end = name.start, name.end
    for item in tag.attributes:
        if item.name == "type" and item.value:
            parts.insert(0, item.value)
        elif item.name == "default" and item.value:
            parts.append(f"default: {item.value.strip(_QUOTES)}")
        elif item.name in {"required", "deprecated"} and item.value in {None, "true"}:
            parts.append(item.name)
        else:
            continue
        start, end = min(start, item.start), max(end, item.end)
    yield Shown(f"{name.value}: {', '.join(parts)}" if parts else name.value, start, end)


def script_texts(source: str, start: int, end: int, *, slots: bool = False) -> list[Shown]:
    """Strings, named numbers and text between tags in a stretch of JavaScript.

    The members of one object make one text, `name: Kestrel, mass: 28 kg`, as a table row would.

    Args:
        slots: Whether members such as `text` and `label` only say where a component puts their string, as in the
            attributes of a quiz, so that no reader sees those names.
    """
    scan = _Scan(source, start, end, slots=slots)
    scan.run()
    return scan.shown()


def _without_elements(text: str) -> str:
    """A string without the tags of whole elements: components set such strings as HTML, `<code>git-lfs</code>`."""
    while (bare := _ELEMENT.sub(r"\2", text)) != text:
        text = bare
    return unescape(text)


class _Scan:
    def __init__(self, source: str, start: int, end: int, *, slots: bool) -> None:
        self.source, self.pos, self.end = source, start, end
        self.slots = slots
        self.found: list[tuple[int, str, Shown]] = []
        self.urls: dict[int, str] = {}
        self.groups = [start]
        self.elements = 0
        self.gap = start

    def run(self) -> None:
        while (stop := _STOP.search(self.source, self.pos, self.end)) is not None:
            char, at = stop.group(), stop.start()
            if self.elements and char in "{<":
                self.between_tags(at)
            if self.elements and char not in "{}<":
                self.pos = at + 1
            elif char in "\"'`":
                self.string(at)
            elif char == "/":
                self.pos = skip_literal(self.source, at, self.end)
            elif char == "<":
                self.tag(at)
            else:
                self.punctuation(char, at)
        if self.groups:
            self.number(self.end)

    def punctuation(self, char: str, at: int) -> None:
        if char in "},":
            self.number(at)
        if char == "{":
            self.groups.append(at)
        elif char == "}" and len(self.groups) > 1:
            self.groups.pop()
        self.pos = at + 1
        if self.elements and char == "}":
            self.gap = self.pos

    def string(self, at: int) -> None:
        stop = skip_literal(self.source, at, self.end)
        before = self.source[max(self.pos - 60, at - 60, 0) : at]
        self.pos = stop
        if stop == at + 1 or _PATH_CALL.search(before):
            return
        raw = self.source[at:stop]
        text = _without_elements(re.sub(r"\$\{[^{}]*\}", " ", unquote(raw)))
        key = _KEY.search(before)
        name = key[1].strip("\"'") if key else ""
        if self.source[stop : stop + 20].lstrip().startswith(":") and not key:
            return  # a quoted key
        if any(c.isalnum() for c in text) and (name not in UNSEEN_KEYS or " " in text.strip()):
            self.found.append((self.groups[-1], name, Shown(text, at + 1, stop - 1)))
        elif name and _ADDRESS.match(text):
            self.urls[self.groups[-1]] = text

    def number(self, at: int) -> None:
        right = _RIGHT.search(self.source, max(self.pos, at - 80), at) if self.slots else None
        if right is not None:
            place = (right.start(1), right.end(1))
            self.found.append((self.groups[-1], right[1], Shown("correct", *place)))
            return
        match = _NUMBER.search(self.source, max(self.pos, at - 80), at)
        if match is not None and match[1] not in UNSEEN_KEYS - {"value"}:
            self.found.append((self.groups[-1], match[1], Shown(match[2], match.start(2), match.end(2))))

    def tag(self, at: int) -> None:
        tag = None
        if self.elements or _BEFORE_TAG.search(self.source, max(0, at - 40), at) or at == self.groups[0]:
            tag = scan_tag(self.source, at, self.end)
        if tag is None:
            self.pos = at + 1
            return
        self.found += [(tag.start, "", shown) for shown in attribute_texts(tag)]
        if tag.closing:
            self.elements = max(0, self.elements - 1)
        elif not tag.self_closing:
            self.elements += 1
        self.pos = self.gap = tag.end

    def between_tags(self, at: int) -> None:
        text = self.source[self.gap : at]
        if any(c.isalnum() for c in text):
            start = self.gap + len(text) - len(text.lstrip())
            piece = Shown(" ".join(text.split()), start, start + len(text.strip()))
            # What stands on both sides of an expression is one sentence to a reader, with a value in the middle.
            before = self.found[-1][2] if self.found and self.found[-1][0] < 0 else None
            if before is not None and len(before.text) < _LONG_TEXT and self.is_value(before.end, self.gap):
                self.found.pop()
                piece = Shown(f"{before.text} … {piece.text}", before.start, piece.end)
            self.found.append((-1 - at, "", piece))
        self.gap = at

    def is_value(self, start: int, end: int) -> bool:
        """Whether nothing but one expression in braces stands in a range."""
        brace = self.source.find("{", start, end)
        return brace >= 0 and not self.source[start:brace].strip() and scan_braces(self.source, brace, end) == end

    def shown(self) -> list[Shown]:
        texts: list[Shown] = []
        group_of_last: int | None = None
        for group, name, item in self.found:
            slot = self.slots and (name.lower() in SLOTS or _RIGHT.match(f"{name}:true") is not None)
            text = f"{name}: {item.text}" if name and not slot else item.text
            url = self.urls.get(group, "") if name else ""
            if name and group == group_of_last:
                last = texts.pop()
                joint = " — " if slot else ", "
                texts.append(Shown(f"{last.text}{joint}{text}", last.start, item.end, url))
            else:
                texts.append(Shown(text, item.start, item.end, url))
            group_of_last = group if name else None
        return texts
