"""Fragments of headings, as the built page has them.

Docusaurus generates them with github-slugger 2: lower case; only letters, marks, digits, letter-like numbers and
connecting punctuation stay; each space becomes a hyphen; repetitions are numbered. `tests/ingest/test_anchors.py` has
the rules.
"""

import re
import unicodedata

_KEPT = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
# Circled letters are symbols by category but alphabetic by property, and the slugger uses the property.
_CIRCLED = range(0x24B6, 0x24EA)

# `## Title {#id}` and, since 3.10, `## Title {/* #id */}` and `## Title <!-- #id -->`; words after the id don't count.
# Kramdown and Pandoc put classes beside the id or in place of it, `{: .lead #id}`; others write `## Title[[id]]`.
_EXPLICIT = re.compile(
    r"\s*(?:\{(?::[ \t]*)?(?:\.[\w-]+[ \t]+){0,9}#(?P<plain>[^\s{}]+)(?:[ \t]+(?:\.|[\w-]+=)[^{}]*)?\}"
    r"|\{/\*\s*#(?P<comment>[^\s{}*]+)(?:\s[^{}*]*)?\*/\s*\}"
    r"|<!--\s*#(?P<html>[^\s<>]+)(?:\s[^<>]*)?-->"
    r"|\{(?::[ \t]*)?\.[\w-]+(?:\s[^{}]*)?\}"
    r"|\[\[(?P<bracketed>[\w.-]+)\]\])\s*$"
)


def slug(text: str) -> str:
    """The fragment of the first heading with its name."""
    characters = (c for c in text.lower() if c in " -" or unicodedata.category(c) in _KEPT or ord(c) in _CIRCLED)
    return "".join(characters).replace(" ", "-")


class Slugger:
    """Numbers the fragments of one page: `setup`, `setup-1`, `setup-2`."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def next(self, text: str) -> str:
        """The fragment of the next heading of the page."""
        first = result = slug(text)
        while result in self._seen:
            self._seen[first] += 1
            result = f"{first}-{self._seen[first]}"
        self._seen[result] = 0
        return result


def explicit_id(text: str) -> tuple[int, str]:
    """Length of a heading's text before its author's id, and the id; empty if there is none."""
    match = _EXPLICIT.search(text[-300:])
    if match is None:
        return len(text), ""
    anchor = next((value for value in match.groups() if value), "")
    return len(text) - min(300, len(text)) + match.start(), anchor
