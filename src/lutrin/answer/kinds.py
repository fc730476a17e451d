"""What kind of answer a question asks for, read from its form alone; the words of no book stand here."""

import re
from typing import Literal

from lutrin.retrieve.frames import plainly
from lutrin.retrieve.parts import asks_of_both

QuestionKind = Literal["number", "compare", "steps", "code", "list", "definition", "why", "other"]
Form = Literal["", "simpler", "example", "steps"]
"""In which form an answer is wanted; empty: in the form that its kind has."""


def _form(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_VERBS = "is|are|was|were|do|does|can|could|may|must|should|would|will"
# Tried in order; the first that matches wins.
_FORMS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = (
    # "Why is it worse?" asks for a reason, "What is worse, and why?" for a comparison.
    (
        "why",
        _form(r"^(?:(?:and|but|so) )?why\b", r"\bhow come\b", r"\bhow (?:can|could) (?:that|this|it) be\b"),
    ),
    (
        "compare",
        _form(
            r"\b(?:compared?|comparison|versus|vs\.?|differs?|different(?: from)?(?=\W*$| from)|differences?"
            r"|pros and cons|better|worse|than|instead of)\b",
            r"\badvantages? of .* over\b",
            r"^(?:is|are|was|were|do|does|did|can|should|must|will)\b.* or\b",
        ),
    ),
    (
        "code",
        _form(
            r"(?<!exit )(?<!error )(?<!status )(?<!return )\bcode\b",
            r"\b(?:command|snippet|listing|script|syntax|function|terminal|launch file|yaml|xml|python)\b|\bc\+\+",
            r"\bhow (?:do|can|would) (?:i|you|we) (?:write|call|publish|subscribe|run|launch|declare|import)\b",
            r"\b(?:give|show)(?: me)? (?:the|a|an) (?!best|first|last|next)(?:\S+ )?"
            r"(?:line|call|query|node|file|urdf)\b",
            # "What does a unit file for it look like?"; what a machine looks like, words tell.
            r"\b(?:file|config|configuration|request|response|manifest|schema|query)s?\b.*\blooks? like\b",
        ),
    ),
    (
        "steps",
        _form(
            r"(?<!number of )\bsteps\b",
            r"\bprocedure\b",
            r"\b(?:in )?(?:what|which)(?:['’]?s| is| was)?(?: the)?(?: right| correct| proper)? (?:order|sequence)\b",
            r"\bwhat (?:should|must|do) (?:i|you|we) do\b",
            r"\bhow (?:do|can|should|would) (?:i|you|we|one)\b",
            r"\bhow to\b",
            r"\bwhat (?:now|next|to do)\b",
            r"\bhow\W*$",
            r"\b(?:right|proper|correct|best|safe|safest|good|quickest|easiest|a|another|any) way (?:to|of)\b",
            r"\bgo about\b",
        ),
    ),
    (
        "number",
        _form(
            r"\bhow (?:much|many|fast|slow|long|far|heavy|big|large|small|tall|high|deep|wide|often|hot|close|old)\b",
            # "How tight does it go", "how thin may it be": whatever has a measure.
            r"\bhow (?!well\b|come\b|else\b|exactly\b|\w+ly\b)\w+ (?:is|are|does|do|can|may|must|should|was|were)"
            r" (?!i\b|you\b|we\b|one\b)",
            r"\b(?:what|which) (?:is the |are the |was the )?(?:\w+ ){0,3}(?:number|rate|frequency|speed|range|cost"
            r"|price|size|mass|weight|height|length|width|voltage|current|power|torque|capacity|resolution|accuracy"
            r"|angle|distance|time|temperature|percentage|budget|limit|latency|value)\b",
            r"\bat what\b",
            r"\bin what year\b",
            r"\bwhen was\b",
        ),
    ),
    # "how mend a split pipe", as one types it into a search box.
    (
        "steps",
        _form(
            rf"^how (?!(?:come|well|else|exactly|about|has|have|had|might|did|{_VERBS})\b)\w+\b(?! (?:did|{_VERBS})\b)",
        ),
    ),
    (
        "list",
        _form(
            r"\b(?:which|what) (?:\w+ ){0,3}\w+s\b (?:are|do|does|can|should|must|make|belong|exist|have)\b",
            r"\bwhat are\b",
            r"\bname\b",
            r"\blist\b",
            r"\b(?:kinds|types|parts|components|examples|reasons|challenges|advantages|principles|rules) of\b",
        ),
    ),
    (
        "why",
        _form(
            r"\bwhy\b",
            r"\breason\b",
            r"\bwhat for\b",
            r"\bpurpose\b",
            r"\bwhat(?:['’]?s| is| was) (?:the )?(?:harm|point|hurry|wrong)\b",
        ),
    ),
    (
        "definition",
        _form(
            r"^(?:what(?: exactly| really| actually)?(?:['’]?s| is| are| does)|define|explain|describe|who)\b",
            r"\bmean(?:s|t|ing)?\b",
            r"\bwhat (?:counts as|is called|do you call)\b",
        ),
    ),
)
_TERM = re.compile(
    r"\b(?:what(?: exactly| really| actually)?(?:['’]?s| is| are| was)(?: exactly| really| actually)?(?: meant by)?"
    r"|what (?:does|do)|what counts as|define|definition of|meaning of|meant by)"
    r"(?: the (?:word|term)| an?| the)? (?P<term>[^?.,;:()]+?)"
    r"(?= (?:in|on|for|when|that|which|and|as|with|from|at|by|used|means?|stands? for|refers? to)\b|[?.,;:()]|$)",
    re.IGNORECASE,
)


def kind_of(question: str) -> QuestionKind:
    """The kind of answer that a question asks for."""
    if asks_of_both(question):
        return "compare"
    return next((kind for kind, form in _FORMS if form.search(question)), "other")


def term_of(question: str) -> str:
    """What shall be defined: "a topic in ROS" is a topic; empty if the question names no such thing.

    >>> term_of("What exactly is a topic in ROS?"), term_of("What does turgid mean?")
    ('topic', 'turgid')
    """
    found = _TERM.search(plainly(question))
    return found["term"] if found else ""


# What a reader says to hear the same once more, in another form.
_WISHES: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("steps", _form(r"\bstep[- ]by[- ]step\b", r"\bin steps\b", r"\bone (?:step )?(?:by|after) (?:one|the other)\b")),
    ("example", _form(r"\b(?:an|another|one more|some) examples?\b", r"^(?:for )?examples?\b", r"\bfor instance\b")),
    (
        "simpler",
        _form(
            r"\b(?:simply|simpler|simplif\w+|easier|plainer)\b",
            r"\b(?:simple|plain|easy|other) (?:words|terms|english|language)\b",
            r"\b(?:as if|like) (?:i(?:'|\u2019)?m|i am|i were) \S+(?: years old)?",
            r"(?<!and )(?<!about )\bfor (?:a child|a beginner|beginners|kids)\b",
        ),
    ),
)


def form_of(question: str) -> Form:
    """The form in which an answer is wanted."""
    return next((form for form, wish in _WISHES if wish.search(question)), "")


def without_wish(question: str) -> str:
    """A question without the words that say in which form its answer is wanted."""
    for _, wish in _WISHES:
        question = wish.sub(" ", question)
    return question
