"""Token vectors of every chunk, small and memory-mapped, and MaxSim over them.

Late interaction (Khattab and Zaharia 2020, ColBERT) with the token vectors that a single-vector embedder computes
anyway: a question token scores a passage or a unit by its best match among their tokens. Vectors are projected with the
projection learned with the encoder (128 numbers), or else with a PCA fitted on the book. Then they are scaled to length
1 and kept as int8.

A chunk's tokens lie in one run, which is cut into segments: the heading path, each unit, and the text between them. So
one `np.maximum.reduceat` finds the best match of every unit of every passage at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lutrin.ports import Vectors
from lutrin.records import Chunk

DIMENSION = 64
HEADING = -1
BETWEEN = -2
CLIP = 6.0
"""A component of a vector of length 1 in d dimensions is about 1/sqrt(d); those over 6 times that are clipped."""
SAMPLE_TOKENS = 50_000
"""Most tokens that the PCA is fitted on, from chunks evenly spread over the book."""

PROJECTED_AT_ONCE = 20_000
"""Tokens projected together: one large product costs less than many small ones when the cores are busy."""
BLAS_ALONE = 262_144
"""Multiplications up to which OpenBLAS computes a product on the calling thread (`SMP_THRESHOLD_MIN` x
`GEMM_MULTITHREAD_THRESHOLD` in its `interface/gemm.c`)."""
BLOCK_ROWS = 512
"""Rows of 64 numbers, 128 kB: a part of most processors' second-level cache."""
BLOCK_COLUMNS = 64
"""A simple question has fewer tokens."""
WIDE = 128
"""Row length from which rows are compared segment by segment."""
MOST_PRODUCTS = 4_000_000
"""Cosines held at once, 16 MB: a long selection has a thousand tokens, its candidates some 50,000."""

Int8 = npt.NDArray[np.int8]
Float = npt.NDArray[np.float32]
Index = npt.NDArray[np.int64]


def quantise(vectors: Vectors) -> Int8:
    """Rows of length 1 as int8: (n, d) float32 -> (n, d) int8; `restore` is the inverse up to rounding."""
    scaled: Int8 = np.clip(np.rint(vectors * _scale(vectors.shape[1])), -127, 127).astype(np.int8)
    return scaled


def restore(stored: Int8) -> Float:
    """(n, d) int8 -> (n, d) float32, rows of about length 1."""
    return stored.astype(np.float32) * np.float32(1 / _scale(stored.shape[1]))


def _scale(dimension: int) -> float:
    return 127 * float(np.sqrt(dimension)) / CLIP


def fit_basis(sample: Float, dimension: int = DIMENSION) -> Float:
    """Principal directions of token vectors: (n, d) -> (d, min(dimension, d)), strongest first.

    The vectors are centred for the fit but not for projection. Their common part lies in directions of little variance,
    so the projection drops it.
    """
    width = sample.shape[1]
    if len(sample) < 2:
        return np.eye(width, min(dimension, width), dtype=np.float32)
    _, directions = np.linalg.eigh(np.cov(sample.T.astype(np.float64)))
    basis = directions[:, ::-1][:, :dimension]
    # eigh leaves the sign open. Fix it so that equal books give equal bytes.
    signs = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])])
    return np.ascontiguousarray(basis * signs, dtype=np.float32)


def project(vectors: Float, basis: Float) -> Float:
    """(n, d) @ (d, k) -> (n, k), rows of length 1."""
    return unit_length(vectors @ basis)


def unit_length(rows: Float) -> Float:
    """Scale each row to length 1: (n, d) -> (n, d); rows of zeros stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Float = (rows / np.maximum(norms, 1e-12)).astype(np.float32)
    return scaled


def product(rows: Int8, columns: Float) -> Float:
    """Matrix product (n, d) @ (d, k) -> (n, k) on the calling thread alone.

    OpenBLAS would split the product and wait for its threads, which takes 15 ms instead of 0.2 ms while the language
    model has the cores. It does not split blocks that are small enough, and these stay in the processor's cache from
    conversion to product. Columns are padded to multiples of eight, for which there are kernels: seven take longer than
    eight. Many columns are processed in batches: a block of all would have room for one row.
    """
    result = np.empty((len(rows), columns.shape[1]), dtype=np.float32)
    for first in range(0, columns.shape[1], BLOCK_COLUMNS):
        some = columns[:, first : first + BLOCK_COLUMNS]
        width = some.shape[1]
        right = np.zeros((len(some), -(-width // 8) * 8), dtype=np.float32)
        right[:, :width] = some
        size = max(1, min(BLOCK_ROWS, BLAS_ALONE // max(1, right.size)))
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            result[start : start + size, first : first + width] = (block.astype(np.float32) @ right)[:, :width]
    return result


def segments(chunk: Chunk, offsets: npt.NDArray[np.int32]) -> tuple[Index, npt.NDArray[np.int32]]:
    """Cut a chunk's tokens into its heading path, its units and the text between them.

    Args:
        offsets: (tokens, 2), characters of that text.

    Returns:
        First token of each segment, ascending, and the kind of each: an index into `chunk.units`, `HEADING` or
        `BETWEEN`. Units that cannot be found in the text, or have no token, have no segment.
    """
    if not len(offsets):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    labels = np.full(len(offsets), BETWEEN, dtype=np.int32)
    labels[offsets[:, 0] < len(chunk.embedded_text()) - len(chunk.text)] = HEADING
    for number, (start, end) in enumerate(chunk.unit_spans()):
        labels[(offsets[:, 0] >= start) & (offsets[:, 0] < end)] = number
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    return starts.astype(np.int64), labels[starts]


def write_tokens(directory: Path, basis: Float, chunks: Iterable[tuple[Chunk, Int8, npt.NDArray[np.int32]]]) -> int:
    """Project and store the token vectors of a book.

    Args:
        directory: Gets `tokens.i8` and `tokens.NAME.npy` for `basis` and the arrays of `_Layout`.
        basis: (d, k) from `fit_basis`.
        chunks: In the order of their rows: chunk, its quantised token vectors (n, d), its token offsets (n, 2).

    Returns:
        Number of tokens stored.
    """
    token_starts, segment_starts, segment_tokens, segment_units = [0], [0], [], []
    with (directory / "tokens.i8").open("wb") as file:
        waiting: list[Int8] = []
        for chunk, vectors, offsets in chunks:
            waiting.append(vectors)
            if sum(map(len, waiting)) >= PROJECTED_AT_ONCE:
                file.write(quantise(project(restore(np.concatenate(waiting)), basis)).tobytes())
                waiting = []
            starts, units = segments(chunk, offsets)
            segment_tokens.append(starts)
            segment_units.append(units)
            segment_starts.append(segment_starts[-1] + len(starts))
            token_starts.append(token_starts[-1] + len(vectors))
        if waiting:
            file.write(quantise(project(restore(np.concatenate(waiting)), basis)).tobytes())
    layout = _Layout(
        token_starts=np.array(token_starts, dtype=np.int64),
        segment_starts=np.array(segment_starts, dtype=np.int64),
        segment_tokens=np.concatenate([*segment_tokens, np.empty(0, dtype=np.int64)]),
        segment_units=np.concatenate([*segment_units, np.empty(0, dtype=np.int32)]),
    )
    np.save(directory / "tokens.basis.npy", basis)
    for field in fields(layout):
        np.save(directory / f"tokens.{field.name}.npy", getattr(layout, field.name))
    return token_starts[-1]


@dataclass(frozen=True, slots=True)
class _Layout:
    token_starts: Index
    """(chunks + 1,): the tokens of chunk c are rows `token_starts[c]` up to `token_starts[c + 1]`."""
    segment_starts: Index
    """(chunks + 1,): start of each chunk's segments."""
    segment_tokens: Index
    """(segments,): first token of each segment, counted from the chunk's first."""
    segment_units: npt.NDArray[np.int32]
    """(segments,): the kind of each, as from `segments`."""


@dataclass(frozen=True, slots=True)
class MaxSim:
    """How well a question's tokens match some passages and their units.

    With P passages, U units in all of them, Q question tokens; similarities are cosines, -1 to 1.
    """

    passages: Float
    """(P,): weighted mean over the question's tokens of the best match anywhere in the passage."""
    passage_best: Float
    """(P, Q): the best match of each question token in each passage."""
    units: Float
    """(U,): the same mean for each unit, with its heading's tokens counted as its own."""
    unit_best: Float
    """(U, Q): the best match of each question token in the unit or its heading."""
    unit_own: Float
    """(U, Q): the best match of each question token in the unit alone."""
    unit_starts: Index
    """(P + 1,): the units of passage p are `unit_starts[p]` up to `unit_starts[p + 1]`."""
    unit_numbers: npt.NDArray[np.int32]
    """(U,): index into `chunk.units`; units without tokens of their own are skipped."""


class TokenIndex:
    """Token vectors of passages; safe to use from several threads.

    Args:
        basis: (d, k), the directions in which they are compared.
        layout: Positions of each passage's tokens and segments.
        vectors: (tokens, k).
    """

    def __init__(self, basis: Float, layout: _Layout, vectors: Int8) -> None:
        self._basis = basis
        self._layout = layout
        self._vectors = vectors

    @classmethod
    def open(cls, directory: Path) -> "TokenIndex":
        """The token vectors of one generation, memory-mapped.

        Raises:
            OSError, ValueError: The files are missing or invalid.
        """
        basis: Float = np.load(directory / "tokens.basis.npy", allow_pickle=False)
        arrays = {
            field.name: np.load(directory / f"tokens.{field.name}.npy", allow_pickle=False) for field in fields(_Layout)
        }
        layout = _Layout(**arrays)
        shape = (int(layout.token_starts[-1]), basis.shape[1])
        file = directory / "tokens.i8"
        if file.stat().st_size != shape[0] * shape[1]:
            raise ValueError(f"{file.name} has {file.stat().st_size} bytes, not {shape[0]} x {shape[1]}")
        # An empty file cannot be mapped.
        mapped = np.memmap(file, np.int8, "r", shape=shape) if shape[0] else np.empty(shape, dtype=np.int8)
        return cls(basis, layout, np.asarray(mapped))

    def alone(self, chunk: Chunk, vectors: Vectors, offsets: npt.NDArray[np.int32]) -> "TokenIndex":
        """Wrap one passage that is not stored here, for comparison with those that are.

        Args:
            vectors: (n, d), its token vectors.
            offsets: (n, 2), characters of that text.
        """
        starts, units = segments(chunk, offsets)
        layout = _Layout(
            token_starts=np.array([0, len(vectors)], dtype=np.int64),
            segment_starts=np.array([0, len(starts)], dtype=np.int64),
            segment_tokens=starts,
            segment_units=units,
        )
        return TokenIndex(self._basis, layout, quantise(self.project(vectors)))

    @property
    def chunks(self) -> int:
        """Number of chunks with token vectors."""
        return len(self._layout.token_starts) - 1

    def project(self, vectors: Vectors) -> Float:
        """Project a question's token vectors for comparison: (Q, d) -> (Q, k)."""
        return project(vectors, self._basis)

    def maxsim(self, questions: Sequence[tuple[Float, Float]], rows: Sequence[int]) -> list[MaxSim]:
        """Score passages and their units against questions.

        Args:
            questions: Pairs of (Q, k) from `project`, Q at least 1, and (Q,) weights of the question tokens, not
                negative, not all zero.
            rows: The passages, as rows of the generation (`OpenGeneration.places`).

        Returns:
            One result for each question; data that the questions share is read and multiplied once.
        """
        layout, chosen = self._layout, np.asarray(rows, dtype=np.int64)
        starts, stops = layout.token_starts[chosen], layout.token_starts[chosen + 1]
        counts = layout.segment_starts[chosen + 1] - layout.segment_starts[chosen]
        owner = np.repeat(np.arange(len(chosen)), counts)
        # The places of the chosen segments among all segments, counted from the first segment of each passage.
        places = np.arange(len(owner)) + (layout.segment_starts[chosen] - np.cumsum(counts) + counts)[owner]
        labels = layout.segment_units[places]
        begins = np.cumsum(stops - starts) - stops + starts
        first = layout.segment_tokens[places] + begins[owner]
        # Scale the questions by the stored numbers' scale, once for all of them.
        scale = np.float32(1 / _scale(self._basis.shape[1]))
        queries: Float = np.concatenate([vectors for vectors, _ in questions]) * scale
        best = [np.empty((0, len(queries)), dtype=np.float32)]
        for block in _blocks(begins, MOST_PRODUCTS // len(queries)):
            own = first[(owner >= block.start) & (owner < block.stop)] - begins[block.start]
            stored = [self._vectors[starts[one] : stops[one]] for one in block] if len(own) else []
            if stored:
                best.append(_largest(product(np.concatenate(stored), queries.T), own))
        headings, units = np.flatnonzero(labels == HEADING), np.flatnonzero(labels >= 0)
        unit_owner = owner[units]
        segment_best = np.concatenate(best)
        passage_best = _best_by_owner(segment_best, owner, len(chosen))
        unit_own = segment_best[units]
        unit_best = np.maximum(
            unit_own, _best_by_owner(segment_best[headings], owner[headings], len(chosen))[unit_owner]
        )
        unit_starts = np.searchsorted(unit_owner, np.arange(len(chosen) + 1)).astype(np.int64)
        results: list[MaxSim] = []
        end = 0
        for vectors, weights in questions:
            own = slice(end, end := end + len(vectors))
            share = (weights / weights.sum()).astype(np.float32)
            results.append(
                MaxSim(
                    passages=passage_best[:, own] @ share,
                    passage_best=passage_best[:, own],
                    units=unit_best[:, own] @ share,
                    unit_best=unit_best[:, own],
                    unit_own=unit_own[:, own],
                    unit_starts=unit_starts,
                    unit_numbers=labels[units],
                )
            )
        return results


def _blocks(begins: Index, most: int) -> Iterator[range]:
    """Consecutive passages with about `most` tokens together, at least one passage."""
    cuts = [*np.flatnonzero(np.diff(begins // max(1, most), prepend=-1)).tolist(), len(begins)]
    return (range(start, stop) for start, stop in pairwise(cuts))


def _largest(values: Float, firsts: Index) -> Float:
    """The largest of the rows from each of `firsts` to the next: (n, Q) and (m,) -> (m, Q).

    `reduceat` takes ten times as long as this many calls if rows are a thousand numbers long, and an eighth of it if
    they are twelve.
    """
    if values.shape[1] < WIDE:
        return np.maximum.reduceat(values, firsts, axis=0)
    return np.stack([values[start:stop].max(axis=0) for start, stop in pairwise([*firsts.tolist(), len(values)])])


def _best_by_owner(values: Float, owner: Index, owners: int) -> Float:
    """The largest of each owner's rows: (n, Q) and (n,) ascending -> (owners, Q); -1 for owners without rows."""
    best = np.full((owners, values.shape[1]), -1.0, dtype=np.float32)
    firsts = np.flatnonzero(np.diff(owner, prepend=-1))
    if len(firsts):
        best[owner[firsts]] = _largest(values, firsts)
    return best
