"""Splits questions that ask several things, so that each is searched by itself and none drowns another."""

from lutrin.language import spoken
from lutrin.language.words import subject_words, topic_stems, topic_words, words
from lutrin.query.frames import compiled

_JOINT = compiled(spoken.JOINT)
MAX_PARTS = 3


def parts_of(topic: str) -> tuple[str, ...]:
    """Return the parts of a topic, each understandable alone; the topic itself if it is one thing.

    >>> parts_of("How good is the camera, and what does it cost?")
    ('How good is the camera', 'camera – what does it cost?')
    """
    found = [part.strip(" ,") for part in _JOINT.split(topic) if part.strip(" ,?")]
    if not 2 <= len(found) <= MAX_PARTS or not all(topic_words(part) and _has(part, spoken.ASKING) for part in found):
        return (topic,)
    # "How hot and for how long does it boil?" asks two things about one subject, which comes last.
    if len(topic_stems(found[0])) < 2 and not _has(found[0], spoken.SAYING):
        return (topic,)
    names = " ".join(subject_words(found[0]) or topic_words(found[0]))
    return (found[0], *(f"{names} – {part}" if _leans(part) else part for part in found[1:]))


def _has(part: str, known: frozenset[str]) -> bool:
    return any(word.lower() in known for word in words(part))


def _leans(part: str) -> bool:
    """Whether a part says too little on its own: "... and what for the shock?"."""
    return len(topic_stems(part)) < 2 or _has(part, spoken.REFERENCES)
