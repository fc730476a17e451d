"""Every piece of code of the sample book that moves hardware comes with the book's warning, word for word."""

from pathlib import Path

from lutrin.answer.quote import Quote
from lutrin.answer.safety import moves_hardware, warning_for
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import scan
from lutrin.records import Chunk, Unit
from lutrin.retrieve.words import words

CORPUS = Path(__file__).parents[2] / "corpus" / "physical-ai"
TARGET, OVERLAP = 400, 50


def offsets(text: str) -> list[tuple[int, int]]:
    """A token for every word, as a tokenizer would give them."""
    found, cursor = [], 0
    for word in words(text):
        start = text.index(word, cursor)
        cursor = start + len(word)
        found.append((start, cursor))
    return found


def files() -> list[tuple[str, list[Chunk]]]:
    """Each file of the sample book with its text and chunks."""
    (book,) = find_books(CORPUS)
    documents = [read_document(file, book) for file in scan(CORPUS)]
    return [(document.source, chunk_document(document, book.info, offsets, TARGET, OVERLAP)) for document in documents]


def moving(chunks: list[Chunk]) -> list[tuple[Chunk, Unit]]:
    """The units of these chunks that move hardware."""
    return [(chunk, unit) for chunk in chunks for unit in chunk.units if moves_hardware(chunk, unit)]


def test_all_such_code_has_a_warning_or_is_withheld() -> None:
    """A warning, where the file has one, is the file's own text; code without any is known to have none."""
    found = [(source, chunks, *pair) for source, chunks in files() for pair in moving(chunks)]
    assert len(found) >= 10
    for source, chunks, chunk, unit in found:
        warning = warning_for(Quote(chunk=chunk, units=(unit,), score=1.0), chunks)
        warns = any(item.warning and item.kind != "code" for other in chunks for item in other.units)
        assert (warning is not None) == warns, chunk.filename
        if warning is not None:
            assert all(item.warning for item in warning.units)
            start, end = warning.span
            assert source[start:end].strip(), chunk.filename
