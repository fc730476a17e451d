"""The extractive answer: the book's own sentences that answer this question, chosen, ordered and joined.

It is what a reader gets first, what stands if the model is away or late, and what the model may build on.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lutrin.answer.kinds import QuestionKind, kind_of
from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.search import Part
from lutrin.retrieve.words import content_stems, numbers, topic_stems, word_count

KEEP_SHARE = 0.80
DEFINITION_SHARE = 0.88
"""A unit is worth quoting if it scores at least this share of the best one; a definition is soon complete."""
SAME_WORDS = 0.8
"""Two units with this share of content words in common say the same."""
KIND_BONUS = 0.03
"""Added to the score of a unit whose form fits the kind of answer asked for."""
DEFINITION_BONUS = 0.12
"""For the sentence that says what the thing asked for is."""
SUBJECT_WORDS = 3
"""Words besides the topic's own that the subject of a definition may have: articles, an abbreviation in brackets."""
CODE_BONUS = 0.12
"""The same for code where code is asked for; makes up for what code loses in every other ranking."""
MAX_CODE = 2
"""Code blocks in one answer."""
LIST_WORDS = 90
"""A list is completed if it has at most this many words."""
_DRAWN = frozenset({"mermaid", "plantuml", "dot", "graphviz"})
"""Languages of figures; their source is not an answer."""
_ORDERED = re.compile(r"\d+[.)] ")
_DEFINES = re.compile(r"\b(?:is|are|means|refers to|describes|consists of|stands for)\b")
_LEANS_BACK = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|such|both|each|here|there|then|therefore|thus|hence|however|instead|otherwise"
    r"|for example|for instance|in this|in that|because of this|as a result|its|their|the latter|the former)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Neighbouring units of one block of the book, quoted together."""

    chunk: Chunk
    units: tuple[Unit, ...]
    score: float

    @property
    def text(self) -> str:
        """Readable Markdown: sentences run on, items and rows keep their form, code is fenced."""
        return render(self.units)

    @property
    def span(self) -> tuple[int, int]:
        """Offsets in the source file that the quote covers."""
        return self.units[0].char_start, self.units[-1].char_end


def render(units: Sequence[Unit]) -> str:
    """Units of one block as Markdown."""
    first = units[0]
    if first.kind == "code":
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", first.text)), default=0))
        code = first.text if first.text.endswith("\n") else f"{first.text}\n"
        return f"{fence}{first.language}\n{code}{fence}"
    if first.kind == "table_row":
        rows = "\n".join(_row(unit.text) for unit in units)
        header = _row(first.lead)
        rule = "|" + "---|" * (header.count("|") - 1)
        return f"{header}\n{rule}\n{rows}" if first.lead else rows
    if first.kind == "list_item":
        items = "\n".join(unit.text if _ORDERED.match(unit.text) else f"- {unit.text}" for unit in units)
        return f"{first.lead}\n\n{items}" if first.lead else items
    return " ".join(unit.text for unit in units)


def _row(cells: str) -> str:
    """A table row without blanks beside its bars: an answer is measured in words, and bars are none."""
    return "|" + "|".join(cell.strip() for cell in cells.strip().strip("|").split("|")) + "|"


def choose_parts(parts: Sequence[Part], *, budget_words: int) -> list[Quote]:
    """Choose for each thing that is asked, with an equal share of the words; no part repeats another."""
    quotes: list[Quote] = []
    for part in parts:
        chosen = choose(part.text, kind_of(part.text), part.evidence, budget_words=budget_words // len(parts))
        said = {(quote.chunk.chunk_id, unit.char_start) for quote in quotes for unit in quote.units}
        quotes += [
            quote
            for quote in chosen
            if not all((quote.chunk.chunk_id, unit.char_start) in said for unit in quote.units)
        ]
    return quotes


def choose(question: str, kind: QuestionKind, evidence: Iterable[Evidence], *, budget_words: int) -> list[Quote]:
    """Choose what to quote.

    Args:
        question: What was searched for.
        kind: The kind of answer that it asks for.
        evidence: Units of the found passages.
        budget_words: Words of the whole answer, code not counted.

    Returns:
        Quotes, the one that answers best first; those of one passage stand together in the order of the book.
    """
    topics = topic_stems(question)
    ranked = sorted(
        ((item.score + _bonus(kind, item.unit, topics), item) for item in evidence if item.unit.language not in _DRAWN),
        key=lambda pair: (-pair[0], pair[1].chunk.chunk_id, pair[1].position),
    )
    if not ranked:
        return []
    floor = ranked[0][0] * (DEFINITION_SHARE if kind == "definition" else KEEP_SHARE)
    chosen: dict[tuple[str, int], tuple[float, Evidence]] = {}
    said: list[set[str]] = []
    spent = 0
    code_left = MAX_CODE if kind == "code" else int(ranked[0][1].unit.kind == "code")
    for score, item in ranked:
        if score < floor or spent >= budget_words:
            break
        if item.unit.kind == "code":
            if code_left == 0:
                continue
            code_left -= 1
        group = _with_context(item, kind, question)
        stems = set(content_stems(" ".join(unit.text for _, unit in group)))
        cost = _cost(item.chunk, group, chosen)
        if not group or _repeats(stems, said) or (chosen and spent + cost > budget_words):
            continue
        said.append(stems)
        spent += cost
        for position, _ in group:
            key = (item.chunk.chunk_id, position)
            chosen.setdefault(key, (score, Evidence(chunk=item.chunk, position=position, score=item.score)))
    return _joined(chosen.values())


def _cost(chunk: Chunk, group: Sequence[tuple[int, Unit]], chosen: Iterable[tuple[str, int]]) -> int:
    """Words that a group of units adds to the answer; the lead of a table or list is paid for once."""
    begun = {chunk.units[position].block for name, position in chosen if name == chunk.chunk_id}
    lead = next((unit.lead for _, unit in group if unit.lead and unit.block not in begun and unit.kind != "code"), "")
    return word_count(lead) + sum(word_count(unit.text) for _, unit in group if unit.kind != "code")


def _bonus(kind: QuestionKind, unit: Unit, topics: set[str]) -> float:
    """What the form of a unit adds for this kind of answer."""
    if kind == "code" and unit.kind == "code":
        return CODE_BONUS
    if kind == "definition" and defines(unit, topics):
        return DEFINITION_BONUS
    fits = {
        "number": bool(numbers(unit.text)),
        "list": unit.kind == "list_item",
        "steps": unit.kind == "list_item",
        "definition": unit.kind == "sentence" and bool(_DEFINES.search(unit.text)),
    }
    return KIND_BONUS if fits.get(kind, False) else 0.0


def defines(unit: Unit, topics: set[str]) -> bool:
    """Whether a sentence says what the topics are: it begins with them, and soon says `is`."""
    if unit.kind != "sentence" or not topics:
        return False
    verb = _DEFINES.search(unit.text)
    subject = unit.text[: verb.start()] if verb else ""
    return topics <= topic_stems(subject) and len(subject.split()) <= len(topics) + SUBJECT_WORDS


def _with_context(item: Evidence, kind: QuestionKind, question: str) -> list[tuple[int, Unit]]:
    """The unit with what it needs to be understood; nothing if that cannot be had.

    A sentence brings the one that it leans on; one that announces a list brings the list, or the code that is asked
    for; an item brings the rest of its list where a list is asked for.
    """
    units = item.chunk.units
    unit = item.unit
    asks_list = kind in {"list", "steps"} and bool(topic_stems(question) & topic_stems(unit.lead))
    if unit.kind == "list_item" and asks_list:
        return _short_list(units, item.position) or [(item.position, unit)]
    if unit.kind == "sentence" and unit.text.endswith(":"):
        after = item.position + 1
        announced = after < len(units) and units[after].kind == "list_item"
        return _short_list(units, after) if announced else []
    after = item.position + 1
    if kind == "code" and after < len(units) and units[after].kind == "code" and units[after].lead == unit.text:
        return [(item.position, unit), (after, units[after])]
    before = item.position - 1
    leans = unit.kind == "sentence" and _LEANS_BACK.match(unit.text)
    if leans and before >= 0 and units[before].kind == "sentence" and units[before].block == unit.block:
        return [(before, units[before]), (item.position, unit)]
    return [(item.position, unit)]


def _short_list(units: Sequence[Unit], position: int) -> list[tuple[int, Unit]]:
    """All items of the list that holds a unit; nothing if it is too long for an answer."""
    block = units[position].block
    items = [(i, unit) for i, unit in enumerate(units) if unit.kind == "list_item" and unit.block == block]
    return items if sum(word_count(unit.text) for _, unit in items) <= LIST_WORDS else []


def _repeats(stems: set[str], said: Iterable[set[str]]) -> bool:
    """Whether a unit says what another has said."""
    return any(stems and len(stems & other) / len(stems) >= SAME_WORDS for other in said)


def _joined(chosen: Iterable[tuple[float, Evidence]]) -> list[Quote]:
    """Quotes from chosen units: passages by their best unit, units in order, neighbours of one block together."""
    by_chunk: dict[str, list[tuple[float, Evidence]]] = {}
    for score, item in chosen:
        by_chunk.setdefault(item.chunk.chunk_id, []).append((score, item))
    quotes = []
    for group in sorted(by_chunk.values(), key=lambda group: -max(score for score, _ in group)):
        group.sort(key=lambda pair: pair[1].position)
        run: list[tuple[float, Evidence]] = []
        for score, item in group:
            if run and not _continues(run[-1][1], item):
                quotes.append(_quote(run))
                run = []
            run.append((score, item))
        quotes.append(_quote(run))
    return quotes


def _continues(last: Evidence, item: Evidence) -> bool:
    """Whether a unit makes one quote with the one before: neighbours of a paragraph, or parts of one table or list."""
    if last.unit.block != item.unit.block or last.unit.kind != item.unit.kind:
        return False
    return item.unit.kind in {"table_row", "list_item"} or (
        item.unit.kind == "sentence" and item.position == last.position + 1
    )


def _quote(run: Sequence[tuple[float, Evidence]]) -> Quote:
    return Quote(
        chunk=run[0][1].chunk,
        units=tuple(item.unit for _, item in run),
        score=max(score for score, _ in run),
    )
