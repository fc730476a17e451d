"""The written questions: well formed, of known books, and without the books' text."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from training import sources
from training.sources import Missing, Source, Written

BOOKS = sources.sources()
QUESTIONS = [(name, question) for name in BOOKS for question in sources.written(name)]
KINDS = {
    "fact", "why", "definition", "number", "how", "which", "yesno", "compare", "effect", "list", "code", "condition",
    "table", "steps", "near",
}  # fmt: skip
LICENCES = ("Apache-2.0", "CC-BY-", "CC0-", "MIT", "GPL-", "GFDL-1.3-no-invariants")
LONGEST_QUESTION = 140
LONGEST_SPAN = 900


def test_every_book_names_its_source_and_an_open_licence() -> None:
    """A new training run knows what to check out, and the terms of each licence."""
    assert set(BOOKS) == {path.stem for path in (sources.HERE / "questions").iterdir()}
    for book in BOOKS.values():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", book.repository), book
        assert re.fullmatch(r"[\d.-]+" if book.package else r"[0-9a-f]{40}", book.commit), book
        assert book.title, book
        assert book.licence.startswith(LICENCES), book


def test_the_books_left_out_are_of_many_makes() -> None:
    """No make of book decides alone whether the reader has learned something, and each make can be left out in turn."""
    judged = [book.make for book in BOOKS.values() if book.left_out]
    assert len(set(judged)) == len(judged) >= 7
    assert len({book.make for book in BOOKS.values()}) >= 10


def test_there_are_enough_questions_of_both_kinds() -> None:
    """At least 6,000, and a fifth of them near questions that the book does not answer; no id and no question twice."""
    assert len(QUESTIONS) >= 6000
    assert sum(question.near for _, question in QUESTIONS) >= len(QUESTIONS) / 5
    assert not [name for name, count in Counter(question.id for _, question in QUESTIONS).items() if count > 1]
    assert not [text for text, count in Counter((n, q.question.casefold()) for n, q in QUESTIONS).items() if count > 1]


def test_every_question_is_well_formed() -> None:
    """A question is one line, names a file of its book, and has spans unless it is near."""
    for name in BOOKS:
        book = BOOKS[name]
        for question in sources.written(name):
            assert question.id.startswith(f"{name}-"), question
            assert (question.repository, question.commit) == (book.repository, book.commit), question
            path = PurePosixPath(question.file)
            assert path.suffix, question
            assert not path.is_absolute(), question
            assert ".." not in path.parts, question
            assert path.is_relative_to(book.folder), question
            assert question.kind in KINDS, question
            assert question.near == (question.kind == "near") == (not question.spans), question
            assert 0 < len(question.question) <= LONGEST_QUESTION, question
            assert question.question.split() == question.question.split(" "), question
            for start, length, sha in question.spans:
                assert start >= 0, question
                assert 0 < length <= LONGEST_SPAN, question
                assert re.fullmatch(r"[0-9a-f]{16}", sha), question


def test_a_line_holds_nothing_longer_than_a_question() -> None:
    """No field has room for the text of a book: all that is kept of it are numbers and hashes."""
    for name in BOOKS:
        for line in (sources.HERE / "questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            assert set(row) == set(Written.__slots__), line
            strings = [value for value in row.values() if isinstance(value, str)]
            assert max(map(len, strings)) <= LONGEST_QUESTION, line
            assert all(len(span) == 3 for span in row["spans"]), line


def arm(folder: Path) -> Written:
    """A question on a page with the line ends of another system, and that page."""
    text = "# Arm\r\n\r\nThe elbow turns 140 degrees.\r\n"
    (folder / "arm.md").write_bytes(text.encode())
    start = text.index("140")
    span = (start, len("140 degrees"), sources.digest("140 degrees"))
    return Written("arm-0001", "some/arms", "0" * 40, "arm.md", "how far?", "number", (span,), near=False)


def test_a_span_is_found_with_line_ends_as_they_are(tmp_path: Path) -> None:
    """Offsets count the characters of the file, as an ingest does."""
    ((start, end),) = sources.places(arm(tmp_path), tmp_path)
    assert (tmp_path / "arm.md").read_bytes().decode()[start:end] == "140 degrees"


def test_another_text_is_refused(tmp_path: Path) -> None:
    """A page of another commit gives no wrong labels but a sentence that says which commit is needed."""
    question = arm(tmp_path)
    (tmp_path / "arm.md").write_text("# Arm\n\nThe elbow turns 140 degrees.\n", encoding="utf-8", newline="\n")
    with pytest.raises(Missing, match=r"is not the text that arm-0001 was written on. Check some/arms out at 0{40}"):
        sources.places(question, tmp_path)
    with pytest.raises(Missing, match=r"There is no .*leg\.md, which arm-0001 was written on"):
        sources.places(replace(question, file="leg.md"), tmp_path)


def test_a_missing_book_says_what_to_check_out(tmp_path: Path) -> None:
    """The sentence is a command that can be copied."""
    book = Source("arms", "Arms", "some/arms", "0" * 40, "", "CC-BY-4.0", "readmes")
    with pytest.raises(Missing, match=r"git clone https://github.com/some/arms \S+arms && git -C \S+ checkout 0{40}"):
        sources.checkout(tmp_path, book)
    packed = replace(book, repository="debian/arms-doc", commit="1.2-3", package="usr/share/doc/arms.pdf")
    with pytest.raises(Missing, match=r"apt-get download arms-doc=1\.2-3 && .* \./usr/share/doc/arms\.pdf > "):
        sources.checkout(tmp_path, packed)


def test_a_span_of_a_pdf_is_found_however_its_text_is_laid_out(tmp_path: Path) -> None:
    """Only letters and digits count: hyphens, line breaks, ligatures and a new first page do not matter; words do."""
    plain, _ = sources.letters("the final angle is 140 degrees")
    span = (0, len(plain), sources.digest(plain))
    question = replace(arm(tmp_path), file="arm.pdf", spans=(span,))
    with pytest.raises(Missing, match="training prepare` writes it"):
        sources.places(question, tmp_path)
    laid_out = "A Manual of Arms\n\nThe \ufb01nal an-\ngle is 140 degrees.\n"
    path = sources.text_path(tmp_path, "arm.pdf")
    path.parent.mkdir()
    path.write_text(laid_out, encoding="utf-8")
    ((start, end),) = sources.places(question, tmp_path)
    assert laid_out[start:end] == "The \ufb01nal an-\ngle is 140 degrees"
    path.write_text(laid_out.replace("140", "410"), encoding="utf-8")
    assert sources.places(question, tmp_path) == []
