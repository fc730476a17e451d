"""Finds elements of a page by selectors, most of which name what the page does not have."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import bs4

_NOT = re.compile(r":not\([^()]*\)")
_CLASS = re.compile(r"\.([\w-]+)")
_ATTRIBUTE = re.compile(r"\[([\w-]+(?:\\:[\w-]+)?)")
_NAME = re.compile(r"(?:\A|\s)([a-z][\w-]*)", re.IGNORECASE)


class Finder:
    """What names, classes and attributes a page has at first, so that selectors that need others are not tried."""

    def __init__(self, soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
        self._soup = soup
        self._words: set[str] = set()
        self._tags = [tag for tag in soup.descendants if isinstance(tag, bs4.Tag)]
        for tag in self._tags:
            self._words.add(tag.name)
            for name, value in tag.attrs.items():
                self._words.add(f"[{name}")
                if name == "class":
                    self._words.update(f".{one}" for one in value)

    def has(self, *words: str) -> bool:
        """Whether any of these names of elements (`pre`), classes (`.katex`) or attributes (`[hidden`) is there."""
        return not self._words.isdisjoint(words)

    def tags(self, *names: str) -> list[Any]:
        """The elements of these names that were there at first and still are, in page order.

        bs4 tries each name on each element of the page, which takes most of the time of reading it.
        """
        return [tag for tag in self._tags if tag.name in names and not tag.decomposed]

    def named(self, name: str) -> bool:
        """Whether there are elements of a name, whatever prefix their name space has."""
        return any(word == name or word.endswith(f":{name}") for word in self._words)

    def all(self, selectors: Sequence[str]) -> list[Any]:
        """The elements that any of the selectors matches, in page order."""
        tried = [selector for selector in selectors if needs_of(selector) <= self._words]
        return list(self._soup.select(", ".join(tried))) if tried else []


@lru_cache(maxsize=4096)
def needs_of(selector: str) -> frozenset[str]:
    r"""What a page must have for a selector to match anything.

    >>> sorted(needs_of("td.gutter")), sorted(needs_of("[epub\\:type~=footnote]"))
    (['.gutter', 'td'], ['[epub:type'])
    """
    plain = _NOT.sub("", selector)
    classes = {f".{name}" for name in _CLASS.findall(plain)}
    attributes = {f"[{name.replace(chr(92), '')}" for name in _ATTRIBUTE.findall(plain)}
    return frozenset(classes | attributes | set(_NAME.findall(plain)))
