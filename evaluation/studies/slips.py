"""Typing errors: how many are corrected, and how many correct words are changed?

    python -m evaluation.studies.slips [--data DIR]

DIR holds the data folders of the shelf, as `evaluation.shelf` leaves them. Every word of four letters and more that a
question shares with its book gets slips: a letter wrong, missing or added, or two swapped. *Likely* ones have letters
that are easily typed for each other, *any* ones have any letters. *Others* are words of the other books, in three
passages at least, which this book has in no form: each that is changed is a fault.
"""

import argparse
import asyncio
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase

from evaluation.command_line import ROOT, finish, machine
from evaluation.shelf import DATA, SHELF, ShelvedBook, read_shelf
from evaluation.show import aligned
from lutrin.language.words import stem, topic_words
from lutrin.log import configure_logging
from lutrin.query.respell import Speller, is_confused
from lutrin.runtime import wiring
from lutrin.settings import load_settings

SEED, TRIES, LEAST_CHUNKS, BATCH = 7, 3, 3, 200
LENGTHS = ((4, 4), (5, 5), (6, 6), (7, 99))
"""Lengths of the typed word: the rows of the table."""
_LETTERS = re.compile("[a-z]{4,}")


@dataclass(frozen=True, slots=True)
class Slip:
    """A word with a slip, and what became of it."""

    typed: str
    is_likely: bool
    is_right: bool
    is_wrong: bool
    """Whether it became another word than the one that was meant."""


@dataclass(slots=True)
class Words:
    """Words typed to one book."""

    slips: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """By the typed word: what was meant, and whether the slip is a likely one."""
    others: set[str] = field(default_factory=set)


def slips(word: str, chance: random.Random) -> Iterator[tuple[str, bool]]:
    """Yield a word with a slip after its first letter, and whether the slip is a likely one."""
    for _ in range(TRIES):
        place, letter = chance.randrange(1, len(word)), chance.choice(ascii_lowercase)
        beside = word[place - 1 : place + 1]
        yield word[:place] + word[place + 1 :], True
        yield word[:place] + letter + word[place + 1 :], is_confused(letter, word[place])
        yield word[:place] + letter + word[place:], any(is_confused(letter, one) for one in beside)
        yield word[: place - 1] + beside[::-1] + word[place + 1 :], True


def opened(data: Path) -> AbstractAsyncContextManager[wiring.Runtime]:
    """The index of one book."""
    settings = load_settings(profile="local", data_dir=data, models_dir=ROOT / "models", log_level="error")
    configure_logging(settings, quiet=True)
    return wiring.open_runtime(settings, with_model=False)


async def vocabulary(data: Path) -> dict[str, int]:
    """The words of a book, each with its number of passages."""
    async with opened(data) as runtime:
        return dict(await runtime.shelf.books()[0].consult(lambda words_from: words_from("")))


def typed(book: ShelvedBook, known: Mapping[str, Mapping[str, int]], chance: random.Random) -> Words:
    """Slips of what is asked of a book, and words of the other books; nothing that is a word of any is a slip."""
    own, found = known[book.name], Words()
    forms = set(map(stem, own))
    asked = {word.lower() for question in book.questions for word in topic_words(question.question)}
    for meant in sorted(word for word in asked if word in own and _LETTERS.fullmatch(word)):
        for word, is_likely in slips(meant, chance):
            if stem(word) not in forms and not any(word in words for words in known.values()):
                found.slips.setdefault(word, (meant, is_likely))
    for words in known.values():
        common = {word for word, chunks in words.items() if chunks >= LEAST_CHUNKS and _LETTERS.fullmatch(word)}
        found.others |= {word for word in common if stem(word) not in forms}
    return found


async def changes(data: Path, words: Iterable[str]) -> dict[str, str]:
    """Words that are searched for in another spelling."""
    asked, found = sorted(words), dict[str, str]()
    async with opened(data) as runtime:
        generation, speller = runtime.shelf.books()[0], Speller()
        for start in range(0, len(asked), BATCH):
            text = " ".join(asked[start : start + BATCH])
            found |= await speller.changes(
                generation, text, runtime.searcher.embedder, chunks=generation.manifest.chunks
            )
    return found


async def measure(data: Path) -> tuple[list[Slip], list[tuple[str, bool]]]:
    """Results for slips and for correct words (whether each is changed), in all books of the shelf."""
    books, chance = read_shelf(SHELF), random.Random(SEED)  # noqa: S311 - the same slips in every run
    known = {book.name: await vocabulary(data / book.name) for book in books}
    made: list[Slip] = []
    others: list[tuple[str, bool]] = []
    for book in books:
        words = typed(book, known, chance)
        found = await changes(data / book.name, {*words.slips, *words.others})
        for word, (meant, is_likely) in words.slips.items():
            got = found.get(word)
            made.append(Slip(word, is_likely, got == meant, got not in {None, meant}))
        others += [(word, word in found) for word in words.others]
    return made, others


def row(made: Sequence[Slip], others: Sequence[tuple[str, bool]], least: int, most: int) -> list[str]:
    """The shares of words of a length."""
    own = [slip for slip in made if least <= len(slip.typed) <= most]
    likely = [slip for slip in own if slip.is_likely]
    changed = [is_changed for word, is_changed in others if least <= len(word) <= most]
    shares = (
        [slip.is_right for slip in likely],
        [slip.is_right for slip in own],
        [slip.is_wrong for slip in own],
        changed,
    )
    name = str(least) if least == most else f"{least} and more"
    return [name, *(f"{sum(share) / max(len(share), 1):.3f} of {len(share):,}" for share in shares)]


def main() -> None:
    """Print what is put right, by length of the typed word."""
    parser = argparse.ArgumentParser(prog="evaluation.studies.slips", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="data folders of the shelf's books")
    made, others = asyncio.run(measure(parser.parse_args().data))
    heads = ["letters", "likely slips put right", "any put right", "any put wrong", "others changed"]
    rows = [heads, *(row(made, others, least, most) for least, most in LENGTHS)]
    finish("Typing slips in the shelf's questions", [aligned(rows)], {"rows": rows[1:]}, machine())


if __name__ == "__main__":
    main()
