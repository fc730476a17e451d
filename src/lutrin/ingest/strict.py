"""Checks whether MDX would accept a page: braces and tags must close. Reading on regardless can lose half a page.

Docusaurus' extensions of MDX are allowed: HTML comments, `{#id}` after headings, formulas; and void elements.
"""

import re

from lutrin.ingest.makers import VOID

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PIECE = re.compile(
    r"^[ \t>*+-]*(?:\d+[.)][ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|^(?P<module>import|export)\b(?=[ \t{*'\"])|\\."
    r"|(?P<code>`+)|\$\$.{0,4000}?\$\$|\$(?=\S)[^$\n]{0,4000}?(?<=\S)\$(?!\d)|\{#[^{}\n]*\}|(?P<brace>\{)"
    r"|(?P<comment><!--)|<(?![A-Za-z][\w+.-]{1,31}://|mailto:)(?=[^\W\d]|[/>$])"
    r"(?P<tag>/?)[ \t\r\n]*(?P<name>(?:[A-Za-z_$][\w$.:-]*)?)",
    re.DOTALL | re.MULTILINE,
)
"""Markup that must close, and markup that may contain anything."""
_BEFORE_MODULE = re.compile(r"(?:\A\s*|\n[ \t\r]*\n|---\s*|;\s*|['\"]\s*)\Z")
_IN_MODULE = re.compile(r"[{('\"`]|\n[ \t\r]*(?:\n|\Z)")
_IN_BRACES = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?P<end>\*/)?|[{}()'\"`]")
_IN_STRING = re.compile(r"\\.|\$\{|['\"`\n]", re.DOTALL)
_IN_TAG = re.compile(r"[><{]|(?<=[=\s])['\"]")
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n|\Z")


class _Refusal(Exception):
    """MDX would refuse the page: offset and reason."""


def refusal(source: str) -> tuple[int, str] | None:
    """Line and reason of the first place that MDX would refuse; None if it accepts the page.

    >>> refusal("# A page" + chr(10) + "<Tabs>" + chr(10) + "text")
    (2, '<Tabs> is never closed')
    """
    try:
        _check(source)
    except _Refusal as refusal:
        offset, reason = refusal.args
        return source.count("\n", 0, offset) + 1, reason
    return None


def _check(source: str) -> None:
    opened: list[tuple[str, int]] = []
    front = _FRONT.match(source)
    at = front.end() if front else 0
    while (piece := _PIECE.search(source, at)) is not None:
        begin, at = piece.span()
        if piece["fence"] or piece["code"]:
            at = _behind_code(source, at, piece["fence"] or "", piece["code"] or "")
        elif piece["module"] and _BEFORE_MODULE.search(source[max(0, begin - 400) : begin]):
            at = _behind_module(source, begin)
        elif piece["brace"]:
            at = _behind_braces(source, begin)
        elif piece["comment"]:
            at = source.find("-->", begin) + 3
            if at < 3:
                raise _Refusal(begin, "a comment (<!--) is never closed")
        elif piece["name"] is not None:
            at = _behind_tag(source, piece, opened)
    if opened:
        name, offset = opened[-1]
        raise _Refusal(offset, f"<{name}> is never closed")


def _behind_code(source: str, at: int, fence: str, run: str) -> int:
    """The place after a fence, or a span of code; after its backticks if nothing closes it in the paragraph."""
    if fence:
        close = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE).search(source, at)
        return close.end() if close else len(source)
    paragraph = _PARAGRAPH_END.search(source, at)
    limit = paragraph.start() if paragraph else len(source)
    close = re.compile(rf"(?<!`)`{{{len(run)}}}(?!`)").search(source, at, limit)
    return close.end() if close else at


def _behind_module(source: str, at: int) -> int:
    """The place after an import or export, which ends before a blank line."""
    while (stop := _IN_MODULE.search(source, at)) is not None:
        if stop[0] in "{(":
            at = _behind_braces(source, stop.start())
        elif stop[0] in "'\"`":
            at = _behind_string(source, stop.start())
        else:
            return stop.start() + 1
    return len(source)


def _behind_braces(source: str, start: int) -> int:
    opening = source[start]
    closing = {"{": "}", "(": ")"}[opening]
    depth, at = 0, start
    while (stop := _IN_BRACES.search(source, at)) is not None and (stop["end"] or len(stop[0]) == 1):
        at = stop.end()
        if stop[0] in "'\"`":
            at = _behind_string(source, stop.start())
        depth += (stop[0] == opening) - (stop[0] == closing)
        if not depth:
            return at
    raise _Refusal(start, f"a brace ({opening}) is never closed")


def _behind_string(source: str, start: int) -> int:
    quote, at = source[start], start + 1
    while (stop := _IN_STRING.search(source, at)) is not None:
        at = stop.end()
        if stop[0] == quote:
            return at
        if stop[0] == "\n" and quote != "`":
            return stop.start()  # an apostrophe in text between tags
        if stop[0] == "${" and quote == "`":
            at = _behind_braces(source, at - 1)
    raise _Refusal(start, f"a string ({quote}) is never closed")


def _behind_tag(source: str, piece: re.Match[str], opened: list[tuple[str, int]]) -> int:
    """The place after a tag, whose partner is searched among the open ones."""
    name, start, at = piece["name"], piece.start(), piece.end()
    while (stop := _IN_TAG.search(source, at)) is not None and stop[0] != ">":
        close = source.find(stop[0], stop.end())
        if stop[0] == "<" or (stop[0] != "{" and close < 0):
            stop = None
            break
        at = _behind_braces(source, stop.start()) if stop[0] == "{" else close + 1
    if stop is None:
        raise _Refusal(start, f"the tag <{name} is never closed")
    if name.lower() in VOID:
        return stop.end()
    if piece["tag"]:
        if not opened:
            raise _Refusal(start, f"</{name}> closes nothing")
        partner, offset = opened.pop()
        if partner != name:
            raise _Refusal(offset, f"<{partner}> is not closed before </{name}>")
    elif source[stop.start() - 1] != "/":
        opened.append((name, start))
    return stop.end()
