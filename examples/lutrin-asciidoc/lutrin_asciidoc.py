"""AsciiDoc as a guest of Lutrin: the forms that most manuals use, turned into Markdown that Lutrin reads.

Read are headings, paragraphs, lists, blocks of code, quotes and literal text, boxes (`NOTE:`, `[WARNING]`), tables with
one row a line or one cell a line, links, and emphasis. A directive such as `include::` or an attribute is named in
brackets, because a reader should see that something stands there. It is an example of a guest, not a whole AsciiDoc.
"""

import re
from collections.abc import Iterator

from lutrin.ingest.formats import Format

_BOXES = "NOTE|TIP|IMPORTANT|CAUTION|WARNING"
_HEADING = re.compile(r"(={1,6}) +(\S.*)")
_BOX = re.compile(rf"({_BOXES}): +(.+)")
_STYLE = re.compile(r"\[([^\]]*)\]\s*$")
_ITEM = re.compile(r"(\*{1,5}|-|\.{1,5}) +(\S.*)")
_TITLE = re.compile(r"\.(\w.*)")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|_{4,}|\*{4,})\s*$")
_LINK = re.compile(r"(?:link:)?((?:https?|ftp)://[^\s\[\]]+)\[([^\]]*)\]")
_DIRECTIVE = re.compile(r"([a-z]+)::(\S*)\[[^\]]*\]\s*$")
_ATTRIBUTE = re.compile(r":[\w-]+!?:(?: .*)?$")


def to_markdown(data: bytes, _filename: str, _password: str = "") -> str:
    """Turn a file of AsciiDoc into Markdown."""
    lines = iter(data.decode("utf-8-sig").splitlines())
    return "\n".join(_blocks(lines)) + "\n"


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    style = ""
    for line in lines:
        if heading := _HEADING.fullmatch(line):
            yield f"{'#' * len(heading[1])} {_inline(heading[2])}\n"
        elif line.startswith("//") or _ATTRIBUTE.fullmatch(line):
            continue
        elif found := _STYLE.fullmatch(line):
            style = found[1]
            continue
        elif line.strip() in {"|===", ",==="}:
            yield from _table(lines)
        elif fence := _FENCE.fullmatch(line):
            yield from _fenced(fence[1], lines, style)
        elif box := _BOX.match(line):
            yield f"> [!{box[1]}]\n> {_inline(box[2])}"
            continue
        elif item := _ITEM.fullmatch(line):
            mark = "1." if item[1].startswith(".") else "-"
            yield f"{'   ' * (len(item[1]) - 1)}{mark} {_inline(item[2])}"
        elif title := _TITLE.fullmatch(line):
            yield f"*{_inline(title[1])}*\n"
        elif directive := _DIRECTIVE.fullmatch(line):
            yield f"[{directive[1]}: {directive[2]}]\n"
        elif style in _BOXES.split("|") and line.strip():
            yield f"> [!{style}]\n> {_inline(line)}"
            continue
        else:
            yield "" if line.strip() == "+" else _inline(line)
        style = ""


def _fenced(end: str, lines: Iterator[str], style: str) -> Iterator[str]:
    held = []
    for line in lines:
        if line.rstrip() == end:
            break
        held.append(line)
    if end[0] in "-.":
        language = style.partition(",")[2].split(",")[0].strip() if style.startswith("source") else ""
        yield "\n".join([f"~~~{language}", *held, "~~~"])
        return
    kind = f"> [!{style}]\n" if style in _BOXES.split("|") else ""
    quoted = "\n".join(_blocks(iter(held))).splitlines()
    yield kind + "\n".join(f"> {line}" for line in quoted) if kind or end[0] == "_" else "\n".join(quoted)


def _table(lines: Iterator[str]) -> Iterator[str]:
    rows: list[list[str]] = []
    row: list[str] = []
    for line in lines:
        if line.strip() in {"|===", ",==="}:
            break
        cells = [_inline(cell.strip()) for cell in line.split("|")[1:]]
        if len(cells) > 1:
            rows.append(cells)
        elif cells:
            row += cells
        elif row:  # one cell a line, rows apart by an empty line
            rows.append(row)
            row = []
    rows += [row] if row else []
    width = max(map(len, rows), default=0)
    for number, cells in enumerate(rows):
        yield f"| {' | '.join(cells + [''] * (width - len(cells)))} |"
        if number == 0:
            yield f"|{' --- |' * width}"
    yield ""


def _inline(text: str) -> str:
    text = _LINK.sub(lambda found: f"[{found[2] or found[1]}]({found[1]})", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+)(?<=\S)\*(?![\w*])", r"**\1**", text)
    return re.sub(r"(?<![\w_])_(?=\S)([^_]+)(?<=\S)_(?![\w_])", r"*\1*", text)


FORMATS = {suffix: Format("AsciiDoc", "lutrin_asciidoc:to_markdown") for suffix in (".adoc", ".asciidoc")}
