"""Grades the sentences of a language model by how they rest on the book.

Numbers with their units, names, commands and "all" or "never" must be in the sections that the model was shown, and
sums are recalculated, or the sentence is dropped: small models confuse these most easily, and readers rely on them
most. The rest is a matter of degree: a logistic regression over cheap signals gives the probability that the book
supports the sentence. `evaluation.written` fits it on sentences that models really wrote, and two floors: above the
first a sentence is *stated*, above the second *likely*, below it is dropped.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec
import numpy as np

from lutrin.answer.hostile import gives_orders
from lutrin.answer.runs import Run
from lutrin.language.lexicon import COUNTS_IN_ORDER, NEGATIONS, TOTAL, WHOLE
from lutrin.language.words import content_stems, identifiers, names, numbers, plain, stem, stem_set, words
from lutrin.ports import Embedder, Encoding, Vectors
from lutrin.records import Unit
from lutrin.search.fits import Float, load_fit

_MARKER = re.compile(r"(`[^`]*`)|(?<!\s)\s*\[[1-9]\d*(?:\s*[,;]\s*\d+)*\]")
SIGNALS = (
    "match",
    "least match",
    "words held",
    "words in closest",
    "nearness",
    "certainty",
    "least certainty",
    "denial",
    "answers",
    "length",
)
"""Mean and least best match of the sentence's words among those of the section (cosines of the reader's token
vectors); share of its content words that stand in the section, and in its closest unit; cosine to that unit; mean log
probability of its tokens, and of its least certain piece; whether it denies what that unit does not, or the reverse;
log odds of the model's yes to whether the section answers, as a share of the most; logarithm of its number of words."""
FEW_WORDS = 3
"""Words beside a calculation, at most, that only name its subject."""
MOST_SECTIONS = 64
"""Sections whose token vectors are cached, some 300 kB each; the least recently used goes first."""
MOST_ODDS = 8.0
"""Clips the log odds of a yes, so that one certain model does not outweigh all other signals."""
_LIST_SIGN = re.compile(r"^(?:[-*+]|\d{1,2}[.)])\s+")
Level = Literal["stated", "likely", "dropped"]
_COUNTS = {word: str(number) for number, word in enumerate(COUNTS_IN_ORDER, 1) if number > 1}
"""Number words and their digits, without "one": it stands for things more often than for a number."""
_COUNT_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_COUNTS)})(?![\w-])", re.IGNORECASE)
_MEASURED = re.compile(r"(?<![\w.])[-−+]?(\d+(?:,\d{3}){0,9}(?:\.\d+)?)[ \u00a0\u202f-]?(%|°[CF]?|[^\W\d_]+)")
"""A number and the word after it, which may be its unit."""
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n")
_EQUATION = re.compile(r"(?<![^\s$])[^\s$]++ = [^\s$]+")
_CODE = re.compile(r"`([^`]+)`")
_FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
"""A block of code, without its language."""
_CONTINUED = re.compile(r"\\\s*\n\s*")
"""The end of a line in a command that continues."""
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
"""Digits anywhere, including within `H100` or `1.5x`."""
LEAST_ABBREVIATION = 3
"""Least letters of a unit's abbreviation; fewer may begin another unit's name, as m begins mm and minutes."""
_PREFIXES: dict[str, tuple[str, ...]] = {
    "k": ("kilo",), "m": ("milli", "mega"), "c": ("centi",), "d": ("deci",), "g": ("giga",), "t": ("tera",),
    "n": ("nano",), "h": ("hecto",), "p": ("pico",), "µ": ("micro",), "u": ("micro",),
}  # fmt: skip
"""Prefixes of units in lower case, and their names (BIPM, SI brochure, table 7)."""
_SYMBOLS: dict[str, tuple[str, ...]] = {
    "hz": ("hertz",), "s": ("second",), "h": ("hour",), "g": ("gram",), "v": ("volt",), "w": ("watt",),
    "n": ("newton",), "m": ("meter", "metr"), "l": ("liter", "litr"),
    "°": ("degre",), "°c": ("degre",), "°f": ("degre",),
}  # fmt: skip
"""Symbols of units that do not begin the unit's name, or are one letter, and the stems of their names (tables 2, 4 and
8)."""
CLOSEST = 2
"""Sentences of the evidence that may be the subject of a claim."""
_PLAIN_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT_NAME = r"(?:\s?(?:%|°[CF]?|[^\W\d_]+(?:/[^\W\d_]+)?\.?))"
_TERM = rf"[(\s]*{_PLAIN_NUMBER}{_UNIT_NAME}?[)\s]*"
_CALCULATION = re.compile(rf"({_TERM}(?:(?:[-+*/^×·÷−]|\*\*){_TERM})+)(=|≈)\s*(-?{_PLAIN_NUMBER})({_UNIT_NAME})?")
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "\0"})
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
LONGEST_CHARS = 200
LARGEST_POWER = 16
"""Larger exponents occur in no textbook's sum, and some would take forever."""


class Weights(msgspec.Struct, frozen=True):
    """Fit of `evaluation.written`."""

    signals: tuple[float, ...]
    """Weights in the order of `SIGNALS`."""
    bias: float
    stated: float
    """Least probability of a stated sentence."""
    likely: float
    """Least probability of a shown sentence."""


class AllWeights(msgspec.Struct, frozen=True):
    """Fitted weights, by kind of author."""

    small: Weights
    """Models that run on a few cores: a third of what they write is right."""
    strong: Weights
    """Large models and services, which report no probabilities and are seldom wrong."""
    unsigned: Weights
    """Sentences without any signal of a model, such as those of a prepared card."""


@cache
def fitted_weights() -> AllWeights:
    """The weights that ship with Lutrin."""
    return load_fit("lutrin.answer", "grades.json", AllWeights)


@dataclass(frozen=True, slots=True)
class RawSentence:
    """A sentence as a model wrote it."""

    text: str
    logprob: float = 0.0
    """Mean log probability of its tokens (natural)."""
    least_logprob: float = 0.0
    """Log probability of its least certain piece."""
    own: bool = False
    """Whether it is below the line that announces the model's own words."""


@dataclass(frozen=True, slots=True)
class Grade:
    """How well the shown sections support a sentence."""

    text: str
    """Sentence without markers."""
    level: Level
    probability: float
    citations: tuple[int, ...] = ()
    """Numbers of the sections that support it, or that a reader may compare it with."""
    reason: str = ""
    """Why it is dropped, in words for the model."""


class Grader:
    """Grades sentences against the sections that a model was shown; `strict` shows only stated sentences.

    Without weights it uses those for sentences without any signal of a model. Weights are valid for the encoder that
    they were fitted to; with another one nothing is *stated*, and a sentence with correct literals is *likely*.
    """

    def __init__(self, embedder: Embedder, weights: Weights | None = None, *, strict: bool = False) -> None:
        self._embedder = embedder
        self._weights = weights or fitted_weights().unsigned
        self._strict = strict
        self._sections: dict[tuple[str, tuple[Unit, ...]], _EncodedSection] = {}

    async def grade(
        self,
        sentence: RawSentence,
        sections: Sequence[tuple[int, Run]],
        question: str,
        *,
        answers: float = 0.0,
        sums: Sequence[str] = (),
    ) -> Grade:
        """Grade a sentence against the shown sections, with the numbers that cite them.

        It may use names from the question, and results of calculations that proved right before (`sums`); `answers` are
        the log odds of the model's yes to whether the sections answer.

        Raises:
            ModelMissing: The embedder's file is missing.
        """
        text = bare_sentence(sentence.text)
        evidence = "\n".join(evidence_of(section) for _, section in sections)
        if reason := broken_literal(text, evidence, question, sums):
            return Grade(text, "dropped", 0.0, reason=reason)
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        for number, section in sections:
            if (await self._read(section)).only_names(frozenset(content_stems(text))):
                continue
            signals = await self.signals(sentence, section, answers=answers)
            chance = self.probability(signals)
            if chance > best[0]:
                best = chance, (number,)
        chance, citations = best
        if _is_counted(text):
            chance = 1.0
        elif not self._embedder.reading.fitted:
            chance = self._weights.likely
        level = self.level(chance)
        return Grade(text, level, chance, citations, "" if level != "dropped" else "the passage does not say it")

    def level(self, probability: float) -> Level:
        """The level that a reader sees for a probability."""
        if probability >= self._weights.stated:
            return "stated"
        return "likely" if probability >= self._weights.likely and not self._strict else "dropped"

    def probability(self, signals: Float) -> float:
        """The probability that the book supports a sentence, from its signals: (10,) -> 0 to 1."""
        weights = np.array(self._weights.signals, dtype=np.float32)
        return float(1 / (1 + np.exp(-(signals @ weights + self._weights.bias))))

    async def signals(self, sentence: RawSentence, section: Run, *, answers: float = 0.0) -> Float:
        """The signals of a sentence against one section, in the order of `SIGNALS`: (10,)."""
        text = bare_sentence(sentence.text)
        reading = await self._read(section)
        (own,) = await self._embedder.encode([text])
        stems = set(content_stems(text))
        near = reading.vectors @ own.pooled if len(reading.vectors) else np.zeros(1, dtype=np.float32)
        closest = int(near.argmax())
        return np.array(
            [
                *_matches(text, own, reading.tokens),
                len(stems & reading.stems) / max(1, len(stems)),
                len(stems & reading.unit_stems[closest]) / max(1, len(stems)) if reading.units else 0.0,
                float(near[closest]),
                sentence.logprob,
                sentence.least_logprob,
                float(bool(reading.units) and denies(text) != reading.denies[closest]),
                max(-MOST_ODDS, min(MOST_ODDS, answers)) / MOST_ODDS,
                float(np.log1p(len(text.split()))),
            ],
            dtype=np.float32,
        )

    async def supports(self, text: str, section: Run, question: str = "") -> bool:
        """Whether a section states a sentence without token probabilities, such as a card's answer."""
        return (await self.grade(RawSentence(text), [(1, section)], question)).level == "stated"

    async def rests_on(self, text: str, section: Run) -> Unit | None:
        """The unit of a section nearest to a sentence; None if nothing of the section may be shown."""
        reading = await self._read(section)
        (own,) = await self._embedder.encode([bare_sentence(text)])
        return reading.units[int((reading.vectors @ own.pooled).argmax())] if reading.units else None

    async def _read(self, section: Run) -> "_EncodedSection":
        place, units = section.readable
        key = (place, tuple(units))
        reading = self._sections.pop(key, None) or await self._encode(section)
        self._sections[key] = reading
        while len(self._sections) > MOST_SECTIONS:
            del self._sections[next(iter(self._sections))]
        return reading

    async def _encode(self, section: Run) -> "_EncodedSection":
        place, units = section.readable
        texts = [_unit_text(unit) for unit in units]
        whole, *each = await self._embedder.encode(["\n".join([place, *texts]), *texts])
        return _EncodedSection(
            units=units,
            tokens=whole.token_vectors if whole.token_vectors is not None else np.zeros((0, 1), dtype=np.float32),
            vectors=np.stack([one.pooled for one in each]) if each else np.zeros((0, 1), dtype=np.float32),
            stems=stem_set("\n".join([place, *texts])),
            unit_stems=tuple(map(stem_set, texts)),
            denies=tuple(map(denies, texts)),
        )


@dataclass(frozen=True, slots=True)
class _EncodedSection:
    """A section, encoded for comparison with sentences."""

    units: Sequence[Unit]
    tokens: Vectors
    """(T, d), each of length 1."""
    vectors: Vectors
    """(units, d), each of length 1."""
    stems: frozenset[str]
    unit_stems: tuple[frozenset[str], ...]
    denies: tuple[bool, ...]
    """Whether each unit contains a negation."""

    def only_names(self, stems: frozenset[str]) -> bool:
        """Whether all of a sentence's words are in the headings alone, which name things and state nothing."""
        return bool(stems) and stems <= self.stems and all(map(stems.isdisjoint, self.unit_stems))


def broken_literal(text: str, evidence: str, question: str = "", sums: Sequence[str] = ()) -> str:
    """Why a sentence without markers may never be shown, in words for the model; empty if it may.

    It may use names from the question; calculations that proved right (`sums`) count as evidence, too.
    """
    own = calculations(text)
    known_numbers = {*numbers(evidence), *numbers(question), *(number for one in sums for number in numbers(one))}
    if any(not one.is_right or not known_numbers.issuperset(one.operands) for one in own):
        return "the calculation is wrong or uses numbers that are not in the passage"
    if gives_orders(text):
        return "it gives orders"
    counted = "\n".join([evidence, *sums, *(one.text for one in own)])
    return "" if literals_stand(text, counted, question) else "a number, name or command in it is not in the passage"


def may_be_own(text: str, evidence: str, question: str) -> bool:
    """Whether a sentence may be shown as the model's own words: all its numbers, names and commands are the book's."""
    return keeps_numbers(text, evidence) and keeps_names(text, evidence, question) and not gives_orders(text)


def bare_sentence(text: str) -> str:
    """A sentence without markers, list signs and bold type.

    >>> bare_sentence("- **Smoke** calms the bees [2], [1].")
    'Smoke calms the bees.'
    >>> bare_sentence("`s[1]` or s[0] is no letter [1].")
    '`s[1]` or s[0] is no letter.'
    """
    unmarked = _MARKER.sub(lambda match: match[1] or "", text)
    bare = re.sub(r"\s*[,;]+(?=[.!?]*$)", "", unmarked.strip())
    return _LIST_SIGN.sub("", bare.replace("**", "")).strip()


def is_copy(text: str, section: Run) -> bool:
    """Whether a sentence is in a section word for word: then it is the book's, not the model's."""
    return stands_in(text, [" ".join(unit.text for unit in section.units)])


def stands_in(text: str, others: Iterable[str]) -> bool:
    """Whether a text is contained in another word for word, ignoring case and punctuation."""
    return any(f" {plain(text)} " in f" {plain(other)} " for other in others)


def evidence_of(section: Run) -> str:
    """A section with its headings as evidence, without units that give orders to a model."""
    place, units = section.readable
    return "\n".join([place, *map(_unit_text, units)])


def _unit_text(unit: Unit) -> str:
    if unit.kind == "table_row":
        return unit.with_heads
    return f"{unit.lead} {unit.text}" if unit.kind == "list_item" else unit.text


def _is_counted(text: str) -> bool:
    """Whether a sentence only states a calculation."""
    own = calculations(text)
    rest = text
    for one in own:
        rest = rest.replace(one.text, " ")
    return bool(own) and len(content_stems(rest)) <= FEW_WORDS


def _matches(text: str, own: Encoding, tokens: Vectors) -> tuple[float, float]:
    """Mean and least of the best cosine of each content token with the tokens of a section."""
    spans = own.token_offsets.tolist()
    places = [place for place, (start, end) in enumerate(spans) if content_stems(text[start:end])]
    if own.token_vectors is None or not len(tokens) or not places:
        return 0.0, 0.0
    best = (own.token_vectors[places] @ tokens.T).max(axis=1).astype(np.float32)
    return float(best.mean()), float(best.min())


def denies(text: str) -> bool:
    """Whether a text contains a negation."""
    return not NEGATIONS.isdisjoint(words(text.lower()))


def literals_stand(sentence: str, evidence: str, question: str = "") -> bool:
    """Whether the evidence, headings included, has everything that a sentence without markers must copy literally.

    The sentence may use names from the question.
    """
    in_numbers = keeps_numbers(sentence, evidence) and keeps_units(sentence, evidence)
    return in_numbers and keeps_names(sentence, evidence, question) and keeps_quantifiers(sentence, evidence)


def keeps_numbers(sentence: str, evidence: str) -> bool:
    """Whether each number in the sentence is also in the evidence, in digits or in words.

    >>> keeps_numbers("It has 5 joints.", "The arm has five joints."), keeps_numbers("It has six.", "The arm has 5.")
    (True, False)
    >>> keeps_numbers("Two metres away.", "2.0 m | 17.9 mm")
    True
    """
    counts = {_COUNTS[word] for word in words(evidence.lower()) if word in _COUNTS}
    held = {*numbers(evidence), *counts, *_DIGITS.findall(evidence.replace(",", ""))}
    return set(map(_shortest, numbers(in_digits(sentence)))) <= set(map(_shortest, held))


def _shortest(number: str) -> str:
    """A number without trailing zeros: 2 for 2.0."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def in_digits(text: str) -> str:
    """A text with its number words in digits.

    >>> in_digits("Three kilograms on two of twenty-two arms")
    '3 kilograms on 2 of twenty-two arms'
    """
    return _COUNT_WORD.sub(lambda match: _COUNTS[match[0].lower()], text)


def keeps_units(sentence: str, evidence: str) -> bool:
    """Whether each number has the same unit as in the evidence.

    A word after a number is a unit if the evidence has it after a number, or if the evidence lacks the word but gives
    this number a unit.

    >>> keeps_units("It lifts 2 grams.", "The arm lifts 2 kg."), keeps_units("It lifts 2 kg.", "A load of 2 kg.")
    (False, True)
    >>> keeps_units("It took 10.8 seconds.", "fast: 10.8s"), keeps_units("It took 10.8 hours.", "fast: 10.8s")
    (True, False)
    >>> keeps_units("It turns by 45 degrees.", "by 45°"), keeps_units("It is 1.2 meters.", "1.2 mm wide")
    (True, False)
    """
    sentence, evidence = in_digits(sentence), in_digits(evidence)
    measured: dict[str, set[str]] = {}
    for number, unit in _MEASURED.findall(evidence):
        measured.setdefault(_shortest(number.replace(",", "")), set()).add(stem(unit))
    units, evidence_stems = set().union(*measured.values()), set(content_stems(evidence))
    for number, unit in _MEASURED.findall(sentence):
        own = measured.get(_shortest(number.replace(",", "")), set())
        unit_stem = stem(unit)
        is_unit = unit_stem in units or (unit_stem not in evidence_stems and unit_stem in content_stems(sentence))
        if own and is_unit and not any(_same_unit(unit_stem, one) for one in own):
            return False
    return True


def _same_unit(one: str, other: str) -> bool:
    """Whether two stems of units are equal, or one abbreviates the other: min and minutes, kg and kilograms."""
    short, long = sorted((one, other), key=len)
    if one == other or (len(short) >= LEAST_ABBREVIATION and long.startswith(short)):
        return True
    bare = short[1:]
    bases = _SYMBOLS.get(bare, (bare,)) if bare else ()
    names = (f"{prefix}{base}" for prefix in _PREFIXES.get(short[:1], ()) for base in bases)
    return long in _SYMBOLS.get(short, ()) or any(map(long.startswith, names))


def keeps_names(sentence: str, evidence: str, question: str = "") -> bool:
    r"""Whether names are in the evidence or the question, and names and lines of code in the evidence.

    >>> listed = "Hidden files are listed by ls -a"
    >>> keeps_names("Type: ```bash\nls -a\n```", listed), keeps_names("Type: ```bash\nls -h\n```", listed)
    (True, False)

    Decimal numbers do not count as names: `keeps_numbers` and `keeps_units` check them.

    >>> keeps_names("It takes 0.05 to 0.1.", "usually 0.05-0.1"), keeps_names("It took 10.8 seconds.", "10.8s")
    (True, True)
    """
    known = f"{_one_line(evidence)} {question.lower()}"
    blocks = "\n".join(_FENCED.findall(_CONTINUED.sub(" ", sentence)))
    prose = _FENCED.sub(" ", sentence)
    exact = [name for name in identifiers(prose) if not _DIGITS.fullmatch(name)]
    exact += [*_EQUATION.findall(prose), *_CODE.findall(prose)]
    exact += [_one_line(line) for line in blocks.splitlines()]
    if not all(stands_whole(item.lower(), known) for item in exact):
        return False
    stems = {stem(word) for word in words(f"{evidence} {question}")}
    return all(stem(part) in stems for name in names(sentence) for part in words(name))


def stands_whole(name: str, text: str) -> bool:
    """Whether a name from code or a command is in a text as a whole: not as part of a longer name, path or option.

    A name without a dot may be part of a dotted one, as a function is part of its module's name.

    >>> stands_whole("/cmd", "publish to /cmd_vel"), stands_whole("apt install ros", "apt install ros-base")
    (False, False)
    >>> stands_whole("gotopose", "call nav.gotopose()"), stands_whole("ls -a", "type `ls -a`.")
    (True, True)
    """
    name = name.strip()
    is_dotted = "." in name or "/" in name
    before = "" if not re.match(r"[\w/-]", name) else r"(?<![\w/.-])" if is_dotted else r"(?<![\w/-])"
    after = "" if not re.search(r"[\w/]$", name) else r"(?![\w/-]|\.\w)" if is_dotted else r"(?![\w/-])"
    return re.search(f"{before}{re.escape(name)}{after}", text) is not None


def _one_line(text: str) -> str:
    """A text in lower case without line breaks, even within a command."""
    return " ".join(_CONTINUED.sub(" ", text).lower().split())


def keeps_quantifiers(sentence: str, evidence: str) -> bool:
    """Whether the evidence also says "all", "always" or "never" where it speaks of the same subject."""
    if TOTAL.isdisjoint(words(sentence.lower())):
        return True
    own = set(content_stems(sentence))
    closest = sorted(_SENTENCE.split(evidence), key=lambda text: -len(own & set(content_stems(text))))[:CLOSEST]
    return not (TOTAL | WHOLE | NEGATIONS).isdisjoint(words(" ".join(closest).lower()))


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation as the model wrote it."""

    text: str
    operands: tuple[str, ...]
    """Numbers on the left side, without separators."""
    is_right: bool
    """Whether the left side equals the result, to the precision of the result."""


def calculations(text: str) -> list[Calculation]:
    """The calculations in a sentence.

    >>> [(one.text, one.is_right) for one in calculations("It needs 3 * 2.5 kg = 7.5 kg, so 7.5 / 2 = 4.")]
    [('3 * 2.5 kg = 7.5 kg', True), ('7.5 / 2 = 4', False)]
    """
    items = []
    for match in _CALCULATION.finditer(text[:LONGEST_CHARS]):
        bare = re.sub(_UNIT_NAME, " ", match[1].translate(_SIGNS)).replace("\0", "**")
        operands = tuple(number.replace(",", "") for number in re.findall(_PLAIN_NUMBER, bare))
        value = evaluate(bare.replace(",", ""))
        result = match[3].replace(",", "")
        items.append(Calculation(match[0].strip(), operands, _agrees(value, result, rounded=match[2] == "≈")))
    return items


def evaluate(expression: str) -> float | None:
    """Evaluate an arithmetic expression; None if it is not one or has no finite value.

    >>> evaluate("2 * (3 + 4)"), evaluate("__import__('os')"), evaluate("9 ** 9 ** 9")
    (14.0, None, None)
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _value(tree.body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return value if math.isfinite(value) else None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            first, second = _value(left), _value(right)
            if isinstance(sign, ast.Pow) and abs(second) > LARGEST_POWER:
                raise ValueError("the power is too large")
            return float(_OPERATORS[type(sign)](first, second))
    raise ValueError("this is not arithmetic")


def _agrees(value: float | None, result: str, *, rounded: bool) -> bool:
    """Whether a result is the value, rounded to its decimal places; whole numbers must be exact unless "≈" is used."""
    if value is None:
        return False
    places = len(result.partition(".")[2])
    step = 10**-places if places or rounded else 0.0
    return math.isclose(value, float(result), rel_tol=1e-9) or -step / 2 < value - float(result) < step / 2
