"""Understands a question once: later stages read the `Query` and never parse the question again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.language import lexicon
from lutrin.language.gate import LanguageGate
from lutrin.language.words import REMEMBERED, subject_words, topic_stems, topic_words, words
from lutrin.ports import Embedder
from lutrin.query.followup import Completion, complete_question, refers
from lutrin.query.frames import About, Frame, frame_of, is_courtesy
from lutrin.query.respell import respell
from lutrin.records import ChatMessage, Mode, Question, Refusal

_JOINT = lexicon.pattern("joint")
MAX_PARTS = 3
MAX_WORDS = 500
MAX_SELECTION_TOKENS = 2000
PHRASE_WORDS = 8
"""A selection of at most so many words names a thing; a longer one is a statement."""
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|\n\s*\n")
_ORDINARY = re.compile(
    r"(?<![^\s(\"'\u201c\u2018])(?:[AI]|[^\W\d_]{2,}(?:['\u2019-][^\W\d_]+)*)(?=[.,;:!?)\"'\u201d\u2019]*(?:\s|$))"
)
"""A word of letters alone between blanks and marks: no part of a name from code, a path or a formula; no initial."""
_FROM_CODE = re.compile(r"[^\W\d_]*[a-z][A-Z]")
"""Capitals within a word make it a name from code: goToPose."""
_FINAL = re.compile(r"[\s.?!\u2026]+$")
_SENTENCE_BREAK = re.compile(r"[.?!]\s+")
_OPENS_QUESTION = re.compile(
    r"(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do|does|did|can|could|should|must|may|might|will"
    r"|would|has|have|had|am)\b"
)


def parts_of(topic: str) -> tuple[str, ...]:
    """Return the parts of a topic, each understandable alone; the topic itself if it is one thing.

    >>> parts_of("How good is the camera, and what does it cost?")
    ('How good is the camera', 'camera – what does it cost?')
    """
    found = [part.strip(" ,") for part in _JOINT.split(topic) if part.strip(" ,?")]
    if not 2 <= len(found) <= MAX_PARTS or not all(topic_words(part) and _has(part, lexicon.ASKING) for part in found):
        return (topic,)
    # "How hot and for how long does it boil?" asks two things about one subject, which comes last.
    if len(topic_stems(found[0])) < 2 and not _has(found[0], lexicon.SAYING):
        return (topic,)
    names = " ".join(subject_words(found[0]) or topic_words(found[0]))
    return (found[0], *(f"{names} – {part}" if _leans(part) else part for part in found[1:]))


def _has(part: str, known: frozenset[str]) -> bool:
    return any(word.lower() in known for word in words(part))


def _leans(part: str) -> bool:
    """Whether a part says too little on its own: "... and what for the shock?"."""
    return len(topic_stems(part)) < 2 or _has(part, lexicon.REFERENCES)


@dataclass(frozen=True, slots=True)
class Query:
    """An understood question: subject, form, parts and context."""

    question: Question
    """The question as the reader's program sent it."""
    typed: str
    """One line, without control and zero-width characters, at most 500 words."""
    text: str
    """The text, completed from the conversation."""
    topic: str
    """The searched text: `text` without the words that only say how to answer."""
    parts: tuple[str, ...]
    """Topics of the separate things that are asked, each understandable alone."""
    page: str
    """Filename of the page that the reader is on; empty if unknown."""
    frame: Frame = "plain"
    about: About | None = None
    follows: tuple[str, ...] = ()
    """Ids of the chunks that the previous answer cited, if this question leans on it."""
    selected_text: str = ""
    """The selection, at most 2,000 tokens; empty if nothing usable is selected."""
    mode: Mode = "book"
    added: str = ""
    """The topic that a follow-up adds to the question before; empty if it stands alone."""
    subject: str = ""
    """The question before it that it leans on; empty if it stands alone."""
    quotes: tuple[tuple[str, str], ...] = ()
    """Chunk id and words of what the previous answer cited, if this question leans on it."""
    said: tuple[str, ...] = ()
    """The answers since that question, in plain words."""
    leans: bool = False
    """Whether the question can be understood only with the selection: "Why is that?"."""
    whole_chapter: bool = False
    """Whether nothing but a form is asked of the chapter that the question names: "Summarise chapter 3"."""
    warnings: tuple[str, ...] = ()
    refusal: Refusal | None = None

    @property
    def sums_chapter(self) -> bool:
        """Whether a summary of a whole chapter is wanted."""
        return self.whole_chapter and self.frame == "summary"

    @property
    def is_bare(self) -> bool:
        """Whether it leans on the answer before and names nothing of its own: "Why?", "Tell me more"."""
        return bool(self.subject) and not self.added

    @property
    def is_more(self) -> bool:
        """Whether it wants more of the answer before, beyond what has been said: "Tell me more"."""
        return self.is_bare and self.frame in {"plain", "more", "simpler", "other"}


def understand(
    question: Question, *, history: Sequence[ChatMessage], language: LanguageGate, embedder: Embedder
) -> Query:
    """Understand a question.

    Raises:
        InvalidQuestion: It is empty.
    """
    typed, warnings = _clean(question.text)
    selected, mode, notes = _selection(question, embedder)
    frame, topic, about = frame_of(typed)
    found = Completion(typed, lacks=not topic_stems(topic))
    if not selected and frame != "about":
        found = complete_question(typed, history)
        frame = found.form if frame == "plain" else frame
        if found.text != typed:
            whole, topic, about = frame_of(found.text)
            # "And the LED?" asks in the form of the question before.
            frame = whole if frame == "plain" else frame
    added = frame_of(typed)[1] if found.text != typed else ""
    topic = topic or found.text
    added = added if topic_stems(added) else ""
    leans = bool(selected) and (not topic_stems(topic) or refers(topic))
    if leans and topic_stems(topic) and len(words(selected)) <= PHRASE_WORDS:
        topic = f"{topic.rstrip(' ?.!')} – {' '.join(selected.split())}"
    refusal: Refusal | None = None
    if not language.accepts(typed):
        refusal = "not_english"
    elif is_courtesy(typed) or (found.lacks and frame != "about" and not selected and not question.page):
        refusal = "vague"
    return Query(
        question=question,
        typed=typed,
        text=found.text,
        topic=topic,
        frame=frame,
        about=about,
        parts=(topic,) if frame in {"about", "compare", "compute"} else parts_of(topic),
        follows=found.follows,
        selected_text=selected,
        mode=mode,
        page=question.page,
        added=added,
        subject=found.subject,
        quotes=found.quotes,
        said=found.said,
        leans=leans,
        warnings=warnings + notes,
        refusal=refusal,
    )


def alone(question: Question) -> Query:
    """Take a question as it stands, for a search without an answer: no conversation, no language check, no cuts."""
    text = " ".join(question.text.split())
    topic = frame_of(text)[1] or text
    return Query(question=question, typed=text, text=text, topic=topic, parts=(topic,), page=question.page)


def with_spelling(query: Query, changes: Mapping[str, str]) -> Query:
    """Return the same question in a book's spelling; the reader's own words are kept."""
    return replace(
        query,
        text=respell(query.text, changes),
        topic=respell(query.topic, changes),
        added=respell(query.added, changes),
        parts=tuple(respell(part, changes) for part in query.parts),
    )


def _clean(text: str) -> tuple[str, tuple[str, ...]]:
    """One line of at most 500 words, and a note on what was cut."""
    found = _UNSEEN.sub("", text).split()
    if not any(character.isalnum() for word in found for character in word):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    return " ".join(found[:MAX_WORDS]), (messages.QUESTION_TRUNCATED,) if len(found) > MAX_WORDS else ()


def _selection(question: Question, embedder: Embedder) -> tuple[str, Mode, tuple[str, ...]]:
    """The usable selection, the mode that it allows, and a note on what was cut or left out."""
    selected = question.selected_text
    if not words(selected):
        return "", "book", (messages.EMPTY_SELECTION,) if question.mode == "selection" else ()
    mode = question.mode or "selection_boosted"
    if mode == "book":
        return "", "book", ()
    offsets = embedder.token_offsets(selected)
    if len(offsets) <= MAX_SELECTION_TOKENS:
        return selected, mode, ()
    limit = offsets[MAX_SELECTION_TOKENS - 1][1]
    ends = [found.end() for found in _SENTENCE_END.finditer(selected, 0, limit + 1) if found.end() <= limit]
    return selected[: ends[-1] if ends else limit], mode, (messages.SELECTION_TRUNCATED,)


@lru_cache(maxsize=REMEMBERED)
def normalize(text: str) -> str:
    """Normalise a question for the cache: lower case, single spaces, no final punctuation.

    IT and US are no pronouns, unless all is in capitals. A question ends in its mark, typed or not; what is no
    question, in none. Names from code stay as they are, for `Node` is not `node`; and so does what stands inside a
    question, for marks part two questions. The mark is never taken from what does not begin as a question: "My arm
    shakes. Now what?"

    >>> normalize("  what does a WATCHDOG do"), normalize("What does a watchdog do ?!")
    ('what does a watchdog do?', 'what does a watchdog do?')
    >>> normalize("How do I call nav.goToPose and rclcpp::Node in ROS 2?")
    'how do I call nav.goToPose and rclcpp::Node in ros 2?'
    """
    shouted = text.isupper()

    def lower(word: re.Match[str]) -> str:
        stays = _FROM_CODE.match(word[0]) or (
            not shouted and word[0].isupper() and word[0].lower() in lexicon.STOP_WORDS
        )
        return word[0] if stays else word[0].lower()

    plain = _ORDINARY.sub(lower, " ".join(text.split()))
    end = _FINAL.search(plain)
    body = plain[: end.start()] if end else plain
    last = _SENTENCE_BREAK.split(body)[-1]
    return (f"{body}?" if (end and "?" in end[0]) or _OPENS_QUESTION.match(last) else body) if body else plain
