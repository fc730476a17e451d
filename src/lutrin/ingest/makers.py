"""Names of boxes and invisible parts in the output of each program; the names are data: `makers.toml`."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any


def own_data(name: str) -> dict[str, Any]:
    """The tables of a file beside this module; `configuration` reads untrusted files, within limits."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


_DATA = own_data("makers.toml")
BOXES: Mapping[str, str] = _DATA["boxes"]
"""Names of boxes in other programs, and the kind of each here."""
UNSEEN: tuple[str, ...] = tuple(_DATA["unseen"]["always"])
OF_THE_SITE: tuple[str, ...] = tuple(_DATA["unseen"]["of_the_site"])
PAGE_MARKS: tuple[str, ...] = tuple(_DATA["unseen"]["page_marks"])
LINE_NUMBERS: tuple[str, ...] = tuple(_DATA["unseen"]["line_numbers"])
OPENED = frozenset(_DATA["unseen"]["opened"])
TITLES = frozenset(_DATA["words"]["title"])
HOLDERS = frozenset(_DATA["words"]["holders"])
KINDS: tuple[str, ...] = tuple(_DATA["words"]["kinds"])
CAPTIONED: tuple[str, ...] = tuple(_DATA["labels"]["captioned"])
"""Patterns of the text before the number in a caption."""
NUMBERED: tuple[str, ...] = tuple(_DATA["labels"]["numbered"])
ABBREVIATED: Mapping[str, str] = _DATA["labels"]["abbreviated"]
TEMPLATES, DIRECTIVES, COMPONENTS = (
    {name: frozenset[str](words) for name, words in _DATA[table].items()}
    for table in ("templates", "directives", "components")
)
VOID, INLINE = frozenset[str](_DATA["html"]["void"]), frozenset[str](_DATA["html"]["inline"])
HTML = INLINE | VOID | frozenset(_DATA["html"]["other"])
FOLDED: Mapping[str, str] = _DATA["folded"]
NAMED: Mapping[str, str] = _DATA["named"]
_BOX_WORDS = frozenset(_DATA["words"]["box"])
_PARTS = re.compile(r"[^a-z0-9]+")
STRONGEST = ("danger", "warning", "caution")


def parts_of(name: str) -> list[str]:
    """The lower-case words of a class: `theme-admonition-danger` has three."""
    return [part for part in _PARTS.split(name.lower()) if part]


def box_of(classes: Iterable[str]) -> str:
    """The kind of box that classes name; empty for none.

    >>> box_of(["alert", "alert-warning"]), box_of(["warning"]), box_of(["btn", "btn-danger"]), box_of(["rmdcaution"])
    ('warning', 'warning', '', 'caution')
    """
    return _box_of(tuple(classes))


@lru_cache(maxsize=4096)
def _box_of(classes: tuple[str, ...]) -> str:
    names = [name.lower().removeprefix("rmd") for name in classes]
    words = [parts_of(name) for name in names]
    boxed = any(_BOX_WORDS.intersection(parts) for parts in words)
    kinds = [BOXES[name] for name in names if name in BOXES]
    if boxed:
        kinds += [BOXES[part] for parts in words for part in parts if part in BOXES]
    return next((kind for kind in STRONGEST if kind in kinds), kinds[0] if kinds else "")
