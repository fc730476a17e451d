"""Completes a follow-up from the conversation, by rules: no model is called.

"And on a Jetson?" after "How much power does the computer need?" searches for both. What the reader typed is kept; only
what is searched changes. A conversation has one subject at a time: the newest question that stands alone. Those that
lean on it narrow it, the newest of them only, so that the tenth turn is searched as clearly as the second.
"""

from collections.abc import Sequence

from lutrin.answer.checks import is_courtesy, is_vague
from lutrin.answer.kinds import without_wish
from lutrin.records import ChatMessage
from lutrin.retrieve.leaning import leans, opens, refers


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
    if _is_wish(question):
        return _topic(history)
    if not leans(question):
        return question
    # "And on a Raspberry?" takes the place of "And on a Jetson?"; "How fast is it there?" is about the Jetson, and
    # "What does it cost?" after that is not about the speed.
    narrows = opens(question) and not refers(question)
    topic = _subject(history) if narrows else _topic(history, narrowed_only=True)
    return _joined(topic, question) if topic else question


def _topic(history: Sequence[ChatMessage], *, narrowed_only: bool = False) -> str | None:
    """What the conversation is about now: its subject, with the newest question that leans on it.

    Args:
        history: Messages of the conversation.
        narrowed_only: Only questions that narrow the subject count ("And on a Jetson?"), not those about it.
    """
    asked = [text for text in _asked(history) if not _is_wish(text)]
    subject = _subject(history)
    if subject is None:
        return None
    since = asked[len(asked) - asked[::-1].index(subject) :]
    leaning = [text for text in since if not narrowed_only or opens(text)]
    return _joined(subject, leaning[-1]) if leaning else subject


def _joined(topic: str, question: str) -> str:
    """One question of the two: without its mark, for what was asked before has been answered."""
    return f"{topic.rstrip(' ?.!')} – {question}"


def _subject(history: Sequence[ChatMessage]) -> str | None:
    """The newest question that stands alone; if none does, the first that names anything."""
    asked = [text for text in _asked(history) if not _is_wish(text)]
    return next((text for text in reversed(asked) if not leans(text)), asked[0] if asked else None)


def _asked(history: Sequence[ChatMessage]) -> list[str]:
    return [message.text for message in history if message.role == "user"]


def _is_wish(question: str) -> bool:
    """Whether a question names no subject of its own: "Tell me more", "Explain that like I'm five"."""
    return is_vague(without_wish(question))
