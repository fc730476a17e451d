"""Every piece of code of the sample book that moves hardware comes with the book's warning, word for word."""

from pathlib import Path

from tests.answer.test_safety import Page, run

from lutrin import messages
from lutrin.answer.safety import default_hazards, moves, secure_runs
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import scan
from lutrin.language.words import words
from lutrin.records import Chunk

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


async def test_all_code_that_moves_hardware_has_its_warning_or_is_withheld() -> None:
    """A warning, where the file has one, is the file's own text, word for word; code without any is left out."""
    found = withheld = 0
    for source, chunks in files():
        warns = any(item.warning and item.kind != "code" for chunk in chunks for item in chunk.units)
        for chunk in chunks:
            for unit in chunk.units:
                if not moves(chunk, unit, default_hazards()):
                    continue
                found += 1
                shown, told = await secure_runs(Page(*chunks), [run(chunk, unit)])
                if not warns:
                    assert (shown, told) == ([], [messages.CODE_WITHHELD]), chunk.filename
                    withheld += 1
                    continue
                box = shown[0] if unit.warning else shown[-2]
                assert all(item.warning for item in box.units), chunk.filename
                assert source[slice(*box.span)].strip(), chunk.filename
    assert found - withheld >= 10
