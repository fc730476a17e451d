"""Checks whether MDX would accept a page: braces and tags must close. Reading on regardless can lose half a page.

Docusaurus' extensions of MDX are allowed: HTML comments, `{#id}` after headings, formulas; and void elements.
"""

import re

from lutrin.ingest.makers import VOID
from lutrin.ingest.script import scan_braces, scan_tag, statement_end
from lutrin.ingest.tree import Tag

_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PIECE = re.compile(
    r"^[ \t>*+-]*(?:\d+[.)][ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|^(?P<module>import|export)\b(?=[ \t{*'\"])|\\."
    r"|(?P<code>`+)|\$\$.{0,4000}?\$\$|\$(?=\S)[^$\n]{0,4000}?(?<=\S)\$(?!\d)|\{#[^{}\n]*\}|(?P<brace>\{)"
    r"|(?P<comment><!--)|(?P<tag><(?![A-Za-z][\w+.-]{1,31}://|mailto:)/?(?=[A-Za-z/>])[\w.:-]*)",
    re.DOTALL | re.MULTILINE,
)
"""Markup that must close, and markup that may contain anything."""
_BEFORE_MODULE = re.compile(r"(?:\A\s*|\n[ \t\r]*\n|---\s*|;\s*|['\"]\s*)\Z")
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
    opened: list[Tag] = []
    front = _FRONT.match(source)
    at = front.end() if front else 0
    while (piece := _PIECE.search(source, at)) is not None:
        begin, at = piece.span()
        if piece["fence"] or piece["code"]:
            at = _behind_code(source, at, piece["fence"] or "", piece["code"] or "")
        elif piece["module"] and _BEFORE_MODULE.search(source[max(0, begin - 400) : begin]):
            at = statement_end(source, begin, len(source))
            if (brace := source.find("{", begin, at)) >= 0:
                _behind_braces(source, brace)
        elif piece["brace"]:
            at = _behind_braces(source, begin)
        elif piece["comment"]:
            at = source.find("-->", begin) + 3
            if at < 3:
                raise _Refusal(begin, "a comment (<!--) is never closed")
        elif piece["tag"]:
            tag = scan_tag(source, begin)
            if tag is None:
                raise _Refusal(begin, f"the tag {piece['tag']} is incomplete")
            at = tag.end
            _pair(tag, opened)
    if opened:
        raise _Refusal(opened[-1].start, f"<{opened[-1].name}> is never closed")


def _behind_code(source: str, at: int, fence: str, run: str) -> int:
    """The place after a fence, or a span of code; after its backticks if nothing closes it in the paragraph."""
    if fence:
        close = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE).search(source, at)
        return close.end() if close else len(source)
    paragraph = _PARAGRAPH_END.search(source, at)
    limit = paragraph.start() if paragraph else len(source)
    close = re.compile(rf"(?<!`)`{{{len(run)}}}(?!`)").search(source, at, limit)
    return close.end() if close else at


def _behind_braces(source: str, start: int) -> int:
    end = scan_braces(source, start)
    if end is None:
        raise _Refusal(start, "a brace ({) is never closed")
    return end


def _pair(tag: Tag, opened: list[Tag]) -> None:
    """Add an opening tag to the open ones, or remove the partner of a closing tag."""
    if tag.name.lower() in VOID or tag.self_closing:
        return
    if not tag.closing:
        opened.append(tag)
    elif not opened:
        raise _Refusal(tag.start, f"</{tag.name}> closes nothing")
    elif (partner := opened.pop()).name != tag.name:
        raise _Refusal(partner.start, f"<{partner.name}> is not closed before </{tag.name}>")
