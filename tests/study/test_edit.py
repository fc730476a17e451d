"""Drafts become a companion; a companion is held against its book."""

import json
from pathlib import Path

import pytest

from lutrin.errors import EmptyCorpus
from lutrin.study.edit import check, merge

PAGE = "# Lidar\n\nA lidar measures **distance**\nwith light.\n\n## Range\n\nIt sees thirty metres.\n"
DRAFT = {
    "kind": "question",
    "file": "lidar.md",
    "heading": "Range",
    "topic": "How far does a lidar see?",
    "text": "Thirty metres.",
    "quotes": ["It sees thirty metres."],
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of one page."""
    root = tmp_path / "corpus" / "robots"
    root.mkdir(parents=True)
    (root / "book.toml").write_text('title = "Robots"\n')
    (root / "lidar.md").write_text(PAGE)
    return root


def drafts(book: Path, *given: dict[str, object]) -> Path:
    """A file of drafts beside the corpus."""
    path = book.parents[1] / "drafts.jsonl"
    path.write_text("".join(json.dumps(DRAFT | item) + "\n" for item in given))
    return path


def lines(book: Path) -> list[dict[str, object]]:
    """The companion of a book."""
    return [json.loads(line) for line in (book / "companion.jsonl").read_text().splitlines()]


def test_a_draft_gets_its_section_hash_and_author(book: Path) -> None:
    """What is merged fits the book at once, and says who stands for it."""
    merged = merge(book.parent, [drafts(book, {})])
    (entry,) = lines(book)
    assert (merged.added, merged.refused) == (1, ())
    assert (entry["author"], entry["state"], entry["anchor"]) == ("the authors", "approved", "range")
    assert check(book.parent) == (1, [])


def test_what_is_not_exact_is_refused_with_its_line(book: Path) -> None:
    """The other entries of the draft are taken."""
    merged = merge(book.parent, [drafts(book, {"quotes": ["It sees far."]}, {}, {"heading": "Rnage"})])
    assert [(item.filename, item.line) for item in merged.refused] == [("drafts.jsonl", 1), ("drafts.jsonl", 3)]
    assert "did you mean “Range”?" in merged.refused[1].message
    assert len(lines(book)) == 1


def test_a_quote_without_markup_becomes_the_words_of_the_source(book: Path) -> None:
    """A quote as a reader sees it is kept as the file has it."""
    merge(book.parent, [drafts(book, {"heading": "Lidar", "quotes": ["measures distance with light"]})])
    assert lines(book)[0]["quotes"] == ["A lidar measures **distance**\nwith light."]


def test_the_same_question_takes_the_place_of_the_one_before(book: Path) -> None:
    """Merging a mended draft again leaves one entry."""
    merge(book.parent, [drafts(book, {})])
    merged = merge(book.parent, [drafts(book, {"text": "About thirty metres."})])
    assert (merged.added, merged.replaced) == (0, 1)
    assert [entry["text"] for entry in lines(book)] == ["About thirty metres."]


def test_a_changed_section_is_named_until_somebody_stands_for_it(book: Path) -> None:
    """Merging the companion itself approves what still holds."""
    merge(book.parent, [drafts(book, {})])
    (book / "lidar.md").write_text(PAGE + "\nIn rain it sees less.\n")
    fitting, (wrong,) = check(book.parent)
    assert (fitting, wrong.filename, wrong.line) == (0, "robots/companion.jsonl", 1)
    merge(book.parent, [book / "companion.jsonl"])
    assert check(book.parent) == (1, [])


def test_what_a_model_made_stays_the_models(book: Path) -> None:
    """Merging approves drafts without an author, not what names one."""
    merge(book.parent, [drafts(book, {"author": "m@2026-01-01", "state": "proposed"})])
    assert (lines(book)[0]["author"], lines(book)[0].get("state", "proposed")) == ("m@2026-01-01", "proposed")


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    """A wrong path ends in a sentence."""
    with pytest.raises(EmptyCorpus, match="There is no folder"):
        check(tmp_path / "nowhere")
