"""What a question wants of a unit of the book: its form, a number, a reason, the reader's own selection.

Everything here is read from the form of the question and of the unit; the words of no book stand here. What each term
is worth was tried on one half of the sample questions and on two other texts (docs/decisions/0020).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lutrin.answer.hostile import gives_orders
from lutrin.answer.kinds import Form, QuestionKind, form_of, kind_of, term_of
from lutrin.answer.steps import is_step
from lutrin.records import Chunk, Unit
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.parts import asking
from lutrin.retrieve.selection import looks_like_code
from lutrin.retrieve.words import numbers, topic_stems, words

KIND_BONUS = 0.03
"""Added to the score of a unit whose form fits the kind of answer asked for."""
DEFINITION_BONUS = 0.12
"""For the sentence that says what the thing asked for is."""
PROCEDURE_BONUS = 0.2
"""For the steps under headings that name what shall be done: "Mending a puncture"; less if they name a part of it."""
WHAT_MALUS = 0.08
"""Taken from such a sentence where a way is asked for: what an earthquake is does not say what to do in one."""
SIDE_BONUS = 0.05
"""For the sentence that says what one of two compared things is."""
TERM_BONUS = 0.3
"""For the sentence that says what the term is that the question asks for, elsewhere than where it asks for it."""
SUBJECT_WORDS = 3
"""Words besides the topic's own that the subject of a definition may have: articles, an abbreviation in brackets."""
CODE_BONUS = 0.12
"""For code where code is asked for; makes up for what code loses in every other ranking."""
NUMBER_BONUS = 0.12
"""For a unit that holds a number of the question: the row of the value that is asked about."""
REASON_BONUS = 0.04
"""For a unit that gives a reason, where one is asked for."""
LIMIT_BONUS = 0.06
"""For a unit that denies or forbids, where it is asked what not to do, or when not."""
SELECTED_BONUS = 0.15
"""For what the reader has selected: the question is about it."""
FORM_BONUS = 0.10
"""For a unit of the form that a reader asks for: an example, a step."""
STEP_MALUS = 0.09
"""Taken from a step where a reason is asked for, half of it where a definition is: it says what to do, and would come
with all the others."""
ROW_MALUS = 0.09
"""Taken from a row of a table where a reason is asked for: what `retrieve.rank` gives it for being exact."""
ORDERS_MALUS = 0.15
"""Taken from a unit that gives a language model orders: it is quoted only where nothing else answers."""
LABEL_WORDS = 4
"""What has fewer words and no full stop is the name of a tab or a box."""
_ENDS = (".", "!", "?", ":", ";")
PLAIN_WORDS = 18
"""A sentence of at most so many words is plain."""
_DEFINES = re.compile(r"\b(?:is|are|means|refers to|describes|consists of|stands for)\b")
_ENTRY = re.compile(r"(?P<term>[^:.?!]{2,60}): \w")
"""Of a list of words: "Drawdown: pumping level less static level."."""
_CALLED = re.compile(r"\b(?:called|known as|named)\s+(.+)")
_NARROWED = re.compile(r"\b(?:with|without|that|which|whose|our|my|your)\b", re.IGNORECASE)
"""With one of these a subject is a kind of the thing, or one of it: "Oil with dust is sticky." does not define oil."""
_SPELLED = {
    name: str(number) for number, name in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_MEASURED = re.compile(
    rf"\b({'|'.join(_SPELLED)})[ -](?:(?:kilo|centi|milli)?(?:met(?:re|er)|gram|lit(?:re|er)|second|watt|volt)"
    r"|minute|hour|day|week|month|year|tonne|ton|inch|foot|feet|mile|degree|per cent|percent|(?:kilo|mega|giga)byte)",
    re.IGNORECASE,
)
"""A number of a measure that is written as a word: "from one metre", which a table has as "1.0 m"."""
_SHORT_NAME = re.compile(r"\(([^()]+)\)\s*$")
_WAY = re.compile(r"\bhow (?:is|are|was|were|do|does|did|can|would|should|could|must)\b(?!.*\bdiffer)", re.IGNORECASE)
_ASKS = re.compile(
    r"\?|\b(?:what|which|who|whose|whom|when|where|why|how)\b"
    r"|^(?:is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|has|have|had)\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"\bwhy\b|\breason|\bhow come\b|\bhow (?:can|could) (?:that|this|it) be\b", re.IGNORECASE)
_WHAT_NOT = re.compile(
    r"\b(?:when|where|what|which|who)\b[^?]*?"
    r"\b(?:should|must|may|can|could|do|shall)"
    r"(?: (?:i|you|we|one|it|they) (?:\w+ )?not\b|n['’]?t (?:i|you|we|one|it|they)\b)"
    r"|\b(?:what|which)\b.*\b(?:to avoid|not to)\b",
    re.IGNORECASE,
)
"""What not to do, or when not: "When should I not charge it?"."""
_DENIES = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|cannot|without|except|unless|avoid|only)\b|n['’]t\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|since|so that|so|therefore|thus|hence|due to|caus(?:e|es|ed|ing)|reasons?|as a result|otherwise"
    r"|leads? to|results? in|means that|that is why|prevents?|avoids?)\b",
    re.IGNORECASE,
)
_OWN_QUESTION = re.compile(
    r"^(?:and |but |so |then )*(?:what(?! about)|which|how(?! about)|when|where|who|whose"
    r"|is|are|was|were|does|do|did|can|could|should|must|may|will|would)\b",
    re.IGNORECASE,
)
"""What begins so asks for itself; "And on a Jetson?" asks what was asked before."""
_EXAMPLE = re.compile(r"\b(?:examples?|for instance|such as|e\.g\.|imagine|suppose)\b", re.IGNORECASE)
_ABOUT_CODE = topic_stems("code program command listing script snippet function line lines happen happens do does")


@dataclass(frozen=True, slots=True)
class Selected:
    """What the reader has marked on the page."""

    words: str
    """Its words, lower case, one blank between them, one at each end."""
    is_code: bool
    sections: frozenset[tuple[str, tuple[str, ...]]] = frozenset()
    """File and headings of the places where selected code stands."""
    leads: frozenset[str] = frozenset()
    """Sentences of the book that introduce it."""

    def holds(self, unit: Unit) -> bool:
        """Whether a unit stands in the selection, or the selection in it where it is code."""
        found = _plain(unit.text)
        return bool(found.strip()) and (found in self.words or (unit.kind == "code" and self.words in found))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question as the choice of quotes needs it."""

    text: str
    kind: QuestionKind
    form: Form
    topics: frozenset[str]
    numbers: frozenset[str]
    term: frozenset[str] = frozenset()
    selected: Selected | None = None
    head: frozenset[str] = frozenset()
    """Of the term that shall be defined the last word: an MQTT broker is a broker."""
    typed: str = ""
    """What of the text the reader typed."""

    @property
    def asks_reason(self) -> bool:
        """Whether a reason is asked for; a comparison may ask for one too."""
        return self.kind == "why" or bool(_WHY.search(self.text))

    @property
    def asks_way(self) -> bool:
        """Whether a way to do something is asked for, or how something is done, or a matter is named and nothing asked.

        "Mending a split pipe", typed as into a search box, may well want the way.
        """
        is_named = self.kind == "other" and not _ASKS.search(self.typed)
        asks_how = self.kind in {"other", "compare"} and bool(_WAY.search(self.typed))
        return self.kind == "steps" or is_named or asks_how

    @property
    def explains_code(self) -> bool:
        """Whether the reader wants selected code explained, who has it before their eyes already."""
        return self.selected is not None and self.selected.is_code and self.topics <= _ABOUT_CODE

    def admits(self, unit: Unit) -> bool:
        """Whether a unit may be quoted at all: a label says nothing, and selected code does not explain itself."""
        is_label = (
            unit.kind in {"sentence", "caption"}
            and len(unit.text.split()) < LABEL_WORDS
            and not unit.text.endswith(_ENDS)
        )
        return not is_label and not (self.explains_code and unit.kind == "code")

    def bonus(self, chunk: Chunk, unit: Unit) -> float:
        """What form and place of a unit add to its score."""
        hostile = ORDERS_MALUS if gives_orders(unit.text) else 0.0
        return self._by_kind(chunk, unit) + self._by_form(unit) + self._by_selection(chunk, unit) - hostile

    def _by_kind(self, chunk: Chunk, unit: Unit) -> float:
        if self.kind == "code" and unit.kind == "code":
            return CODE_BONUS
        if self.kind == "definition" and defines(chunk, unit, self.topics, self.head):
            return DEFINITION_BONUS
        if self.kind == "definition" and self.term and defines(chunk, unit, self.term):
            return TERM_BONUS
        added = KIND_BONUS if self._is_of_kind(unit) else 0.0
        if self.kind == "compare" and self._says_a_side(chunk, unit):
            added += SIDE_BONUS
        if self.kind == "steps" and defines(chunk, unit, self.topics):
            added -= WHAT_MALUS
        added += PROCEDURE_BONUS * self._procedure(chunk, unit)
        if self.kind == "why" and unit.kind == "table_row":
            added -= ROW_MALUS
        if is_step(unit):
            added -= STEP_MALUS * (1.0 if self.asks_reason else 0.5 if self.kind == "definition" else 0.0)
        if self.numbers and unit.kind != "code" and self.numbers & _numbers(unit.text):
            added += NUMBER_BONUS
        if self.asks_reason and unit.kind in {"sentence", "list_item"} and _REASON.search(unit.text):
            added += REASON_BONUS
        if _WHAT_NOT.search(self.text) and unit.kind != "code" and _DENIES.search(unit.text):
            added += LIMIT_BONUS
        return added

    def _says_a_side(self, chunk: Chunk, unit: Unit) -> bool:
        """Whether a sentence says what one of the compared things is, in a place that speaks of another one, too."""
        spoken = _headed(chunk) | topic_stems(unit.text)
        return len(self.topics & spoken) > 1 and any(defines(chunk, unit, frozenset({topic})) for topic in self.topics)

    def is_procedure(self, chunk: Chunk, unit: Unit) -> bool:
        """Whether a unit is a step of what is asked for: its headings name all of that."""
        return self._procedure(chunk, unit) == 1

    def _procedure(self, chunk: Chunk, unit: Unit) -> float:
        """How much of what is asked for the headings of a step name, 0 to 1; 0 if what stands right above does not."""
        named = frozenset(topic for topic in self.topics if not is_everyday(topic))
        if self.kind != "steps" or not is_step(unit) or not named:
            return 0.0
        above = topic_stems(f"{chunk.heading_path[-1] if chunk.heading_path else ''} {unit.lead}")
        held = named & (above | _headed(chunk))
        return len(held) / len(named) if named & above else 0.0

    def _is_of_kind(self, unit: Unit) -> bool:
        """Whether a unit has the form of what is asked for."""
        match self.kind:
            case "number":
                return bool(numbers(unit.text))
            case "list" | "steps":
                return unit.kind == "list_item"
            case "definition":
                return unit.kind == "sentence" and bool(_DEFINES.search(unit.text))
            case _:
                return False

    def _by_form(self, unit: Unit) -> float:
        match self.form:
            case "example":
                fits = unit.kind == "code" or bool(_EXAMPLE.search(unit.text))
            case "steps":
                fits = unit.kind == "list_item"
            case "simpler":
                fits = unit.kind == "sentence" and len(unit.text.split()) <= PLAIN_WORDS
            case _:
                fits = False
        return FORM_BONUS if fits else 0.0

    def _by_selection(self, chunk: Chunk, unit: Unit) -> float:
        if self.selected is None:
            return 0.0
        if self.selected.is_code:
            near = (chunk.filename, chunk.heading_path) in self.selected.sections
            return SELECTED_BONUS * (near + (unit.text in self.selected.leads))
        return SELECTED_BONUS if self.selected.holds(unit) else 0.0


def wanted(
    text: str, *, evidence: Iterable[Evidence] = (), asked: str = "", typed: str = "", selected_text: str = "",
    form: Form | None = None,
) -> Wanted:  # fmt: skip
    """Read what a question wants.

    Args:
        text: What was searched for.
        evidence: Units among which selected code may stand.
        asked: What is asked, if something else was searched for: with a selection, its text.
        typed: What of it the reader typed; the rest completes it from the conversation.
        selected_text: What the reader has marked; empty where only that may be quoted, for then nothing else competes.
        form: In which form the answer is wanted; None: as the question says.
    """
    whole = asked or text
    # What a reader tells before asking has the numbers, but does not say what is wanted: "It is worse today. How ...?"
    question, typed = asking(whole), asking(typed)
    form = form_of(whole) if form is None else form
    wants = Wanted(
        text=question,
        kind="steps" if form == "steps" else _kind(question, typed),
        form=form,
        topics=frozenset(topic_stems(question)),
        typed=typed or question,
        term=frozenset(topic_stems(term_of(question))),
        head=frozenset(topic_stems(" ".join(words(term_of(question))[-1:]))),
        numbers=frozenset(_numbers(whole) | {_SPELLED[name.lower()] for name in _MEASURED.findall(whole)}),
        selected=_selected(selected_text, evidence) if words(selected_text) else None,
    )
    # "What does this code do?" speaks of code, but asks for words.
    return replace(wants, kind="other") if wants.explains_code else wants


def _kind(question: str, typed: str) -> QuestionKind:
    """The kind of a question; "And how often?" asks for a number, whatever the question before it asked for."""
    own = kind_of(typed) if typed else "other"
    return own if own != "other" or _OWN_QUESTION.match(typed) else kind_of(question)


def _selected(text: str, evidence: Iterable[Evidence]) -> Selected:
    selected = Selected(words=_plain(text), is_code=looks_like_code(text))
    if not selected.is_code:
        return selected
    places = [item for item in evidence if item.unit.kind == "code" and selected.holds(item.unit)]
    return Selected(
        words=selected.words,
        is_code=True,
        sections=frozenset((item.chunk.filename, item.chunk.heading_path) for item in places),
        leads=frozenset(item.unit.lead for item in places if item.unit.lead),
    )


def defines(chunk: Chunk, unit: Unit, topics: frozenset[str], head: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence says what the topics are: it begins with them, and soon says `is`, or says what is called so.

    An entry of a list of words says it, too. What its headings say a sentence need not repeat: "A node is ..." in the
    chapter on ROS 2 says what a node in ROS 2 is.

    Args:
        chunk: Where the sentence stands.
        unit: The sentence.
        topics: Stems of what the question names.
        head: Of these the one that shall be defined: "MQTT is ..." does not say what an MQTT broker is.
    """
    if unit.kind not in {"sentence", "list_item"} or not topics:
        return False
    if (entry := _ENTRY.match(unit.text)) and topics == topic_stems(entry["term"]):
        return True
    if unit.kind != "sentence":
        return False
    if any(topics <= topic_stems(" ".join(words(name)[: len(topics) + 1])) for name in _CALLED.findall(unit.text)):
        return True
    verb = _DEFINES.search(unit.text)
    subject = unit.text[: verb.start()] if verb else ""
    if _NARROWED.search(subject):
        return False
    named = topics & topic_stems(subject)
    missing = topics - named
    # "The Unified Robot Description Format (URDF) is ..." defines URDF, however long its name.
    is_short = (short := _SHORT_NAME.search(subject)) is not None and bool(named & topic_stems(short[1]))
    is_brief = head <= named and len(subject.split()) <= len(named) + SUBJECT_WORDS
    if not named or not (is_short or is_brief):
        return False
    return not missing or missing <= _headed(chunk)


def _headed(chunk: Chunk) -> frozenset[str]:
    """What the headings above a chunk speak of."""
    return topic_stems(" ".join((chunk.chapter, *chunk.heading_path)))


def _numbers(text: str) -> set[str]:
    """The numbers of a text, "1.0" and "1" alike."""
    return {number.removesuffix(".0") for number in numbers(text)}


def _plain(text: str) -> str:
    return f" {' '.join(words(text.lower()))} "
