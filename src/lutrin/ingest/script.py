"""JavaScript and JSX: finds the ends of tags, expressions and imports, the values of literals, and visible text.

Nothing is evaluated. All scans run forward once and give up after a bounded stretch, so that no input is slow.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

from lutrin.ingest.makers import COMPONENTS
from lutrin.ingest.tree import Attribute, Tag

_NAME = re.compile(r"[A-Za-z][\w.-]*(?::[\w.-]+)?")
_ATTRIBUTE = re.compile(r"[A-Za-z_:@][\w:.@-]*")
_BARE_VALUE = re.compile(r"[^\s\"'=<>`{}]+")
_SPACE = re.compile(r"\s*")
_QUOTES = frozenset("\"'`/")
# A quote after a backslash begins nothing: otherwise many of them would each be read to the end.
_BRACES = re.compile(r"[{}/]|(?<!\\)[\"'`]")
_CODE = re.compile(r"[{}\[\]()\n,/]|(?<!\\)[\"'`]")
_LITERAL = re.compile(r"\"(?:[^\"\\\r\n]|\\.)*+\"|'(?:[^'\\\r\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|\r\n|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}

MAX_SPAN = 200_000
MAX_DEPTH = 100


def scan_tag(text: str, pos: int, end: int | None = None) -> Tag | None:
    """Read the tag that starts with the `<` at `text[pos]`; None if it is incomplete."""
    limit = min(len(text) if end is None else end, pos + MAX_SPAN)
    if text.startswith("<>", pos):
        return Tag(pos, pos + 2, "")
    closing = text.startswith("</", pos)
    cursor = pos + 1 + closing
    if closing and text.startswith(">", cursor):
        return Tag(pos, cursor + 1, "", closing=True)
    name = _NAME.match(text, cursor, limit)
    if name is None:
        return None
    cursor = name.end()
    attributes: list[Attribute] = []
    while True:
        gap = cursor
        cursor = _skip_space(text, cursor, limit)
        if cursor >= limit:
            return None
        if text[cursor] == ">":
            return Tag(pos, cursor + 1, name.group(), tuple(attributes), closing)
        if text.startswith("/>", cursor) and not closing:
            return Tag(pos, cursor + 2, name.group(), tuple(attributes), self_closing=True)
        if closing or cursor == gap:
            return None
        attribute = _scan_attribute(text, cursor, limit)
        if attribute is None:
            return None
        item, cursor = attribute
        if item is not None:
            attributes.append(item)


def _scan_attribute(text: str, pos: int, limit: int) -> tuple[Attribute | None, int] | None:
    if text[pos] == "{":  # a spread {...props} or a comment
        close = scan_braces(text, pos, limit)
        return None if close is None else (None, close)
    name = _ATTRIBUTE.match(text, pos, limit)
    if name is None:
        return None
    cursor = _skip_space(text, name.end(), limit)
    if not text.startswith("=", cursor, limit):
        return Attribute(name.group(), None, name.end(), name.end()), name.end()
    cursor = _skip_space(text, cursor + 1, limit)
    if cursor >= limit:
        return None
    if text[cursor] in "\"'":
        close = text.find(text[cursor], cursor + 1, limit)
        if close < 0:
            return None
        return Attribute(name.group(), unescape(text[cursor + 1 : close]), cursor + 1, close), close + 1
    if text[cursor] == "{":
        end = scan_braces(text, cursor, limit)
        if end is None:
            return None
        return Attribute(name.group(), text[cursor + 1 : end - 1], cursor + 1, end - 1, expression=True), end
    value = _BARE_VALUE.match(text, cursor, limit)
    if value is None:
        return None
    return Attribute(name.group(), value.group(), cursor, value.end()), value.end()


def scan_braces(text: str, pos: int, end: int | None = None) -> int | None:
    """Index just after the brace that closes the one at `pos`; None if it is never closed.

    Braces in strings, templates and comments do not count. An apostrophe without a partner on its line is a letter.
    """
    limit = min(len(text) if end is None else end, pos + MAX_SPAN)
    depth = 0
    for stop in _outside_literals(_BRACES, text, pos, limit):
        depth += 1 if stop.group() == "{" else -1
        if depth == 0:
            return stop.end()
        if depth > MAX_DEPTH:
            return None
    return None


def _outside_literals(pattern: re.Pattern[str], text: str, pos: int, limit: int) -> Iterator[re.Match[str]]:
    """Matches of a pattern that also finds quotes and slashes; the literals that those begin are skipped."""
    while (stop := pattern.search(text, pos, limit)) is not None:
        if stop.group() in _QUOTES:
            pos = skip_literal(text, stop.start(), limit)
        else:
            yield stop
            pos = stop.end()


def skip_literal(text: str, pos: int, limit: int) -> int:
    """Index after the string, template or comment that starts at `pos`, or `pos + 1` if there is none."""
    char = text[pos]
    if char == "/":
        if text.startswith("/*", pos):
            close = text.find("*/", pos + 2, limit)
            return limit if close < 0 else close + 2
        if text.startswith("//", pos) and (pos == 0 or text[pos - 1] != ":"):
            close = text.find("\n", pos, limit)
            return limit if close < 0 else close
        return pos + 1
    match = _LITERAL.match(text, pos, limit)
    return match.end() if match else pos + 1


def _skip_space(text: str, pos: int, limit: int) -> int:
    match = _SPACE.match(text, pos, limit)
    return match.end() if match else pos


def unquote(literal: str) -> str:
    r"""The text of a JavaScript string or template literal, with quotes and escapes resolved.

    Example:
        >>> unquote(r"'it\'s'")
        "it's"
    """
    return _ESCAPE.sub(_resolve, literal[1:-1])


def _resolve(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        value = int(code, 16)
        return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else ""
    plain = match[4] or ""
    return _PLAIN_ESCAPES.get(plain, plain)


def literal_of(expression: str) -> tuple[str, int, int] | None:
    """Text, start and end (inside its quotes) of an expression that is one string or plain template; else None."""
    stripped = expression.strip()
    if len(stripped) < 2 or stripped[0] not in "\"'`" or "${" in stripped:
        return None
    if skip_literal(stripped, 0, len(stripped)) != len(stripped):
        return None
    start = expression.index(stripped) + 1
    return unquote(stripped), start, start + len(stripped) - 2


def shown_literals(expression: str) -> list[str]:
    """Strings of an expression that a page may show: phrases, and operands of `?`, `:`, `||`, `&&` or `??`.

    >>> shown_literals("fast ? 'It runs' : 'walks'"), shown_literals("require('./a.png')")
    (['It runs', 'walks'], [])
    """
    literals, cursor = [], 0
    while (stop := _BRACES.search(expression, cursor)) is not None:
        cursor = skip_literal(expression, stop.start(), len(expression)) if stop.group() in _QUOTES else stop.end()
        if stop.group() in "\"'`" and cursor > stop.end():
            text = " ".join(unquote(expression[stop.start() : cursor]).split())
            before = expression[max(0, stop.start() - 20) : stop.start()].rstrip()
            if " " in text or (text and before.endswith(("?", ":", "||", "&&"))):
                literals.append(text)
    return literals


def is_comment(expression: str) -> bool:
    """Whether an expression consists of comments only."""
    cursor = _skip_space(expression, 0, len(expression))
    while cursor < len(expression):
        if not expression.startswith(("/*", "//"), cursor):
            return False
        cursor = _skip_space(expression, skip_literal(expression, cursor, len(expression)), len(expression))
    return True


def statement_end(text: str, pos: int, limit: int) -> int:
    """End of the import or export that starts at `pos`: the first line end outside brackets and literals.

    A line that ends in an operator or a comma, or whose next line is indented or closes a bracket, continues.
    """
    depth, end = 0, min(limit, pos + MAX_SPAN)
    for stop in _outside_literals(_CODE, text, pos, end):
        char, at = stop.group(), stop.start()
        if char in "{[(":
            depth += 1
        elif char in "}])":
            depth = max(0, depth - 1)
        elif char == "\n" and depth == 0:
            following = text[at + 1 : min(end, at + 2)]
            if following not in set(" \t})]") and not _LINE_GOES_ON.search(text[max(pos, at - 40) : at]):
                return at
    return end


_LINE_GOES_ON = re.compile(r"(?:[=,+*?:&|<.(-]|=>|\bfrom)\s*$")
_START = re.compile(r"(?:module\.exports|export\s+default|(?:const|let|var)\s++\w++[^=\n]{0,200}+)\s*+=?\s*+(?=[{\[])")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"""
    r"""|(?P<text>'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|`(?:[^`\\]|\\.)*+`)"""
    r"""|(?P<word>[\w$.-]+)|(?P<mark>[{}\[\]:,])|(?P<other>['"`].*|.)""",
    re.DOTALL,
)
_DEEPEST = 40
_CLOSING = {"{": "}", "[": "]"}
_PLAIN = frozenset({"text", "word"})
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


def read_literal(source: str) -> Any:  # noqa: ANN401 - any value of a data file
    """Read the first object or list that a script exports or names; None if none is readable.

    >>> read_literal("const sidebars = {docs: ['intro', {type: 'category', label: 'Robots', items: ['arm']}]};")
    {'docs': ['intro', {'type': 'category', 'label': 'Robots', 'items': ['arm']}]}
    """
    text = source.lstrip("\ufeff \t\r\n")
    start = 0 if text[:1] in {"{", "["} else -1
    match = _START.search(text)
    if start < 0 and match is not None:
        start = match.end()
    if start < 0:
        return None
    try:
        return _Reader(text, start).value(0)
    except (_Unreadable, IndexError):
        return None


class _Unreadable(Exception):
    """The text is not a plain value."""


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        matches = ((match.lastgroup, match.group()) for match in _TOKEN.finditer(text, start))
        self.tokens = [(kind, text) for kind, text in matches if kind is not None]
        self.at = 0

    def value(self, depth: int) -> Any:  # noqa: ANN401 - any value
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return unquote(text)
        if kind == "word":
            return _WORDS.get(text, text)
        if text not in _CLOSING or depth > _DEEPEST:
            raise _Unreadable
        members: dict[str, Any] = {}
        items: list[Any] = []
        while self.tokens[self.at][1] != _CLOSING[text]:
            kind, name = self.tokens[self.at]
            if name in {"}", "]"}:
                raise _Unreadable
            if text == "[" and (kind in _PLAIN or name in _CLOSING):
                items.append(self.value(depth + 1))
            elif text == "{" and kind in _PLAIN and self.tokens[self.at + 1][1] == ":":
                self.at += 2
                members[name.strip("'\"`")] = self.value(depth + 1)
            self.skip()
        self.at += 1
        return members if text == "{" else items

    def skip(self) -> None:
        """Move after the next comma of this level, or to its closing bracket (`as const`, a call, a spread)."""
        open_ = 0
        while open_ or self.tokens[self.at][1] not in {"}", "]"}:
            text = self.tokens[self.at][1]
            self.at += 1
            open_ += (text in {"{", "[", "("}) - (text in {"}", "]", ")"})
            if text == "," and not open_:
                return


# Text that a reader sees although it stands in JavaScript ------------------------------------------------------------

_STOP = re.compile(r"[{}()\[\],;/<]|(?<!\\)[\"'`]")
_KEY = re.compile(r"([A-Za-z_$][\w$]*|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s*:\s*\Z")
_NUMBER_MEMBER = re.compile(r"([A-Za-z_$][\w$]*)\s*:\s*(-?\d[\d_.]*(?:[eE][-+]?\d+)?)\s*\Z")
_RIGHT = re.compile(r"\b(correct|isCorrect|is_correct)\s*:\s*true\s*\Z")
"""The member that marks the right choice of a quiz."""
_ADDRESS = re.compile(r"https?://|\.{0,2}/")
_BEFORE_TAG = re.compile(r"(?:[(>,=&|?:{}\[;]|\breturn)\s*\Z")
_PATH_CALL = re.compile(r"(?:\bfrom|\brequire\s*\(|\bimport\s*\(?|\buseBaseUrl\s*\()\s*\Z")
_CONSTANT = re.compile(r"\bexport\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::\s*[\w.<>\[\]]+\s*)?=\s*")
_EXPORT = re.compile(r"\bexport\s+(?:default\s+)?(?:async\s+)?(?:const|let|var|function\*?|class)\s+([A-Za-z_$][\w$]*)")
_NUMBERED = frozenset({"Listing", "Figure", "Table", "Example", "Code"})
_FIELDS = frozenset({"ParamField", "ResponseField", "Property", "Param"})
_FIELD_NAMES = frozenset({"name", "path", "query", "body", "header"})
_MEMBER = re.compile(r"[\s,]*+(?://[^\n]*+\s*+)?+([A-Za-z_$][\w$]*|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s*:\s*(?=\S)")
_NUMERAL = re.compile(r"-?\d[\d_.]*(?:[eE][-+]?\d+)?")
_ELEMENT = re.compile(r"<(a|b|code|em|i|kbd|p|span|strong|sub|sup|u)\b[^<>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
"""A complete element of running text."""
_DEEPEST_MEMBER = 6
_QUOTE_MARKS = "\"'"
_LONG_TEXT = 1000
_SCALAR = re.compile(r"-?\d[\d_.]*(?:[eE][-+]?\d+)?(?=\s*(?:;|\r|\n|\Z))")


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A text of a script with its range in the source."""

    text: str
    start: int
    end: int
    url: str = ""
    """Its link target, if its object has an address beside it."""


def exported_names(source: str, start: int, end: int) -> list[str]:
    """Names defined by the exports in a range."""
    return [match[1] for match in _EXPORT.finditer(source, start, end)]


def exported_values(source: str, start: int, end: int) -> dict[str, str]:
    """Values of `{name}` and `{name.member}`: strings and numbers of exported constants and objects."""
    values: dict[str, str] = {}
    reached = start
    for match in _CONSTANT.finditer(source, start, end):
        at = match.end()
        if at < reached:  # in an object that was read already
            continue
        if source.startswith("{", at):
            reached = scan_braces(source, at, end) or end
            _add_values(values, source, at, reached, match[1])
        elif source[at : min(at + 1, end)] in {'"', "'", "`"}:
            _add_values(values, source, at, skip_literal(source, at, end), match[1])
        elif (number := _SCALAR.match(source, at, end)) is not None:
            values[match[1]] = number.group()
    return values


def _add_values(values: dict[str, str], source: str, start: int, end: int, path: str) -> None:
    """Add a string or number by its path, or the members of an object."""
    raw = source[start:end].strip()
    if raw.startswith("{") and path.count(".") < _DEEPEST_MEMBER:
        pos = start + 1
        while (key := _MEMBER.match(source, pos, end - 1)) is not None:
            pos = _value_end(source, key.end(), end - 1)
            _add_values(values, source, key.end(), pos, f"{path}.{key[1].strip(_QUOTE_MARKS)}")
    elif (literal := literal_of(raw)) is not None:
        values[path] = literal[0]
    elif _NUMERAL.fullmatch(raw):
        values[path] = raw


def _value_end(source: str, at: int, end: int) -> int:
    """End of the value that starts at `at`: at the comma outside of brackets and literals."""
    depth = 0
    for stop in _outside_literals(_CODE, source, at, end):
        char = stop.group()
        if char == "," and depth == 0:
            return stop.start()
        depth += (char in "{[(") - (char in "}])")
    return end


def is_shown(tag: str, name: str, value: str) -> bool:
    """Whether the value of an attribute is visible text, as far as names and looks can tell."""
    if tag[:1].islower():
        return name == "alt" or (name == "title" and tag == "abbr")
    plain = name.lower()
    hidden = plain.endswith(("classname", "classnames")) or plain.startswith(("on", "data-"))
    if hidden or plain in COMPONENTS["unseen_attributes"] or not any(c.isalnum() for c in value):
        return False
    return plain in COMPONENTS["slots"] or (" " in value.strip() and any(c.isalpha() for c in value))


def attribute_texts(tag: Tag) -> Iterator[ScriptText]:
    """Visible texts in the attributes of a component, as far as names and looks can tell."""
    if tag.name == "Translate":  # its description is for translators
        return
    if tag.name in _FIELDS:
        yield from _field(tag)
        return
    # The label of a numbered component in mdBook: `Listing 6-3`.
    entry = next((item for item in tag.attributes if item.name == "number" and item.value), None)
    number = (
        ScriptText(f"{tag.name} {entry.value}", entry.start, entry.end) if entry and tag.name in _NUMBERED else None
    )
    if number is not None and all(item.name != "caption" for item in tag.attributes):
        yield number
    # Without a label, Docusaurus shows a tab's value on it.
    labelled = any(item.name == "label" for item in tag.attributes)
    unnamed = tag.name == "TabItem" and not labelled
    for item in tag.attributes:
        if item.value is None:
            continue
        if not item.expression:
            seen = is_shown(tag.name, item.name, item.value) or (tag.name == "hfoption" and item.name == "label")
            if seen or (unnamed and item.name == "value" and item.value.strip()):
                prefix = f"{number.text}: " if number is not None and item.name == "caption" else ""
                yield ScriptText(f"{prefix}{item.value}", item.start, item.end)
        elif is_shown(tag.name, item.name, "a b"):
            for inner in script_texts(item.value, 0, len(item.value), slots=True):
                yield ScriptText(inner.text, item.start + inner.start, item.start + inner.end, inner.url)


def _field(tag: Tag) -> Iterator[ScriptText]:
    """A parameter of an interface, in the form of Mintlify's heading: `speed: number, default: 0.5, required`."""
    name = next((item for item in tag.attributes if item.name in _FIELD_NAMES and item.value), None)
    if name is None or name.value is None:
        return
    parts: list[str] = []
    start, end = name.start, name.end
    for item in tag.attributes:
        if item.name == "type" and item.value:
            parts.insert(0, item.value)
        elif item.name == "default" and item.value:
            parts.append(f"default: {item.value.strip(_QUOTE_MARKS)}")
        elif item.name in {"required", "deprecated"} and item.value in {None, "true"}:
            parts.append(item.name)
        else:
            continue
        start, end = min(start, item.start), max(end, item.end)
    yield ScriptText(f"{name.value}: {', '.join(parts)}" if parts else name.value, start, end)


def script_texts(source: str, start: int, end: int, *, slots: bool = False) -> list[ScriptText]:
    """Strings, named numbers and text between tags in a stretch of JavaScript.

    The members of one object form one text, `name: Kestrel, mass: 28 kg`, like a table row.

    Args:
        slots: Whether members such as `text` and `label` only tell a component where to put their string, as in the
            attributes of a quiz, so that readers do not see those names.
    """
    scan = _Scan(source, start, end, slots=slots)
    scan.run()
    return scan.texts()


def _without_elements(text: str) -> str:
    """A string without the tags of whole elements: components render such strings as HTML, `<code>git-lfs</code>`."""
    while (bare := _ELEMENT.sub(r"\2", text)) != text:
        text = bare
    return unescape(text)


class _Scan:
    def __init__(self, source: str, start: int, end: int, *, slots: bool) -> None:
        self.source, self.pos, self.end = source, start, end
        self.slots = slots
        self.items: list[tuple[int, str, ScriptText]] = []
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
                if char in "},":
                    self.number(at)
                if char == "{":
                    self.groups.append(at)
                elif char == "}" and len(self.groups) > 1:
                    self.groups.pop()
                self.pos = at + 1
                if self.elements and char == "}":
                    self.gap = self.pos
        self.number(self.end)

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
        if any(c.isalnum() for c in text) and (name not in COMPONENTS["unseen_keys"] or " " in text.strip()):
            self.items.append((self.groups[-1], name, ScriptText(text, at + 1, stop - 1)))
        elif name and _ADDRESS.match(text):
            self.urls[self.groups[-1]] = text

    def number(self, at: int) -> None:
        right = _RIGHT.search(self.source, max(self.pos, at - 80), at) if self.slots else None
        if right is not None:
            place = (right.start(1), right.end(1))
            self.items.append((self.groups[-1], right[1], ScriptText("correct", *place)))
            return
        match = _NUMBER_MEMBER.search(self.source, max(self.pos, at - 80), at)
        if match is not None and match[1] not in COMPONENTS["unseen_keys"] - {"value"}:
            self.items.append((self.groups[-1], match[1], ScriptText(match[2], match.start(2), match.end(2))))

    def tag(self, at: int) -> None:
        tag = None
        if self.elements or _BEFORE_TAG.search(self.source, max(0, at - 40), at) or at == self.groups[0]:
            tag = scan_tag(self.source, at, self.end)
        if tag is None:
            self.pos = at + 1
            return
        self.items += [(tag.start, "", item) for item in attribute_texts(tag)]
        if tag.closing:
            self.elements = max(0, self.elements - 1)
        elif not tag.self_closing:
            self.elements += 1
        self.pos = self.gap = tag.end

    def between_tags(self, at: int) -> None:
        text = self.source[self.gap : at]
        if any(c.isalnum() for c in text):
            start = self.gap + len(text) - len(text.lstrip())
            piece = ScriptText(" ".join(text.split()), start, start + len(text.strip()))
            # The text on both sides of an expression is one sentence to a reader, with a value in the middle.
            before = self.items[-1][2] if self.items and self.items[-1][0] < 0 else None
            if before is not None and len(before.text) < _LONG_TEXT and self.is_value(before.end, self.gap):
                self.items.pop()
                piece = ScriptText(f"{before.text} … {piece.text}", before.start, piece.end)
            self.items.append((-1 - at, "", piece))
        self.gap = at

    def is_value(self, start: int, end: int) -> bool:
        """Whether a range consists of one expression in braces."""
        brace = self.source.find("{", start, end)
        return brace >= 0 and not self.source[start:brace].strip() and scan_braces(self.source, brace, end) == end

    def texts(self) -> list[ScriptText]:
        texts: list[ScriptText] = []
        group_of_last: int | None = None
        for group, name, item in self.items:
            slot = self.slots and (name.lower() in COMPONENTS["slots"] or _RIGHT.match(f"{name}:true") is not None)
            text = f"{name}: {item.text}" if name and not slot else item.text
            url = self.urls.get(group, "") if name else ""
            if name and group == group_of_last:
                last = texts.pop()
                joint = " — " if slot else ", "
                texts.append(ScriptText(f"{last.text}{joint}{text}", last.start, item.end, url))
            else:
                texts.append(ScriptText(text, item.start, item.end, url))
            group_of_last = group if name else None
        return texts
