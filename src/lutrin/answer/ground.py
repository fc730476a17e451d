"""Whether the book supports a generated sentence. Precision first: a doubt drops the sentence.

A sentence is supported by a passage if it stands there word for word, or if (1) every number, identifier and name in it
stands literally in the passage or the question, (2) the passage holds enough of its content words, (3) it denies where
the passage's closest sentence, or the clause of it that says the same, denies, (4) no number or name took the place of
another one of that sentence, (5) each clause that compares names its sides in the passage's order, (6) it speaks of
"we" or "I" only where that sentence does, (7) it says a clause of the passage whole or not at all, with the condition
under which it holds, (8) it closes the quotation marks and brackets that it opens, and (9) it has none of the faults of
`faults.py`. The numbers of a list's items are no numbers of the passage. A sentence that announces several things and
names one of them is never supported.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lutrin.answer.faults import NAME_WORDS, is_faultless
from lutrin.language.english import NEGATIONS, STOP_WORDS
from lutrin.language.words import content_stems, identifiers, names, numbers, stem, words

MIN_WORDS = 2
"""Content words besides numbers that a sentence needs to say anything that could be checked: "28 kg." does not."""
_COMMAND = re.compile(r"[A-Z][a-z]+ (?:the|a|an|all|each|every|that|your|whether|if) ")
"""The beginning of a command such as "Verify that ..."; no name is followed by these words."""
_EQUATION = re.compile(r"[^\s$]+ = [^\s$]+")
"""Both sides of an equation: it stands so in the book, or it is none."""
_OWN_VOICE = frozenset("i i'd i'll i'm i've let's our ours us we we'd we'll we're we've".split())
"""Words by which a model speaks of what it does: "we need to look at the definition"."""
VERBATIM_WORDS = 5
"""A sentence of so many words that stands in the book needs no other proof."""
_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|should|must|may|will|would|has|have)\b", re.IGNORECASE
)
"""Questions whose answer may have no other words than theirs."""
_ITEM_SIGN = re.compile(r"^\d{1,2}[.)]\s", re.MULTILINE)
MIN_COVERAGE = 0.70
"""Share of a sentence's content words that its evidence must hold."""
_COMPARISON = re.compile(
    r"\b(more|less|fewer|greater|higher|lower|faster|slower|better|worse|larger|smaller|cheaper|heavier|lighter|longer"
    r"|shorter|stronger|weaker|before|after|than|unlike|whereas)\b",
    re.IGNORECASE,
)
PART = 0.6
"""A sentence of the book of which this share is said is what the model speaks of."""
OTHER_WORDS = 2
"""So many words of a text may have another word in their place."""
SAME = 0.95
"""From this share of content words on a clause is what a sentence says."""
_CLAUSE = re.compile(r"[,;:]\s")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_TOLD = re.compile(r"[,;:]\s|\band\b")
"""What parts the facts of a sentence or row."""
_STATED = re.compile(
    r"[.;:!?]\s|\n|\s\|\s|,?\s\b(?:whereas|while|because|since|although|but|so|which|who|that|if|when|unless|than)\b",
    re.IGNORECASE,
)
"""What parts statements, each of which has a subject of its own."""
_SPOKEN = re.compile(r",\s|\b(?:and|or|with|instead of)\b", re.IGNORECASE)
"""What parts the clauses of a statement; its subject is the subject of all."""
_SAYS = re.compile(r"\d|\b(?:is|are|was|were|has|have|had|can|must|may|will|does|do)\b")
"""What stands before it is whom or what a statement speaks of."""
_STANDS_FOR = frozenset(
    "it its they their them each he she his her this these those you we one most both neither either some all".split()
)
"""Words that stand for a subject where a clause begins with one."""
_BOUNDS = (
    frozenset({"if", "when", "whenever"}),
    *(frozenset({word}) for word in ("only", "unless", "except", "until")),
)
"""Words that say under which condition a statement holds; those of one set may stand for each other."""
_BOUNDED = re.compile(r"(?<=[.!?;:])\s+|\n")
"""What parts a text where no condition reaches across."""
_CONTRAST = re.compile(r"\b(?:whereas|unlike)\b", re.IGNORECASE)
"""Two things are told apart: what is said of the one is not said of the other."""
_ANNOUNCED = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b[^:]*:\s(.*)", re.DOTALL | re.IGNORECASE)
"""What announces several things, and what follows."""
_ENUMERATED = re.compile(r"[,;]|\b(?:and|or)\b")
_MOVABLE = re.compile(r",\s|\b(?:if|when|because|while)\b", re.IGNORECASE)
"""What parts clauses that may change places."""


@dataclass(frozen=True, slots=True)
class Support:
    """The best evidence for a sentence."""

    index: int
    """Of the evidence in the sequence that was given."""
    coverage: float
    """Share of the sentence's content words found there, 0 to 1."""


def support(sentence: str, evidence: Sequence[str], *, question: str = "") -> Support | None:
    """The evidence that supports a sentence.

    Args:
        sentence: One generated sentence, without citation markers.
        evidence: Texts from the book, each with its headings.
        question: Names that stand in the question may stand in the answer.

    Returns:
        The best support, or None if no evidence supports the sentence.
    """
    verbatim = " ".join(sentence.split())
    if not _gives_several(verbatim):
        return None
    if len(words(verbatim)) >= VERBATIM_WORDS:
        for index, text in enumerate(evidence):
            if verbatim in " ".join(text.split()):
                return Support(index=index, coverage=1.0)
    if not _says_something(sentence, question) or not _is_closed(sentence):
        return None
    best: Support | None = None
    for index, text in enumerate(evidence):
        told = _ITEM_SIGN.sub("", text)
        if not (_literals_stand(sentence, told, question) and _agrees(sentence, told) and _is_whole(sentence, told)):
            continue
        if not is_faultless(sentence, told, question):
            continue
        covered = coverage(sentence, text)
        if covered >= MIN_COVERAGE and (best is None or covered > best.coverage):
            best = Support(index=index, coverage=covered)
    return best


def coverage(sentence: str, text: str) -> float:
    """Share of a sentence's content words that a text holds; 0 for a sentence without any."""
    stems = set(content_stems(sentence))
    return len(stems & set(content_stems(text))) / len(stems) if stems else 0.0


def _gives_several(sentence: str) -> bool:
    """Whether a sentence that announces several things does not break off after naming one.

    A list's first item follows what announces it in the book, too: "It pays off in four situations: Hidden quantities."
    """
    announced = _ANNOUNCED.search(sentence)
    if announced is None:
        return True
    named = announced[1]
    is_name = len(content_stems(named)) <= NAME_WORDS and not _SAYS.search(named)
    return not is_name or bool(_ENUMERATED.search(named))


def _is_closed(sentence: str) -> bool:
    """Whether what a sentence opens it closes: quotation marks and brackets."""
    pairs = (("(", ")"), ("[", "]"), ("\u201c", "\u201d"))
    return sentence.count('"') % 2 == 0 and all(sentence.count(one) == sentence.count(two) for one, two in pairs)


def _says_something(sentence: str, question: str) -> bool:
    """Whether a sentence has content of its own: neither a mere number nor the question once more."""
    own = content_stems(sentence)
    told = [item for item in own if not item[:1].isdigit()]
    repeats = not _YES_OR_NO.match(question) and set(own) <= set(content_stems(question))
    return len(told) >= MIN_WORDS and not repeats


def _literals_stand(sentence: str, text: str, question: str) -> bool:
    """Whether numbers, identifiers and names stand in the text as they stand in the sentence.

    The first word may be a name, too: unless it is a function word or a command it must stand there as well.
    """
    if not set(numbers(sentence)) <= set(numbers(text)):
        return False
    lowered = " ".join(text.lower().split())
    if not all(item.lower() in lowered for item in (*identifiers(sentence), *_EQUATION.findall(sentence))):
        return False
    known = {stem(word) for word in words(f"{text} {question}")}
    named = [part for name in names(sentence) for part in words(name)]
    first = [word for word in words(sentence)[:1] if word.lower() not in STOP_WORDS and not _COMMAND.match(sentence)]
    return all(stem(part) in known for part in (*named, *first))


def _agrees(sentence: str, text: str) -> bool:
    """Whether a sentence says of the same things the same as the text's closest sentence, or as a clause of it.

    Denials must be as many, odd or even; a comparison must name its sides in the same order; a number or name of its
    own may not stand where the book has another.
    """
    closest = max(_SENTENCE.split(text), key=lambda part: coverage(sentence, part), default="")
    ordinary = {word for word in words(text) if word.islower()} | STOP_WORDS
    known = {name for name in names(text) if name.lower() not in ordinary}
    if _swapped(Counter(numbers(sentence)), Counter(numbers(closest))) or not _voices(sentence) <= _voices(closest):
        return False
    if _swapped(_named(sentence, known), _named(closest, known)) or not _bound(sentence, closest):
        return False
    same = [part for part in _CLAUSE.split(closest) if coverage(sentence, part) >= SAME]
    if _denial(sentence) != _denial(min(same, key=len, default=closest)):
        return False
    if _CONTRAST.search(closest) and not _in_order(sentence, closest):
        return False
    compared = _comparisons(sentence)
    return compared <= _comparisons(closest) and all(
        _in_order(part, closest) for part in _MOVABLE.split(sentence) if _comparisons(part)
    )


def _is_whole(sentence: str, text: str) -> bool:
    """Whether a sentence takes from a text whole clauses, each from its beginning and with its condition.

    "The rule of thumb: a stream is a topic, a quick question is a service" does not say that the rule of thumb is a
    service: a word that the text has only in clauses whose beginning is missing was torn out. Headings are free, and so
    is what a statement speaks of.
    """
    own, heard = set(content_stems(sentence)), set(words(sentence.lower()))
    heading, _, body = text.partition("\n") if "\n" in text else ("", "", text)
    spare = min(len(own - set(content_stems(text))), OTHER_WORDS)
    told = set(content_stems(heading))
    for statement in _STATED.split(body):
        stems = content_stems(statement)
        subject = _SAYS.search(statement)
        told |= set(content_stems(statement[: subject.start()])) if subject else set()
        if stems and (stems[0] in own or spare):
            clauses = [clause for clause in _SPOKEN.split(statement) if _is_told(clause, own, heard, spare)]
            told = told.union(*(content_stems(clause) for clause in clauses))
    torn = {item for item in own & set(content_stems(body)) - told if not item[:1].isdigit()}
    parts = _BOUNDED.split(body)
    closest = max(parts, key=lambda part: coverage(sentence, part))
    spoken = [closest, *(part for part in parts if coverage(part, sentence) >= PART)]
    return not torn and all(_bounds(part) <= _bounds(sentence) for part in spoken)


def _is_told(clause: str, own: set[str], heard: set[str], spare: int) -> bool:
    """Whether a clause is said from its beginning on; only its end may be missing, or what has another word for it."""
    first = next(iter(words(clause.lower())), "")
    stems = content_stems(clause)
    last = max((place for place, item in enumerate(stems) if item in own), default=-1)
    missing = [item for item in stems[: last + 1] if item not in own and not item[:1].isdigit()]
    return len(missing) <= spare and (first not in _STANDS_FOR or first in heard)


def _bounds(text: str) -> set[int]:
    """Which conditions a text names."""
    found = set(words(text.lower()))
    return {n for n, bound in enumerate(_BOUNDS) if found & bound}


def _voices(text: str) -> set[str]:
    """The words of a text that speak of "we" or "I"."""
    return {word for word in words(text.lower().replace("\u2019", "'")) if word in _OWN_VOICE}


def _swapped(own: Counter[str], other: Counter[str]) -> bool:
    """Whether each side has something that the other lacks: one was put in the place of the other."""
    return bool(own - other) and bool(other - own)


def _bound(sentence: str, closest: str) -> bool:
    """Whether a sentence with numbers takes its words from where these numbers stand.

    "It weighs 28 kg and has six joints in each leg" does not say that a leg weighs 28 kg: a word that the book has only
    beside other numbers belongs to them. What stands before the first number is the subject of all.
    """
    own = set(numbers(sentence))
    clauses = [(set(numbers(part)), set(content_stems(part))) for part in _TOLD.split(closest)]
    if not own or not any(held & own for held, _ in clauses):
        return True
    free = {item for held, stems in clauses if held & own or not held for item in stems}
    subject = set(content_stems(re.split(r"\d", _TOLD.split(closest)[0], maxsplit=1)[0]))
    foreign = {item for held, stems in clauses if held and not held & own for item in stems} - free - subject
    return not foreign & {item for item in content_stems(sentence) if not item[:1].isdigit()}


def _named(sentence: str, known: set[str]) -> Counter[str]:
    """Names in a sentence, each once; its first word is one if it is known as one."""
    first = [word for word in words(sentence)[:1] if word in known]
    return Counter({stem(part) for name in (*names(sentence), *first) for part in words(name)})


def _denial(text: str) -> tuple[bool, int]:
    """Whether a text denies anything, and whether it does so an odd number of times; `neither ... nor` is once."""
    found = words(text.lower().replace("\u2019", "'"))
    times = sum((word in NEGATIONS or word.endswith("n't")) and word != "nor" for word in found)
    return times > 0, times % 2


def _in_order(clause: str, text: str) -> bool:
    """Whether the content words that a clause shares with a text stand in the text's order."""
    told = content_stems(text)
    shared = [item for item in dict.fromkeys(content_stems(clause)) if item in told]
    return shared == [item for item in dict.fromkeys(told) if item in shared]


def _comparisons(text: str) -> set[str]:
    """The words of a text that say which side is more."""
    return {match.lower() for match in _COMPARISON.findall(text)}
