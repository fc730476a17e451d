"""Pack what a reader learns from into files that travel to a machine with an accelerator; see `device.py`.

questions.npz   the written questions and ours, each also as it is typed in a hurry: letters swapped, only rare words,
                words that sound alike, the speech of messages, or words left out and run together
headings.npz    headings as questions for the text below them, and definitions; no passage holds its own heading
public.npz      public sets of questions with their passages, where they are given
judged.npz      questions on the books left out
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation import careless
from training import examples, public, sources
from training.examples import WORD, Book, Example, Passage
from training.sources import Missing
from training.tokens import Tokens, save

NEGATIVES = 64
"""Maximum number of negatives for a question."""
FEWER = 16
"""Maximum number of negatives for a heading."""
HURRIED = 2
"""Hurried spellings of each question besides the original."""
MOST_TOGETHER = 20 * 1024 * 1024
"""Maximum size of all files: the device takes 64 MiB, and the repository has 44."""
MOST_HEADINGS = 120
"""Maximum number of headings of a book used as questions."""
LEAST_SWAPPED = 5
"""Letters of a word in which two are swapped."""
LEAST_WORDS = 12
"""Below a heading that counts as a question."""
PATH = " > "
"""Between the headings of a passage."""


def pack(
    checkouts: Path,
    out: Path,
    tokenizer: Path,
    names: Sequence[str] = (),
    *,
    held: Sequence[str] = (),
    given: Path | None = None,
    most: int = 0,
) -> None:
    """Write the files, with the negatives that were mined where there are any.

    Args:
        checkouts: Folder with a checkout of each book.
        out: Where `prepare` wrote the passages; the files come into its folder `pack`.
        tokenizer: A folder with `tokenizer.json`.
        names: Of the books only these; none: all.
        held: Books of ours to be judged by, instead of those left out.
        given: Folder with the public sets; None: without them.
        most: Questions of a book and of a file; 0: all.

    Raises:
        Missing: A checkout, a book's passages or a public set is not there.
        ValueError: A file is too large to travel.
    """
    books, asked = examples.load(checkouts, out / "passages", names)
    if (out / "mined.jsonl").exists():
        asked = examples.with_mined(asked, out / "mined.jsonl", NEGATIVES)
    if held:
        judged_books = {name: books.pop(name) for name in held}
        judged = [item for item in asked if item.book in held]
        asked = [item for item in asked if item.book not in held]
    else:
        judged_books, judged = left_out(checkouts, out / "passages", names)
    rng = random.Random(1)
    asked, judged = some(asked, most, rng), some(judged, most, rng)
    asked += [hurried(item, books[item.book], rng) for item in asked for _ in range(HURRIED)]
    tokens, folder = Tokens(tokenizer), out / "pack"

    def write(name: str, library: Mapping[str, Book], questions: Sequence[Example]) -> None:
        near = sum(not item.positives for item in questions)
        print(f"{name}: {len(questions)} questions, {near} of them near", flush=True)
        of_books = tokens.library(library, questions)
        save(folder / f"{name}.npz", of_books, [tokens.question(item) for item in questions])

    write("questions", books, asked)
    write("judged", judged_books, judged)
    bare = {name: beheaded(book) for name, book in books.items()}
    heads = [item for name, book in books.items() for item in headings(name, book, bare[name])]
    write("headings", bare, some(heads, min(most or MOST_HEADINGS, MOST_HEADINGS), rng))
    if given is not None:
        public_books, posed = public.questions(given, NEGATIVES)
        write("public", public_books, some(posed, most, rng))


def weigh(folder: Path) -> None:
    """Say what all files of a folder weigh.

    Raises:
        ValueError: They are too large to travel.
    """
    size = sum(path.stat().st_size for path in folder.glob("*.npz"))
    print(f"{folder}: {size / 2**20:.1f} MiB", flush=True)
    if size > MOST_TOGETHER:
        raise ValueError(
            f"{folder} has {size:,} bytes; {MOST_TOGETHER:,} travel: --most takes fewer questions of a book."
        )


def some(asked: Sequence[Example], most: int, rng: random.Random) -> list[Example]:
    """At most that many questions of each book; 0: all."""
    by_book: dict[str, list[Example]] = {}
    for item in asked:
        by_book.setdefault(item.book, []).append(item)
    return [item for group in by_book.values() for item in rng.sample(group, min(most or len(group), len(group)))]


def left_out(checkouts: Path, passages: Path, names: Sequence[str]) -> tuple[dict[str, Book], list[Example]]:
    """The books left out of training, cut into passages, with their questions; arguments like those of `load`."""
    from training.passages import cut  # noqa: PLC0415 - Lutrin itself

    books: dict[str, Book] = {}
    asked: list[Example] = []
    for source in sources.chosen(names, left_out=True):
        folder, path = sources.checkout(checkouts, source), passages / f"{source.name}.jsonl"
        if not path.exists():
            cut(folder, path, source.folder)
        books[source.name] = Book.read(path)
        asked += examples.written(books[source.name], source, folder)
    if not asked:
        raise Missing("There is no book to be judged by.")
    return books, asked


def hurried(item: Example, book: Book, rng: random.Random) -> Example:
    """The same question as somebody in a hurry types it.

    Of the lists of careless spellings every second entry is used, so that `evaluation.careless` has others, too.
    """
    words = WORD.findall(item.question.lower())
    forms: Sequence[Callable[[], str]] = (
        lambda: " ".join(keywords(words, book)),
        lambda: " ".join(slipped(words, rng)),
        lambda: careless.sounds(item.question, rng, every=2),
        lambda: careless.speech(item.question, rng, every=2),
        lambda: careless.missing(item.question, rng),
    )
    text = rng.choice(forms)()
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


def beheaded(book: Book) -> Book:
    """The same passages, each without the last of its headings."""

    def bare(passage: Passage) -> Passage:
        head = passage.head.rpartition(PATH)[0]
        body = passage.text[len(passage.head) :] if passage.text.startswith(passage.head) else f"\n{passage.text}"
        shift = len(head) + len(body) - len(passage.text)
        units = [(start + shift, end + shift, *rest) for start, end, *rest in passage.units]
        return Passage(passage.file, head, head + body, units)  # type: ignore[arg-type] # mypy loses the four others

    return Book(map(bare, book.passages))


def headings(name: str, book: Book, bare: Book) -> Iterator[Example]:
    """Unique headings of a book, as questions.

    The text below a heading answers it. If that text begins with the term, its first sentence counts as a definition,
    and alone answers what the term is.
    """
    seen: dict[str, list[int]] = {}
    for number, passage in enumerate(book.passages):
        seen.setdefault(passage.head.rpartition(PATH)[2], []).append(number)
    for heading, numbers in seen.items():
        sections = {(book.passages[number].file, book.passages[number].head) for number in numbers}
        passage = book.passages[numbers[0]]
        body = passage.text[len(passage.head) :]
        if not heading or len(sections) > 1 or len(body.split()) < LEAST_WORDS or not passage.units:
            continue
        start, end, kind, *_ = passage.units[0]
        first = passage.text[start:end].lower()
        if kind == "sentence" and first.find(heading.lower(), 0, len(heading) + len("the ")) >= 0:
            yield examples.example(bare, name, f"what is {heading.lower()}", {numbers[0]: [0]}, "", most=FEWER)
        else:
            right = {number: list(range(len(book.passages[number].units))) for number in numbers}
            yield examples.example(bare, name, heading, right, "", most=FEWER)
