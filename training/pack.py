"""Pack what a reader learns from into one file that travels to a machine with an accelerator; see `device.py`.

Each question comes with a copy as it is typed in a hurry: letters of a word swapped, or nothing but its rarest words.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from training import examples, sources
from training.examples import WORD, Book, Example
from training.sources import Missing
from training.tokens import Tokens, save

MOST_BYTES = 16 * 1024 * 1024
"""Of the file: what is lent takes no larger one."""
LEAST_SWAPPED = 5
"""Letters of a word in which two are swapped."""


def pack(checkouts: Path, out: Path, tokenizer: Path, names: Sequence[str] = ()) -> None:
    """Write `out/pack.npz`, with the negatives that were mined where there are any.

    Args:
        checkouts: Folder with a checkout of each book.
        out: Where `prepare` wrote the passages.
        tokenizer: A folder with `tokenizer.json`.
        names: Of the books only these; none: all.

    Raises:
        Missing: A checkout or a book's passages are not there.
        ValueError: The file is too large to travel.
    """
    books, asked = examples.load(checkouts, out / "passages", names)
    if (out / "mined.jsonl").exists():
        asked = examples.with_mined(asked, out / "mined.jsonl")
    judged_books, judged = left_out(checkouts, out / "passages", names)
    rng = random.Random(1)
    asked = [*asked, *(hurried(item, books[item.book], rng) for item in asked)]
    tokens = Tokens(tokenizer)
    library = tokens.library({**books, **judged_books}, [*asked, *judged])
    path = out / "pack.npz"
    save(path, library, [tokens.question(item) for item in asked], [tokens.question(item) for item in judged])
    size = path.stat().st_size
    print(f"{path}: {len(asked)} questions to learn from, {len(judged)} to be judged by, {size / 2**20:.1f} MiB")
    if size > MOST_BYTES:
        raise ValueError(f"{path} has {size} bytes; {MOST_BYTES} travel.")


def left_out(checkouts: Path, passages: Path, names: Sequence[str]) -> tuple[dict[str, Book], list[Example]]:
    """The books left out of training, cut into passages here, and what is asked of them; arguments as for `load`."""
    from training.passages import cut  # noqa: PLC0415 - Lutrin itself

    books: dict[str, Book] = {}
    asked: list[Example] = []
    for source in sources.chosen(names, left_out=True):
        folder, path = sources.checkout(checkouts, source), passages / f"{source.name}.jsonl"
        if not path.exists():
            cut(folder, path, source.folder)
        books[source.name] = Book(path)
        asked += examples.written(books[source.name], source, folder)
    if not asked:
        raise Missing("There is no book to be judged by.")
    return books, asked


def hurried(item: Example, book: Book, rng: random.Random) -> Example:
    """The same question as somebody in a hurry types it."""
    words = WORD.findall(item.question.lower())
    text = " ".join(keywords(words, book) if rng.random() < 0.5 else slipped(words, rng))
    return replace(item, question=text, idf={word: book.idf(word) for word in WORD.findall(text)})


def keywords(words: Sequence[str], book: Book) -> list[str]:
    """The rarer half of the words, in their order."""
    rare = sorted(set(words), key=lambda word: (-book.idf(word), word))[: max(2, len(words) // 2)]
    return [word for word in words if word in rare]


def slipped(words: Sequence[str], rng: random.Random) -> list[str]:
    """The words with two neighbouring letters of a long one swapped."""
    long = [place for place, word in enumerate(words) if len(word) >= LEAST_SWAPPED]
    if not long:
        return list(words)
    place = rng.choice(long)
    word = words[place]
    at = rng.randrange(1, len(word) - 2)
    return [*words[:place], word[:at] + word[at + 1] + word[at] + word[at + 2 :], *words[place + 1 :]]
