"""Renders runs: citations and excerpts with the exact words of the source file, and Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from urllib.parse import quote as percent

import msgspec

from lutrin.answer.runs import Run, denies, is_label
from lutrin.messages import IN_OTHER_WORDS, IN_PLAIN_WORDS, LIKELY_MARK, LIKELY_NOTE, PASSAGE_ANSWERS
from lutrin.records import Chunk, Citation, Excerpt, Sentence, SentenceEvent, Unit

GAP = "\n\n"
LEAST_SCORE = 0.0001
"""Relevance of a citation that search did not score, such as a warning: above zero."""
_ORDERED = re.compile(r"\d+[.)] ")
_OPENING = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*\n[ \t]*\Z")
_CLOSING = re.compile(r"\r?\n?[ \t]*(?:`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_FENCE_CHARS = 300
"""Limit of a fence's line, including its notes on the code."""


def reader_url(chunk: Chunk) -> str:
    """Path of the reader's page that holds a chunk's heading, with its fragment.

    A Markdown page loses its suffix; others keep it, and a PDF opens at the page. A selection that is not in the book
    has no page, so its path is empty.
    """
    if not chunk.filename:
        return ""
    stem, dot, suffix = chunk.filename.rpartition(".")
    is_pdf = suffix.lower() == "pdf"
    is_markdown = bool(dot) and suffix.lower() in {"md", "mdx", "markdown"}
    path = percent(stem if is_markdown else chunk.filename)
    fragment = f"page={chunk.page}" if is_pdf and chunk.page is not None else chunk.anchor
    landing = f"#{percent(fragment, safe='=')}" if fragment else ""
    return f"/read/{percent(chunk.book)}/{path}{landing}"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A page or heading that an answer may link to: a site that shows the book must have it."""

    book: str
    filename: str
    url: str
    """Path of the reader's page with the heading's anchor as fragment, as in citations."""


def places(chunks: Iterable[Chunk]) -> list[Place]:
    """The places of a book's passages, each once, in the passages' order."""
    items = (Place(book=chunk.book, filename=chunk.filename, url=reader_url(chunk)) for chunk in chunks)
    return list(dict.fromkeys(items))


def citation(run: Run, n: int, source: str, chances: Mapping[str, float]) -> Citation:
    """Cite a run of a file's text under a number; `chances` are probabilities that a passage answers, by chunk id."""
    chunk = run.chunk
    return Citation(
        n=n,
        chunk_id=chunk.chunk_id,
        book=chunk.book,
        book_title=chunk.book_title,
        chapter=chunk.chapter,
        section=chunk.section,
        section_title=chunk.section_title,
        filename=chunk.filename,
        page=chunk.page,
        page_label=chunk.page_label,
        url=reader_url(chunk),
        quote=source[slice(*_span_with_fences(run, source))],
        relevance_score=min(max(round(chances.get(chunk.chunk_id, 0.0), 4), LEAST_SCORE), 1.0),
    )


def _span_with_fences(run: Run, source: str) -> tuple[int, int]:
    """Offsets of a run, including the fence of code at its beginning or end, so that a page shows it as code."""
    start, end = run.span
    if run.units[0].kind == "code" and (opening := _OPENING.search(source[max(0, start - _FENCE_CHARS) : start])):
        start -= len(opening[0])
    if run.units[-1].kind == "code" and (closing := _CLOSING.match(source, end)):
        end = closing.end()
    return start, end


def excerpt(run: Run, n: int, source: str) -> Excerpt:
    """Make an excerpt of a run, marking the units that answer."""
    start, end = _span_with_fences(run, source)
    marks: list[tuple[int, int]] = []
    for unit in sorted(run.answering_units, key=lambda unit: unit.char_start):
        first, last = unit.char_start - start, unit.char_end - start
        if marks and first <= marks[-1][1] + 1:
            marks[-1] = (marks[-1][0], max(last, marks[-1][1]))
        else:
            marks.append((first, last))
    return Excerpt(
        n=n,
        text=source[start:end],
        marks=tuple(marks),
        cut_before=run.cut_before,
        cut_after=run.cut_after,
        heading_path=run.chunk.heading_path,
        url=reader_url(run.chunk),
        chunk_id=run.chunk.chunk_id,
        header=tuple(run.units[0].header) if run.units[0].kind == "table_row" and run.units[0].lead else (),
    )


def markdown(units: Sequence[Unit], n: int) -> str:
    """Render units of one section as Markdown, with the marker `[n]` at the end; figures appear only in the excerpt."""
    units = [unit for unit in units if not unit.is_drawn] or units
    separator = " " if units[-1].kind in {"sentence", "caption"} else GAP
    return f"{_paragraphs(units, '')}{separator}[{n}]"


def _paragraphs(units: Sequence[Unit], previous: str) -> str:
    """Render blocks of units; an introduction that was printed before (`previous`) is not repeated."""
    paragraphs = []
    said = {previous}
    for _, group in groupby(range(len(units)), key=lambda place: (units[place].kind, units[place].block)):
        first, *others = group
        block = [units[place] for place in (first, *others)]
        lead = block[0].lead
        text = _block(block, lead if lead not in said else "")
        # A title within the excerpt, such as of a box, is no sentence of it.
        is_title = block[0].kind == "sentence" and is_label(units, first) and len(units) > 1
        paragraphs.append(f"**{text}**" if is_title else text)
        said |= {lead, block[-1].text}
    return GAP.join(paragraphs)


def sentence_piece(sentence: Sentence | SentenceEvent, before: str) -> str:
    """Render a sentence of the answer with markers and grade, to append to the earlier pieces.

    Rows, steps and code of the book form their own paragraphs. The model's own words come last, below a heading that
    names their author.
    """
    markers = "".join(f" [{n}]" for n in sentence.citations)
    if sentence.support == "own" and IN_OTHER_WORDS not in before:
        return f"{GAP if before else ''}{IN_OTHER_WORDS}{GAP}{sentence.text}"
    grade = f" {LIKELY_MARK}" if sentence.support == "likely" else ""
    if "\n" in sentence.text:
        return f"{GAP if before else ''}{sentence.text}{GAP}{markers.strip()}{grade}"
    return f"{' ' if before else ''}{sentence.text}{markers}{grade}"


def explanation_of(sentences: Sequence[Sentence]) -> str:
    """Render the sentences of an answer; a note below explains the mark of a likely one."""
    text = ""
    for sentence in sentences:
        text += sentence_piece(sentence, text)
    return f"{text}{GAP}{LIKELY_NOTE}" if any(one.support == "likely" for one in sentences) else text


def plain_words_heading(*, closest: bool) -> str:
    """The heading above a model's sentences, which make the closest passage an answer."""
    return f"{IN_PLAIN_WORDS}: {PASSAGE_ANSWERS}" if closest else IN_PLAIN_WORDS


def with_plain_words(answer: str, sentences: Sequence[Sentence], *, closest: bool) -> str:
    """Render the book's answer with a model's sentences below it."""
    return GAP.join([answer, plain_words_heading(closest=closest), explanation_of(sentences)])


def block_text(units: Sequence[Unit]) -> str:
    """Render units as a text that stands alone: a row with its header, code in its fence, all steps in between.

    The introduction of a list is included only if the list means the opposite without it.
    """
    first = units[0]
    is_needed = first.kind == "table_row" or denies(first.lead)
    return _paragraphs(units, "" if is_needed else first.lead)


def _block(units: Sequence[Unit], lead: str) -> str:
    """Units of one block; `lead` is a table's header, or a list's introduction that has not been printed."""
    match units[0].kind:
        case "code":
            return GAP.join(map(_fence, units))
        case "table_row":
            rows = [unit.row for unit in units]
            return table(units[0].header, rows) if lead else "\n".join(map(_row, rows))
        case "list_item":
            items = "\n".join(_items(units))
            return f"{lead}{GAP}{items}" if lead else items
        case _:
            return " ".join(unit.text for unit in units)


def _fence(unit: Unit) -> str:
    """Code, byte for byte, in a fence longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", unit.text)), default=0))
    code = unit.text if unit.text.endswith("\n") else f"{unit.text}\n"
    return f"{fence}{unit.language}\n{code}{fence}"


def _items(units: Sequence[Unit]) -> Iterator[str]:
    """List items, one a line; nested lists are indented below their item."""
    margins: dict[str, int] = {}
    for unit in units:
        above = next((margins[name] for name in margins if unit.lead and name.startswith(unit.lead)), 0)
        sign = _ORDERED.match(unit.text)
        yield " " * above + (unit.text if sign else f"- {unit.text}")
        inside = len(sign[0]) if sign else 0
        margins[unit.text[inside:]] = above + (inside or len("- "))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table in Markdown."""
    return "\n".join([_row(header), f"|{'---|' * len(header)}", *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "|" + "|".join(cell.replace("|", "\\|") for cell in cells) + "|"
