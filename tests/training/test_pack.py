"""Packing from end to end, with two small books of ours: what is learned from, and what judges it, apart."""

from pathlib import Path

import pytest

from training import pack, tokens
from training.__main__ import main
from training.examples import own_books

LEARNED, HELD = "own-bees", "own-rover"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a pack."""
    out = tmp_path_factory.mktemp("training")
    for step in ("prepare", "pack"):
        main([step, "--out", str(out), "--on", LEARNED, HELD, "--held", HELD, "--most", "20"])
    return out / "pack"


def test_what_is_held_back_teaches_nothing(folder: Path) -> None:
    """Questions, headings and claims are of the other book alone; every question comes also in hurried forms."""
    books, asked = tokens.load(folder / "questions.npz")
    _, judged = tokens.load(folder / "judged.npz")
    headings_of, headings = tokens.load(folder / "headings.npz")
    assert set(books) == set(headings_of) == {LEARNED}
    assert {item.book for item in judged} == {HELD}
    assert len(asked) == 20 * (1 + pack.HURRIED)
    assert len(judged) == 20
    assert headings
    assert any(not item.positives for item in asked)
    for library, some in ((books, asked), (headings_of, headings)):
        for item in some:
            assert not set(item.positives) & set(item.negatives)
            assert all(library[LEARNED][number].ids for number in item.negatives)


def test_a_changed_sentence_stays_beside_the_true_one(folder: Path) -> None:
    """Both have the same evidence and other words, in what is learned from and in what judges."""
    for name in ("pairs.npz", "pairs-judged.npz"):
        groups = tokens.load_pairs(folder / name)["mutations"]
        assert len(groups) == 20
        assert all(true.label != false.label and true.claim != false.claim for true, false in groups)


def test_only_the_named_books_of_ours_are_taken() -> None:
    """Names of other books leave ours as they are."""
    assert list(own_books([HELD])) == [HELD]
    assert own_books(["vue"]) == own_books()
    assert {LEARNED, HELD} < set(own_books())


def test_files_that_are_too_large_together_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository travels with them."""
    (tmp_path / "questions.npz").write_bytes(b"12345")
    pack.weigh(tmp_path)
    monkeypatch.setattr(pack, "MOST_TOGETHER", 4)
    with pytest.raises(ValueError, match="--most takes fewer"):
        pack.weigh(tmp_path)
