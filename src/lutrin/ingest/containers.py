"""Blocks that hold blocks: the open ones, how a line continues them, and how directives are named."""

import re
from dataclasses import dataclass, field

from lutrin.ingest.makers import BOXES
from lutrin.ingest.styles import are_hiding
from lutrin.ingest.tree import Admonition, Block, Item, Quote

_DIRECTIVE = re.compile(
    r"(:{3,}+)[ \t]*(?:\{(?P<braced>[\w:-]+)\}|\{(?P<attributes>(?:[.#]|[\w-]+=)[^{}]*)\}"
    r"|(?P<plain>[A-Za-z][\w-]*))[ \t]*(?P<rest>.*)\Z",
    re.DOTALL,
)
_INDENTED = re.compile(
    r"(?:(?:!!!|\?\?\?\+?)[ \t]+(?P<name>[A-Za-z][\w-]*)(?:[ \t]+[\w-]+)*[ \t]*(?:\"(?P<title>[^\"]*)\")?"
    r"|===[+!]?[ \t]+\"(?P<tab>[^\"]+)\")[ \t]*\Z"
)
_FENCED = re.compile(r"(?:\{(?P<braced>[\w:-]+)\}|admonish[ \t]+(?P<plain>\w+))[ \t]*(?P<rest>.*)\Z", re.DOTALL)
_LABEL = re.compile(r"\[(.*)\][ \t]*(?:\{[^{}]*\})?[ \t]*\Z", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[^{}]*\}[ \t]*\Z")
_CLASS = re.compile(r"(?<![\w-])\.([\w-]+)")
_CONTENT = re.compile(r"\.content-(hidden|visible)\b")
_FORMAT = re.compile(r"\b(when|unless)-format=\"?([\w:-]+)")
UNSEEN = "unseen"
"""Class of a directive that the built page does not show."""
_TITLE = re.compile(r"title=\"([^\"]*)\"")
OPTION = re.compile(r"[ \t]*:(?P<name>[A-Za-z][\w-]*):(?P<value>.*)\Z", re.DOTALL)

_HOLDERS = frozenset(
    "admonition secondary details dropdown spoiler tab tabs tab-set tab-item code-group grid card grid-item-card "
    "figure steps step columns column example exercise solution definition theorem proof lemma corollary quote "
    "abstract summary question faq margin sidebar aside topic versionadded versionchanged deprecated epigraph "
    "challenge objectives questions keypoints callout prereq prerequisite discussion testimonial instructor checklist "
    "hint overview accordion group-tab activity quiz glossary".split()
)
_NO_TITLE = frozenset({"grid", "tab-set", "tabs", "code-group", "steps", "columns"})


@dataclass(slots=True)
class Open:
    """A container on the stack of the block parser."""

    children: list[Block]
    node: Quote | Item | Admonition | None = None
    """None: the page itself."""
    width: int = 0
    """For a list item: columns from the start of its container's text to the start of its own."""
    fence: str = ""
    """For a directive: the run of colons, backticks or tildes that opened it."""
    touched: bool = field(default=False)
    """For a list item: whether it has had a line with text, because it starts with at most one blank line."""


def directive(line: str) -> tuple[str, str, int, int] | None:
    """Fence, class and title (start and end in `line`) of `:::note[Title]`, `:::note Title` or `:::{note} Title`.

    An unknown word after the colons is text that a reader sees, so it becomes part of the title; the class is empty.
    """
    match = _DIRECTIVE.match(line)
    if match is None:
        return None
    if match["attributes"]:
        return match[1], *_of_attributes(match, line)
    name = match["braced"] or match["plain"]
    start, end = _title(line, match.start("rest"), match.end("rest"))
    if match["braced"] is None and name.lower() not in BOXES and name.lower() not in _HOLDERS:
        return match[1], "", match.start("plain"), end
    return match[1], *_named(name, start, end)


def _of_attributes(match: re.Match[str], line: str) -> tuple[str, int, int]:
    """Class and title of Pandoc's and Quarto's `::: {.callout-note title="Mind"}`."""
    if _is_unseen(match["attributes"]):
        return UNSEEN, match.end("attributes"), match.end("attributes")
    classes = [name.removeprefix("callout-") for name in _CLASS.findall(match["attributes"])] or ["div"]
    title = _TITLE.search(line, match.start("attributes"), match.end("attributes"))
    name = next((BOXES[name] for name in classes if name in BOXES), " ".join(classes))
    end = match.end("attributes")
    return (name, title.start(1), title.end(1)) if title else (name, end, end)


def _is_unseen(attributes: str) -> bool:
    """Whether a block is hidden, or left out of a page of HTML by Quarto; what depends on anything else is shown.

    >>> _is_unseen('.content-visible when-format="pdf"'), _is_unseen(".content-hidden"), _is_unseen(".callout-note")
    (True, True, False)
    """
    if are_hiding(attributes):
        return True
    kind = _CONTENT.search(attributes)
    if kind is None or "-meta=" in attributes or "-profile=" in attributes:
        return False
    when = _FORMAT.search(attributes)
    is_meant = when is None or ("html" in when[2]) == (when[1] == "when")
    return is_meant == (kind[1] == "hidden")


def indented(line: str) -> tuple[str, int, int] | None:
    """Class and title of Material's `!!! note "Title"`, `??? question` and `=== "Tab"`, whose text is indented."""
    match = _INDENTED.match(line)
    if match is None:
        return None
    if match["tab"]:
        return "tab", match.start("tab"), match.end("tab")
    name = match["name"].lower()
    return BOXES.get(name, name), max(0, match.start("title")), max(0, match.end("title"))


def fenced_directive(info: str) -> tuple[str, int, int] | None:
    """Class and title (start and end in `info`) of fences that hold text, as MyST and mdBook write them.

    >>> fenced_directive("{note} Title"), fenced_directive('admonish danger title="Care"')
    (('note', 7, 12), ('danger', 23, 27))
    """
    match = _FENCED.match(info)
    name: str = (match["braced"] or match["plain"]) if match is not None else ""
    if match is None or (name not in BOXES and name not in _HOLDERS):
        return None
    title = _TITLE.fullmatch(match["rest"].strip())
    start = match.start("rest")
    return _named(name, *((start + title.start(1), start + title.end(1)) if title else _title(info, start, len(info))))


def _named(name: str, start: int, end: int) -> tuple[str, int, int]:
    name = name.lower()
    return BOXES.get(name, name), start, start if name in _NO_TITLE else end


def _title(line: str, start: int, end: int) -> tuple[int, int]:
    label = _LABEL.match(line, start, end)
    if label is not None:
        return label.start(1), label.end(1)
    attributes = _ATTRIBUTES.search(line, max(start, end - 200), end)
    return start, attributes.start() if attributes else end
