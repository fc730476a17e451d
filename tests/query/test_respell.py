"""A question in the spelling of the book."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

from lutrin.ports import Embedder
from lutrin.query.respell import Speller, WordsFrom, is_slip, respell, slips_of, spellings, with_spaces

T = TypeVar("T")


class Book:
    """A book that knows some words; only what a `Speller` reads of a generation."""

    name = "000001"

    def __init__(self, **chunks: int) -> None:
        self._chunks = chunks
        self.consulted = 0

    async def document_frequency(self, named: Iterable[str]) -> dict[str, int]:
        """In how many chunks words stand."""
        return {word: self._chunks.get(word, 0) for word in named}

    async def consult(self, look: Callable[[WordsFrom], T]) -> T:
        """The result of a function on the words."""
        self.consulted += 1
        return look(lambda start: [(word, n) for word, n in sorted(self._chunks.items()) if word.startswith(start)])


class Pieces:
    """A tokenizer that knows short words as one piece and puts all others together."""

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Two letters a piece; a word of up to five is one."""
        found, cursor = [], 0
        for word in text.split():
            start = text.index(word, cursor)
            cursor = start + len(word)
            step = len(word) if len(word) <= 5 else 2
            found += [(place, min(cursor, place + step)) for place in range(start, cursor, step)]
        return found


async def changes(book: Book, text: str) -> dict[str, str]:
    """The words that the search replaces."""
    return await Speller().changes(book, text, cast("Embedder", Pieces()), chunks=1000)


def test_both_spellings_of_english_are_known() -> None:
    """Each way; whether a book has the word is another matter."""
    for asked, written in (
        ("colour", "color"),
        ("behavior", "behaviour"),
        ("randomization", "randomisation"),
        ("analyse", "analyze"),
        ("center", "centre"),
        ("centred", "centered"),
        ("metre", "meter"),
        ("catalog", "catalogue"),
        ("modeled", "modelled"),
        ("travelling", "traveling"),
        ("defense", "defence"),
        ("hemoglobin", "haemoglobin"),
        ("oesophagus", "esophagus"),
        ("tyre", "tire"),
        ("aluminum", "aluminium"),
        ("tires", "tyres"),
    ):
        assert written in [other for other, _, _ in spellings(asked)]


async def test_what_is_searched_for() -> None:
    """A word that the book spells otherwise is searched for as the book has it; everything else as it was asked."""
    for asked, book, searched in (
        # The other spelling, in any form of the word; a name from code does not hide it.
        ("What is domain randomization?", {"randomisation": 9, "random": 40}, "What is domain randomisation?"),
        ("What is domain randomization?", {"randomisation": 9, "randomization": 1}, "What is domain randomisation?"),
        ("Which colors are there?", {"colour": 2}, "Which colours are there?"),
        # A slip in a long word that the tokenizer does not know.
        ("What is odometery?", {"odometry": 3}, "What is odometry?"),
        ("What does a quaternoin do?", {"quaternion": 3}, "What does a quaternion do?"),
        ("Is the acceleraton high?", {"acceleration": 3, "accelerator": 1}, "Is the acceleration high?"),
        # In a shorter one, only what typing alone explains: a letter left out, or two that changed places.
        ("What is termal runawy?", {"thermal": 3, "runaway": 2}, "What is thermal runaway?"),
        ("What does the bumepr do?", {"bumper": 2}, "What does the bumper do?"),
        ("How do I solder it?", {"solver": 3}, "How do I solder it?"),
        ("Which router is it?", {"route": 5}, "Which router is it?"),
        # A letter that is easily typed for another, or doubled, where the book often has the other word.
        ("What does a senser do?", {"sensor": 40}, "What does a sensor do?"),
        ("What is a jointt?", {"joint": 30, "point": 50}, "What is a joint?"),
        ("What does a senser do?", {"sensor": 4}, "What does a senser do?"),
        ("How do I reset my modems?", {"models": 300}, "How do I reset my modems?"),
        # A letter written once or twice, also where the stem is the same.
        ("How do I instal it?", {"install": 30, "installs": 2}, "How do I install it?"),
        # What the book has is left alone, in whatever form; so is what has nothing like it.
        ("What is localizing?", {"localization": 3}, "What is localizing?"),
        ("What is a color?", {"color": 5, "colour": 1}, "What is a color?"),
        ("What is Kubernetes?", {"kinematics": 3}, "What is Kubernetes?"),
        # Short words are like too many others, and so are ordinary ones of any length.
        ("How do I parse it?", {"pause": 3}, "How do I parse it?"),
        ("Which planet is it?", {"planets": 0, "plants": 5}, "Which planet is it?"),
        ("How far is it to the data?", {"datum": 2, "datae": 0}, "How far is it to the data?"),
        # Names from code and abbreviations are what they are.
        ("What does color_mode do?", {"colour": 3}, "What does color_mode do?"),
        ("What is --color for?", {"colour": 3}, "What is --color for?"),
        ("What is COLOR?", {"colour": 3}, "What is COLOR?"),
    ):
        assert respell(asked, await changes(Book(**book), asked)) == searched


async def test_readers_are_told_of_slips_alone() -> None:
    """Colour is no slip of color."""
    found = await changes(Book(colour=3, odometry=3), "Which color has odometery?")
    assert found == {"color": "colour", "odometery": "odometry"}
    assert slips_of(found) == {"odometery": "odometry"}


def test_a_slip_is_one_letter_or_two_that_changed_places() -> None:
    """Whichever of the two words holds it."""
    for one, other, expected in (
        ("odometery", "odometry", True),
        ("odomtry", "odometry", True),
        ("odomatry", "odometry", True),
        ("odoemtry", "odometry", True),
        ("odometry", "odometry", False),
        ("odometer", "odometry", False),
        ("odo", "odometry", False),
        ("", "o", True),
    ):
        assert is_slip(one, other) is is_slip(other, one) is expected


async def test_a_word_is_looked_for_once() -> None:
    """The book is asked no more for what it was asked before."""
    book, speller = Book(odometry=3), Speller()
    for _ in range(2):
        found = await speller.changes(book, "odometery", cast("Embedder", Pieces()), chunks=1000)
        assert found == {"odometery": "odometry"}
    assert book.consulted == 1


async def test_a_question_of_words_that_no_book_has_is_soon_looked_up() -> None:
    """Only some of its words are looked up, because other readers wait meanwhile."""
    looked: list[str] = []

    class Counting(Book):
        async def consult(self, look: Callable[[WordsFrom], T]) -> T:
            def words_from(start: str) -> list[tuple[str, int]]:
                looked.append(start)
                return []

            return look(words_from)

    letters = "abcdefghijklmnopqrstuvwxyz"
    text = " ".join(f"zq{a}{b}wvx" for a in letters for b in letters[:19])
    assert await changes(Counting(), text) == {}
    assert 0 < len(looked) < 500


async def spaced(text: str, **chunks: int) -> str:
    """A question with spaces between what was typed together."""
    return await with_spaces([Book(**chunks)], text, cast("Embedder", Pieces()))


async def test_words_that_were_typed_together_are_parted() -> None:
    """Two, three, and one letter; the likeliest words count."""
    english = {"does": 90, "the": 300, "how": 100, "do": 150, "i": 80, "a": 250, "an": 60, "in": 200}
    book = {**english, "robot": 40, "robots": 30, "arm": 20, "stop": 10, "old": 5}
    assert await spaced("why doesthe robot stop", **book) == "why does the robot stop"
    assert await spaced("Howdoi stop therobots?", **book) == "How do i stop the robots?"
    assert await spaced("what is inan arm", **book) == "what is inan arm", "the tokenizer knows it as one word"


async def test_what_may_be_a_word_of_its_own_stays() -> None:
    """A word of the book, a form of it, a name, code, and what holds no function word or a part that no book has."""
    book = {"the": 300, "on": 200, "is": 100, "click": 1, "red": 50, "fire": 40, "walls": 40, "ls": 9, "ifconfig": 3}
    for text in (
        "what does ifconfig do", "what does ifconfigs do", "who is Thered", "set theclick_on", "build firewalls",
        "why theblue", "use thels",
    ):  # fmt: skip
        assert await spaced(text, **book) == text, text
    assert await spaced("why theclick", **book) == "why the click"
