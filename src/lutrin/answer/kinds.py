"""What kind of answer a question asks for, read from its form alone; the words of no book stand here."""

import re
from typing import Literal

QuestionKind = Literal["number", "compare", "steps", "code", "list", "definition", "why", "other"]

# Tried in order; the first that matches wins.
_FORMS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = (
    (
        "compare",
        re.compile(
            r"\b(?:compared?|comparison|versus|vs\.?|differs?|differences?|better|worse|rather than|instead of|than"
            r"|advantages? of .* over)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "code",
        re.compile(
            r"\b(code|command|snippet|script|syntax|function|terminal|type in|launch file|yaml|xml|python|c\+\+)\b"
            r"|\bhow (?:do|can|would) (?:i|you|we) (?:write|call|publish|subscribe|run|launch|declare|import)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (?:much|many|fast|slow|long|far|heavy|big|large|small|tall|high|deep|wide|often|hot|close|strong|old)\b"
            r"|\bwhat (?:is the |are the |was the )?(?:\w+ ){0,3}(?:number|rate|frequency|speed|range|cost|price|size|mass"
            r"|weight|height|length|width|voltage|current|power|torque|capacity|resolution|accuracy|angle|distance|time"
            r"|temperature|percentage|budget|limit|latency|value)\b|\bat what\b|\bin what year\b|\bwhen was\b",
            re.IGNORECASE,
        ),
    ),
    (
        "steps",
        re.compile(
            r"\bsteps?\b|\bprocedure\b|\bin (?:what|which) order\b|\bwhat (?:should|must|do) (?:i|you|we) do\b"
            r"|\bhow (?:do|can|should|would|to)\b.*\b(?:i|you|we|one|to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "list",
        re.compile(
            r"\b(?:which|what) (?:\w+ ){0,3}\w+s\b (?:are|do|does|can|should|must|make|belong|exist|have)\b"
            r"|\bwhat are\b|\bname\b|\blist\b|\b(?:kinds|types|parts|components|examples|reasons|challenges|advantages|principles|rules) of\b",
            re.IGNORECASE,
        ),
    ),
    ("why", re.compile(r"\bwhy\b|\breason\b|\bwhat for\b|\bpurpose\b", re.IGNORECASE)),
    (
        "definition",
        re.compile(r"^(?:what(?:'s| is| are| does)|define|explain|describe|who)\b|\bmean(?:s|ing)?\b", re.IGNORECASE),
    ),
)


def kind_of(question: str) -> QuestionKind:
    """The kind of answer that a question asks for."""
    return next((kind for kind, form in _FORMS if form.search(question)), "other")
