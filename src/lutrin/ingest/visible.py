"""The visible characters of an inline text, each with its place in the source."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape

from lutrin.ingest.inline import Inline, Token
from lutrin.ingest.script import (
    HTML,
    INLINE,
    is_comment,
    is_shown,
    literal_of,
    shown_literals,
    skip_literal,
    unquote,
)
from lutrin.ingest.tree import is_dark_address
from lutrin.ingest.wording import UNKNOWN, looks_like_note_mark, signs_around

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MARKED = re.compile(r"`[^`\n]+`|\]\(|(?<![\w*])\*\*?\w")
"""Whether a string in an attribute holds marks of Markdown; in others, braces and brackets are just text."""
_FRACTION_CHARS = 8
"""Of the source behind a raised figure: enough to see whether another one stands below it."""
_SHIFTED = {"raised": "sup", "lowered": "sub"}
_MARKS = {"emphasis": 1, "strong": 2}
_STRUCK = frozenset({"del", "s", "strike"})
"""Elements whose words the author has struck out: a quote cannot show that, so they are no part of it."""
_NOTHING = frozenset({"null", "undefined", "true", "false"})
"""Values that React shows nothing for."""
_VALUE = re.compile(r"\$\{([^{}]*)\}")


@dataclass(slots=True)
class Piece:
    """A stretch of visible text and the range of the inline text that it came from."""

    start: int
    """Index in the visible text."""
    begin: int
    end: int
    outer_begin: int
    outer_end: int
    """The range with the marks around it: backticks, brackets, asterisks."""
    exact: bool
    """Whether the visible characters are those of the range, one by one."""


@dataclass(slots=True)
class Visible:
    """Visible text with its pieces."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)
    protected: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of code, maths and addresses, in which no sentence ends."""

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Range of the inline text for a non-empty range of the visible text, with the marks that hug it."""
        first = self.pieces[bisect_right(self.pieces, start, key=_start) - 1]
        last_index = bisect_right(self.pieces, end - 1, key=_start) - 1
        last = self.pieces[last_index]
        last_end = self.pieces[last_index + 1].start if last_index + 1 < len(self.pieces) else len(self.text)
        begin = first.begin + (start - first.start if first.exact else 0)
        stop = last.begin + (end - last.start) if last.exact else last.end
        return first.outer_begin if start == first.start else begin, last.outer_end if end == last_end else stop


def _start(piece: Piece) -> int:
    return piece.start


def closing_tag(tokens: Sequence[Token], index: int) -> int:
    """Index of the tag that closes a raised, lowered or struck element, or a ruby's reading, at `index`; 0: none."""
    tag = tokens[index]["tag"]
    if tag.name.lower() not in {"sup", "sub", "rt", *_STRUCK} or tag.closing:
        return 0
    depth = 0
    for place in range(index, len(tokens)):
        other = tokens[place].get("tag")
        if other is not None and other.name == tag.name:
            depth += -1 if other.closing else 1
            if not depth:
                return place
    return 0


def is_note_mark(tokens: Sequence[Token]) -> bool:
    """Whether raised text is a link to a note."""
    for token in tokens:
        target = token["attrs"]["url"] if token["type"] == "link" else ""
        if token["type"] == "tag" and token["tag"].name.lower() == "a":
            target = token["tag"].attribute("href")
        if target.startswith("#") or token["type"] == "note":
            return True
    return False


def plain_text(tokens: Sequence[Token]) -> str:
    """The text of tokens without any markup, as a picture's description."""
    return "".join(
        plain_text(token["children"]) if "children" in token else unescape(token.get("raw", " "))
        for token in tokens
        if token["type"] != "tag"
    )


class _Reader:
    def __init__(self, text: str, values: dict[str, str], *, attributes: bool) -> None:
        self.text = text
        self.values = values
        self.attributes = attributes
        self.parts: list[str] = []
        self.pieces: list[Piece] = []
        self.protected: list[tuple[int, int]] = []
        self.length = 0
        self.cursor = 0

    def put(self, visible: str, begin: int, end: int, *, exact: bool, marks: int = 0) -> None:
        if not visible:
            return
        self.pieces.append(Piece(self.length, begin, end, begin - marks, end + marks, exact))
        self.parts.append(visible)
        self.length += len(visible)

    def walk(self, tokens: list[Token]) -> None:
        after = 0
        for index, token in enumerate(tokens):
            if index < after:
                continue
            close = closing_tag(tokens, index) if token["type"] == "tag" else 0
            if close and token["tag"].name.lower() in _STRUCK:
                self.cursor = max(self.cursor, tokens[close]["span"][1])
                after = close + 1
            elif close:
                self.shifted(token["tag"].name.lower(), tokens[index + 1 : close], token["span"], tokens[close]["span"])
                after = close + 1
            else:
                self.token(token)

    def shifted(self, name: str, inside: list[Token], opening: tuple[int, int], closing: tuple[int, int]) -> None:
        """Put what stands above or below the line, so that no reader takes it for a part of the word before it."""
        self.cursor = max(self.cursor, opening[0])
        inner = plain_text(inside)
        last = "".join(self.parts[-1:])
        if is_note_mark(inside) or (name == "sup" and looks_like_note_mark(last, inner)):
            self.cursor = max(self.cursor, closing[1])
            return
        before, behind = signs_around(name, last, inner, self.text[closing[1] : closing[1] + _FRACTION_CHARS])
        if any(token.get("tag") is not None and token["tag"].name in _SHIFTED.values() for token in inside):
            before, behind = f"{before or '^_'[name == 'sub']}(", ")"
        first = len(self.pieces)
        self.put(before, *opening, exact=False)
        self.cursor = max(self.cursor, opening[1])
        self.walk(inside)
        self.put(behind, *closing, exact=False)
        if len(self.pieces) > first:
            self.pieces[first].outer_begin = min(opening[0], self.pieces[first].outer_begin)
            self.pieces[-1].outer_end = max(closing[1], self.pieces[-1].outer_end)
        self.cursor = max(self.cursor, closing[1])

    def token(self, token: Token) -> None:
        kind = token["type"]
        begin, end = token.get("span", (self.cursor, self.cursor))
        if kind == "text":
            self.plain(token["raw"])
            return
        if "span" in token and "children" not in token:
            self.cursor = max(self.cursor, begin)
        if kind in {"softbreak", "linebreak"}:
            self.put("\n", begin, end, exact=False)
        elif kind == "codespan":
            self.code(token["raw"], begin, end)
        elif kind == "maths":
            self.formula(token["raw"], begin, end)
        elif kind == "tag":
            self.tag(token, begin, end)
        elif kind == "expression":
            self.expression(token["raw"], begin, end)
        elif kind in _SHIFTED:
            self.shifted(_SHIFTED[kind], token["children"], (begin, begin + 1), (end - 1, end))
        elif "children" in token and kind not in {"aside", "strike"}:
            self.nested(token, kind)
        if "span" in token:
            self.cursor = max(self.cursor, end)

    def nested(self, token: Token, kind: str) -> None:
        if kind == "image" and is_dark_address(token["attrs"]["url"]):
            return
        if kind == "image" and self.parts and not self.parts[-1][-1].isspace():
            self.put(" ", self.cursor, self.cursor, exact=False)  # pictures in a row stand apart
        first, start = len(self.pieces), self.cursor
        self.walk(token["children"])
        if first == len(self.pieces):
            return
        opening, closing = self.pieces[first], self.pieces[-1]
        if kind in {"link", "image"}:
            bracket = self.text.rfind("[", start, opening.outer_begin + 1)
            if bracket >= 0:
                opening.outer_begin = bracket - (kind == "image")
            closing.outer_end = max(closing.outer_end, token["span"][1] if "span" in token else 0)
            begin = token["span"][0] if "span" in token else start
            if self.text.startswith("<", begin):
                opening.outer_begin = begin
                self.protected.append((opening.start, self.length))
        elif kind in _MARKS:
            opening.outer_begin = max(start, opening.outer_begin - _MARKS[kind])
            closing.outer_end = min(len(self.text), closing.outer_end + _MARKS[kind])

    def plain(self, raw: str) -> None:
        """Find plain text again behind the cursor, where only escapes and emphasis marks can stand between."""
        done = 0
        for entity in _ENTITY.finditer(raw):
            self.letters(raw[done : entity.start()])
            at = self.text.find(entity.group(), self.cursor)
            begin = self.cursor if at < 0 else at
            stop = begin + len(entity.group())
            self.put(unescape(entity.group()), begin, stop, exact=False)
            self.cursor, done = stop, entity.end()
        self.letters(raw[done:])

    def letters(self, raw: str) -> None:
        while raw:
            if self.text.startswith(raw, self.cursor):
                self.put(raw, self.cursor, self.cursor + len(raw), exact=True)
                self.cursor += len(raw)
                return
            same = 0
            while same < len(raw) and self.text.startswith(raw[same], self.cursor + same):
                same += 1
            if same:
                self.put(raw[:same], self.cursor, self.cursor + same, exact=True)
                self.cursor += same
                raw = raw[same:]
            elif self.cursor < len(self.text):
                found = self.text.find(raw[0], self.cursor)
                if found < 0:
                    self.put(raw, self.cursor, self.cursor, exact=False)
                    return
                self.cursor = found
            else:
                self.put(raw, self.cursor, self.cursor, exact=False)
                return

    def code(self, raw: str, begin: int, end: int) -> None:
        marks = 0
        while self.text.startswith("`", begin + marks):
            marks += 1
        inner = begin + marks
        if len(raw) < end - begin - 2 * marks:
            inner += 1
        self.protected.append((self.length, self.length + len(raw)))
        self.put(raw, inner, inner + len(raw), exact=True)
        if raw:
            self.pieces[-1].outer_begin, self.pieces[-1].outer_end = begin, end

    def protect(self, raw: str, begin: int, end: int) -> None:
        self.protected.append((self.length, self.length + len(raw)))
        self.put(raw, begin, end, exact=True)

    def formula(self, raw: str, begin: int, end: int) -> None:
        if self.text.startswith("$", begin):
            self.protect(self.text[begin:end], begin, end)
            return
        self.protected.append((self.length, self.length + len(raw) + 2))
        self.put(f"${raw}$", begin, end, exact=False)

    def tag(self, token: Token, begin: int, end: int) -> None:
        tag = token["tag"]
        if tag.name.lower() == "q":
            self.put('"', begin, end, exact=False)
        if tag.name.lower() in INLINE - {"wbr"}:
            return
        # Cells, items and components stand apart in the page even if nothing stands between them in the file.
        known = tag.name.lower() in HTML
        if tag.name.lower() != "wbr" and (known or not self.touches_word(begin, end)):
            self.put(" ", begin, end, exact=False)
        for item in tag.attributes if self.attributes else ():
            shown = item.value
            if item.expression:
                literal = literal_of(item.value or "")
                shown = literal[0] if literal else None
            if shown and is_shown(tag.name, item.name, shown):
                self.put(f" {shown} ", begin, end, exact=False)

    def touches_word(self, begin: int, end: int) -> bool:
        return begin > 0 and self.text[begin - 1].isalnum() and self.text[end : end + 1].isalnum()

    def expression(self, raw: str, begin: int, end: int) -> None:
        self.put(expression_text(raw, self.values), begin, end, exact=False)


def expression_text(raw: str, values: dict[str, str]) -> str:
    """What an expression in braces shows: a string, a number, a known name, or the strings that it chooses from.

    >>> expression_text("`v${major}.2`", {"major": "3"}), expression_text("null", {}), expression_text("f(x)", {})
    ('v3.2', '', '[\u2026]')
    """
    literal = literal_of(raw)
    if literal is not None:
        return literal[0]
    bare = raw.strip()
    if not bare or bare in _NOTHING or bare[0] in ":#" or is_comment(raw):
        return ""  # attributes of Kramdown and ids show nothing either
    if bare[0] == "`" and skip_literal(bare, 0, len(bare)) == len(bare):
        return _VALUE.sub(lambda value: values.get(value[1].strip(), UNKNOWN), unquote(bare))
    known = bare if _NUMBER.fullmatch(bare) else values.get(bare) or " / ".join(shown_literals(bare))
    return known or UNKNOWN


def anchor_text(tokens: list[Token]) -> str:
    """The text of a heading from which Docusaurus makes its fragment.

    As `mdast-util-to-string` puts it together: expressions as they are written, of tags only what is between them.
    """
    parts = []
    for token in tokens:
        if token["type"] in {"softbreak", "linebreak"}:
            parts.append(" ")
        elif "children" in token:
            parts.append(anchor_text(token["children"]))
        elif token["type"] == "text":
            parts.append(_ENTITY.sub(lambda entity: unescape(entity.group()), token["raw"]))
        else:
            parts.append(token.get("raw", ""))
    return "".join(parts)


def without_marks(text: str, inline: Inline) -> str:
    """What a reader sees of a string that a component shows, which may hold Markdown's marks."""
    return read_visible(text, inline.tokens(text), {}).text if MARKED.search(text) else text


def read_visible(text: str, tokens: list[Token], values: dict[str, str], *, attributes: bool = True) -> Visible:
    """Put together what a reader sees; `attributes`: texts in those of components count (not in headings)."""
    reader = _Reader(text, values, attributes=attributes)
    reader.walk(tokens)
    return Visible("".join(reader.parts), reader.pieces, reader.protected)
