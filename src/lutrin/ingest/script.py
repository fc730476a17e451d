"""The JavaScript and JSX that must be known: where a tag, an expression or an import ends, and what a literal holds.

Nothing is evaluated. All scans run forward once and give up after a bounded stretch, so that no input is slow.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

_NAME = re.compile(r"[A-Za-z][\w.-]*(?::[\w.-]+)?")
_ATTRIBUTE = re.compile(r"[A-Za-z_:@][\w:.@-]*")
_BARE_VALUE = re.compile(r"[^\s\"'=<>`{}]+")
_SPACE = re.compile(r"\s*")
_QUOTES = frozenset("\"'`/")
_BRACE_STOP = re.compile(r"[{}\"'`/]")
_STRING = {'"': re.compile(r'"(?:[^"\\\r\n]|\\.)*+"', re.DOTALL), "'": re.compile(r"'(?:[^'\\\r\n]|\\.)*+'", re.DOTALL)}
_TEMPLATE = re.compile(r"`(?:[^`\\]|\\.)*+`", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|\r\n|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}

MAX_SPAN = 200_000
MAX_DEPTH = 100

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong "
    "sub sup time tt u var wbr".split()
)
HTML = (
    INLINE
    | VOID
    | frozenset(
        "address article aside audio blockquote body button canvas caption center colgroup datalist dd details dialog "
        "div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup html iframe legend li "
        "main map math menu meter nav noscript object ol optgroup option output p picture pre progress script search "
        "section select slot style summary svg table tbody td template textarea tfoot th thead title tr ul video path "
        "g rect circle ellipse line polyline polygon text tspan defs use marker".split()
    )
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a tag."""

    name: str
    value: str | None
    """Of a quoted value its text; of an expression its source; None if there is no value."""
    start: int
    end: int
    """Of the value, without quotes or braces."""
    expression: bool = False


@dataclass(frozen=True, slots=True)
class Tag:
    """`<Name a="b" c={d}>`, `<Name/>` or `</Name>`; a fragment has an empty name."""

    name: str
    start: int
    end: int
    attributes: tuple[Attribute, ...] = ()
    closing: bool = False
    self_closing: bool = False

    def attribute(self, name: str) -> str:
        """Value of a quoted attribute; empty if it is missing or an expression."""
        return next((a.value or "" for a in self.attributes if a.name == name and not a.expression), "")


def scan_tag(text: str, pos: int, end: int | None = None) -> Tag | None:
    """Read the tag that starts with the `<` at `text[pos]`; None if it is incomplete."""
    limit = min(len(text) if end is None else end, pos + MAX_SPAN)
    if text.startswith("<>", pos):
        return Tag("", pos, pos + 2)
    closing = text.startswith("</", pos)
    cursor = pos + 1 + closing
    if closing and text.startswith(">", cursor):
        return Tag("", pos, cursor + 1, closing=True)
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
            return Tag(name.group(), pos, cursor + 1, tuple(attributes), closing)
        if text.startswith("/>", cursor) and not closing:
            return Tag(name.group(), pos, cursor + 2, tuple(attributes), self_closing=True)
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
    """Index just behind the brace that closes the one at `pos`; None if it is never closed.

    Braces in strings, templates and comments do not count. An apostrophe without partner on its line is a letter.
    """
    limit = min(len(text) if end is None else end, pos + MAX_SPAN)
    depth, cursor = 0, pos
    while (stop := _BRACE_STOP.search(text, cursor, limit)) is not None:
        char, cursor = stop.group(), stop.end()
        if char == "{":
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif char == "}":
            depth -= 1
            if depth == 0:
                return cursor
        else:
            cursor = skip_literal(text, stop.start(), limit)
    return None


def skip_literal(text: str, pos: int, limit: int) -> int:
    """Index behind the string, template or comment that starts at `pos`, or `pos + 1` if none does."""
    char = text[pos]
    if char == "/":
        if text.startswith("/*", pos):
            close = text.find("*/", pos + 2, limit)
            return limit if close < 0 else close + 2
        if text.startswith("//", pos) and (pos == 0 or text[pos - 1] != ":"):
            close = text.find("\n", pos, limit)
            return limit if close < 0 else close
        return pos + 1
    pattern = _TEMPLATE if char == "`" else _STRING[char]
    match = pattern.match(text, pos, limit)
    return match.end() if match else pos + 1


def _skip_space(text: str, pos: int, limit: int) -> int:
    match = _SPACE.match(text, pos, limit)
    return match.end() if match else pos


def unquote(literal: str) -> str:
    r"""The text of a JavaScript string or template literal, its quotes and escapes resolved.

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
    """Strings of an expression that a page may show: phrases, and what stands behind `?`, `:`, `||`, `&&` or `??`.

    >>> shown_literals("fast ? 'It runs' : 'walks'"), shown_literals("require('./a.png')")
    (['It runs', 'walks'], [])
    """
    found, cursor = [], 0
    while (stop := _BRACE_STOP.search(expression, cursor)) is not None:
        cursor = skip_literal(expression, stop.start(), len(expression)) if stop.group() in _QUOTES else stop.end()
        if stop.group() in "\"'`" and cursor > stop.end():
            text = " ".join(unquote(expression[stop.start() : cursor]).split())
            before = expression[max(0, stop.start() - 20) : stop.start()].rstrip()
            if " " in text or (text and before.endswith(("?", ":", "||", "&&"))):
                found.append(text)
    return found


def is_comment(expression: str) -> bool:
    """Whether an expression holds comments only."""
    cursor = _skip_space(expression, 0, len(expression))
    while cursor < len(expression):
        if not expression.startswith(("/*", "//"), cursor):
            return False
        cursor = _skip_space(expression, skip_literal(expression, cursor, len(expression)), len(expression))
    return True


def statement_end(text: str, pos: int, limit: int) -> int:
    """End of the import or export that starts at `pos`: the first line end outside brackets and literals.

    A line that ends in an operator or a comma, or whose next line is indented or closes a bracket, goes on.
    """
    depth, cursor, stop = 0, pos, min(limit, pos + MAX_SPAN)
    for cursor in _code_positions(text, pos, stop):
        char = text[cursor]
        if char in "{[(":
            depth += 1
        elif char in "}])":
            depth = max(0, depth - 1)
        elif char == "\n" and depth == 0 and not _goes_on(text, pos, cursor, stop):
            return cursor
    return stop


_CODE_STOP = re.compile(r"[{}\[\]()\n\"'`/]")


def _code_positions(text: str, pos: int, limit: int) -> Iterator[int]:
    while (stop := _CODE_STOP.search(text, pos, limit)) is not None:
        if stop.group() in "\"'`/":
            pos = skip_literal(text, stop.start(), limit)
        else:
            yield stop.start()
            pos = stop.end()


_LINE_GOES_ON = re.compile(r"(?:[=,+*?:&|<.(-]|=>|\bfrom)\s*$")


def _goes_on(text: str, start: int, newline: int, limit: int) -> bool:
    following = text[newline + 1 : min(limit, newline + 2)]
    return following in {" ", "\t", "}", ")", "]"} or bool(
        _LINE_GOES_ON.search(text[max(start, newline - 40) : newline])
    )


_START = re.compile(r"(?:module\.exports|export\s+default|(?:const|let|var)\s+\w+[^=\n]*)\s*=?\s*(?=[{\[])")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>[\w$.-]+)|(?P<mark>[{}\[\]:,])|(?P<other>.)""",
    re.DOTALL,
)
_DEEPEST = 40
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


def read_literal(source: str) -> Any:  # noqa: ANN401 - whatever the file holds
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
        self.tokens = [
            (match.lastgroup, match.group()) for match in _TOKEN.finditer(text, start) if match.lastgroup is not None
        ]
        self.at = 0

    def next(self) -> tuple[str, str]:
        kind, text = self.tokens[self.at]
        self.at += 1
        return kind or "", text

    def peek(self) -> str:
        return self.tokens[self.at][1]

    def value(self, depth: int) -> Any:  # noqa: ANN401 - whatever stands there
        if depth > _DEEPEST:
            raise _Unreadable
        kind, text = self.next()
        if text == "{":
            return self.mapping(depth)
        if text == "[":
            return self.listing(depth)
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind == "word":
            return _WORDS.get(text, text)
        raise _Unreadable

    def mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.peek() != "}":
            kind, name = self.next()
            if kind not in {"text", "word"}:
                self.skip()
                continue
            if self.peek() != ":":
                self.skip()
                continue
            self.next()
            found[name.strip("'\"`")] = self.value(depth + 1)
            self.skip()
        self.next()
        return found

    def listing(self, depth: int) -> list[Any]:
        found = []
        while self.peek() != "]":
            if self.peek() not in {"{", "["} and self.tokens[self.at][0] not in {"text", "word"}:
                self.skip()
                continue
            found.append(self.value(depth + 1))
            self.skip()
        self.next()
        return found

    def skip(self) -> None:
        """Go behind the next comma of this level, or to its closing bracket (`as const`, a call, a spread)."""
        open_ = 0
        while open_ or self.peek() not in {"}", "]"}:
            _, text = self.next()
            if text in {"{", "[", "("}:
                open_ += 1
            elif text in {"}", "]", ")"}:
                open_ -= 1
            elif text == "," and not open_:
                return
