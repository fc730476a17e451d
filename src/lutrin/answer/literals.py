"""Check what a sentence must take literally from its evidence: numbers with units, names, code, "all", "never".

Meaning is the grader's matter (`lutrin.answer.grade`); these are what such a model confuses most easily and
what a reader relies on most. Each rule is a veto. Words that are compared stand in `lutrin.language`.
"""

import re
from collections.abc import Callable

from lutrin.language.lexicon import COUNTS_IN_ORDER, NEGATIONS, TOTAL, WHOLE
from lutrin.language.words import content_stems, identifiers, names, numbers, stem, words

_COUNTS = {word: str(number) for number, word in enumerate(COUNTS_IN_ORDER, 1) if number > 1}
_MEASURED = re.compile(r"(?<![\w.])[-−+]?(\d+(?:,\d{3})*(?:\.\d+)?)[ \u00a0\u202f-]?(%|°[CF]?|[^\W\d_]+)")
"""A number and the word after it, which may be its unit."""
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n")
_EQUATION = re.compile(r"(?<![^\s$])[^\s$]++ = [^\s$]+")
_CODE = re.compile(r"`([^`]+)`")
_FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
"""A block of code, without its language."""
_CONTINUED = re.compile(r"\\\s*\n\s*")
"""The end of a line of a command that goes on."""
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
"""Wherever they stand, such as within `H100` or `1.5x`."""
LEAST_ABBREVIATION = 3
"""Letters of a unit's name; fewer may begin another unit's, as m does mm and minutes."""
CLOSEST = 2
"""So many sentences of the evidence may be the ones that a claim speaks of."""


def literals_stand(sentence: str, evidence: str, question: str = "") -> bool:
    """Whether everything that a sentence must take literally is in the evidence.

    Args:
        sentence: Without citation markers.
        evidence: The passages that it cites, one after another, with their headings.
        question: Names in it may stand in the sentence.
    """
    return all(rule(sentence, evidence, question) for rule in RULES)


def keeps_numbers(sentence: str, evidence: str, _question: str = "") -> bool:
    """Whether each number in the sentence also stands in the evidence, in digits or in words.

    >>> keeps_numbers("It has 5 joints.", "The arm has five joints."), keeps_numbers("It has 6.", "The arm has 5.")
    (True, False)
    """
    held = {_COUNTS[word] for word in words(evidence.lower()) if word in _COUNTS}
    return set(numbers(sentence)) <= {*numbers(evidence), *held, *_DIGITS.findall(evidence.replace(",", ""))}


def keeps_units(sentence: str, evidence: str, _question: str = "") -> bool:
    """Whether a number has the unit that it has in the evidence.

    A word after a number is a unit if the evidence has it after a number, or if it is none of the evidence's words
    though the evidence measures this number in something.

    >>> keeps_units("It lifts 2 grams.", "The arm lifts 2 kg."), keeps_units("It lifts 2 kg.", "A load of 2 kg.")
    (False, True)
    """
    measured: dict[str, set[str]] = {}
    for number, unit in _MEASURED.findall(evidence):
        measured.setdefault(number.replace(",", ""), set()).add(stem(unit))
    units, held = set().union(*measured.values()), set(content_stems(evidence))
    for number, unit in _MEASURED.findall(sentence):
        own = measured.get(number.replace(",", ""), set())
        said = stem(unit)
        if (
            own
            and not any(_same_unit(said, one) for one in own)
            and (said in units or (said not in held and said in content_stems(sentence)))
        ):
            return False
    return True


def _same_unit(one: str, other: str) -> bool:
    """Whether two stems of units are equal, or one abbreviates the other: min, minutes."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= LEAST_ABBREVIATION and long.startswith(short))


def keeps_names(sentence: str, evidence: str, question: str = "") -> bool:
    r"""Whether names stand in the evidence or the question, and names from code and lines of code in the evidence.

    >>> listed = "Hidden files are listed by ls -a"
    >>> keeps_names("Type: ```bash\nls -a\n```", listed), keeps_names("Type: ```bash\nls -h\n```", listed)
    (True, False)
    """
    lowered = _one_line(evidence)
    blocks = "\n".join(_FENCED.findall(_CONTINUED.sub(" ", sentence)))
    prose = _FENCED.sub(" ", sentence)
    exact = [*identifiers(prose), *_EQUATION.findall(prose), *_CODE.findall(prose)]
    exact += [_one_line(line) for line in blocks.splitlines()]
    if not all(item.lower() in f"{lowered} {question.lower()}" for item in exact):
        return False
    known = {stem(word) for word in words(f"{evidence} {question}")}
    return all(stem(part) in known for name in names(sentence) for part in words(name))


def _one_line(text: str) -> str:
    """A text in lower case without line breaks, those within a command included."""
    return " ".join(_CONTINUED.sub(" ", text).lower().split())


def keeps_quantifiers(sentence: str, evidence: str, _question: str = "") -> bool:
    """Whether the evidence says "all", "always" or "never" too, where it speaks of the same thing."""
    if TOTAL.isdisjoint(words(sentence.lower())):
        return True
    own = set(content_stems(sentence))
    closest = sorted(_SENTENCE.split(evidence), key=lambda told: -len(own & set(content_stems(told))))[:CLOSEST]
    return not (TOTAL | WHOLE | NEGATIONS).isdisjoint(words(" ".join(closest).lower()))


RULES: tuple[Callable[[str, str, str], bool], ...] = (keeps_numbers, keeps_units, keeps_names, keeps_quantifiers)
