"""Files for a machine with an accelerator: questions and passages as tokens, and questions typed in a hurry."""

import json
import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from training import pack, tokens
from training.examples import WORD, Book, Example, Passage

TEXT = "Arms\nThe elbow turns far. " + "So it goes. " * 300 + "The wrist turns farther."
UNITS = [[5, 25, "sentence", 0, 0, 20], [TEXT.index("The wrist"), len(TEXT), "sentence", 1, 3000, 3024]]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book of one long passage: a heading, a unit at its beginning and one at its end."""
    path = tmp_path / "arms.jsonl"
    path.write_text(json.dumps({"file": "arm.md", "head": "Arms", "text": TEXT, "units": UNITS}) + "\n")
    return Book.read(path)


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
        ids, segments = text.window([1], random.Random(seed), 96)
        assert len(ids) == len(segments) <= 96 - 2
        assert segments[0] == tokens.HEADING
        assert 1 + 2 in segments


def test_what_is_packed_is_read_back(reads: tokens.Tokens, book: Book, tmp_path: Path) -> None:
    """Passages, questions and labels; passages that no question names travel as nothing."""
    question = reads.question(asked("how far turns it"))
    library = reads.library({"arms": book, "legs": book}, [asked("how far turns it")])
    tokens.save(tmp_path / "pack" / "questions.npz", library, [question])
    found, read = tokens.load(tmp_path / "pack" / "questions.npz")
    assert found == library
    assert found["legs"] == [tokens.Text([], [], [], [])]
    assert read == [question]
    assert question.idf == [1.0, 1.0, 1.5, 1.0]


def test_pairs_are_read_back_in_their_groups(tmp_path: Path) -> None:
    """A claim stays beside its near variant, and each keeps its label and its kind."""
    one, other, alone = tokens.Pair([5, 6], [7], 0), tokens.Pair([5, 8], [7], 3), tokens.Pair([9], [], 2)
    groups = {"claims": [[one, other]], "public": [[alone], [one]], "mutations": []}
    tokens.save_pairs(tmp_path / "pairs.npz", groups)
    assert tokens.load_pairs(tmp_path / "pairs.npz") == groups


def test_a_file_that_is_too_large_to_travel_is_not_left(
    reads: tokens.Tokens, book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be found missing only on a machine that is paid by the minute."""
    monkeypatch.setattr(tokens, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="100 travel"):
        tokens.save(tmp_path / "questions.npz", reads.library({"arms": book}, [asked("how")]), [])
    assert not (tmp_path / "questions.npz").exists()


def test_a_heading_asks_for_what_stands_below_it() -> None:
    """The passages no longer hold it; a section that begins with the term defines it; what comes twice asks nothing."""
    texts = {
        "Arms > Elbow": "The elbow is a joint that turns far, and it has two motors in it.",
        "Arms > Care": "Grease it every month. Never use water on the motors, for they rust at once.",
        "Arms > See also": "Legs, which have knees and stand on the ground for all of the time.",
        "Legs > See also": "Arms, which have elbows and hang from the shoulders for all of the time.",
    }
    book = Book(
        Passage("arm.md", head, f"{head}\n{text}", [(len(head) + 1, len(head) + 1 + len(text), "sentence", 0, 0, 0)])
        for head, text in texts.items()
    )
    bare = pack.beheaded(book)
    (start, end, *_) = bare.passages[1].units[0]
    assert bare.passages[1].text == "Arms\n" + texts["Arms > Care"]
    assert bare.passages[1].text[start:end] == texts["Arms > Care"]
    found = list(pack.headings("arms", book, bare))
    assert [(item.question, item.positives) for item in found] == [("what is elbow", {0: [0]}), ("Care", {1: [0]})]
    assert all(number not in item.positives for item in found for number in item.negatives)


def test_a_hurried_question_keeps_its_rare_words_or_slips(book: Book) -> None:
    """Either only rarer words are left, in their order, or two letters inside one long word are swapped."""
    rng = random.Random(1)
    words = ["it", "goes", "how", "farther"]
    assert pack.keywords(words, book) == ["how", "farther"]
    for _ in range(20):
        *rest, last = pack.slipped(words, rng)
        assert rest == ["it", "goes", "how"]
        assert last != "farther"
        assert sorted(last) == sorted("farther")
        assert (last[0], last[-1]) == ("f", "r")


def test_a_hurried_question_is_spelt_in_all_careless_ways(book: Book) -> None:
    """Rarer words alone, a slip, sounds, the speech of messages, words left out; its rarity follows its words."""
    rng = random.Random(1)
    seen = [pack.hurried(asked("Do you know where it goes?"), book, rng) for _ in range(60)]
    texts = {item.question for item in seen}
    assert any("no wher" in text or "no were" in text or "know were" in text for text in texts), texts
    assert any(text.endswith((" lol", " plz", " thx")) for text in texts)
    assert any(len(text.split()) < 6 and text.startswith("Do") for text in texts)
    assert all(set(item.idf) == set(WORD.findall(item.question)) for item in seen)
