"""Completes a follow-up from the conversation, by rules: no model is called.

"And on a Jetson?" after "How much power does the computer need?" searches for both. What the reader typed is kept; only
what is searched changes.
"""

import re
from collections.abc import Sequence

from lutrin.answer.checks import is_vague
from lutrin.records import ChatMessage
from lutrin.retrieve.words import topic_stems, words

_OPENING = re.compile(r"^(?:and|but|so|then|what about|how about|also|or)\b", re.IGNORECASE)
_REFERENCE = frozenset(
    "it its it's they them their theirs this that these those he she one ones there same former latter".split()
)
MAX_OWN_TOPICS = 3
"""A question with more subjects of its own than this stands alone, whatever pronouns it holds."""


def complete(question: str, history: Sequence[ChatMessage]) -> str | None:
    """What to search for.

    Args:
        question: Cleaned question.
        history: Messages of the conversation, oldest first.

    Returns:
        The question itself if it stands alone, the question after its topic if the conversation gives one, None if it
        needs a context that is not there.
    """
    vague = is_vague(question)
    refers = any(word.lower() in _REFERENCE for word in words(question))
    dependent = vague or bool(_OPENING.match(question)) or refers
    if not dependent or (not vague and len(topic_stems(question)) > MAX_OWN_TOPICS):
        return question
    topic = _last_topic(history)
    if topic is None:
        return None if vague else question
    return topic if vague else f"{topic} {question}"


def _last_topic(history: Sequence[ChatMessage]) -> str | None:
    """The newest question of the conversation that names a subject."""
    asked = [message.text for message in history if message.role == "user"]
    return next((text for text in reversed(asked) if not is_vague(text)), None)
