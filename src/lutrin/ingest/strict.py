"""Check that MDX would accept a page: braces and tags must close. Reading on regardless can lose half a page.

What Docusaurus allows beyond MDX is allowed: HTML comments, `{#id}` behind headings, formulas; and void elements.
"""

import re

from lutrin.ingest.script import VOID

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"[ \t>*+-]*(?:\d+[.)][ \t]+)?(`{3,}|~{3,})([^\n]*)")
_MODULE = re.compile(r"(?:import|export)\b[ \t{*'\"]")
_MATHS = re.compile(r"\$\$.*?\$\$|\$(?=\S)[^$\n]*?(?<=\S)\$(?!\d)", re.DOTALL)
_TAG_NAME = re.compile(r"/?[ \t\r\n]*([A-Za-z_$][\w$.:-]*)?")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]{1,31}://|mailto:")
_QUOTES = "'\""
_LONGEST_MATHS = 4_000


class Refused(Exception):
    """MDX would refuse the page."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def refusal(source: str) -> tuple[int, str] | None:
    """Line and reason of the first place that MDX would refuse; None if it reads the page.

    >>> refusal("# A page" + chr(10) + "<Tabs>" + chr(10) + "text")
    (2, '<Tabs> is never closed')
    """
    try:
        _Checker(source).check()
    except Refused as refused:
        return source.count("\n", 0, refused.offset) + 1, refused.message
    return None


class _Checker:
    def __init__(self, source: str) -> None:
        self.source = source
        self.opened: list[tuple[str, int]] = []

    def check(self) -> None:
        front = _FRONT.match(self.source)
        at = front.end() if front else 0
        line_start = True
        while at < len(self.source):
            at, line_start = self.step(at, line_start=line_start)
        if self.opened:
            name, offset = self.opened[-1]
            raise Refused(offset, f"<{name}> is never closed")

    def step(self, at: int, *, line_start: bool) -> tuple[int, bool]:
        """Go over one piece of the page; returns where the next begins, and whether a line does there."""
        source, letter = self.source, self.source[at]
        if line_start:
            after = self.whole_lines(at)
            if after > at:
                return after, True
        if letter == "\\":
            return at + 2, False
        if letter == "`":
            return self.code(at), False
        if letter == "$" and (maths := _MATHS.match(source, at, at + _LONGEST_MATHS)):
            return maths.end(), False
        if letter == "{":
            named = re.compile(r"\{#[^{}\n]*\}").match(source, at)
            return (named.end() if named else self.braces(at)), False
        if letter == "<":
            return self.tag(at), False
        return at + 1, letter == "\n"

    def whole_lines(self, at: int) -> int:
        """Behind a fence of code, or an import or export, that begins here; else `at`."""
        fence = _FENCE.match(self.source, at)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            close = re.compile(rf"^[ \t>]*{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*\r?$", re.MULTILINE)
            end = close.search(self.source, fence.end())
            return end.end() if end else len(self.source)
        before = self.source[max(0, at - 400) : at]
        if _MODULE.match(self.source, at) and (
            not before.strip() or re.search(r"\n[ \t\r]*\n\Z|---\s*\Z|;\s*\Z|['\"]\s*\Z", before)
        ):
            return self.module(at)
        return at

    def module(self, at: int) -> int:
        while at < len(self.source):
            letter = self.source[at]
            if letter in "{(":
                at = self.braces(at, closing={"{": "}", "(": ")"}[letter])
            elif letter in "'\"`":
                at = self.string(at)
            elif re.compile(r"\n[ \t\r]*(?:\n|\Z)").match(self.source, at):
                return at + 1
            else:
                at += 1
        return at

    def code(self, at: int) -> int:
        """Behind a span of code, or behind the backticks if nothing closes them in the paragraph."""
        run = re.compile(r"`+").match(self.source, at)
        length = len(run.group()) if run else 1
        paragraph = re.compile(r"\n[ \t\r]*\n").search(self.source, at)
        limit = paragraph.start() if paragraph else len(self.source)
        close = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(self.source, at + length, limit)
        return close.end() if close else at + length

    def string(self, at: int) -> int:
        quote, inside = self.source[at], at + 1
        while inside < len(self.source):
            letter = self.source[inside]
            if letter == "\\":
                inside += 1
            elif letter == quote:
                return inside + 1
            elif letter == "\n" and quote != "`":
                return inside  # an apostrophe in text between tags
            elif quote == "`" and self.source.startswith("${", inside):
                inside = self.braces(inside + 1) - 1
            inside += 1
        raise Refused(at, f"a string ({quote}) is never closed")

    def braces(self, at: int, closing: str = "}") -> int:
        opening, depth, inside = self.source[at], 0, at
        while inside < len(self.source):
            letter = self.source[inside]
            if self.source.startswith("/*", inside):
                end = self.source.find("*/", inside + 2)
                if end < 0:
                    break
                inside = end + 2
                continue
            if letter in "'\"`":
                inside = self.string(inside)
                continue
            depth += (letter == opening) - (letter == closing)
            inside += 1
            if not depth:
                return inside
        raise Refused(at, f"a brace ({opening}) is never closed")

    def tag(self, at: int) -> int:
        """Behind a tag, whose partner is looked for on the stack."""
        source = self.source
        if source.startswith("<!--", at):
            end = source.find("-->", at)
            if end < 0:
                raise Refused(at, "a comment (<!--) is never closed")
            return end + 3
        following = source[at + 1 : at + 2]
        if not following or following in " \t\r\n=" or not (following.isalpha() or following in "/>_$"):
            return at + 1
        match = _TAG_NAME.match(source, at + 1)
        name = (match[1] if match else "") or ""
        if _ADDRESS.match(source, at + 1):
            return at + 1
        end, self_closing = self.attributes(match.end() if match else at + 1, at, name)
        if following == "/":
            self.close(name, at)
        elif not self_closing and name.lower() not in VOID:
            self.opened.append((name, at))
        return end

    def attributes(self, at: int, start: int, name: str) -> tuple[int, bool]:
        """Behind the bracket that ends a tag, and whether the tag closes itself."""
        while at < len(self.source):
            letter = self.source[at]
            if letter == ">":
                return at + 1, self.source[at - 1] == "/"
            if letter == "{":
                at = self.braces(at)
            elif letter in _QUOTES and self.source[at - 1 : at].strip() in {"=", ""}:
                end = self.source.find(letter, at + 1)
                if end < 0:
                    break
                at = end + 1
            elif letter == "<":
                break
            else:
                at += 1
        raise Refused(start, f"the tag <{name} is never closed")

    def close(self, name: str, at: int) -> None:
        if name.lower() in VOID:
            return
        if not self.opened:
            raise Refused(at, f"</{name}> closes nothing")
        opened, offset = self.opened.pop()
        if opened != name:
            raise Refused(offset, f"<{opened}> is not closed before </{name}>")
