"""Caches each term's contribution to the score of each chunk of a book, and sums these for each question.

FTS5's bm25() of terms joined by OR is a sum over these terms, in their order, of the score of each one alone: inverse
document frequency times saturated, weighted term frequency (`fts5Bm25Function` in SQLite's `ext/fts5/fts5_aux.c`). So
only new terms need the full-text index, and the scores are the same. Reading a term takes some four microseconds for
each chunk that contains it. A large book is therefore stored with the contributions of its common terms.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lutrin.index import lexical, statements
from lutrin.sqlite import Connection

KEPT_BYTES = 32 * 2**20
"""Bytes of cached terms; the oldest are dropped first; a term takes 16 bytes for each of its chunks."""
LEAST_BYTES = 400
"""Bytes of a term without chunks."""
LARGE = 5_000
"""A book with more chunks stores the contributions of its common terms, because computing them is slow."""
COMMON = 100
"""Number of chunks from which a term counts as common; reading a rarer one takes half a millisecond."""
SPARSE = 8
"""If a question's terms are in fewer than one of this many chunks, only these chunks are ranked."""

Key = tuple[str, str]
"""A table of the full-text index and a term."""


@dataclass(frozen=True, slots=True)
class Posting:
    """One term alone."""

    rows: npt.NDArray[np.intp] | npt.NDArray[np.int32]
    """(n,): chunks that contain it, ascending."""
    scores: npt.NDArray[np.float64] | npt.NDArray[np.float32]
    """(n,): BM25 of each, larger is better."""

    @property
    def size_bytes(self) -> int:
        """Bytes that it takes, without the term itself."""
        return LEAST_BYTES + self.rows.nbytes + self.scores.nbytes


NOWHERE = Posting(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float64))
"""A term without chunks."""

Read = Callable[[Sequence[Key]], Awaitable[dict[Key, Posting]]]
"""Reads terms from the disk, by `read_postings`."""


class Postings:
    """The recently used terms of one book. Both calls raise IndexUnavailable if a term cannot be read.

    Args:
        ids: The ids of the book's chunks, by row.
    """

    def __init__(self, ids: Sequence[str], read: Read) -> None:
        self._ids = ids
        self._read = read
        self._cache: dict[Key, Posting] = {}
        self.size_bytes = 0
        """Bytes in use."""

    async def match(self, text: str, k: int, rows: Sequence[int] | None = None) -> list[tuple[str, float]]:
        """Id and BM25 (larger first) of the `k` chunks, optionally among these rows, that match a text's words best."""
        content, named = lexical.question_terms(text)
        prose = [("prose", term) for term in content]
        names = [("identifier", term) for term in named]
        postings = await self._of([*prose, *names])
        # Twice `k`, because the sum of both tables may change the order.
        scores = self._best([postings[key] for key in prose], 2 * k, rows)
        for row, score in self._best([postings[key] for key in names], 2 * k, rows).items():
            scores[row] = scores.get(row, 0.0) + lexical.IDENTIFIER_WEIGHT * score
        ranked = sorted([(-score, self._ids[row]) for row, score in scores.items()])
        return [(name, -score) for score, name in ranked[:k]]

    async def keep(self, text: str) -> None:
        """Read the text's terms that are not cached."""
        prose = {("prose", word) for word in lexical.words(text) if word not in lexical.STOP_WORDS}
        await self._of([*prose, *(("identifier", name) for name in set(lexical.identifiers(text)))])

    async def _of(self, keys: Sequence[Key]) -> dict[Key, Posting]:
        postings = {key: self._cache[key] for key in keys if key in self._cache}
        missing = [key for key in keys if key not in postings]
        if missing:
            fresh = await self._read(missing)
            postings |= fresh
            for key, posting in fresh.items():
                if key not in self._cache:  # another caller may have read it meanwhile
                    self._cache[key] = posting
                    self.size_bytes += _bytes(key, posting)
            while self.size_bytes > KEPT_BYTES:
                oldest = next(iter(self._cache))
                self.size_bytes -= _bytes(oldest, self._cache.pop(oldest))
        return postings

    def _best(self, postings: Sequence[Posting], k: int, only: Sequence[int] | None) -> dict[int, float]:
        """Row and score of the `k` best chunks for some terms, best first; equal ones in row order."""
        if not postings:
            return {}
        rows = np.concatenate([posting.rows for posting in postings])
        scores = np.concatenate([posting.scores for posting in postings])
        touched: npt.NDArray[np.intp] | None = None
        if SPARSE * len(rows) < len(self._ids):
            touched, rows = np.unique(rows, return_inverse=True)
        # Added one after the other, as in FTS5, so that the sums agree to the last bit.
        sums = np.bincount(rows, scores, len(self._ids) if touched is None else len(touched))
        if only is not None:
            others = np.ones(len(self._ids), dtype=bool)
            others[only] = False
            sums[others if touched is None else others[touched]] = 0
        least = np.partition(sums, -k)[-k] if k < len(sums) else 0.0
        candidates = np.flatnonzero(sums >= least if least > 0 else sums)
        order = candidates[np.argsort(-sums[candidates], kind="stable")[:k]]
        best = order if touched is None else touched[order]
        return dict(zip(best.tolist(), sums[order].tolist(), strict=True))


def _bytes(key: Key, posting: Posting) -> int:
    return 4 * len(key[1]) + posting.size_bytes


def read_postings(connection: Connection, keys: Iterable[Key]) -> dict[Key, Posting]:
    """For each term, the chunks that contain it and its contribution to them."""
    has_common = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'common'").fetchone() == (1,)
    postings = {}
    for source, term in keys:
        common = _common(connection, source, term) if has_common else None
        postings[source, term] = common or _score(connection, source, term)
    return postings


def read_rare(connection: Connection, keys: Iterable[Key]) -> dict[Key, Posting]:
    """Terms that are not common, like `read_postings`, in less than half a millisecond each.

    Most new terms of a question are pairs of neighbouring words that no chunk has.
    """
    postings = {}
    for key in keys:
        chunks = lexical.chunks_with(connection, *key, COMMON)
        if chunks < COMMON:
            postings[key] = _score(connection, *key) if chunks else NOWHERE
    return postings


def write_common(connection: Connection) -> None:
    """Store the contributions of a large book's common terms, once its full-text indexes and words are written."""
    (count,) = connection.execute(statements.CHUNK_COUNT).fetchone()
    if count <= LARGE:
        return
    connection.execute(statements.MAKE_COMMON)
    forms: dict[str, list[tuple[int, str]]] = {}
    for word, number in connection.execute(statements.WORDS):
        forms.setdefault(lexical.stem_of(word), []).append((number, word))
    # One form of a stem finds them all.
    common = {stem: max(words)[1] for stem, words in forms.items() if sum(number for number, _ in words) >= COMMON}
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, identifier, row)")
    names = connection.execute("SELECT term FROM vocabulary WHERE doc >= ?", (COMMON,)).fetchall()
    connection.execute("DROP TABLE temp.vocabulary")
    connection.execute("BEGIN")
    for source, key, term in (
        *(("prose", stem, word) for stem, word in common.items()),
        *(("identifier", name, name) for (name,) in names),
    ):
        posting = _score(connection, source, term)
        chunks, scores = posting.rows.astype("<i4").tobytes(), posting.scores.astype("<f4").tobytes()
        connection.execute(statements.ADD_COMMON, {"source": source, "term": key, "chunks": chunks, "scores": scores})
    connection.execute("COMMIT")


def _common(connection: Connection, source: str, term: str) -> Posting | None:
    key = lexical.stem_of(term) if source == "prose" else term
    row = connection.execute(statements.COMMON_TERM, {"source": source, "term": key}).fetchone()
    return row and Posting(np.frombuffer(row[0], dtype="<i4"), np.frombuffer(row[1], dtype="<f4"))


def _score(connection: Connection, source: str, term: str) -> Posting:
    """Score a term by the full-text index."""
    pairs = lexical.term_scores(connection, source, term)
    rows, scores = zip(*pairs, strict=True) if pairs else ((), ())
    return Posting(np.array(rows, dtype=np.intp), np.array(scores, dtype=np.float64))
