"""Questions that ask two things: each part is searched for itself, so that neither drowns the other."""

import re

from lutrin.ingest.sentences import sentence_ranges
from lutrin.retrieve.words import topic_stems

# "..., and what does it cost?", "... and at which height ...", "..., and will it start?": a second question after a
# conjunction; also two sentences.
_VERBS = r"is|are|was|were|does|do|did|can|could|should|must|may|might|will|would|has|have|had"
_JOINT = re.compile(
    r"(?:,?\s+(?:and|but|or)\s+(?=(?:what|which|how|why|where|when|who)\b))"
    r"|(?:,?\s+(?:and|but|or)\s+(?=(?:about|after|at|by|for|from|in|into|of|on|since|to|until|under|with)\s+"
    rf"(?:what|which|how|whom|whose)\b[^?;]*\b(?:{_VERBS})\b))"
    rf"|,\s+(?:and|but|or)\s+(?=(?:{_VERBS})\s+\w)"
    r"|(?<=\?)\s+(?=\w)|;\s+",
    re.IGNORECASE,
)
_LEANS = re.compile(r"\b(?:he|him|his|she|her|hers|it|its|they|them|their|that|this|those|these|one)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:what|which|how|why|where|when|who|whom|whose|is|are|was|were|does|do|did|can|could|should|must|may|will|would"
    r"|name|list|explain|describe|define|compare|tell|give|show)\b",
    re.IGNORECASE,
)
"""What a question cannot do without; "And one arm?" only names what another question is asked of."""
_SAME = re.compile(
    r"^(?:and |but |so )?(?P<asks>when|where|which|how|why|who)\b.*?(?:,|,? and|,? or) (?P=asks)\b(?P<other>[^?]*)\??$",
    re.IGNORECASE,
)
_SAYS = re.compile(rf"\b(?:{_VERBS}|to|it|they|i|you|we)\b", re.IGNORECASE)
"""What the second half of a question has if it is a question of its own."""
MAX_PARTS = 3
_BEGINS_TO_ASK = re.compile(rf"(?:(?:and|but|so|then|now|please|pls)\s+)*{_ASKS.pattern}", re.IGNORECASE)


def asking(question: str) -> str:
    """The sentences that ask, without those that only tell how it came to that; all if the former name nothing.

    Example:
        >>> asking("My bike was in the rain for a week. Why does the chain squeak?")
        'Why does the chain squeak?'
        >>> asking("They spoke of a leak. What is that?")
        'They spoke of a leak. What is that?'
        >>> asking("Explain torque. I have an exam tomorrow.")
        'Explain torque.'
    """
    sentences = [question[start:end] for start, end in sentence_ranges(question, typed=True)]
    asked = [sentence for sentence in sentences if sentence.endswith("?") or _BEGINS_TO_ASK.match(sentence)]
    said = " ".join(asked or sentences[-1:])
    return said if topic_stems(said) else question


def asks_of_both(question: str) -> bool:
    """Whether the same is asked of two things, in brief of the second one: "When do I take a bus, when a train?"."""
    found = _SAME.match(question.strip())
    return found is not None and bool(topic_stems(found["other"])) and not _SAYS.search(found["other"])


def parts_of(question: str) -> list[str]:
    """The questions inside a question, each with what it needs to be understood; the question itself if it is one.

    Example:
        >>> parts_of("How good is the camera, and what does it cost?")
        ['How good is the camera', 'How good is the camera what does it cost?']
    """
    if asks_of_both(question):
        return [question]
    found = [part.strip(" ,") for part in _JOINT.split(question) if part.strip(" ,?")]
    if not 2 <= len(found) <= MAX_PARTS or not all(topic_stems(part) and _ASKS.search(part) for part in found):
        return [question]
    # "How hot and for how long does it boil?" asks both of what is named once.
    if len(topic_stems(found[0])) < 2 and not _SAYS.search(found[0]):
        return [question]
    return [found[0], *(f"{found[0]} {part}" if _leans(part) else part for part in found[1:])]


def _leans(part: str) -> bool:
    """Whether a part says too little by itself: "... and what for the shock?"."""
    return bool(_LEANS.search(part)) or len(topic_stems(part)) < 2
