"""Finds elements of a page by selectors, most of which name what the page does not have."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import bs4

_NOT = re.compile(r":not\([^()]*\)")
_PLAIN = re.compile(r"([.#]?[\w-]+|\[[\w-]+(?=\]))\]?")
"""A selector that asks for one name, class, id or attribute."""
_LAST_NAME = re.compile(r"(?:\A|[\s>+])([a-z][\w-]*)[^\s>+~]*\Z", re.IGNORECASE)
"""The name that all elements have which a selector matches."""
_ID = re.compile(r"#([\w-]+)")
_CLASS = re.compile(r"\.([\w-]+)")
_ATTRIBUTE = re.compile(r"\[([\w-]+(?:\\:[\w-]+)?)")
_NAME = re.compile(r"(?:\A|\s)([a-z][\w-]*)", re.IGNORECASE)


class Finder:
    """What names, classes and attributes a page has at first, so that selectors that need others are not tried."""

    def __init__(self, soup: Any) -> None:  # noqa: ANN401 - as bs4 has it
        self._soup = soup
        self._tags = [tag for tag in soup.descendants if isinstance(tag, bs4.Tag)]
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        """Indices of the elements with a name (`pre`), class (`.katex`), id (`#toc`) or attribute (`[hidden`)."""
        for place, tag in enumerate(self._tags):
            self._places[tag.name].append(place)
            for name, value in tag.attrs.items():
                self._places[f"[{name}"].append(place)
                if name == "class":
                    for one in value:
                        self._places[f".{one}"].append(place)
                elif name == "id":
                    self._places[f"#{value}"].append(place)

    def has(self, *words: str) -> bool:
        """Whether any of these names of elements (`pre`), classes (`.katex`) or attributes (`[hidden`) is there."""
        return not self._places.keys().isdisjoint(words)

    def tags(self, *names: str) -> list[Any]:
        """The elements of these names that were there at first and still are, in page order.

        bs4 tries each name on each element of the page, which takes most of the time of reading it.
        """
        return [tag for tag in self._tags if tag.name in names and not tag.decomposed]

    def named(self, name: str) -> bool:
        """Whether there are elements of a name, whatever prefix their name space has."""
        return any(word == name or word.endswith(f":{name}") for word in self._places)

    def all(self, selectors: Sequence[str]) -> list[Any]:
        """The elements that any of the selectors matches, in page order."""
        tried = [selector for selector in selectors if needs_of(selector) <= self._places.keys()]
        found: set[int] = set()
        for selector in tried:
            asked = _PLAIN.fullmatch(selector) or _LAST_NAME.search(selector)
            if asked is None:
                return list(self._soup.select(", ".join(tried)))
            there = [place for place in self._places[asked[1]] if not self._tags[place].decomposed]
            if asked.re is not _PLAIN:
                there = [place for place in there if self._tags[place].css.match(selector)]
            found.update(there)
        return [self._tags[place] for place in sorted(found)]


@lru_cache(maxsize=4096)
def needs_of(selector: str) -> frozenset[str]:
    r"""What a page must have for a selector to match anything.

    >>> sorted(needs_of("td.gutter")), sorted(needs_of("[epub\\:type~=footnote]"))
    (['.gutter', 'td'], ['[epub:type'])
    """
    plain = _NOT.sub("", selector)
    ids = {f"#{name}" for name in _ID.findall(plain)}
    classes = {f".{name}" for name in _CLASS.findall(plain)}
    attributes = {f"[{name.replace(chr(92), '')}" for name in _ATTRIBUTE.findall(plain)}
    return frozenset(ids | classes | attributes | set(_NAME.findall(plain)))
