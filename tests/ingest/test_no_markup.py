"""No raw markup reaches a reader: in 500 answers' worth of the shelf, and of the sample book in every run."""

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes import WordHashEmbedder

from lutrin.answer.render import markdown
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.discover import discover
from lutrin.ingest.documents import read_document
from lutrin.ingest.page import page_html
from lutrin.records import Chunk

ROOT = Path(__file__).parents[2]
SHELF = ROOT.parent / "shared" / "shelf" / "books"
SAMPLE = ROOT / "corpus"
MARKUP = re.compile(
    r"\{\{|\{%|\{\}|^\+\+\+|:::|</?(?:summary|details|Tabs?|TabItem)\b"
    r"|\[!(?:NOTE|TIP|WARNING|CAUTION|IMPORTANT)\]|^!!! |^```\{",
    re.MULTILINE,
)
_PAGE_CODE = re.compile(r"<pre\b.*?</pre>|<code\b.*?</code>", re.DOTALL)


def passages(corpus: Path, step: int) -> Iterator[tuple[Chunk, str, str]]:
    """Each passage of every `step`-th page, with the page's source and as its reader sees it."""
    offsets = WordHashEmbedder().token_offsets
    for book, files in discover(corpus, shelf=True).books:
        for file in files[::step]:
            if file.suffix == ".pdf":
                continue
            document = read_document(file, book, lenient=True)
            page = page_html(document.source, document.filename)
            for chunk in chunk_document(document, book.info, offsets, 400, 50):
                yield chunk, document.source, page


def found_in(corpus: Path, step: int, most: int) -> tuple[int, list[tuple[str, str, list[str]]]]:
    """The number of checked answers, and those that show raw markup."""
    seen, faults = 0, []
    for chunk, source, page in islice(passages(corpus, step), most):
        seen += 1
        # Code may hold any signs, also within a sentence.
        prose = [
            unit for unit in chunk.units if unit.kind != "code" and "`" not in source[unit.char_start : unit.char_end]
        ]
        marks = MARKUP.findall(markdown([replace(unit, lead="") for unit in prose], 1)) if prose else []
        shown = unescape(re.sub(r"<[^>]+>", "", _PAGE_CODE.sub("", page)))
        marks += MARKUP.findall(shown) + MARKUP.findall(" > ".join(chunk.heading_path))
        if marks:
            faults.append((chunk.filename, chunk.section_title, marks))
    return seen, faults


def test_the_sample_book_shows_no_raw_markup() -> None:
    """In a hundred of its passages, and on the pages that hold them."""
    seen, faults = found_in(SAMPLE, 3, 100)
    assert seen > 50
    assert not faults


@pytest.mark.slow("reads a sixth of six real books")
@pytest.mark.skipif(not SHELF.is_dir(), reason="the shelf is not here")
def test_five_hundred_answers_over_the_shelf_show_no_raw_markup() -> None:
    """For every site generator on it."""
    faults = []
    total = 0
    for book in sorted(SHELF.iterdir()):
        seen, found = found_in(book, 4, 90)
        total += seen
        faults += found
    assert total >= 400
    assert not faults
