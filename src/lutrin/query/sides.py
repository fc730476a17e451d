"""The two things that a question names side by side: "annealing and quenching", "scab vs fire blight".

Where no passage speaks of both, each is searched for alone, so that each gets its answer.
"""

import re
from dataclasses import replace
from itertools import pairwise

from lutrin.language import lexicon
from lutrin.language.words import name_phrase, name_spans, words
from lutrin.query.understand import Query

_ALONE = "What is {name}?"


def sides_of(topic: str, *, compares: bool = False) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the first two names stand that a topic joins, or compares; None: it joins none.

    >>> text = "What is the difference between fire blight and silver leaf?"
    >>> [text[slice(*span)] for span in sides_of(text)]
    ['fire blight', 'silver leaf']
    """
    for one, other in pairwise(name_spans(topic)):
        between = [word.lower() for word in words(topic[one[1] : other[0]])]
        if any(word in lexicon.JOINING or (compares and word in lexicon.COMPARING) for word in between):
            return one, other
    return None


def each_side(query: Query) -> tuple[Query, tuple[str, str]] | None:
    """The question for each of two things that it names, and their names; None: it names no two, or asks otherwise.

    A comparison asks what each is; else each takes the place of both.
    """
    if len(query.parts) > 1 or query.selected_text or query.is_bare or query.frame in {"about", "compute", "quiz"}:
        return None
    spans = sides_of(query.topic, compares=query.frame == "compare")
    if spans is None:
        return None
    (first, first_end), (second, second_end) = spans
    topic = query.topic
    names = topic[first:first_end], topic[second:second_end]
    if query.frame == "compare":
        return replace(query, parts=tuple(_ALONE.format(name=name) for name in names)), names
    before, after = topic[:first], topic[second_end:]
    parts = tuple(" ".join(re.sub(r"\s+", " ", f"{before}{name}{after}").split()) for name in names)
    return replace(query, parts=parts), names


def each_named(query: Query, names: tuple[str, str], first: str) -> Query:
    """The questions of `each_side` with another name for the first thing."""
    return replace(query, parts=(query.parts[0].replace(names[0], first), *query.parts[1:]))


def longer_first(names: tuple[str, str]) -> str:
    """The first name with the last word of the second, which may belong to both: "global and local planner".

    Empty if the second has no more words.
    """
    first, second = (words(name) for name in names)
    shared = second[-1] if len(second) > len(first) and second[-1] not in first else ""
    return f"{name_phrase(names[0]) or names[0]} {shared}" if shared else ""
