"""Text that a reader sees although it stands in JavaScript: exported objects, components, expressions, attributes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lutrin.ingest.script import Tag, literal_of, scan_tag, skip_literal, unquote
from lutrin.ingest.visible import is_shown

_STOP = re.compile(r"[{}()\[\],;\"'`/<]")
_KEY = re.compile(r"([A-Za-z_$][\w$]*|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s*:\s*\Z")
_NUMBER = re.compile(r"([A-Za-z_$][\w$]*)\s*:\s*(-?\d[\d_.]*(?:[eE][-+]?\d+)?)\s*\Z")
_BEFORE_TAG = re.compile(r"(?:[(>,=&|?:{}\[;]|\breturn)\s*\Z")
_PATH_CALL = re.compile(r"(?:\bfrom|\brequire\s*\(|\bimport\s*\(?|\buseBaseUrl\s*\()\s*\Z")
_UNSEEN_KEYS = frozenset(
    "id key href src to url path type icon color className class style slug value sidebar image".split()
)
_CONSTANT = re.compile(r"\bexport\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::\s*[\w.<>\[\]]+\s*)?=\s*")
_NAME = re.compile(r"\bexport\s+(?:default\s+)?(?:async\s+)?(?:const|let|var|function\*?|class)\s+([A-Za-z_$][\w$]*)")
_SCALAR = re.compile(r"-?\d[\d_.]*(?:[eE][-+]?\d+)?(?=\s*(?:;|\r|\n|\Z))")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text of a script and the range of the source where it stands."""

    text: str
    start: int
    end: int


def exported_names(source: str, start: int, end: int) -> list[str]:
    """Names that the exports in a range define."""
    return [match[1] for match in _NAME.finditer(source, start, end)]


def exported_values(source: str, start: int, end: int) -> dict[str, str]:
    """Text of each exported constant that is a string or a number: what `{name}` shows."""
    values = {}
    for match in _CONSTANT.finditer(source, start, end):
        at = match.end()
        if at < end and source[at] in "\"'`":
            literal = literal_of(source[at : skip_literal(source, at, end)])
            if literal is not None:
                values[match[1]] = literal[0]
        elif (number := _SCALAR.match(source, at, end)) is not None:
            values[match[1]] = number.group()
    return values


def attribute_texts(tag: Tag) -> Iterator[Shown]:
    """Texts in the attributes of a component that a reader sees, as far as names and looks can tell."""
    for item in tag.attributes:
        if item.value is None:
            continue
        if not item.expression:
            if is_shown(tag.name, item.name, item.value):
                yield Shown(item.value, item.start, item.end)
        elif is_shown(tag.name, item.name, "a b"):
            for shown in script_texts(item.value, 0, len(item.value)):
                yield Shown(shown.text, item.start + shown.start, item.start + shown.end)


def script_texts(source: str, start: int, end: int) -> list[Shown]:
    """Strings, named numbers and text between tags in a stretch of JavaScript.

    The members of one object make one text, `name: Kestrel, mass: 28 kg`, as a table row would.
    """
    scan = _Scan(source, start, end)
    scan.run()
    return scan.shown()


class _Scan:
    def __init__(self, source: str, start: int, end: int) -> None:
        self.source, self.pos, self.end = source, start, end
        self.found: list[tuple[int, str, Shown]] = []
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
        text = re.sub(r"\$\{[^{}]*\}", " ", unquote(raw))
        key = _KEY.search(before)
        name = key[1].strip("\"'") if key else ""
        if self.source[stop : stop + 20].lstrip().startswith(":") and not key:
            return  # a quoted key
        if any(c.isalnum() for c in text) and (name not in _UNSEEN_KEYS or " " in text.strip()):
            self.found.append((self.groups[-1], name, Shown(text, at + 1, stop - 1)))

    def number(self, at: int) -> None:
        match = _NUMBER.search(self.source, max(self.pos, at - 80), at)
        if match is not None and match[1] not in _UNSEEN_KEYS:
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
            self.found.append((-1 - at, "", Shown(text.strip(), start, start + len(text.strip()))))
        self.gap = at

    def shown(self) -> list[Shown]:
        texts: list[Shown] = []
        group_of_last: int | None = None
        for group, name, item in self.found:
            text = f"{name}: {item.text}" if name else item.text
            if name and group == group_of_last:
                last = texts.pop()
                texts.append(Shown(f"{last.text}, {text}", last.start, item.end))
            else:
                texts.append(Shown(text, item.start, item.end))
            group_of_last = group if name else None
        return texts
