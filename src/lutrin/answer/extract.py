"""The extractive answer: the book's own sentences that answer this question, chosen, ordered and joined.

It is what a reader gets first, what stands if the model is away or late, and what the model may build on.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lutrin.answer.kinds import QuestionKind
from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.words import content_stems, numbers, topic_stems, word_count

KEEP_SHARE = 0.80
"""A unit is worth quoting if it scores at least this share of the best one."""
SAME_WORDS = 0.8
"""Two units with this share of content words in common say the same."""
KIND_BONUS = 0.06
"""Added to the score of a unit whose form fits the kind of answer asked for."""
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
        columns = first.lead.count("|") - 1 if first.lead.startswith("|") else first.lead.count("|") + 1
        rows = "\n".join(_row(unit.text) for unit in units)
        return f"{_row(first.lead)}\n|{' --- |' * columns}\n{rows}" if first.lead else rows
    if first.kind == "list_item":
        items = "\n".join(f"- {unit.text}" for unit in units)
        return f"{first.lead}\n\n{items}" if first.lead else items
    return " ".join(unit.text for unit in units)


def _row(cells: str) -> str:
    return cells if cells.startswith("|") else f"| {cells} |"


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
    ranked = sorted(
        ((item.score + _bonus(kind, item.unit), item) for item in evidence if item.unit.kind != "caption"),
        key=lambda pair: (-pair[0], pair[1].chunk.chunk_id, pair[1].position),
    )
    if not ranked:
        return []
    floor = ranked[0][0] * KEEP_SHARE
    chosen: dict[tuple[str, int], tuple[float, Evidence]] = {}
    said: list[set[str]] = []
    spent = 0
    for score, item in ranked:
        if score < floor or spent >= budget_words:
            break
        group = _with_context(item, kind, question)
        stems = set(content_stems(item.unit.text))
        cost = sum(word_count(render([unit])) for _, unit in group)
        if _repeats(stems, said) or (chosen and spent + cost > budget_words):
            continue
        said.append(stems)
        for position, _ in group:
            key = (item.chunk.chunk_id, position)
            if key not in chosen:
                chosen[key] = (score, Evidence(chunk=item.chunk, position=position, score=item.score))
                spent += word_count(render([item.chunk.units[position]]))
    return _joined(chosen.values())


def _bonus(kind: QuestionKind, unit: Unit) -> float:
    """What the form of a unit adds for this kind of answer."""
    fits = {
        "number": bool(numbers(unit.text)),
        "code": unit.kind == "code",
        "list": unit.kind == "list_item",
        "steps": unit.kind == "list_item",
        "definition": unit.kind == "sentence" and bool(_DEFINES.search(unit.text)),
    }
    penalty = KIND_BONUS if unit.kind == "code" and kind != "code" else 0.0
    return (KIND_BONUS if fits.get(kind, False) else 0.0) - penalty


def _with_context(item: Evidence, kind: QuestionKind, question: str) -> list[tuple[int, Unit]]:
    """The unit with what it needs: the sentence that it leans on, or the rest of the list asked for."""
    units = item.chunk.units
    unit = item.unit
    if unit.kind == "list_item" and kind in {"list", "steps"} and topic_stems(question) & topic_stems(unit.lead):
        return [(i, other) for i, other in enumerate(units) if other.kind == "list_item" and other.block == unit.block]
    before = item.position - 1
    leans = unit.kind == "sentence" and _LEANS_BACK.match(unit.text)
    if leans and before >= 0 and units[before].kind == "sentence" and units[before].block == unit.block:
        return [(before, units[before]), (item.position, unit)]
    return [(item.position, unit)]


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
    """Whether a unit follows another without a break, so that both make one quote."""
    same_block = last.unit.block == item.unit.block and last.unit.kind == item.unit.kind != "code"
    return same_block and item.position == last.position + 1


def _quote(run: Sequence[tuple[float, Evidence]]) -> Quote:
    return Quote(
        chunk=run[0][1].chunk,
        units=tuple(item.unit for _, item in run),
        score=max(score for score, _ in run),
    )
