"""The ingested books as readers see them: shelf, table of contents, pages."""

import asyncio
import posixpath
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from lutrin.answer.render import reader_url
from lutrin.errors import DocumentError, NotFound
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.index.typeahead import TypedWord
from lutrin.ingest.discover import find_books
from lutrin.ingest.scan import SourceFile
from lutrin.messages import NOTHING_HERE
from lutrin.prepared import Practice
from lutrin.records import BookInfo, Chunk, PageEntry, ShelvedBook
from lutrin.serve.budget import beside_loop
from lutrin.serve.finding import SENTENCE_ENDS, Line, Suggestion, best_first, section_lines, term_line
from lutrin.serve.notes import (
    Named,
    Notes,
    Term,
    find_terms,
    glossary,
    glossary_of,
    notes_of,
    starters,
    terms_by_name,
    trial_questions,
)
from lutrin.study.deck import practice
from lutrin.study.recall import Recall, answering_unit, key_words, recall
from lutrin.study.senses import senses_of

T = TypeVar("T")

OPENING_PASSAGES, OPENING_CHARS = 12, 140
"""Sections searched for the line on a book's card, and its length."""
LEAST_SUBJECTS = 3
"""Least titles that describe a book; with fewer, its first sentences say more."""
_NUMBERED = re.compile(r"^(?:(?:chapter|part|unit|lesson)\s+)?\d+(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
PASSAGES_A_LINE = 3
"""Passages read for each suggestion, since a section has several."""


MEDIA_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
PICTURE_HEADERS = {
    # An SVG may contain scripts and links; shown on its own, it is still just a picture.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    "Cache-Control": "no-cache",
}


def media_type(name: str) -> str:
    """The media type for a picture's suffix; empty if it is not a picture."""
    return MEDIA_TYPES.get(PurePosixPath(name).suffix.lower(), "")


def candidates(page: str, address: str) -> list[str]:
    """Files that a picture's address in a page, or from the site's root, may refer to, likeliest first.

    Excludes files outside of the folder, hidden ones, and other files than pictures.
    """
    path = unquote(urlsplit(address).path)
    if path.startswith(("/", "@site/")):
        inside = path.removeprefix("@site").lstrip("/").removeprefix("static/")
        names = [inside, f"static/{inside}"]
    else:
        names = [posixpath.join(posixpath.dirname(page), path)]
    return [name for name in map(posixpath.normpath, names) if _may_be_shown(name)]


def _may_be_shown(name: str) -> bool:
    parts = name.split("/")
    return bool(media_type(name)) and name.isprintable() and not any(part.startswith(".") or not part for part in parts)


class ShelfLibrary:
    """The ingested books as readers see them. Methods that take a slug raise NotFound if there is no such book.

    Args:
        corpus: Folder of this machine's books. Pictures are looked up there, too: an index made on another machine
            names a folder that does not exist here.
    """

    def __init__(self, shelf: Shelf, corpus: Path | None = None) -> None:
        self._shelf = shelf
        self._corpus = corpus
        self._cache: dict[tuple[str, str], tuple[str, Any]] = {}
        """Slug and kind -> the state of the book, and the value made from it."""
        self._making: dict[tuple[str, str], asyncio.Lock] = {}

    async def refresh(self) -> None:
        """Apply changes of the catalogue at once; raises IndexUnavailable if it cannot be read."""
        await self._shelf.refresh()

    async def books(self) -> Sequence[ShelvedBook]:
        """All books with a published generation."""
        return [await self._once(generation, "card", _card) for generation in self._shelf.books()]

    async def book(self, slug: str) -> ShelvedBook:
        """One book; raises IndexUnavailable if it exists but cannot be read."""
        try:
            async with self._shelf.lease(slug) as generation:
                return await self._once(generation, "card", _card)
        except NotFound:
            raise NotFound(NOTHING_HERE) from None

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """A book's pages in reading order."""
        async with self._shelf.lease(slug) as generation:
            return await self._once(generation, "contents", _contents)

    async def chapters(self, slug: str) -> Sequence[str]:
        """The names of a book's chapters in its order; none if it has no chapters."""
        async with self._shelf.lease(slug) as generation:
            return generation.chapters

    async def source(self, slug: str, filename: str) -> str:
        """The text of a page's source file; raises NotFound if there is no such page."""
        async with self._shelf.lease(slug) as generation:
            return await generation.source(filename)

    async def page_labels(self, slug: str, filename: str) -> Mapping[int, str]:
        """Printed numbers of the pages of a PDF where passages begin, by physical page number."""
        async with self._shelf.lease(slug) as generation:
            chunks = await generation.chunks_of(filename)
        return {chunk.page: chunk.page_label for chunk in chunks if chunk.page is not None and chunk.page_label}

    async def notes(self, slug: str, filename: str) -> Mapping[str, Notes]:
        """The notes below a page's sections, by heading anchor; empty if nothing was prepared."""
        async with self._shelf.lease(slug) as generation:
            return notes_of(generation.companion, filename)

    async def glossary(self, slug: str, filename: str = "") -> Sequence[Term]:
        """A book's glossary terms, or those that a page uses in their sense and does not define, with the places."""
        async with self._shelf.lease(slug) as generation:
            if not filename:
                return await self._once(generation, "glossary", _glossary)
            senses = await self._once(generation, "senses", senses_of)
            names = [chunk.chunk_id for chunk in await generation.chunks_of(filename)]
            passages = await generation.places(names)
            return await beside_loop(lambda: glossary_of(senses.on_page(passages), slug))

    async def starters(self, most: int, slug: str = "", filename: str = "") -> Sequence[str]:
        """Starter questions that the books answer well; none if nothing was prepared."""
        if slug:
            async with self._shelf.lease(slug) as generation:
                return starters(generation.companion, most, filename) if generation.companion else ()
        able = [generation.companion for generation in self._shelf.books() if generation.companion]
        each = -(-most // len(able)) if able else 0
        return [question for companion in able for question in starters(companion, each)][:most]

    async def trial_questions(self, most: int, slug: str) -> Sequence[str]:
        """Questions about a book's contents, from all over it, whether reviewed or not."""
        async with self._shelf.lease(slug) as generation:
            first = await generation.chunks(await generation.first_ids(OPENING_PASSAGES))
            titles = dict.fromkeys(chunk.section_title for chunk in first if chunk.section_title)
            return trial_questions(generation.companion, list(titles), most)

    async def find(self, typed: str, slug: str, most: int) -> Sequence[Suggestion]:
        """Suggest places for a partly typed query, best first; raises IndexUnavailable if no book can be read."""
        slugs = [slug] if slug else [generation.book.slug for generation in self._shelf.books()]
        sections: list[Line] = []
        terms: list[Suggestion] = []
        for name in slugs:
            async with self._shelf.lease(name) as generation:
                names = await self._once(generation, "names", _names)
                words, passages = await generation.match_typing(typed, PASSAGES_A_LINE * most)
            matches, lines = await beside_loop(partial(_suggest, names, generation.book, words, passages, most))
            terms += matches
            sections += lines
        return [*terms, *(line for _, _, line in best_first(sections))][:most]

    async def practice(self, slug: str) -> Practice:
        """A book's practice material, built once for each generation."""
        async with self._shelf.lease(slug) as generation:
            return await self._once(generation, "practice", _practice)

    async def recall(self, slug: str, chunk_id: str, question: str, marked: str) -> Recall:
        """A hint at the words of a passage that answered a question, and a question to ask back."""
        async with self._shelf.lease(slug) as generation:
            chunks = await generation.chunks([chunk_id])
            if not chunks:
                raise NotFound(NOTHING_HERE)
            unit = answering_unit(chunks[0], marked)
            keys = key_words(unit, question) if unit is not None else []
            frequency = await generation.document_frequency(keys)
            cards = (await self._once(generation, "practice", _practice)).cards
        return recall(question, chunks[0], unit, url=reader_url(chunks[0]), cards=cards, frequency=frequency)

    async def exercises(self, slug: str, filename: str) -> Sequence[str]:
        """Anchors of the sections of a page with the book's own exercises or quizzes."""
        async with self._shelf.lease(slug) as generation:
            chunks = await generation.chunks_of(filename)
        own = (chunk for chunk in chunks if any(unit.role in {"exercise", "quiz"} for unit in chunk.units))
        return tuple(dict.fromkeys(chunk.anchor for chunk in own))

    async def find_pictures(self, slug: str, filename: str, addresses: Sequence[str]) -> Sequence[str]:
        """Find the files in the book's folder that pictures refer to; empty for one that must not be shown."""
        return await asyncio.to_thread(self._find_pictures, slug, filename, addresses) if addresses else []

    async def picture(self, slug: str, name: str) -> bytes:
        """Read a file that `find_pictures` found, inside the book's folder only; raises NotFound if it is gone."""
        root = await asyncio.to_thread(self._root, slug)
        if root is None:
            raise NotFound(NOTHING_HERE)
        try:
            return await asyncio.to_thread(SourceFile(name, root, 0).read)
        except DocumentError as error:
            raise NotFound(NOTHING_HERE) from error

    async def _once(self, generation: OpenGeneration, kind: str, make: Callable[[OpenGeneration], Awaitable[T]]) -> T:
        """A value derived from a book, computed once for each of its states, however many wait for it."""
        key = (generation.book.slug, kind)
        async with self._making.setdefault(key, asyncio.Lock()):
            state = generation.state
            if key not in self._cache or self._cache[key][0] != state:
                self._cache[key] = (state, await make(generation))
            result: T = self._cache[key][1]
            return result

    def _find_pictures(self, slug: str, filename: str, addresses: Sequence[str]) -> list[str]:
        root = self._root(slug)
        if root is None:
            return [""] * len(addresses)
        return [
            next((name for name in candidates(filename, address) if (root / name).is_file()), "")
            for address in addresses
        ]

    def _root(self, slug: str) -> Path | None:
        folder = self._shelf.root(slug)
        root = folder if folder is not None and folder.is_dir() else book_root(self._shelf.corpus(slug), slug)
        if root is None and self._corpus is not None:
            root = book_root(self._corpus, slug, renamed=False)
        return root


async def _card(generation: OpenGeneration) -> ShelvedBook:
    first = await generation.chunks(await generation.first_ids(OPENING_PASSAGES))
    chapters = generation.chapters
    contents = (chapters, [file.title for file in generation.files], [chunk.section_title for chunk in first])
    return ShelvedBook(
        slug=generation.book.slug,
        title=generation.book.title,
        edition=generation.book.edition,
        generation=generation.name,
        line=generation.choice.line or subjects(contents, generation.book.title) or opening(first),
        chapters=len(chapters),
        pages=await generation.page_count(),
        hints=generation.choice.hints,
    )


async def _glossary(generation: OpenGeneration) -> Sequence[Term]:
    return await beside_loop(lambda: glossary(generation.companion, generation.book.slug))


async def _names(generation: OpenGeneration) -> Sequence[Named]:
    return await beside_loop(lambda: terms_by_name(generation.companion))


def _suggest(
    names: Sequence[Named],
    book: BookInfo,
    words: Sequence[TypedWord],
    passages: Sequence[tuple[Chunk, float]],
    most: int,
) -> tuple[list[Suggestion], list[Line]]:
    """A book's terms and section lines that match the typed words."""
    terms = find_terms(names, book.slug, words)
    return [term_line(term, book, words) for term in terms], section_lines(words, passages, most)


async def _contents(generation: OpenGeneration) -> Sequence[PageEntry]:
    """A book's pages in reading order, each PDF with its chapters."""
    chapters: dict[str, list[tuple[str, str]]] = {}
    for chunk in await generation.chapter_starts():
        place = reader_url(chunk).partition("#")[2]
        chapters.setdefault(chunk.filename, []).append((unquote(place), chunk.chapter))
    return [
        PageEntry(file.filename, file.title, file.module, file.chapter, tuple(chapters.get(file.filename, ())))
        for file in generation.files
    ]


async def _practice(generation: OpenGeneration) -> Practice:
    files, chunks = generation.files, await generation.all_chunks()

    def make() -> Practice:
        address = {chunk.chunk_id: reader_url(chunk) for chunk in chunks}
        return practice(generation.companion.entries, files, chunks, address)

    return await beside_loop(make)


def subjects(contents: Sequence[Sequence[str]], title: str = "") -> str:
    """Summarise a book by its first titles, as many as fit on a card, excluding its own `title`.

    Args:
        contents: Titles of the chapters, of the pages, of the first sections. The first non-empty list is used; none if
            the book is too short for a table of contents.
    """
    for titles in contents:
        names = list(dict.fromkeys(filter(None, (_NUMBERED.sub("", name).strip() for name in titles if name != title))))
        if len(names) >= LEAST_SUBJECTS:
            line = names[0]
            for name in names[1:]:
                if len(line) + len(name) + 3 > OPENING_CHARS:
                    return f"{line} …"
                line = f"{line} · {name}"
            return line
    return ""


def opening(chunks: Sequence[Chunk]) -> str:
    """Return as many of a book's first sentences as fit on a card; empty if it has no text."""
    for chunk in chunks:
        units = [unit for unit in chunk.units if unit.kind == "sentence" and unit.role == "text" and not unit.warning]
        line = ""
        for sentence in (" ".join(unit.text.split()) for unit in units):
            if not sentence.endswith(SENTENCE_ENDS) or (line and len(line) + len(sentence) >= OPENING_CHARS):
                break  # what does not end as a sentence is of a title page
            line = f"{line} {sentence}".strip()
        if line:
            return line
    return ""


def book_root(corpus: Path, slug: str, *, renamed: bool = True) -> Path | None:
    """A book's folder inside the ingested one; None if it is missing; `renamed`: take the only book under any slug."""
    if not corpus.exists():
        return None
    try:
        books = find_books(corpus)
    except (DocumentError, OSError):
        return None
    if len(books) == 1 and renamed:
        return books[0].root
    return next((book.root for book in books if book.info.slug == slug), None)
