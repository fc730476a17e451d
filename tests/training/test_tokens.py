"""What travels to a machine with an accelerator: questions and passages as tokens, and questions typed in a hurry."""

import json
import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from training import pack, tokens
from training.examples import Book, Example

TEXT = "Arms\nThe elbow turns far. " + "So it goes. " * 300 + "The wrist turns farther."
UNITS = [[5, 25, "sentence", 0, 0, 20], [TEXT.index("The wrist"), len(TEXT), "sentence", 1, 3000, 3024]]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book of one long passage: a heading, a unit at its beginning and one at its end."""
    path = tmp_path / "arms.jsonl"
    path.write_text(json.dumps({"file": "arm.md", "head": "Arms", "text": TEXT, "units": UNITS}) + "\n")
    return Book(path)


@pytest.fixture
def reads(tmp_path: Path) -> tokens.Tokens:
    """A tokenizer of whole words."""
    words = ["[UNK]", "Arms", "The", "elbow", "wrist", "turns", "far", "farther", "So", "it", "goes", ".", "how"]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tokens.Tokens(tmp_path)


def asked(text: str) -> Example:
    """A question whose answer is the passage's second unit."""
    return Example("arms", text, {0: [1]}, [], {"turns": 1.5})


def test_a_window_holds_the_heading_and_what_answers(reads: tokens.Tokens, book: Book) -> None:
    """Wherever it begins, also in a passage several times as long."""
    text = reads.text(book.passages[0])
    for seed in range(20):
        ids, segments = text.window([1], random.Random(seed))
        assert len(ids) == len(segments) <= tokens.LONGEST - 2
        assert segments[0] == tokens.HEADING
        assert 1 + 2 in segments


def test_what_is_packed_is_read_back(reads: tokens.Tokens, book: Book, tmp_path: Path) -> None:
    """Passages, questions and labels; passages that no question names travel as nothing."""
    question = reads.question(asked("how far turns it"))
    library = reads.library({"arms": book, "legs": book}, [asked("how far turns it")])
    tokens.save(tmp_path / "pack.npz", library, [question], [])
    found, trained, judged = tokens.load(tmp_path / "pack.npz")
    assert found == library
    assert found["legs"] == [tokens.Text([], [], [], [])]
    assert trained == [question]
    assert judged == []
    assert question.idf == [1.0, 1.0, 1.5, 1.0]


def test_a_hurried_question_keeps_its_rare_words_or_slips(book: Book) -> None:
    """Either only rarer words are left, in their order, or two letters inside one long word are swapped."""
    rng = random.Random(1)
    seen = {pack.hurried(asked("it goes how farther"), book, rng).question for _ in range(20)}
    assert "how farther" in seen
    slips = seen - {"how farther"}
    assert slips
    for slip in slips:
        *rest, last = slip.split()
        assert rest == ["it", "goes", "how"]
        assert last != "farther"
        assert sorted(last) == sorted("farther")
        assert (last[0], last[-1]) == ("f", "r")
