"""Separates the form of answer that a question asks for from its subject."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from lutrin.language import lexicon
from lutrin.language.words import subject_stems, topic_stems, words

Frame = Literal[
    "plain", "definition", "why", "how", "compare", "number", "list", "code", "example", "analogy", "simpler", "steps",
    "summary", "quiz", "compute", "about", "more", "proof", "other",
]  # fmt: skip
"""The last three are wishes of follow-ups, recognised by their similarity to plain ones (`understand.with_wish`)."""


@dataclass(frozen=True, slots=True)
class About:
    """A question about the book itself."""

    of: Literal["contents", "chapter", "self"]
    chapter: str = ""
    """Its name or number as typed; `this` is the chapter that the reader is on."""

    @property
    def is_here(self) -> bool:
        """Whether it means the chapter that the reader is on."""
        return self.chapter == THIS

    @property
    def number(self) -> int | None:
        """The chapter's number, -1 for the last; None if it has a name, or is the reader's."""
        return number_of(self.chapter)


class Framed(NamedTuple):
    """A text, split into form and subject."""

    frame: Frame
    topic: str
    """The subject; empty if only another form is wanted, as by "Simpler please"."""
    about: About | None


class NamedChapter(NamedTuple):
    """A chapter that a text names by its number."""

    words: str
    """The words that name the chapter."""
    number: int | None
    """-1 for the last; None for the chapter of the page that the reader is on."""
    phrase: re.Pattern[str]
    """Pattern that matches this way to name a chapter."""


_WISHES, _SHAPES = (cast("dict[Frame, re.Pattern[str]]", lexicon.patterns(name)) for name in ("wishes", "shapes"))
_COMPUTE, _ABOUT, _LEAD, _PLEA = map(lexicon.pattern, ("compute", "about", "lead", "plea"))
_CHAT = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(lexicon.CHAT_SPELLINGS, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
_CHAPTER = lexicon.patterns("chapter").values()
THIS = "this"
"""The chapter of the page that the reader is on."""
_NUMBER = re.compile(r"\d+")
_SENTENCE = re.compile(r"(?<=[?!])\s+|(?<=[^\W\d]{2}\.)\s+|(?<=[\d)\]\"”’]\.)\s+|[\r\n]+")
_EDGES = " \t,;:.!-–—"
MOST_CHARS = 4000
"""Characters read for the form: 500 words of English have 3,000."""
MOST_PLEAS = 4
TERM_WORDS = 4
"""Most words of a subject that counts as a term to define when a question asks to explain it."""


@lru_cache(maxsize=64)
def frame_of(text: str) -> Framed:
    """Separate the form that a question asks for from its subject, and from the book itself.

    >>> frame_of("Explain voltage with an everyday analogy, plz")
    Framed(frame='analogy', topic='voltage', about=None)
    >>> frame_of("My bike stood in the rain. Can you tell me why the chain squeaks?")
    Framed(frame='why', topic='why the chain squeaks?', about=None)
    >>> frame_of("My chain is rusty. What do I type?").topic
    'My chain is rusty. What do I type?'
    """
    if len(text) > MOST_CHARS:
        return Framed("plain", text, None)
    story = spell_out(text)
    question = without_story(story)
    bare = _bare(question)
    match = _ABOUT.match(bare) or _ABOUT.match(question)
    if match and not _of_a_number(match):
        return Framed("about", text, _about(match))
    for frame, wish in _WISHES.items():
        if wish.search(question):
            # What only wishes for a form asks about what was told before: "I have a URDF file. What do I type?"
            topics = (_bare(_without_wishes(one)) for one in (question, story))
            return Framed(frame, next(filter(topic_stems, topics), ""), None)
    return Framed(_shape(question, bare), bare, None)


def spell_out(text: str) -> str:
    """Expand the short forms of chats: "wats" is "what is"."""
    return _CHAT.sub(lambda match: lexicon.CHAT_SPELLINGS[match[0].lower()], text)


def asks(sentence: str) -> bool:
    """Whether a sentence opens like a question."""
    first = next((word.lower() for word in words(sentence) if word.lower() not in lexicon.BEFORE_ASKING), "")
    return first in lexicon.ASKING


def without_story(text: str) -> str:
    """Keep the questions and the sentences that they refer to; keep everything if no sentence names a subject.

    >>> without_story("I have an exam tomorrow. What does dew point mean?")
    'What does dew point mean?'
    >>> without_story("My drone blinks red. What does the blinking mean?")
    'My drone blinks red. What does the blinking mean?'
    """
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    asking = [sentence for sentence in sentences if sentence.endswith("?") or asks(sentence)]
    question = " ".join(asking)
    topics = topic_stems(question)
    if not subject_stems(question) or any(word.lower() in lexicon.REFERENCES for word in words(question)):
        return text
    return " ".join(one for one in sentences if one in asking or topics & topic_stems(one))


def _bare(text: str) -> str:
    """Strip the words around a question that ask nothing."""
    for _ in range(MOST_PLEAS):
        text = _PLEA.sub("?" if text.rstrip().endswith("?") else "", text)
    lead = _LEAD.match(text)
    bare = text[lead.end() :] if lead else text
    return bare.strip(_EDGES) if words(bare) else text.strip(_EDGES)


def _without_wishes(text: str) -> str:
    for wish in _WISHES.values():
        text = wish.sub(" ", text)
    return " ".join(text.split()).replace(" ,", ",").replace(" ?", "?")


def _shape(question: str, bare: str) -> Frame:
    if _COMPUTE.search(bare):
        return "compute"
    # A question refers to the story before it, so the last sentence is the one that asks.
    for clause in dict.fromkeys((bare, _bare(_SENTENCE.split(question.strip())[-1]))):
        for frame, shape in _SHAPES.items():
            if shape.search(clause):
                return frame
    defines = not lexicon.DEFINING.isdisjoint(word.lower() for word in words(question))
    is_definition = defines and len(words(bare)) <= TERM_WORDS and not asks(bare)
    return "definition" if is_definition else "plain"


def _about(match: re.Match[str]) -> About:
    if (chapter := match["chapter"]) is not None:
        return About("chapter", chapter or (match["nth"] or "this").strip())
    return About("contents" if match["self"] is None else "self")


def _of_a_number(match: re.Match[str]) -> bool:
    """Whether the text asks more than what a numbered chapter is about: "What does chapter 3 say about torque?"."""
    number, _, more = (match["chapter"] or "").strip().partition(" ")
    return number.isdecimal() and bool(topic_stems(more))


def is_courtesy(text: str) -> bool:
    """Whether a text only greets or thanks: "Ok, thank you!"."""
    return all(word.lower() in lexicon.COURTESIES for word in words(text))


def named_chapters(text: str) -> Iterator[NamedChapter]:
    """The chapters that a text names by number, or as the reader's.

    >>> [(one.words, one.number) for one in named_chapters("Summarise chapter 3, then this chapter")]
    [('chapter 3', 3), ('this chapter', None)]
    """
    for phrase in _CHAPTER:
        for named in phrase.finditer(text):
            number = number_of(named["name"])
            if number is not None or named["name"].lower() == THIS:
                yield NamedChapter(named[0], number, phrase)


def number_of(text: str) -> int | None:
    """5, five, fifth or 5th as a number; -1 for the last."""
    word = text.lower()
    if match := _NUMBER.match(word):
        return int(match[0])
    if word in lexicon.ORDINALS:
        return lexicon.ORDINALS[word] + 1 if lexicon.ORDINALS[word] >= 0 else -1
    return lexicon.COUNTS_IN_ORDER.index(word) + 1 if word in lexicon.COUNTS_IN_ORDER else None
