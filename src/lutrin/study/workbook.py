"""A book opened for a study: its passages, and the checks that a draft must pass."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from lutrin.answer.grade import Grader, evidence_of, is_copy, may_be_own
from lutrin.answer.hostile import gives_orders
from lutrin.answer.runs import whole
from lutrin.index.companion import encoded_texts, texts_of
from lutrin.index.decisions import StudiedEntry
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.companion_file import Fitting, MisfitError, section_with, sections_of
from lutrin.ingest.sentences import sentence_ranges
from lutrin.prepared import Entry, Kind, PreparedEntry
from lutrin.query.understand import alone, normalize
from lutrin.records import Chunk, Passage, Question, Unit
from lutrin.search.search import Searcher
from lutrin.study.literal import literal_problem

Publish = Callable[[Sequence[StudiedEntry]], None]
"""Publishes entries to every reader of a book; may block on a disk."""


class Workbook:
    """A book opened for a study.

    Args:
        grader: Decides whether a passage states a sentence.
        path: This machine's companion; see `Settings.studied_path`.
        publish: Publishes accepted entries; by default readers get them after the next ingest.
    """

    def __init__(
        self,
        generation: OpenGeneration,
        searcher: Searcher,
        grader: Grader,
        path: Path,
        publish: Publish = lambda _fresh: None,
    ) -> None:
        self.slug = generation.book.slug
        self.title = generation.book.title
        self.path = path
        self._generation = generation
        self._searcher = searcher
        self._grader = grader
        self._publish = publish

    @property
    def entries(self) -> Sequence[PreparedEntry]:
        """Its prepared entries."""
        return self._generation.companion.entries

    @property
    def asked(self) -> Sequence[str]:
        """The questions that lead to these entries."""
        return self._generation.companion.texts

    async def chunks(self) -> Sequence[Chunk]:
        """All passages, in the order of the book."""
        return await self._generation.all_chunks()

    def key(self, question: str) -> str:
        """A key that is equal for questions with the same words."""
        return normalize(question)

    def is_hostile(self, text: str) -> bool:
        """Whether a text gives orders to a model."""
        return gives_orders(text)

    def evidence(self, chunk: Chunk) -> str:
        """A passage with its headings, in the form for a model."""
        return evidence_of(whole(chunk))

    async def nearest(self, question: str) -> Passage | None:
        """The first passage in a search for a question; None if the book does not answer it."""
        result = await self._searcher.search([self._generation], alone(Question(text=question)), k=1)
        return result.passages[0] if result.passages and result.odds >= 0 else None

    async def states(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a passage states every sentence of a text on a topic."""
        section = whole(chunk)
        for start, end in sentence_ranges(text):
            sentence = text[start:end].strip()
            if not is_copy(sentence, section) and not await self._grader.supports(sentence, section, topic):
                return False
        return True

    def may_be_own(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a text can be a model's own words: its numbers, names and commands are all in the passage."""
        return may_be_own(text, self.evidence(chunk), topic)

    async def draft(
        self, chunk: Chunk, proof: Unit, *, kind: Kind, topic: str, text: str | tuple[str, ...], author: str
    ) -> Entry:
        """An entry on the present section of a passage, proved by one of its units."""
        source, chunks = await self._file(chunk)
        section = section_with(chunk, sections_of(source, chunks))
        return section.entry(kind, topic, text, source[proof.char_start : proof.char_end], author)

    async def fit(self, chunk: Chunk, entries: Sequence[Entry]) -> Sequence[PreparedEntry]:
        """The entries on a passage's section that the next ingest will accept, with their places."""
        fitting = Fitting({chunk.filename: await self._file(chunk)}.get, [chunk.filename], literal_problem)
        fitted = []
        for entry in entries:
            with suppress(MisfitError):
                fitted.append(fitting.fit(entry))
        return fitted

    async def publication(self, entries: Sequence[PreparedEntry]) -> Callable[[], None]:
        """Encode the questions of entries; return a function that publishes them, which may block on a disk."""
        embedder = self._searcher.embedder
        wordings = {one.text: one for one in await encoded_texts(texts_of(entries), embedder)}
        fresh = [StudiedEntry(one, embedder.name, tuple(wordings[text] for text in one.asked)) for one in entries]
        return partial(self._publish, fresh)

    async def _file(self, chunk: Chunk) -> tuple[str, Sequence[Chunk]]:
        """Source and passages of the file with a passage."""
        return await self._generation.source(chunk.filename), await self._generation.chunks_of(chunk.filename)
