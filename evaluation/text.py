"""Read Markdown as the judge does: words outside code, sentences with their citations, facts in a text.

Pure functions; both sides of a comparison go through `plain`, so that emphasis, dashes, quotes, links, table pipes and
line breaks never decide it.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_MARKER = re.compile(r"\s?\[(\d{1,3})\]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_TRANSLATION = str.maketrans(
    {"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "|": " "}
)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GLUED_UNIT = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)*)(?=[^\W\d_]|[°%])")
_RULE = re.compile(r"^[\s|:\-=*_]+$")
_LIST_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_HEADING = re.compile(r"^[ \t>]*#{1,6}[ \t]+")
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)*_]*(?:\s?\[\d{1,3}\])*(?=\s|$)")
_MARKUP = re.compile(r"[*`$\\]|(?<!\w)_+|_+(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)*(?!\w)")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of Markdown between blank lines, or the inside of one fence."""

    text: str
    is_code: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item, table row or code block of an answer."""

    text: str
    """Without citation markers and list marks; code without its fence."""
    cites: tuple[int, ...]
    """Numbers of the sources that it names; without any of its own, those that the text names next."""
    is_code: bool = False


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text in order."""
    found: list[Block] = []
    lines: list[str] = []
    fence = ""

    def close(*, is_code: bool) -> None:
        if any(line.strip() for line in lines) or is_code:
            found.append(Block("\n".join(lines), is_code))
        lines.clear()

    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t>`~"):
                close(is_code=True)
                fence = ""
            else:
                lines.append(line)
        elif mark:
            close(is_code=False)
            fence = mark[1]
        elif line.strip():
            lines.append(line)
        else:
            close(is_code=False)
    close(is_code=bool(fence))
    return found


def word_count(answer: str) -> int:
    """Words of an answer outside code: what blanks separate, marks of tables and citations included."""
    return sum(len(block.text.split()) for block in blocks(answer) if not block.is_code)


def first_words(answer: str, limit: int = 160) -> str:
    """The beginning of an answer: `limit` words of text, and the code blocks before the last of them.

    Args:
        answer: Markdown.
        limit: Words outside code; words inside code are not counted.
    """
    taken: list[str] = []
    left = limit
    for block in blocks(answer):
        if block.is_code:
            taken.append(block.text)
            continue
        found = block.text.split()
        taken.append(" ".join(found[:left]))
        left -= len(found)
        if left <= 0:
            break
    return "\n".join(taken)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A text as it is compared: lower case, one blank between words, markup and citation markers removed."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", html.unescape(text)))
    text = _LINK.sub(r"\1", text)
    text = _MARKER.sub("", text).translate(_TRANSLATION)
    text = _MARKUP.sub("", text)
    text = _GROUPED.sub("", text)
    text = _GLUED_UNIT.sub(r"\1 ", text)
    return " ".join(text.lower().split())


def stands(fact: str, text: str) -> bool:
    """Whether a fact is in a text, both as they are (not yet plain).

    Whole words count: a number never inside a longer number, a word never inside another one, though the last word may
    be inflected (`motor` is in `motors`).
    """
    return bool(places(fact, text))


def places(fact: str, text: str) -> list[int]:
    """Places of a fact in a text, as `stands` finds it: indices of its first word in `plain(text)`."""
    wanted = plain(fact)
    if not wanted:
        return []
    pattern = _start(wanted[0]) + re.escape(wanted) + _end(wanted[-1])
    whole = plain(text)
    return [whole.count(" ", 0, match.start()) for match in re.finditer(pattern, whole)]


def _start(first: str) -> str:
    """Pattern that must not precede a fact that begins with this character."""
    return r"(?<![\w.])" if first.isdigit() else r"(?<!\w)" if first.isalpha() else ""


def _end(last: str) -> str:
    """Pattern that must not follow a fact that ends with this character."""
    return r"(?!\w|[.,]\d)" if last.isdigit() else r"(?:'?s|es|d|ed|ing)?(?!\w)" if last.isalpha() else ""


def numbers(text: str) -> list[str]:
    """Numbers that stand alone in a plain text; parts of names such as `d435i` are not numbers."""
    return [match.lstrip("+") for match in _NUMBER.findall(text)]


def sentences(answer: str) -> list[Sentence]:
    """The statements of an answer, without table rules and headings."""
    pieces: list[tuple[str, tuple[int, ...], bool, int]] = []
    for index, block in enumerate(blocks(answer)):
        if block.is_code:
            pieces.append((block.text, (), True, index))
            continue
        for line in _statements(block.text):
            for part in _split(line):
                text = _MARKER.sub("", part).strip()
                cites = tuple(dict.fromkeys(int(number) for number in _MARKER.findall(part)))
                if cites or re.search(r"\w", text):
                    pieces.append((text, cites, False, index))
    return _with_citations(pieces)


def _statements(block: str) -> Iterator[str]:
    """Lines that belong together: a paragraph, or one item, row or quoted line each."""
    running: list[str] = []
    for line in block.splitlines():
        if _HEADING.match(line) or _RULE.match(line):
            continue
        is_own = bool(_LIST_ITEM.match(line)) or line.lstrip().startswith("|")
        if is_own and running:
            yield " ".join(running)
            running = []
        running.append(_LIST_ITEM.sub("", line).lstrip("> \t").strip())
        if line.lstrip().startswith("|"):
            yield " ".join(running)
            running = []
    if running:
        yield " ".join(running)


def _split(line: str) -> Iterator[str]:
    """Sentences of a line, each with the markers that follow its full stop."""
    start = 0
    for match in _SENTENCE_END.finditer(line):
        rest = line[match.end() :].lstrip()
        if rest and not re.match(r"[^\W_a-z]|[\"“(`*\[<]", rest):
            continue
        yield line[start : match.end()]
        start = match.end()
    if line[start:].strip():
        yield line[start:]


def _with_citations(pieces: list[tuple[str, tuple[int, ...], bool, int]]) -> list[Sentence]:
    """Give a piece without a marker the next one of its block, else of the text, else the one before it."""
    found: list[Sentence] = []
    for place, (text, cites, is_code, index) in enumerate(pieces):
        if not text:
            continue
        later = [(other, block) for _, other, _, block in pieces[place + 1 :] if other]
        earlier = [(other, block) for _, other, _, block in pieces[:place] if other]
        candidates = (
            cites,
            next((other for other, block in later if block == index), ()),
            next((other for other, block in reversed(earlier) if block == index), ()),
            later[0][0] if later else (),
            earlier[-1][0] if earlier else (),
        )
        found.append(Sentence(text, next((item for item in candidates if item), ()), is_code))
    return found
