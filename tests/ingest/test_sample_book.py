"""The sample book goes in whole."""

import re
from pathlib import Path

import pytest

from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.page import page_html
from lutrin.ingest.scan import scan
from lutrin.records import Document

CORPUS = Path(__file__).parents[2] / "corpus" / "physical-ai"
BOOK = find_books(CORPUS)[0]
FILES = scan(CORPUS)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Every file of the book."""
    return [read_document(file, BOOK) for file in FILES]


def test_the_book_is_there() -> None:
    """Five parts, fourteen chapters, one title."""
    assert BOOK.info.title == "Physical AI & Humanoid Robotics"
    places = {BOOK.place(file.name, "") for file in FILES}
    assert len({module for module, _ in places}) == 5
    assert len({chapter for _, chapter in places}) == 14
    assert all(chapter.startswith("Chapter ") and module.startswith("Part ") for module, chapter in places)


def test_a_file_is_read_without_complaint_and_its_units_stand_where_they_say(documents: list[Document]) -> None:
    """No notice; the range of a unit holds each of its words, that of code is the code (less its indentation)."""
    for document in documents:
        assert document.notices == (), document.filename
        for section in document.sections:
            for unit in section.units:
                quoted = document.source[unit.char_start : unit.char_end]
                if unit.kind == "code":
                    assert [line.strip() for line in unit.text.splitlines()] == [
                        line.strip() for line in quoted.splitlines()
                    ]
                else:
                    assert [word for word in re.findall(r"\w+", unit.text) if word not in quoted] == [], (
                        document.filename
                    )


def test_every_fence_of_a_file_is_in_a_passage(documents: list[Document]) -> None:
    """One for each opening fence in the file, each byte for byte in a chunk's text."""
    for document in documents:
        chunks = chunk_document(document, BOOK.info, lambda text: [(0, 1)] * len(text.split()), 400, 50)
        fences = re.findall(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", document.source, re.MULTILINE | re.DOTALL)
        for indent, _, code in fences:
            plain = re.sub(f"^{indent}", "", code, flags=re.MULTILINE).removesuffix("\n")
            assert any(plain in chunk.text for chunk in chunks), document.filename
        assert len(fences) == sum(unit.kind == "code" for section in document.sections for unit in section.units), (
            document.filename
        )


def test_the_readers_page_holds_every_anchor(documents: list[Document]) -> None:
    """So that every citation lands."""
    for document in documents:
        page = page_html(document.source, document.filename)
        assert [s.anchor for s in document.sections if s.anchor] == re.findall(r'<h[2-6] id="([^"]+)"', page), (
            document.filename
        )
