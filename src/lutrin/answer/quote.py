"""A quotation: neighbouring units of one block of the book, and how they read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

import msgspec

from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.rank import asks, continues
from lutrin.retrieve.words import content_stems, identifiers, word_count

FIRST_SHARE = 0.03
"""How much less than the best, as a share of it, the best unit of the best passage may score to begin an answer."""
NAME_WORDS = 3
"""A heading of more words is no name."""
_ORDERED = re.compile(r"\d+[.)] ")
_LEANS_BACK = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|such|both|each|here|there|then|therefore|thus|hence|however|instead|otherwise"
    r"|for example|for instance|in this|in that|because of this|as a result|its|their|the latter|the former"
    # "While it is below ground", "If they differ"; "Only this kind", "Some of them", "With these".
    r"|(?:while|when|whenever|if|as|because|since|once|after|before|where|although|though|until|unless)"
    r" (?:it|this|that|these|those|they|he|she)"
    r"|(?:in|on|at|by|for|from|to|of|with|without|under|over|after|before|through|like|unlike|besides|only|even|just|not"
    r"|all|most|some|many|none|one|two|three|several)(?: of)? (?:it|this|that|these|those|them|its|their)"
    # "The pressure so produced".
    r"|the \w+ (?:so|thus|thereby)"
    # "The last line explains the mystery", "The following command": of what stands beside it.
    r"|the (?:above|first|following|last|next|previous|second|third)"
    r" (?:block|column|command|entry|example|figure|line|listing|picture|row|sentence|table|two|three)"
    # "Kestrel has fourteen of them".
    r"|[^,;:.]* (?:has|have|had|is|are|was|were|needs?|uses?|takes?) \w+ of (?:these|those|them)(?! \w))\b",
    re.IGNORECASE,
)
BEFORE_BEST = 0.02
"""How much less than the best quote of its passage, as a share of it, one may score to stand before it."""
_WITH_LEAD = frozenset({"list_item", "table_row"})
"""Kinds of units that show their `lead`: the header of a table, the sentence that introduces a list."""
_LEADS = re.compile(r"(?:the|this|these) (?:following|table|list|next|\w+ below)\b|here (?:is|are)\b", re.IGNORECASE)
"""How a sentence begins that only leads to the table or list below it: "The following table says what it does."."""
LEANING = 2
"""Sentences that a quoted one may bring, where each leans on the one before it."""
_EXPLAINS = re.compile(r"(?:where|here|with)\b|\$[^$]+\$ (?:is|are|stands?|means?)\b", re.IGNORECASE)
"""How a sentence begins that says what the letters of a formula mean."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Neighbouring units of one block of the book, quoted together."""

    chunk: Chunk
    units: tuple[Unit, ...]
    score: float
    added: frozenset[int] = frozenset()
    """Offsets of those units that only complete a list."""

    @property
    def text(self) -> str:
        """Readable Markdown: sentences run on, items and rows keep their form, code is fenced."""
        return render(self.units)

    @property
    def span(self) -> tuple[int, int]:
        """Offsets in the source file that the quote covers."""
        return self.units[0].char_start, self.units[-1].char_end


def render(units: Sequence[Unit], *, with_lead: bool = True) -> str:
    """Units of one block as Markdown; a list without its introduction where that stands before it already."""
    first = units[0]
    if first.kind == "code":
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", first.text)), default=0))
        code = first.text if first.text.endswith("\n") else f"{first.text}\n"
        return f"{fence}{first.language}\n{code}{fence}"
    if first.kind == "table_row":
        rows = "\n".join(_row(unit.text) for unit in units)
        header = _row(first.lead)
        rule = "|" + "---|" * len(cells_of(first.lead))
        return f"{header}\n{rule}\n{rows}" if first.lead else rows
    if first.kind == "list_item":
        items = "\n".join(_items(units))
        return f"{first.lead}\n\n{items}" if first.lead and with_lead else items
    text = " ".join(unit.text for unit in units)
    return f"{first.lead}\n\n{text}" if first.lead and with_lead and first.kind == "sentence" else text


def _items(units: Sequence[Unit]) -> Iterator[str]:
    """Items of a list, one a line; those of a list within an item stand below it, further in."""
    margins: dict[str, int] = {}
    for unit in units:
        above = next((margins[name] for name in margins if unit.lead and name.startswith(unit.lead)), 0)
        sign = _ORDERED.match(unit.text)
        yield " " * above + (unit.text if sign else f"- {unit.text}")
        inside = len(sign[0]) if sign else 0
        margins[unit.text[inside:]] = above + (inside or len("- "))


def cells_of(row: str) -> list[str]:
    """The cells of a table's row or header; the first of a header is often empty.

    >>> cells_of(" | Springs | Neaps")
    ['', 'Springs', 'Neaps']
    """
    return [cell.strip() for cell in f" {row} ".split(" | ")]


def _row(row: str) -> str:
    """A table row without blanks beside its bars: an answer is measured in words, and bars are none."""
    return "|" + "|".join(cell.replace("|", "\\|") for cell in cells_of(row)) + "|"


def joined(
    chosen: Iterable[tuple[float, Evidence]], added: AbstractSet[tuple[str, int]] = frozenset(), *, first: str = ""
) -> list[Quote]:
    """Quotes from chosen units: passages by their best unit, neighbours of one block together, in order from the best.

    Args:
        chosen: Units with their scores.
        added: Chunk and position of those that only complete a list.
        first: The passage that answers best as a whole; of two whose units answer alike it comes first.
    """
    by_chunk: dict[str, list[tuple[float, Evidence]]] = {}
    for score, item in chosen:
        by_chunk.setdefault(item.chunk.chunk_id, []).append((score, item))
    worth = {name: max(score for score, _ in group) for name, group in by_chunk.items()}
    if first in worth:
        worth[first] += FIRST_SHARE * max(worth.values())
    quotes: list[Quote] = []
    for name in sorted(by_chunk, key=lambda name: -worth[name]):
        group = by_chunk[name]
        group.sort(key=lambda pair: pair[1].position)
        own: list[Quote] = []
        run: list[tuple[float, Evidence]] = []
        for score, item in group:
            if run and not _continues(run[-1][1], item):
                own.append(_quote(run, added))
                run = []
            run.append((score, item))
        own.append(_quote(run, added))
        quotes += _best_first(own)
    return quotes


def _best_first(quotes: Sequence[Quote]) -> Sequence[Quote]:
    """Quotes of one passage, which stand in its order, from the best one on, and then what stands before that.

    What answers comes first; what follows it mostly explains it. The order stays where the best one needs what stands
    before it: it leans back, is a later step, or a warning would come too late.
    """
    best = max(quotes, key=lambda quote: quote.score)
    start = next(place for place, quote in enumerate(quotes) if quote.score >= best.score * (1 - BEFORE_BEST))
    while start > 0 and _leads_to(quotes[start - 1], quotes[start]):
        start -= 1
    before, after = quotes[:start], quotes[start:]
    warned = any(unit.warning for quote in before for unit in quote.units)
    if warned or (_has_step(before) and _has_step(after)) or leans_back(after[0].units[0].text):
        return quotes
    return [*after, *_without_lead(before, after[0])]


def _leads_to(before: Quote, after: Quote) -> bool:
    """Whether a quote ends with what the next one needs.

    That is the sentence that runs into code or a formula, or the formula whose letters are explained; a list and a
    table bring the sentence before them.
    """
    first = after.units[0]
    if _is_formula(before.units[-1]) and _EXPLAINS.match(first.text):
        return True
    return before.units[-1].text.rstrip().endswith(":") and first.kind not in _WITH_LEAD


def _has_step(quotes: Sequence[Quote]) -> bool:
    return any(unit.kind == "list_item" and is_numbered(unit) for quote in quotes for unit in quote.units)


def _without_lead(before: Sequence[Quote], first: Quote) -> list[Quote]:
    """What stands before a list or table that has come first, less the sentence that only leads to it."""
    if not before or first.units[0].kind not in _WITH_LEAD:
        return list(before)
    last = before[-1].units[-1]
    if last.text != first.units[0].lead and not _LEADS.match(last.text):
        return list(before)
    rest = before[-1].units[:-1]
    return [*before[:-1], *([replace(before[-1], units=rest)] if rest else [])]


def merged(quotes: Iterable[Quote]) -> list[Quote]:
    """Quotes of which none goes on where another one ends: two parts of a question may have chosen neighbours."""
    apart: list[Quote] = []
    for quote in quotes:
        whole = next(((place, both) for place, other in enumerate(apart) if (both := _together(other, quote))), None)
        if whole is None:
            apart.append(quote)
        else:
            apart[whole[0]] = whole[1]
    return apart


def _together(one: Quote, other: Quote) -> Quote | None:
    """Two quotes as one, if they are parts of one list or table, or nothing stands between their sentences."""
    if one.chunk.chunk_id != other.chunk.chunk_id:
        return None
    starts = {unit.char_start for unit in (*one.units, *other.units)}
    places = [place for place, unit in enumerate(one.chunk.units) if unit.char_start in starts]
    items = [Evidence(chunk=one.chunk, position=place, score=0.0) for place in places]
    if not all(_continues(*pair) for pair in pairwise(items)):
        return None
    chosen = {unit.char_start for quote in (one, other) for unit in quote.units if unit.char_start not in quote.added}
    return Quote(
        chunk=one.chunk,
        units=tuple(item.unit for item in items),
        score=max(one.score, other.score),
        added=frozenset(starts - chosen),
    )


def _continues(last: Evidence, item: Evidence) -> bool:
    """Whether a unit makes one quote with the one before: neighbours of a paragraph, or parts of one table or list."""
    if last.unit.block != item.unit.block or last.unit.kind != item.unit.kind:
        return False
    return item.unit.kind in {"table_row", "list_item"} or (
        item.unit.kind == "sentence" and item.position == last.position + 1
    )


def _quote(run: Sequence[tuple[float, Evidence]], added: AbstractSet[tuple[str, int]]) -> Quote:
    return Quote(
        chunk=run[0][1].chunk,
        units=tuple(item.unit for _, item in run),
        score=max(score for score, _ in run),
        added=frozenset(item.unit.char_start for _, item in run if item.place in added),
    )


def leans_back(sentence: str) -> bool:
    """Whether a sentence is understood only after the one before it: "It ...", "Therefore ..."."""
    return bool(_LEANS_BACK.match(sentence))


def with_leaning(units: Sequence[Unit], position: int) -> list[tuple[int, Unit]]:
    """A unit after the sentences of its paragraph that it leans on, at most LEANING, with their positions, in order."""
    first = position
    while first > 0 and position - first < LEANING and _leans_on(units[first], units[first - 1]):
        first -= 1
    return [(place, units[place]) for place in range(first, position + 1)]


def _leans_on(unit: Unit, before: Unit) -> bool:
    """Whether a sentence is understood only after the one before it, or replies to it."""
    return continues(unit, before) and (leans_back(unit.text) or asks(before))


def is_open(units: Sequence[Unit], position: int) -> bool:
    """Whether a sentence goes on in the formula below it: "The depth is", or "The torque is a product:"."""
    after = units[position + 1 : position + 2]
    return bool(after) and _is_formula(after[0]) and not units[position].text.rstrip().endswith((".", "!", "?"))


def with_formula(units: Sequence[Unit], position: int) -> list[tuple[int, Unit]]:
    """A sentence and the formula that it runs into, whichever of the two is asked for, or the explanation below it.

    Returns:
        Units with their positions, in order; none if there is no such formula.
    """
    unit = units[position]
    if unit.kind != "sentence":
        return []
    explains = bool(_EXPLAINS.match(unit.text)) and position > 0 and _is_formula(units[position - 1])
    formula = position - 1 if explains else position if _is_formula(unit) else position + 1
    if not explains and formula != position and not is_open(units, position):
        return []
    first = (
        formula - 1
        if formula > 0 and units[formula - 1].kind == "sentence" and is_open(units, formula - 1)
        else formula
    )
    return [(place, units[place]) for place in range(first, max(formula, position) + 1)]


def _is_formula(unit: Unit) -> bool:
    return unit.kind == "sentence" and unit.text.startswith("$$")


def is_numbered(unit: Unit) -> bool:
    """Whether an item begins with its number in the list."""
    return bool(_ORDERED.match(unit.text))


def titled(quotes: Iterable[Quote]) -> list[Quote]:
    """Quotes with the name under whose heading each stands, unless it says the name itself or the one before has it.

    "Shows all topics" under the heading `ros2 topic list` is of no use without it, nor is "Default: null" under that of
    an option.
    """
    shown: list[Quote] = []
    above = ("", "")
    for quote in quotes:
        first, name = quote.units[0], _name_above(quote)
        said = set(content_stems(quote.text))
        needs_none = first.lead or first.kind not in {"sentence", "list_item"} or set(content_stems(name)) <= said
        if name and not needs_none and above != (quote.chunk.filename, name):
            named = msgspec.structs.replace(first, lead=f"**{name}**")
            shown.append(replace(quote, units=(named, *quote.units[1:])))
        else:
            shown.append(quote)
        above = (quote.chunk.filename, name)
    return shown


def name_words(unit: Unit) -> int:
    """Words of the name that `titled` put before a unit."""
    return word_count(unit.lead) if unit.lead.startswith("**") and unit.lead.endswith("**") else 0


def _name_above(quote: Quote) -> str:
    """The name of something from code under which a quote stands: a small heading within its passage, or one above."""
    units, start = quote.chunk.units, quote.units[0].char_start
    labels = [unit.text for before, unit in enumerate(units) if unit.char_start < start and _is_label(units, before)]
    named = [*quote.chunk.heading_path, *labels[-1:]]
    return next((title for title in reversed(named) if _is_name(title)), "")


def _is_label(units: Sequence[Unit], position: int) -> bool:
    """Whether a unit is a heading below level 3: a few words alone, not a sentence, with something beneath."""
    unit = units[position]
    alone = all(other.block != unit.block for other in units[max(0, position - 1) : position + 2] if other is not unit)
    ends = unit.text.endswith((".", "!", "?", ":", ";", ","))
    return unit.kind == "sentence" and alone and not ends and len(unit.text.split()) <= NAME_WORDS


def _is_name(title: str) -> bool:
    """Whether a heading is the name of something from code: a command, a function, an option; no numbered section."""
    is_code = title[:1].islower() or (bool(identifiers(title)) and not title[:1].isdigit())
    return len(title.split()) <= NAME_WORDS and is_code
