"""The many ways to ask what something is, in one: their words say nothing of the thing and only blur its vector."""

import re

from lutrin.retrieve.parts import asking
from lutrin.retrieve.words import topic_stems

_TERM = (
    r"(?P<term>(?:(?:an?|the|my|our) )?"
    r"(?!(?:how|why|what|when|where|which|who|if|whether|differences?|this|that|it|these|happen\w*|went|goes|I|we)\b)\S+?"
    r"(?: (?!(?:is|are|was|were|do|does|did|when|that|which|who|if|because|for|to)\b|[-–—])\S+?){0,3}?)"
)
_NAMED = r"(?:(?:the )?(?:term|word|expression|concept|notion|idea)(?: of)? )?"
_END = r"(?: (?:for|to) (?:me|us|(?:an?|my|the) [\w -]+))?[\s?.!]*$"
_PLEA = re.compile(r",? (?:please|pls|plz|thanks|thx)(?=[\s?.!]*$)", re.IGNORECASE)
_SOMEBODY = r"(?:you|somebody|someone|anybody|anyone)"
_EXPLAIN = rf"(?:(?:can|could|would|will) {_SOMEBODY} )?(?:please |pls )?(?:explain|define|describe|clarify)"
_THEY = r"(?:people|they|you|we|one|(?:my|our|the) \w+)"
_REALLY = r"(?:exactly |really |actually )?"
_FRAMES = tuple(
    re.compile(f"^{frame}{_END}", re.IGNORECASE)
    for frame in (
        rf"{_EXPLAIN} (?:to (?:me|us) )?(?:what )?{_NAMED}{_TERM}(?: (?:is|are|means?))?",
        rf"what (?:do|does|did) {_THEY} {_REALLY}mean (?:by|with|when they say) {_NAMED}{_TERM}",
        rf"what(?:['’]?s| is) {_REALLY}(?:meant by|the (?:meaning|definition) of) {_NAMED}{_TERM}",
        rf"what (?:does|do|did) {_NAMED}{_TERM} {_REALLY}(?:mean|stand for)",
        rf"(?:the )?(?:meaning|definition) of {_NAMED}{_TERM}",
        rf"{_NAMED}{_TERM}(?: ?[-,:–—])? (?:meaning|definition)",
    )
)
_REFERS = re.compile(r"(?:the|my|our)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"(?P<told>.*[\s.!?])what(?:['’]?s| is| are| was| does| do| did)?"
    r"(?: on earth| the heck| exactly| actually| really)?"
    r"(?: is| are| was| does)? (?:that|it|this|they|these|those)"
    r"(?: is| are)?(?: supposed to (?:be|mean)| mean)?(?: exactly| then)?[\s?.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"(?<!\w)(?:\"|“|''|['‘])(?P<term>\w[^\"“”‘’']{1,40}?)(?:\"|”|['’])(?!\w)")
_MENTIONED = re.compile(
    r"\b(?:say|says|saying|said|mention(?:s|ed|ing)?|(?:hear|heard|read|talk|talks|talked|talking) (?:of|about)|"
    r"(?:word|term|expression)(?: is| was)?) (?:an? )?(?P<term>[\w-]+(?: [\w-]+){0,2}?)\s*[.,;!?]+\s*$",
    re.IGNORECASE,
)

_WHAT = re.compile(
    r"^(?:(?:and|so|but) )?what(?: exactly| really| actually)?(?:['’]?s| is| are)(?: exactly| really| actually)?"
    r" (?:(?:an?|the) )?(?P<term>[^?.,;:]+?)"
    r"(?: exactly| really| actually)?[\s?.!]*$",
    re.IGNORECASE,
)


def plainly(question: str) -> str:
    """A question that asks what something is, as "What is ...?"; any other as it stands, without a plea at its end.

    What is told beside it is left out if it is of something else; by itself "the ..." would lack what it means.

    Example:
        >>> plainly("Could you explain the term dew point to a beginner please?")
        'What is dew point?'
        >>> plainly("What do people mean by a cold joint?")
        'What is a cold joint?'
        >>> plainly("Explain how dew forms, please.")
        'Explain how dew forms.'
        >>> plainly("My brother broke the lidar. Explain the term quaternion, please")
        'What is quaternion?'
        >>> plainly('The coach keeps on about the "jibe". What on earth is that?')
        'What is jibe?'
    """
    question = _PLEA.sub("", question.strip())
    if term := _term(question):
        return f"What is {term}?"
    if term := _mentioned(question):
        return f"What is {term}?"
    asked = asking(question)
    term = _term(asked) if asked != question else ""
    told = topic_stems(question.replace(asked, " "))
    if not term or _REFERS.match(term) or told & topic_stems(term):
        return question
    return f"What is {term}?"


def asked_term(question: str) -> str:
    """What a question wants to have defined, and nothing else; empty if it asks for anything besides.

    Example:
        >>> asked_term("What is a cold joint?")
        'cold joint'
        >>> asked_term("What is a cold joint, and how do I mend it?")
        ''

    Args:
        question: From `plainly`.
    """
    found = _WHAT.match(asking(question))
    return found["term"] if found else ""


def _term(question: str) -> str:
    """What a question wants to have explained; empty if it wants something else."""
    return next((match["term"] for frame in _FRAMES if (match := frame.match(question))), "")


def _mentioned(question: str) -> str:
    """The term that somebody has used and that is asked for by no more than "What is that?"; empty if there is none."""
    if (points := _POINTS.match(question)) is None:
        return ""
    quoted = {match["term"].strip() for match in _QUOTED.finditer(points["told"])}
    said = _MENTIONED.search(points["told"]) if not quoted else None
    term = said["term"] if said is not None else quoted.pop() if len(quoted) == 1 else ""
    return term if topic_stems(term) and not _REFERS.match(term) else ""
