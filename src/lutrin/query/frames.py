"""What a question asks for, and the subject that is left without the words that only say how to answer."""

import re
from dataclasses import dataclass
from typing import Literal, cast

from lutrin.language import english
from lutrin.language.words import is_common, topic_stems, words

Frame = Literal[
    "plain", "definition", "why", "how", "compare", "number", "list", "code", "example", "analogy", "simpler", "steps",
    "summary", "quiz", "compute", "about",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class About:
    """A question about the book itself, or a task about a part of it."""

    of: Literal["contents", "book", "chapter", "self"]
    chapter: str = ""
    """Its name or number as typed; `this` is the one that the reader is on."""


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_WISHES = tuple((cast("Frame", name), _compiled(pattern)) for name, pattern in english.WISHES)
_SHAPES = tuple((cast("Frame", name), _compiled(pattern)) for name, pattern in english.SHAPES)
_COMPUTE, _ABOUT, _CHAPTER = map(_compiled, (english.COMPUTE, english.ABOUT, english.CHAPTER))
_LEAD, _PLEA, _ASKS = map(_compiled, (english.LEAD, english.PLEA, english.ASKS))
_DEFINES = _compiled(english.DEFINES)
_SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[^\W\d]{2}\.)\s+|(?<=[\d)\]\"”’]\.)\s+|[\r\n]+")
_EDGES = " \t,;:.!-–—"
TERM_WORDS = 4
"""A subject of so many words that is to be explained is a term to be defined."""


def framed(text: str) -> tuple[Frame, str, About | None]:
    """The frame of a question, what it is about, and the part of the book if it names one.

    >>> framed("Explain voltage with an everyday analogy, plz")
    ('analogy', 'voltage', None)
    >>> framed("My bike stood in the rain. Can you tell me why the chain squeaks?")
    ('why', 'why the chain squeaks?', None)
    """
    asked = without_story(text)
    bare = _bare(asked)
    if found := _ABOUT.match(bare) or _ABOUT.match(asked):
        return "about", text, _about(found)
    for frame, wish in _WISHES:
        if wish.search(asked):
            topic = _bare(_without_wishes(asked)) or text
            return frame, topic if topic_stems(topic) else text, _part(asked) if frame in {"summary", "quiz"} else None
    return _shape(asked, bare), bare or text, None


def without_story(text: str) -> str:
    """The sentences that ask, with those that tell what the question refers to; all if none names a subject.

    >>> without_story("I have an exam tomorrow. What does dew point mean?")
    'What does dew point mean?'
    >>> without_story("My drone blinks red. What does the blinking mean?")
    'My drone blinks red. What does the blinking mean?'
    """
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    asking = [sentence for sentence in sentences if sentence.endswith("?") or _ASKS.match(sentence)]
    asked = " ".join(asking)
    topics = topic_stems(asked)
    if not topics or any(word.lower() in english.REFERENCES for word in words(asked)):
        return text
    return " ".join(one for one in sentences if one in asking or topics & topic_stems(one))


def has_subject(text: str) -> bool:
    """Whether a text names anything that is not said of anything whatever."""
    return any(not is_common(word) for word in topic_stems(text))


def _bare(text: str) -> str:
    """A question without what stands before and after it and asks nothing."""
    while (shorter := _PLEA.sub("?" if text.rstrip().endswith("?") else "", text)) != text:
        text = shorter
    lead = _LEAD.match(text)
    bare = text[lead.end() :] if lead else text
    return bare.strip(_EDGES) if words(bare) else text.strip(_EDGES)


def _without_wishes(text: str) -> str:
    for _, wish in _WISHES:
        text = wish.sub(" ", text)
    return " ".join(text.split()).replace(" ,", ",").replace(" ?", "?")


def _shape(asked: str, bare: str) -> Frame:
    if _COMPUTE.search(bare):
        return "compute"
    for frame, shape in _SHAPES:
        if shape.search(bare):
            return frame
    wanted = _DEFINES.match(asked) and len(words(bare)) <= TERM_WORDS and not _ASKS.match(bare)
    return "definition" if wanted else "plain"


def _about(found: re.Match[str]) -> About:
    if chapter := found["chapter"]:
        return About("chapter", chapter)
    return About("contents" if found["contents"] is not None else "book" if found["book"] is not None else "self")


def _part(text: str) -> About | None:
    found = _CHAPTER.search(text)
    return About("chapter", found["chapter"]) if found else None


def is_courtesy(text: str) -> bool:
    """Whether a text greets or thanks and asks for nothing: "Ok, thank you!"."""
    return all(word.lower() in english.COURTESIES for word in words(text))
