"""Names that a whole book speaks of: a product that it documents, a robot that it builds, a town that it is on."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from lutrin.records import Chunk

SHARE = 0.18
"""Of the passages, those that hold such a name at least."""
CAPITAL = 0.9
"""Of its places in prose, those at least where a name begins with a capital."""
LETTERS = 3
"""A shorter one is a unit or a letter of a formula."""

_WORD = re.compile(rf"[^\W\d_]{{{LETTERS},}}")


def subjects_of(chunks: Iterable[Chunk], title: str, ranks: Callable[[str], Sequence[int]]) -> tuple[str, ...]:
    """The names, lower case, the most frequent first.

    A word of the title that English does not have is one even where it is written small, as products are in commands.

    Args:
        chunks: Of one book.
        title: The book's.
        ranks: Places of a word's tokens in a vocabulary; a word that it lacks has several.
    """
    passages: Counter[str] = Counter()
    places: Counter[str] = Counter()
    capitals: Counter[str] = Counter()
    number = 0
    for chunk in chunks:
        number += 1
        held: set[str] = set()
        for unit in chunk.units:
            found = _WORD.findall(unit.text)
            held.update(word.lower() for word in found)
            if unit.kind != "code":
                places.update(word.lower() for word in found)
                capitals.update(word.lower() for word in found if word[0].isupper())
        passages.update(held)
    titled = {word.lower() for word in _WORD.findall(title)}
    return tuple(
        word
        for word, count in sorted(passages.items(), key=lambda item: (-item[1], item[0]))
        if count >= SHARE * number
        and (0 < CAPITAL * places[word] <= capitals[word] or (word in titled and len(ranks(word)) > 1))
    )
