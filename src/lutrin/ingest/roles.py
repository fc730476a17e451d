"""The role of a passage in its book: text, exercise, quiz, objectives and so on.

It follows from three things: the markup around a passage, the nearest heading above it with a role, and its content
(only questions, only links). The words and names that books use for this are data: `roles.toml`.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Literal, get_args

from msgspec import structs

from lutrin.ingest.inline import Token
from lutrin.records import NEVER_AN_ANSWER, Document, Section, TextRole, Unit

Shape = Literal["", "signpost", "link"]
"""Content of a unit: only a link to a place in the book, only a link elsewhere, or more."""
Names = dict[TextRole, tuple[str, ...]]

_DATA = Path(__file__).with_name("roles.toml")
_ROLES: tuple[TextRole, ...] = get_args(TextRole)
_NUMBER = re.compile(r"(?:(?:chapter|part|unit|module|lesson|section|appendix)\s+)?[\d.]*\d[.:)]*\s+")
_DROPPED = re.compile(r"[^\w\s&'#;.:-]")
_QUESTION = re.compile(r"\?[\s\"'”’)\]*_]*$")
_WORD = re.compile(r"\w+")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|<")
# Words allowed beside a link in an item that counts as a link: "Chapter 3:", "by a colleague".
_BESIDE = 3
# A section is a list if items have more than this share of its text.
_LISTED = 0.6
# Least questions in a section of questions; least words in a link, so that linked names do not make a list of links.
_LEAST = 2
# Least links in a section of links, and their least share of its text.
_MANY = 5
_MOSTLY = 0.5
# Lists that keep a role of their own under a heading with another one.
_INSIDE = frozenset(
    {("contents", "objectives"), ("contents", "assignment"), ("contents", "exercise"), ("objectives", "assignment")}
)


@lru_cache(maxsize=1)
def _data() -> dict[str, Names]:
    tables = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {kind: {role: tuple(table[role]) for role in _ROLES if role in table} for kind, table in tables.items()}


def with_roles(document: Document) -> Document:
    """Assign roles to a document from a format without role markup: by headings and by the content of sections."""
    sections = document.sections
    if any(section.role != "text" or any(unit.role != "text" for unit in section.units) for section in sections):
        return document
    plain: list[list[Shape]] = [[""] * len(section.units) for section in sections]
    return structs.replace(document, sections=assign_roles(sections, plain, role_of_page(document.filename)))


def assign_roles(
    sections: Sequence[Section], shapes: Sequence[Sequence[Shape]], page: TextRole | None
) -> tuple[Section, ...]:
    """Assign roles to sections and their units: by their own heading, the nearest above it, and their content.

    Args:
        shapes: Shape of each unit of each section.
        page: The role of the whole page.
    """
    result: list[Section] = []
    above: list[TextRole | None] = []
    heading: TextRole | None = None
    for section, formed in zip(sections, shapes, strict=True):
        del above[len(section.heading_path) - 1 :]
        own = _role_of_heading(section, after_task=heading in {"exercise", "solution"})
        heading = own or (above[-1] if above else page)
        above.append(heading)
        roles = _roles_of_units(section.units, formed, heading)
        units = tuple(
            unit if unit.role == role else structs.replace(unit, role=role)
            for unit, role in zip(section.units, roles, strict=True)
        )
        result.append(structs.replace(section, units=units, role=heading or "text"))
    return tuple(result)


def _role_of_heading(section: Section, *, after_task: bool) -> TextRole | None:
    """The role from a section's own heading; some only apply to a list, to text without code, or after a task."""
    total = sum(len(unit.text) for unit in section.units)
    listed = sum(len(unit.text) for unit in section.units if unit.kind == "list_item")
    tables = {
        "titles": True,
        "list_titles": listed > _LISTED * total,
        "prose_titles": all(unit.kind != "code" for unit in section.units),
        "next_titles": after_task,
    }
    roles = (_by_title(table, section.title) for table, holds in tables.items() if holds)
    return next((role for role in roles if role is not None), None)


def role_of_title(title: str) -> TextRole | None:
    """The role that a heading gives the text under it; None if it gives none.

    >>> role_of_title("🚀 Challenge"), role_of_title("Chapter 3 quiz"), role_of_title("The challenge of balance")
    ('exercise', 'quiz', None)
    """
    return _by_title("titles", title)


@lru_cache(maxsize=8192)
def _by_title(table: str, title: str) -> TextRole | None:
    plain = " ".join(_DROPPED.sub(" ", title.replace("’", "'")).split()).casefold().strip(" .:-")
    number = _NUMBER.match(plain)
    names = {plain, plain[number.end() :] if number else plain}
    return next(
        (
            role
            for role, patterns in _data()[table].items()
            if any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
        ),
        None,
    )


def role_of_box(names: Iterable[str], title: str = "") -> TextRole | None:
    """The role that a box gives its content: a directive, a component, an unfolding part."""
    spoken = {name.casefold().removeprefix("callout-") for name in names}
    roles = (role for role, labels in _data()["markup"].items() if not spoken.isdisjoint(labels))
    return next(roles, None) or (_by_title("titles", title) or _by_title("next_titles", title) if title else None)


def role_of_opening(text: str) -> TextRole | None:
    """The role of a paragraph that begins like a task for a reader."""
    plain = text[:40].casefold()
    return next((role for role, starts in _data()["openings"].items() if plain.startswith(starts)), None)


def shape_of(tokens: Sequence[Token]) -> Shape:
    """The main content of a list item: `signpost` or `link`, by the target of the first link, or neither."""
    linked, others, target = _count_link_words(tokens, inside=False)
    if not target or others > max(_BESIDE, linked):
        return ""
    return "link" if _ELSEWHERE.match(target) else "signpost"


def _count_link_words(tokens: Sequence[Token], *, inside: bool) -> tuple[int, int, str]:
    """Words inside and outside of links, and the target of the first link."""
    linked = others = 0
    target = ""
    for token in tokens:
        link = inside or token["type"] == "link"
        if token["type"] == "link":
            target = target or str(token.get("attrs", {}).get("url", ""))
        if "children" in token:
            more = _count_link_words(token["children"], inside=link)
            linked, others, target = linked + more[0], others + more[1], target or more[2]
        else:
            count = len(_WORD.findall(token.get("raw", "")))
            linked, others = linked + count * link, others + count * (not link)
    return linked, others, target


def role_of_page(filename: str) -> TextRole | None:
    """The role that a file's name gives its whole page: `assignment.md`, `glossary.md`."""
    name = filename.rsplit("/", 1)[-1].rsplit(".", 1)[0].casefold().rstrip("-_0123456789")
    return next((role for role, names in _data()["pages"].items() if name in names), None)


def role_of_front(text: Callable[[str], str]) -> TextRole | None:
    """The role that a page's front matter names: `role: rubric`, `type: quiz`."""
    spoken = [text(name).casefold() for name in ("role", "type", "page_type", "layout")]
    return next((role for role in _ROLES if role in spoken), None) or role_of_box(spoken)


def _roles_of_units(units: Sequence[Unit], shapes: Sequence[Shape], heading: TextRole | None) -> list[TextRole]:
    """The role of each unit of a section without a role from markup or heading.

    A warning among other text keeps that text's role, for the two belong together; `Unit.warning` marks it.
    """
    roles: list[TextRole] = []
    if heading is None and units:
        heading = _role_of_all(units, shapes)
    for _, group in groupby(range(len(units)), key=lambda place: units[place].block):
        places = list(group)
        own = _role_of_block([units[place] for place in places], [shapes[place] for place in places])
        if own is None or (heading in NEVER_AN_ANSWER and (own, heading) not in _INSIDE):
            own = heading
        before = units[places[0] - 1] if places[0] else None
        if own is not None and before is not None and _announces(before.text, units[places[0]].lead, own):
            roles[-1] = own
        roles += [units[place].role if units[place].role != "text" else own or "text" for place in places]
    return roles


def _announces(text: str, lead: str, role: TextRole) -> bool:
    """Whether a unit introduces the list after it or is a title of such lists, and so has the list's role."""
    return (text == lead and text.rstrip("*_ ").endswith((":", ","))) or role_of_title(text) == role


def _role_of_all(units: Sequence[Unit], shapes: Sequence[Shape]) -> TextRole | None:
    """The role of a section that consists only of warnings, of questions, or of links with a word about them."""
    if all(unit.warning for unit in units):
        return "warning"
    if len(units) >= _LEAST and all(_QUESTION.search(unit.text) for unit in units):
        return "quiz"
    links = [len(unit.text) for unit, shape in zip(units, shapes, strict=True) if shape]
    if len(links) >= _MANY and sum(links) >= _MOSTLY * sum(len(unit.text) for unit in units):
        return "contents" if "link" not in shapes else "references"
    return None


def _role_of_block(units: Sequence[Unit], shapes: Sequence[Shape]) -> TextRole | None:
    """The role of a list from its content and the sentence that introduces it."""
    first = units[0]
    if first.kind != "list_item":
        return None
    items = [(unit, shape) for unit, shape in zip(units, shapes, strict=True) if unit.kind == "list_item"]
    lead = first.lead.casefold().replace("’", "'")
    if items and all(shape for _, shape in items):
        if all(shape == "signpost" for _, shape in items):
            return "contents"
        words = sum(len(_WORD.findall(unit.text)) for unit, _ in items)
        if words >= _LEAST * len(items) or any(word in lead for word in _data()["link_leads"]["references"]):
            return "references"
    return next((role for role, words in _data()["leads"].items() if any(word in lead for word in words)), None)
