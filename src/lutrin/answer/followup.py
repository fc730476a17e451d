"""Completes a follow-up from the conversation, by rules: no model is called.

"And on a Jetson?" after "How much power does the computer need?" searches for both. What the reader typed is kept; only
what is searched changes. A conversation has one subject at a time: the newest question that stands alone. Those that
lean on it narrow it, the newest of them only, so that the tenth turn is searched as clearly as the second. What the
last answer said is known, too: who asks on with its words alone ("Can the gel be reused?") has not changed the subject.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lutrin.answer.checks import is_courtesy, is_vague
from lutrin.answer.kinds import without_wish
from lutrin.records import ChatMessage
from lutrin.retrieve.frames import asked_term, plainly
from lutrin.retrieve.leaning import is_brief, leans, opens, refers, subject_words, subjects_of, term_of_aside
from lutrin.retrieve.words import stem, stem_set, topic_stems

_ASKS = re.compile(
    r"(?:what|which|how|why|where|when|who|is|are|do|does|did|can|could|should|must|may|will|would)\b", re.IGNORECASE
)
_THE = re.compile(r"\bthe ([\w-]+)", re.IGNORECASE)
_THING = re.compile(r"(?:which|what)\b", re.IGNORECASE)
_WHY = re.compile(r"why\b", re.IGNORECASE)
MOST_KNOWN = 2
"""A question of more subjects stands alone, though the last answer named them all."""


@dataclass(slots=True)
class _Talk:
    """Where a conversation stands."""

    subject: str = ""
    """The newest question that stands alone; if none does, the first that names anything."""
    narrowing: str = ""
    """The newest question since that puts something in the place of what was asked: "And on a Jetson?"."""
    newest: str = ""
    """The newest question since that leans on the subject, of whatever kind."""
    answer: str = ""
    """What was said last."""

    def take(self, message: ChatMessage) -> None:
        """Go on by one message."""
        if message.role != "user":
            self.answer = message.text
        elif _is_wish(message.text):
            pass
        elif not self.subject or not self.carries(message.text):
            self.subject, self.narrowing, self.newest = message.text, "", ""
        elif not term_of_aside(message.text):
            self.newest = message.text
            self.narrowing = message.text if _narrows(message.text) else self.narrowing

    def carries(self, question: str) -> bool:
        """Whether a question is understood only with the subject."""
        if term := term_of_aside(question):
            return topic_stems(term) <= self._known()
        return leans(question) or self._goes_on(question)

    def completed(self, question: str) -> str:
        """A question that leans, with what it leans on."""
        subject = self._briefly(question)
        if term_of_aside(question):
            return _joined(subject, question)
        if _narrows(question):
            # "And on a Raspberry?" takes the place of "And on a Jetson?", not of "How hot does it get?" before it.
            kept = "" if opens(self.newest) or _WHY.match(self.newest) else self.newest
            # Straight after the subject it is asked just that: "How heavy is a leg?", "And an arm?".
            return _joined(subject if self.newest else self.subject, kept, question)
        if refers(question) or not is_brief(question):
            # "How fast is it there?" is about the Jetson, and "What does it cost?" after that is not about the speed.
            return _joined(subject, self.narrowing if refers(question) else "", question)
        if _THING.match(question) and subjects_of(question):
            return _joined(subject, question)
        # "Why not wider?" and "For how long?" are about what was asked last; a reason is asked of, if for another one.
        kept = self.narrowing if _WHY.match(self.newest) and not _WHY.match(question) else self.newest
        return _joined(subject, kept, question)

    def _briefly(self, question: str) -> str:
        """The subject, its names alone if the question has some of its own, which else would drown in it."""
        names = " ".join(subject_words(self.subject)) if subjects_of(question) else ""
        return names or self.subject

    def topic(self) -> str:
        """What was asked last, as far as it is known."""
        return _joined(self.subject, self.newest)

    def _goes_on(self, question: str) -> bool:
        """Whether a question has no subject but what was named last, and asks for no definition."""
        own = subjects_of(question)
        if not 0 < len(own) <= MOST_KNOWN or not _ASKS.match(question) or asked_term(plainly(question)):
            return False
        known = self._known()
        named = {stem(word) for word in _THE.findall(question)} & own & known
        return own <= known or bool(named)

    def _known(self) -> frozenset[str]:
        return stem_set(self.answer) | stem_set(self.subject) | stem_set(self.newest)


def complete(question: str, history: Sequence[ChatMessage]) -> str | None:
    """What to search for.

    Args:
        question: Cleaned question.
        history: Messages of the conversation, oldest first.

    Returns:
        The question itself if it stands alone, the question after its topic if the conversation gives one, None if it
        needs a context that is not there, or asks for nothing.
    """
    if is_courtesy(question):
        return None
    talk = _Talk()
    for message in history:
        talk.take(message)
    if _is_wish(question):
        return talk.topic() or None
    return talk.completed(question) if talk.subject and talk.carries(question) else question


def _joined(*texts: str) -> str:
    """One question of several: without the marks of all but the last, for what was asked before has been answered."""
    said = [text for text in texts if text]
    return " – ".join([*(text.rstrip(" ?.!") for text in said[:-1]), *said[-1:]])


def _narrows(question: str) -> bool:
    """Whether a question puts something in the place of what was asked: "And on a Jetson?"."""
    return opens(question) and not refers(question)


def _is_wish(question: str) -> bool:
    """Whether a question names no subject of its own: "Tell me more", "Explain that like I'm five"."""
    return is_vague(without_wish(question))
