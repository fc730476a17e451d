"""Completes a question from its conversation.

A conversation has a subject: the newest question that stands alone. A question leans on it if it has no subject of its
own, points at something named elsewhere, opens as a continuation, lacks its verb, or names nothing beyond the previous
answer. It is then searched with the subject before it. The reader's own words are kept.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lutrin.language import lexicon
from lutrin.language.words import (
    name_phrase,
    name_tokens,
    plain,
    stem_set,
    subject_stems,
    subject_words,
    topic_words,
    words,
)
from lutrin.query.frames import Frame, Framed, asks, frame_of, is_courtesy, named_chapters
from lutrin.records import ChatMessage

_CORRECTS, _ELLIPTIC, _NTH, _NOTHING = map(lexicon.pattern, ("corrects", "elliptic", "nth", "points_at_nothing"))
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(\S.*)$", re.MULTILINE)
_MARKS = re.compile(r"\[\d+\]|[*_`#]")
_CLAUSE = re.compile(r"[.?!;:,]\s+")
MOST_SUBJECTS = 3
"""A question that names more things stands alone, even with pronouns."""
MOST_BRIEF = 2
"""The same limit for an elliptical question."""
MOST_WORDS = 6
"""A question with more words stands alone even if it names nothing rare, unless it points at something."""
ITEM_WORDS = 8
"""Words that identify an item of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The parts of a conversation that a question leans on; empty if it stands alone."""

    follows: tuple[str, ...] = ()
    """Ids of the chunks that the previous answer cited."""
    subject: str = ""
    """The question that it leans on: the newest that names something."""
    base: str = ""
    """The newest question that stands alone."""
    quotes: tuple[tuple[str, str], ...] = ()
    """Chunk id and words of the previous answer's citations."""
    answers: tuple[str, ...] = ()
    """The answers to that question and to its follow-ups since, in plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Context):
    """A question, completed from its conversation."""

    text: str
    lacks: bool = False
    """Whether it needs a conversation and has none."""
    form: Frame = "plain"
    """The form of the previous question, in which "And chapter 5?" asks for another chapter."""
    leaning: "Completion | None" = None
    """The same question read as a follow-up, where its words do not decide: "How warm should it be?"."""


def complete_question(question: str, history: Sequence[ChatMessage], own: Framed | None = None) -> Completion:
    """Complete a question from its conversation if it leans on it; `own` is its frame, read by itself."""
    own = own or frame_of(question)
    if is_courtesy(question):
        return Completion(text=question, lacks=True)
    talk = _Talk()
    for message in history:
        if message.role == "assistant":
            talk.take_answer(message)
        else:
            talk.take_question(message.text)
    leaning = Completion(
        text=talk.join(question, own),
        follows=talk.chunk_ids,
        subject=talk.narrowing or talk.subject,
        base=talk.subject,
        quotes=talk.quotes,
        answers=tuple(talk.answers),
    )
    if talk.subject and talk.carries(question, own):
        return leaning
    form: Frame = talk.form if _is_on_chapter(question) and goes_on(question) else "plain"
    return Completion(
        text=question,
        lacks=not topic_words(own.topic),
        form=form,
        leaning=leaning if talk.may_carry(question, own) else None,
    )


@dataclass(slots=True)
class _Talk:
    """The state of a conversation."""

    subject: str = ""
    """The newest question that stands alone."""
    form: Frame = "plain"
    """The form in which the subject was asked for."""
    narrowing: str = ""
    """The newest later follow-up that names something: "And on a Jetson?"."""
    answer: str = ""
    answers: list[str] = field(default_factory=list)
    """Answers since the subject, in plain text."""
    chunk_ids: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    before: tuple[str, str, list[str]] = field(default_factory=lambda: ("", "", []))
    """Subject, narrowing and answers before the newest question."""
    unclear: str = ""
    """The newest question, if its words do not decide whether it leans on the previous one."""

    def take_answer(self, message: ChatMessage) -> None:
        if message.kind == "refusal" and self.before[0]:
            # A refused question does not change the subject.
            self.subject, self.narrowing, self.answers = self.before
            return
        if self.unclear and not set(self.chunk_ids[:1]).isdisjoint(message.chunk_ids):
            # It was answered from the passage just shown, so it was about that passage.
            self.subject, _, self.answers = self.before
            self.narrowing = self.unclear
        self.answer = message.text
        self.answers.append(plain(_MARKS.sub("", message.text)))
        if message.chunk_ids:
            self.chunk_ids = message.chunk_ids
            self.quotes = tuple((one.chunk_id, one.quote) for one in message.citations)

    def take_question(self, text: str) -> None:
        self.before = (self.subject, self.narrowing, self.answers)
        own = frame_of(text)
        self.unclear = text if self.may_carry(text, own) and not self.carries(text, own) else ""
        if is_courtesy(text):
            return
        if not self.subject or not self.carries(text, own):
            # The search takes the subject, not the requested form.
            self.form = self.form if own.frame == "plain" and goes_on(text) else own.frame
            self.subject = own.topic or (text if _is_on_chapter(text) else "")
            self.narrowing, self.answers = "", []
        elif _CORRECTS.match(text):
            self.subject, self.narrowing, self.answers = self.join(text, own), "", []
        elif name_tokens(text):
            self.narrowing = _NTH.sub(self._item, text)

    def carries(self, question: str, own: Framed) -> bool:
        """Whether a question can only be understood with the subject."""
        frame, topic, _ = own
        if frame == "about" or topic.casefold() == self.subject.casefold() or _is_on_chapter(question):
            return False
        if _CORRECTS.match(question) or _NTH.search(question):
            return True
        stems = stem_set(" ".join(name_tokens(topic)))
        if not stems:
            return len(words(topic)) <= MOST_WORDS or refers(topic) or not topic_words(topic)
        if len(stems) > MOST_SUBJECTS:
            return False
        if goes_on(question) or refers(topic) or question.rstrip("?! .").endswith(" then"):
            return True
        if len(stems) > MOST_BRIEF:
            return False
        if _ELLIPTIC.match(topic):
            return True
        known = stem_set(self.answer) | subject_stems(self.subject)
        return stems <= known and frame != "definition" and asks(topic)

    def may_carry(self, question: str, own: Framed) -> bool:
        """Whether a question that can stand alone may still be a follow-up: it points, perhaps not at the subject."""
        frame, topic, _ = own
        is_own = frame == "about" or topic.casefold() == self.subject.casefold() or _is_on_chapter(question)
        points = any(word.lower() in lexicon.REFERENCES for word in words(_NOTHING.sub(" ", topic)))
        return bool(self.subject) and not is_own and points and len(subject_stems(topic)) <= MOST_SUBJECTS

    def join(self, question: str, own: Framed) -> str:
        """A follow-up with its subject in front."""
        if correction := _CORRECTS.match(question):
            return _correct(self.subject, question[correction.end() :].rstrip(" .!?"))
        request = _NTH.sub(self._item, own.topic)
        if named := self._name_subject(request):
            return named
        if not name_tokens(request):
            # "Tell me more" asks nothing new: search the subject again.
            parts = (self.subject, self.narrowing, request if asks(request) or topic_words(request) else "")
        elif goes_on(question) and not refers(request):
            # "And TPU?" replaces "And PETG?", not "How hot may it get?".
            narrowing = "" if goes_on(self.narrowing) else self.narrowing
            parts = (self._names() if narrowing else self.subject, narrowing, request)
        else:
            parts = (self._names(), self.narrowing if refers(request) else "", request)
        return " – ".join(part.rstrip(" ?.!") for part in parts if part)

    def _names(self) -> str:
        """The words that name the subject; all of its words would drown those of the follow-up."""
        return " ".join(name_tokens(self.subject)) or self.subject

    def _name_subject(self, request: str) -> str:
        """Replace the word that points at the subject by the subject's term; empty if no word does.

        After "What is GPS?", "How accurate is it?" becomes how accurate GPS is.
        """
        if frame_of(self.subject)[0] != "definition" or self.narrowing or goes_on(request) or not asks(request):
            return ""
        pointer = next((word for word in words(request) if word.lower() in {*lexicon.REFERENCES, "one"}), "")
        term = name_phrase(self.subject)
        return re.sub(rf"\b{pointer}\b", lambda _: term, request, count=1) if pointer and term else ""

    def _item(self, match: re.Match[str]) -> str:
        """The item at one place of the previous answer's list."""
        items = _ITEM.findall(_MARKS.sub("", self.answer))
        place = lexicon.ORDINALS[match[1].lower()]
        if place >= len(items) or not items:
            return match[0]
        return " ".join(_CLAUSE.split(items[place])[0].split()[:ITEM_WORDS]).rstrip(" .")


def refers(text: str) -> bool:
    """Whether a word refers outside the question; after a subject, it may mean that subject.

    >>> refers("How fast is it?"), refers("What is a hanger for, and how is it mounted?")
    (True, False)
    """
    before = ""
    tokens = [word.lower() for word in words(_NOTHING.sub(" ", text))]
    for word in tokens:
        if word in lexicon.REFERENCES or (word == "one" and before in lexicon.ONE_AFTER):
            return True
        if subject_stems(word):
            break
        before = word
    # "How accurate is it": too short for a subject of its own.
    return tokens[-1:] == ["one"] or (len(tokens) <= MOST_WORDS and not lexicon.REFERENCES.isdisjoint(tokens[-1:]))


def _is_on_chapter(question: str) -> bool:
    """Whether a question names a chapter and points at nothing else: "Summarise chapter 3"."""
    named = next(named_chapters(question), None)
    return named is not None and not refers(question.replace(named.words, " "))


def goes_on(question: str) -> bool:
    """Whether a question opens as a continuation: "And on a Jetson?"."""
    return question.lower().startswith(lexicon.GOES_ON)


def _correct(subject: str, correction: str) -> str:
    """Replace one word of a question: "the P gain" takes the place of "the D gain"."""
    head = re.escape(correction.rsplit(maxsplit=1)[-1])
    mended, count = re.subn(rf"\b(?:the |an? )?\S+ {head}\b", correction, subject, count=1, flags=re.IGNORECASE)
    return mended if count else f"{' '.join(subject_words(subject))} – {correction}"
