"""Values written in JavaScript or TypeScript, as configurations of sites hold them: read, never run."""

import re
from typing import Any

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
