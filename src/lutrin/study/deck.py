"""Practice material: cards, a glossary and a guide, from a book's companion and from the book itself.

Entries of the companion make cards: written ones, and those from the book's own words. If none were written, the book's
small tables make more, and the first sentence below each heading a guide. The book's own exercises always make cards if
it gives their solutions.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from lutrin.answer.runs import is_procedure, steps_of, tells_to_act
from lutrin.index.generation import FileEntry
from lutrin.language.words import plain, stem_set, word_count
from lutrin.prepared import (
    BY_THE_BOOK,
    Card,
    CardKind,
    GlossaryTerm,
    GuideChapter,
    GuideSection,
    Practice,
    PreparedEntry,
)
from lutrin.records import Chunk, Unit

_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{2,}")
"""Letters of a name: a length in millimetres has none."""
GAP = "_____"
LEAST_WORDS = 6
"""Words of a sentence that says something about a term."""
LEAST_ANSWER_WORDS = 6
"""Words of an answer that two questions hardly share."""
MOST_TITLE_WORDS = 3
"""Words of the title of a solution."""
TABLE_ROWS = range(2, 13)
MOST_TABLES = 2
"""Rows of one section that make cards."""
PROSE_WORDS = 4
"""Words in half of the cells of a column that describes each row."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A section with all of its passages."""

    file: FileEntry
    chunks: tuple[Chunk, ...]
    url: str
    """Path of the reader's page with the section."""

    @property
    def first(self) -> Chunk:
        return self.chunks[0]

    @property
    def units(self) -> list[Unit]:
        """Its units, each once, in order."""
        units = {unit.char_start: unit for chunk in self.chunks for unit in chunk.units}
        return [units[start] for start in sorted(units)]

    @property
    def chapter(self) -> str:
        return self.first.chapter or self.file.chapter or self.file.title


Address = Mapping[str, str]
"""Path of the reader's page with each passage, by chunk id."""


def practice(
    entries: Sequence[PreparedEntry],
    files: Sequence[FileEntry],
    chunks: Sequence[Chunk],
    address: Address,
) -> Practice:
    """Build a book's practice material."""
    sections = _sections(files, chunks, address)
    visible = [item for item in entries if item.entry.state != "hidden" and not item.entry.unlisted]
    own: dict[tuple[str, str, str], list[PreparedEntry]] = {}
    for item in visible:
        own.setdefault((item.entry.file, item.entry.anchor, item.entry.heading), []).append(item)
    cards: list[Card] = []
    guide: dict[str, list[GuideSection]] = {}
    terms: dict[str, GlossaryTerm] = {}
    for section in sections:
        first = section.first
        prepared = own.get((first.filename, first.anchor, first.section_title), [])
        cards += _prepared_cards(section, prepared)
        if all(item.entry.author == BY_THE_BOOK for item in prepared):
            cards += _book_cards(section)
        cards += _exercises(section)
        if (points := _points(section, prepared)) is not None:
            guide.setdefault(section.chapter, []).append(points)
        for term in _terms(section, prepared):
            terms.setdefault(plain(term.term), term)
    unique = {card.id: card for card in cards}
    return Practice(
        cards=tuple(unique.values()),
        glossary=tuple(sorted(terms.values(), key=lambda term: plain(term.term))),
        guide=tuple(GuideChapter(title=title, sections=tuple(group)) for title, group in guide.items()),
    )


def _sections(files: Sequence[FileEntry], chunks: Sequence[Chunk], address: Address) -> list[_Section]:
    by_file: dict[str, dict[tuple[tuple[str, ...], str], list[Chunk]]] = {}
    for chunk in chunks:
        by_file.setdefault(chunk.filename, {}).setdefault((chunk.heading_path, chunk.anchor), []).append(chunk)
    groups = [(file, group) for file in files for group in by_file.get(file.filename, {}).values()]
    ordered = [(file, tuple(sorted(group, key=lambda chunk: chunk.chunk_index))) for file, group in groups]
    return [_Section(file, group, address.get(group[0].chunk_id, "")) for file, group in ordered]


# Of the companion --------------------------------------------------------------------------------------------------


def _prepared_cards(section: _Section, prepared: Sequence[PreparedEntry]) -> Iterator[Card]:
    for item in _asked_once(prepared):
        entry = item.entry
        text = "\n".join(entry.points)
        proof = _proof(section, item)
        if plain(proof) == plain(text):
            proof = ""  # it would stand there twice
        if entry.kind in {"question", "explanation"}:
            yield _card(section, "question", entry.topic, text, proof=proof, author=entry.author)
        elif entry.kind == "quiz" and entry.answer is not None:
            yield _card(
                section, "choice", entry.topic, text,
                proof=proof, author=entry.author, choices=entry.choices, answer=entry.answer,
            )  # fmt: skip
        elif entry.kind == "list":
            yield _card(section, "list", entry.topic, text, proof=proof, author=entry.author)
        elif entry.kind == "term":
            yield _card(section, "term", entry.topic, text, proof=proof, author=entry.author)
            # For a definition in the book's own words, a cloze card would repeat the term's card.
            if entry.author != BY_THE_BOOK and (gap := _gap(section, item)):
                yield _card(section, "gap", gap, entry.topic, proof=proof, author=BY_THE_BOOK)


def _proof(section: _Section, item: PreparedEntry) -> str:
    """The book's words that prove an entry, as a page shows them; if it does not, as the source has them."""
    quoted = [unit for _, start, end in item.places[:1] for unit in _within(section, start, end)]
    shown = " ".join(" ".join(unit.text for unit in quoted).split())
    return shown or (item.entry.quotes[0] if item.entry.quotes else "")


def _within(section: _Section, start: int, end: int) -> list[Unit]:
    return [unit for unit in section.units if start < unit.char_end and unit.char_start < end]


def _asked_once(prepared: Sequence[PreparedEntry]) -> Iterator[PreparedEntry]:
    """Keep one of a section's questions with the same answer, the longest: the others only rephrase it."""
    best: dict[tuple[str, ...], PreparedEntry] = {}
    for item in prepared:
        points = item.entry.points
        if item.entry.kind == "question" and word_count(" ".join(points)) >= LEAST_ANSWER_WORDS:
            best[points] = max(best.get(points, item), item, key=lambda one: len(one.entry.topic))
    for item in prepared:
        if item.entry.kind != "question" or best.get(item.entry.points, item) is item:
            yield item


def _gap(section: _Section, item: PreparedEntry) -> str:
    """The book's own definition with the term left out; empty if it does not contain the term exactly once."""
    topic = item.entry.topic
    for _, start, end in item.places:
        text = " ".join(" ".join(unit.text for unit in _within(section, start, end)).split())
        matches = re.findall(rf"\b{re.escape(topic)}\b", text, re.IGNORECASE)
        if len(matches) == 1 and word_count(text) >= LEAST_WORDS:
            return re.sub(rf"\b{re.escape(topic)}\b", GAP, text, flags=re.IGNORECASE)
    return ""


def _points(section: _Section, prepared: Sequence[PreparedEntry]) -> GuideSection | None:
    """Key points: the companion's, else the first sentence below the heading."""
    title = section.first.section_title
    for item in prepared:
        if item.entry.kind == "keypoints":
            return GuideSection(title=title, url=section.url, points=item.entry.points, author=item.entry.author)
    first = next((unit for unit in section.units if _is_sentence(unit)), None)
    if first is None:
        return None
    return GuideSection(title=title, url=section.url, points=(" ".join(first.text.split()),), author=BY_THE_BOOK)


def _terms(section: _Section, prepared: Sequence[PreparedEntry]) -> Iterator[GlossaryTerm]:
    title = section.first.section_title
    for item in prepared:
        if item.entry.kind == "term":
            name, author = item.entry.topic, item.entry.author
            text = "\n".join(item.entry.points)
            aka = tuple(other for other in item.entry.aka if other.casefold() != name.casefold())
            yield GlossaryTerm(term=name, aka=aka, text=text, url=section.url, section=title, author=author)


# Of the book itself ------------------------------------------------------------------------------------------------


def _book_cards(section: _Section) -> Iterator[Card]:
    """Cards from the tables of a section; none if it gives instructions, which its tables serve."""
    if is_procedure(section.units) and tells_to_act(steps_of(section.units)):
        return
    blocks = [list(block) for _, block in groupby(section.units, key=lambda unit: (unit.kind, unit.block))]
    matter = [block for block in blocks if block[0].role in {"text", "summary"}]
    tables = [(block, telling) for block in matter if (telling := _describing(block)) is not None]
    for block, telling in tables[:MOST_TABLES]:
        yield from _table_cards(section, block, telling)


def _describing(rows: Sequence[Unit]) -> int | None:
    """The column of a table that describes each row in words, if the first column names a thing in each.

    If no column has words, the table lists values; if several have, it compares the things in its header.
    """
    header = rows[0].header
    if rows[0].kind != "table_row" or len(rows) not in TABLE_ROWS or not header or not header[0].strip():
        return None
    columns = zip(*(row.row for row in rows if len(row.row) == len(header)), strict=True)
    names, *others = [
        median(sum(bool(_WORD.search(word)) for word in cell.split()) for cell in cells) for cells in columns
    ] or [0]
    telling = [place for place, words in enumerate(others, 1) if words >= PROSE_WORDS]
    return telling[0] if len(telling) == 1 and names < PROSE_WORDS else None


def _table_cards(section: _Section, rows: Sequence[Unit], telling: int) -> Iterator[Card]:
    """A card for each row of a table: the thing in its first cell, and its description in the column `telling`."""
    header = rows[0].header
    for row in rows:
        cells = row.row
        if len(cells) != len(header) or not cells[0] or not _WORD.search(cells[telling]):
            continue
        if not stem_set(cells[telling]) <= stem_set(f"{header[0]} {cells[0]}"):
            back = f"{header[telling]}: {cells[telling]}".strip(": ")
            yield _card(section, "table", f"{header[0]}: {cells[0]}", back, proof=row.text)


def _exercises(section: _Section) -> Iterator[Card]:
    """The book's own solved exercises: the solution after an exercise is the back of its card.

    A list below a text belongs to it, like choices do; each item of a list that stands alone is an exercise.
    """
    waiting: list[Unit] = []
    solution: list[Unit] = []

    def make() -> Iterator[Card]:
        front, back = ("\n".join(map(_lines, part)) for part in (waiting, _untitled(solution)))
        if front.strip() and back.strip():
            yield _card(section, "exercise", front, back)

    blocks = groupby(section.units, key=lambda unit: (unit.role, unit.block, unit.kind == "list_item" and unit.text))
    for (role, _, item), block in blocks:
        if role == "solution":
            solution += block
        elif role in {"exercise", "quiz"}:
            is_another = bool(solution) or (bool(item) and all(unit.kind == "list_item" for unit in waiting))
            if is_another:
                yield from make()
                waiting, solution = [], []
            waiting += block
    yield from make()


def _lines(unit: Unit) -> str:
    """A unit on one line; code keeps its line breaks."""
    return unit.text.strip("\n") if unit.kind == "code" else " ".join(unit.text.split())


def _untitled(solution: Sequence[Unit]) -> Sequence[Unit]:
    """A solution without the title of its box: a caption, or a few words that are neither sentence nor number."""
    first = solution[0] if len(solution) > 1 else None
    words = "" if first is None or first.kind not in {"caption", "sentence"} else first.text.strip()
    is_short = 0 < word_count(words) <= MOST_TITLE_WORDS and not words.endswith((".", "!", "?"))
    is_title = is_short and not any(letter.isdigit() for letter in words)
    return solution[1:] if is_title or (first is not None and first.kind == "caption") else solution


def _file_of(chunk: Chunk) -> FileEntry:
    return FileEntry(
        filename=chunk.filename, title=chunk.section_title, module=chunk.module or "", chapter=chunk.chapter or "",
        section=chunk.section or "", sha256="", chunks=1,
    )  # fmt: skip


def gap_card(chunk: Chunk, url: str, front: str, back: str, proof: str) -> Card:
    """A card from one sentence of a passage, with a word left out."""
    section = _Section(_file_of(chunk), (chunk,), url)
    return _card(section, "gap", front, back, proof=proof)


def _is_sentence(unit: Unit) -> bool:
    """Whether a unit is a sentence of the subject matter."""
    text = unit.text.rstrip()
    is_matter = unit.kind == "sentence" and unit.role in {"text", "summary", "glossary"} and not unit.warning
    return is_matter and text.endswith((".", "!")) and len(text.split()) >= LEAST_WORDS


def _card(
    section: _Section, kind: CardKind, front: str, back: str, *,
    proof: str = "", author: str = BY_THE_BOOK, choices: tuple[str, ...] = (), answer: int | None = None,
) -> Card:  # fmt: skip
    name = f"{kind}\n{section.first.filename}\n{section.first.section_title}\n{front}"
    return Card(
        id=hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        kind=kind,
        front=front,
        back=back,
        context=_context(section.first.section_title, kind, front, back),
        choices=choices,
        answer=answer,
        proof=proof,
        url=section.url,
        section=section.first.section_title,
        chapter=section.chapter,
        author=author,
    )


def _context(title: str, kind: CardKind, front: str, back: str) -> str:
    is_told = plain(title) in plain(front) or (kind == "gap" and plain(back) in plain(title))
    return "" if kind in {"question", "choice"} or is_told else title
