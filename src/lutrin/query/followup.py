"""Completes a question from its conversation, by one principle.

A conversation has a subject: the newest question that stands alone. A question leans on it when it has no subject of
its own, points at something named elsewhere, opens as a continuation, lacks its verb, or names nothing beyond what the
last answer said. It is then searched with the subject before it. The reader's own words are kept.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lutrin.language import lexicon
from lutrin.language.words import plain, stem_set, subject_stems, subject_words, topic_words, words
from lutrin.query.frames import CHAPTER, THIS, Frame, asks, frame_of, is_courtesy, number_of
from lutrin.records import ChatMessage

_CORRECTS, _ELLIPTIC, _NTH, _NOTHING = map(lexicon.pattern, ("corrects", "elliptic", "nth", "points_at_nothing"))
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(\S.*)$", re.MULTILINE)
_MARKS = re.compile(r"\[\d+\]|[*_`#]")
_CLAUSE = re.compile(r"[.?!;:,]\s+")
MOST_SUBJECTS = 3
"""A question that names more stands alone, whatever pronouns it holds."""
MOST_BRIEF = 2
"""The same limit for a question that only leaves something out."""
MOST_WORDS = 6
"""A question of more words stands alone even if it names nothing rare, unless it points at something."""
ITEM_WORDS = 8
"""Words that identify an item of a list."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A question with what it leans on."""

    text: str
    follows: tuple[str, ...] = ()
    """Ids of the chunks that the previous answer cited; none if the question stands alone."""
    subject: str = ""
    """The question that it leans on, the newest that names something; empty if it stands alone."""
    quotes: tuple[tuple[str, str], ...] = ()
    """Chunk id and words of what the previous answer cited."""
    said: tuple[str, ...] = ()
    """The answers to that question and to what leaned on it since, in plain words."""
    lacks: bool = False
    """Whether it needs a conversation and there is none."""
    form: Frame = "plain"
    """The form of the question before, which a further chapter is asked for in: "And chapter 5?"."""


def complete_question(question: str, history: Sequence[ChatMessage]) -> Completion:
    """Complete a question from its conversation, if it leans on it."""
    if is_courtesy(question):
        return Completion(question, lacks=True)
    talk = _Talk()
    for message in history:
        if message.role == "assistant":
            talk.take_answer(message)
        else:
            talk.take_question(message.text)
    if not talk.subject or not talk.carries(question):
        form: Frame = talk.form if _is_on_chapter(question) and _goes_on(question) else "plain"
        return Completion(question, lacks=not topic_words(frame_of(question)[1]), form=form)
    return Completion(
        talk.join(question),
        follows=talk.chunk_ids,
        subject=talk.narrowing or talk.subject,
        quotes=talk.quotes,
        said=tuple(talk.answers),
    )


@dataclass(slots=True)
class _Talk:
    """Where a conversation stands."""

    subject: str = ""
    """The newest question that stands alone."""
    form: Frame = "plain"
    """In which the subject was asked for."""
    narrowing: str = ""
    """The newest later question that leans on it and names something: "And on a Jetson?"."""
    answer: str = ""
    answers: list[str] = field(default_factory=list)
    """In plain words, since the subject."""
    chunk_ids: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    before: tuple[str, str, list[str]] = field(default_factory=lambda: ("", "", []))
    """Subject, narrowing and answers as they were before the newest question."""

    def take_answer(self, message: ChatMessage) -> None:
        if message.kind == "refusal" and self.before[0]:
            # A question that was refused changes no subject.
            self.subject, self.narrowing, self.answers = self.before
            return
        self.answer = message.text
        self.answers.append(plain(_MARKS.sub("", message.text)))
        if message.chunk_ids:
            self.chunk_ids = message.chunk_ids
            self.quotes = tuple((one.chunk_id, one.quote) for one in message.citations)

    def take_question(self, text: str) -> None:
        self.before = (self.subject, self.narrowing, self.answers)
        if is_courtesy(text):
            return
        if not self.subject or not self.carries(text):
            # The search takes the subject, not the form in which the answer was wanted.
            form, topic, _ = frame_of(text)
            self.form = self.form if form == "plain" and _goes_on(text) else form
            self.subject = topic or (text if _is_on_chapter(text) else "")
            self.narrowing, self.answers = "", []
        elif _CORRECTS.match(text):
            self.subject, self.narrowing, self.answers = self.join(text), "", []
        elif subject_stems(text):
            self.narrowing = _NTH.sub(self._item, text)

    def carries(self, question: str) -> bool:
        """Whether a question can be understood only with the subject."""
        frame, topic, _ = frame_of(question)
        if frame == "about" or topic.casefold() == self.subject.casefold() or _is_on_chapter(question):
            return False
        if _CORRECTS.match(question) or _NTH.search(question):
            return True
        own = subject_stems(topic)
        if not own:
            return len(words(topic)) <= MOST_WORDS or refers(topic) or not topic_words(topic)
        if len(own) > MOST_SUBJECTS:
            return False
        if _goes_on(question) or refers(topic) or question.rstrip("?! .").endswith(" then"):
            return True
        if len(own) > MOST_BRIEF:
            return False
        if _ELLIPTIC.match(topic):
            return True
        known = stem_set(self.answer) | subject_stems(self.subject)
        return own <= known and frame != "definition" and asks(topic)

    def join(self, question: str) -> str:
        """A leaning question, with its subject in front."""
        if correction := _CORRECTS.match(question):
            return _correct(self.subject, question[correction.end() :].rstrip(" .!?"))
        _, topic, _ = frame_of(question)
        asked = _NTH.sub(self._item, topic)
        if named := self._name_subject(asked):
            return named
        if not subject_stems(asked):
            # "Tell me more" asks nothing new: search the subject again.
            parts = (self.subject, self.narrowing, asked if asks(asked) or topic_words(asked) else "")
        elif _goes_on(question) and not refers(asked):
            # "And TPU?" takes the place of "And PETG?", not of "How hot may it get?".
            kept = "" if _goes_on(self.narrowing) else self.narrowing
            parts = (self._names() if kept else self.subject, kept, asked)
        else:
            parts = (self._names(), self.narrowing if refers(asked) else "", asked)
        return " – ".join(part.rstrip(" ?.!") for part in parts if part)

    def _names(self) -> str:
        """The words that name the subject; all of it would drown a question that has words of its own."""
        return " ".join(subject_words(self.subject)) or self.subject

    def _name_subject(self, asked: str) -> str:
        """A question with the term that the talk is about in the place of what points at it; empty: nothing does.

        "How accurate is it?", after "What is GPS?", asks how accurate GPS is.
        """
        if frame_of(self.subject)[0] != "definition" or self.narrowing or _goes_on(asked) or not asks(asked):
            return ""
        pointer = next((word for word in words(asked) if word.lower() in {*lexicon.REFERENCES, "one"}), "")
        term = self._term()
        return re.sub(rf"\b{pointer}\b", lambda _: term, asked, count=1) if pointer else ""

    def _term(self) -> str:
        """The words that name the subject, with what stands right before the first and says which: "closed loop"."""
        own, named = words(self.subject), subject_words(self.subject)
        first = start = own.index(named[0]) if named else 0
        while start and stem_set(own[start - 1]):
            start -= 1
        return " ".join((*own[start:first], *named)) or self._names()

    def _item(self, found: re.Match[str]) -> str:
        """Return the item at a place of the last answer's list."""
        items = _ITEM.findall(_MARKS.sub("", self.answer))
        place = lexicon.ORDINALS[found[1].lower()]
        if place >= len(items) or not items:
            return found[0]
        return " ".join(_CLAUSE.split(items[place])[0].split()[:ITEM_WORDS]).rstrip(" .")


def refers(text: str) -> bool:
    """Whether a word points at something outside the question; after a subject, it may mean that subject.

    >>> refers("How fast is it?"), refers("What is a hanger for, and how is it mounted?")
    (True, False)
    """
    before = ""
    said = [word.lower() for word in words(_NOTHING.sub(" ", text))]
    for word in said:
        if word in lexicon.REFERENCES or (word == "one" and before in lexicon.ONE_AFTER):
            return True
        if subject_stems(word):
            break
        before = word
    # "How accurate is it": too short for a subject of its own.
    return said[-1:] == ["one"] or (len(said) <= MOST_WORDS and not lexicon.REFERENCES.isdisjoint(said[-1:]))


def _is_on_chapter(question: str) -> bool:
    """Whether a question names a chapter of the book and points at nothing else: "Summarise chapter 3"."""
    for phrase in CHAPTER:
        for named in phrase.finditer(question):
            if named["name"].lower() == THIS or number_of(named["name"]) is not None:
                return not refers(question.replace(named[0], " "))
    return False


def _goes_on(question: str) -> bool:
    """Whether a question opens as a continuation: "And on a Jetson?"."""
    return question.lower().startswith(lexicon.GOES_ON)


def _correct(subject: str, correction: str) -> str:
    """A question with one word replaced: "the P gain" takes the place of "the D gain"."""
    head = re.escape(correction.rsplit(maxsplit=1)[-1])
    mended, count = re.subn(rf"\b(?:the |an? )?\S+ {head}\b", correction, subject, count=1, flags=re.IGNORECASE)
    return mended if count else f"{' '.join(subject_words(subject))} – {correction}"
