"""Questions that are understood only with something else: what was asked before, or what the reader has marked."""

import re

from lutrin.retrieve.parts import asking
from lutrin.retrieve.words import stem_set, topic_stems, words

_OPENING = re.compile(r"^(?:and|but|so|then|what about|how about|also|or)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\bthen\W*$", re.IGNORECASE)
_REFERENCE = frozenset(
    "it its it's they them their theirs this that these those he she one ones there same former latter".split()
)
MAX_OWN_TOPICS = 3
"""A question with more subjects of its own than this stands alone, whatever pronouns it holds."""
SHARED = 0.5
"""Of a question's subjects, what the marked text has to name for the question to be about it."""


def leans(question: str) -> bool:
    """Whether a question is understood only after another one.

    >>> leans("And on a Jetson?"), leans("Is the work gone then?"), leans("What is a topic?")
    (True, True, False)
    """
    if len(topic_stems(question)) > MAX_OWN_TOPICS:
        return False
    return opens(question) or refers(question) or bool(_CLOSING.search(question))


def opens(question: str) -> bool:
    """Whether a question begins as one does that goes on: "And ...", "What about ..."."""
    return bool(_OPENING.match(question))


def refers(question: str) -> bool:
    """Whether a question has a word for something that was named elsewhere: "How fast is it there?"."""
    return any(word.lower() in _REFERENCE for word in words(question))


def names_of(question: str, selection: str) -> bool:
    """Whether a question names what the text names that the reader has marked: half of its subjects at least."""
    topics = topic_stems(asking(question))
    return len(topics & stem_set(selection)) >= SHARED * max(1, len(topics))
