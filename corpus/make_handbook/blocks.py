"""The handbook's text: a small part of Markdown, read into blocks.

The files in `text/` use headings, paragraphs, lists, check lists, tables with a caption before them, boxes
(`:::danger Title`) and figures (`!figure NAME caption`). `{two-columns}` after a chapter heading sets the chapter in
two columns, and `!column` starts the second one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from pathlib import Path

# Words that may break at the end of a narrow line; the dots become soft hyphens.
BREAKS = (
    "abil·ity acci·dent assess·ment bat·tery bin·oculars cir·cuit com·pres·sion com·pres·sions com·pressor "
    "con·cen·trates cer·tif·i·cate de·fib·ril·la·tor dif·fer di·rec·tion dis·con·nects dis·charge dis·tance "
    "dis·tracted ex·po·sure emer·gency en·trance fluor·ide hos·pital hydro·gen in·flu·ence in·frared in·jury "
    "lith·ium mag·ni·fying mea·sured mi·cro·me·tres photo·sensi·tive poi·son·ous pro·tec·tion re·cord·ing "
    "re·sis·tor resus·ci·ta·tion run·away sever·ity ster·ile tem·pera·ture tele·phone ther·mal vol·tage"
)
SOFT_HYPHEN = "\N{SOFT HYPHEN}"
HYPHENATED = {word.replace("·", ""): word.replace("·", SOFT_HYPHEN) for word in BREAKS.split()}


@dataclass(frozen=True)
class Heading:
    """A chapter (level 1) or a section (level 2)."""

    level: int
    text: str
    columns: int = 1


@dataclass(frozen=True)
class Text:
    """One paragraph in ReportLab's inline markup."""

    markup: str


@dataclass(frozen=True)
class Items:
    """A list; `kind` is `bullet`, `number` or `check`."""

    kind: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table; the first row is its head."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Box:
    """A framed notice; `kind` is one of the signal words in lower case."""

    kind: str
    title: str
    markup: str


@dataclass(frozen=True)
class Picture:
    """A figure drawn by `figures.py`."""

    name: str
    caption: str


@dataclass(frozen=True)
class Column:
    """The place where the next column starts."""


Block = Heading | Text | Items | Grid | Box | Picture | Column

HEADING = re.compile(r"(#+) (.+?)( \{two-columns\})?$")
ITEM = re.compile(r"(?P<check>- \[ \] )|(?P<bullet>- )|(?P<number>\d+\. )")
BOX = re.compile(r":::(\w+) (.+)$")


def inline(text: str) -> str:
    """`**bold**` and `*italic*` as ReportLab's tags; everything else is literal."""
    text = escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)


def hyphenated(markup: str) -> str:
    """The markup with soft hyphens in the words of `BREAKS`."""
    return re.sub(r"[A-Za-z]+", lambda word: _with_case(word.group()), markup)


def _with_case(word: str) -> str:
    broken = HYPHENATED.get(word.lower(), word)
    return word[0] + broken[1:] if broken != word else word


def read_blocks(folder: Path) -> list[Block]:
    """All blocks of the `*.md` files in a folder, in the order of their names.

    Raises:
        ValueError: a line does not belong to the small language, or a character is missing in the built-in fonts.
    """
    found: list[Block] = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        try:
            text.encode("cp1252")
        except UnicodeEncodeError as error:
            raise ValueError(f"{path.name}: {text[error.start]!r} is not in the built-in fonts") from error
        paragraphs = (part.split("\n") for part in re.split(r"\n\n+", text.strip()))
        found.extend(_parse(paragraphs))
    return found


def _parse(paragraphs: Iterator[list[str]]) -> Iterator[Block]:
    caption = ""
    for lines in paragraphs:
        first = lines[0]
        if heading := HEADING.match(first):
            yield Heading(len(heading[1]), heading[2], 2 if heading[3] else 1)
        elif first.startswith("|"):
            yield Grid(caption, tuple(_cells(line) for line in lines if not line.startswith("|--")))
        elif first.startswith("*Table "):
            caption = inline(first.strip("*"))
        elif first == "!column":
            yield Column()
        elif first.startswith("!figure "):
            _, name, text = first.split(" ", 2)
            yield Picture(name, inline(text))
        elif box := BOX.match(first):
            yield Box(box[1], box[2], inline(" ".join(takewhile(lambda line: line != ":::", lines[1:]))))
        elif item := ITEM.match(first):
            yield Items(str(item.lastgroup), tuple(_items(lines)))
        elif first.startswith(("#", "!", ":", ">")):
            raise ValueError(f"not understood: {first}")
        else:
            yield Text(inline(" ".join(lines)))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(inline(cell.strip()) for cell in line.strip("|").split("|"))


def _items(lines: list[str]) -> Iterator[str]:
    for line in lines:
        item = ITEM.match(line)
        if not item:
            raise ValueError(f"not a list item: {line}")
        yield inline(line[item.end() :])
