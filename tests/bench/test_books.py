"""The questions on the books of `bench/books` tell the truth about them."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "bench"
PATHS = {path.parent.name: path.parent for path in sorted((BENCH / "books").glob("*/*/book.toml"))}
BOOKS = tuple(PATHS)
Record = dict[str, Any]


def plain(text: str) -> str:
    """Lower case, with single blanks."""
    return re.sub(r"\s+", " ", text).lower()


def questions(book: str) -> list[Record]:
    """The lines of a file."""
    path = BENCH / "questions" / PATHS[book].parent.name / f"{book}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def pages(book: str) -> dict[str, str]:
    """The text of each page by its path from the folder of the books."""
    found = [path for path in PATHS[book].rglob("*") if path.suffix in {".md", ".mdx"}]
    return {path.relative_to(PATHS[book].parent).as_posix(): plain(path.read_text("utf-8")) for path in found}


def test_what_is_asked_of_a_book_stands_in_it() -> None:
    """Every file is there, and every fact in one of them; of several that are needed each has one."""
    for book in BOOKS:
        texts = pages(book)
        asked = [record for record in questions(book) if "expected_files" in record]
        assert len(asked) == 60, book
        for record in asked:
            expected = [texts[name] for name in record["expected_files"]]
            facts = [plain(fact) for fact in record["key_facts"]]
            assert all(any(fact in text for text in expected) for fact in facts), record
            if record["match"] == "all":
                assert all(any(fact in text for fact in facts) for text in expected), record


def test_what_is_asked_beside_a_book_does_not() -> None:
    """The terms that an answer would need are nowhere."""
    for book in BOOKS:
        whole = " ".join(pages(book).values())
        near = [record for record in questions(book) if record["kind"] == "near"]
        assert len(near) == 24, book
        for record in near:
            assert record["absent"], record
            assert not any(plain(term) in whole for term in record["absent"]), record


def test_every_question_has_a_name_of_its_own() -> None:
    """Its half hangs on it."""
    names = Counter(record["id"] for book in BOOKS for record in questions(book))
    assert max(names.values()) == 1
