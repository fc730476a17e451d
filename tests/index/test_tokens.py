"""Token vectors: small, memory-mapped, and scored as the definition of MaxSim says."""

import tracemalloc
from dataclasses import fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.fakes import WordHashEmbedder

from lutrin.index.tokens import (
    BETWEEN,
    HEADING,
    MaxSim,
    TokenIndex,
    fit_basis,
    product,
    project,
    quantise,
    restore,
    segments,
    write_tokens,
)
from lutrin.records import Chunk, Unit

from .conftest import PAGES, make_chunk

CHUNKS = [make_chunk(name, index, text) for name, texts in PAGES.items() for index, text in enumerate(texts)]
Float = npt.NDArray[np.float32]


@pytest.fixture
async def encoded() -> list[tuple[Chunk, Float, npt.NDArray[np.int32]]]:
    """Each chunk with its token vectors and offsets."""
    encodings = await WordHashEmbedder().encode([chunk.embedded_text() for chunk in CHUNKS])
    return [(chunk, np.asarray(e.token_vectors), e.token_offsets) for chunk, e in zip(CHUNKS, encodings, strict=True)]


@pytest.fixture
def index(tmp_path: Path, encoded: list[tuple[Chunk, Float, npt.NDArray[np.int32]]]) -> TokenIndex:
    """The chunks' token vectors, stored and opened."""
    basis = fit_basis(np.concatenate([vectors for _, vectors, _ in encoded]))
    write_tokens(tmp_path, basis, [(chunk, quantise(vectors), offsets) for chunk, vectors, offsets in encoded])
    return TokenIndex.open(tmp_path)


async def test_maxsim_is_what_its_definition_says(
    index: TokenIndex, encoded: list[tuple[Chunk, Float, npt.NDArray[np.int32]]]
) -> None:
    """One call gives what a plain loop over passages, units and question tokens gives."""
    (asked,) = await WordHashEmbedder().encode(["what does the lidar measure"])
    question = index.project(np.asarray(asked.token_vectors))
    weights = np.array([1, 1, 1, 3, 2], dtype=np.float32)
    rows = [2, 0, 3]
    other = question[:2], weights[3:]
    found, _ = index.maxsim([(question, weights), other], rows)
    basis = fit_basis(np.concatenate([vectors for _, vectors, _ in encoded]))
    for place, row in enumerate(rows):
        chunk, vectors, offsets = encoded[row]
        stored = restore(quantise(project(restore(quantise(vectors)), basis)))
        similar = question @ stored.T
        np.testing.assert_allclose(found.passage_best[place], similar.max(axis=1), atol=1e-5)
        np.testing.assert_allclose(found.passages[place], similar.max(axis=1) @ weights / 8, atol=1e-5)
        text, body = chunk.embedded_text(), len(chunk.embedded_text()) - len(chunk.text)
        heading = similar[:, offsets[:, 0] < body].max(axis=1)
        span = slice(found.unit_starts[place], found.unit_starts[place + 1])
        assert found.unit_numbers[span].tolist() == list(range(len(chunk.units)))
        for unit, own, best, score in zip(
            chunk.units, found.unit_own[span], found.unit_best[span], found.units[span], strict=True
        ):
            start = text.index(unit.text, body)
            inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= start + len(unit.text))
            expected = similar[:, inside].max(axis=1)
            np.testing.assert_allclose(own, expected, atol=1e-5)
            np.testing.assert_allclose(best, np.maximum(expected, heading), atol=1e-5)
            np.testing.assert_allclose(score, np.maximum(expected, heading) @ weights / 8, atol=1e-5)


async def test_the_sentence_that_answers_scores_best(index: TokenIndex) -> None:
    """The words of a sentence lead to that sentence among all."""
    (asked,) = await WordHashEmbedder().encode(["lidar turns ten times a second"])
    vectors = index.project(np.asarray(asked.token_vectors))
    (found,) = index.maxsim([(vectors, np.ones(len(vectors), dtype=np.float32))], range(index.chunks))
    best = int(found.units.argmax())
    row = int(np.searchsorted(found.unit_starts, best, side="right")) - 1
    assert CHUNKS[row].units[found.unit_numbers[best]].text == "It turns ten times a second."
    assert found.units[best] > 0.75


async def test_a_passage_alone_is_scored_as_if_it_were_stored(
    index: TokenIndex, encoded: list[tuple[Chunk, Float, npt.NDArray[np.int32]]]
) -> None:
    """A selection is compared in the directions of its book."""
    (asked,) = await WordHashEmbedder().encode(["what does the lidar measure"])
    question = index.project(np.asarray(asked.token_vectors)), np.ones(5, dtype=np.float32)
    (stored,) = index.maxsim([question], [2])
    (alone,) = index.alone(*encoded[2]).maxsim([question], [0])
    for field in fields(MaxSim):
        np.testing.assert_allclose(getattr(alone, field.name), getattr(stored, field.name), atol=0.03)


def test_no_passages_and_no_tokens_are_fine(tmp_path: Path) -> None:
    """A passage without tokens scores -1 and has no units; no passages give empty arrays."""
    empty = (CHUNKS[0], np.empty((0, 96), dtype=np.int8), np.empty((0, 2), dtype=np.int32))
    write_tokens(tmp_path, np.eye(96, 64, dtype=np.float32), [empty])
    index = TokenIndex.open(tmp_path)
    question, weights = np.eye(2, 64, dtype=np.float32), np.ones(2, dtype=np.float32)
    (found,) = index.maxsim([(question, weights)], [0])
    assert found.passages.tolist() == [-1]
    assert found.unit_starts.tolist() == [0, 0]
    (none,) = index.maxsim([(question, weights)], [])
    assert none.passages.shape == (0,)


async def test_questions_do_not_mind_each_other(index: TokenIndex) -> None:
    """Questions scored together get the same scores as alone."""
    rng = np.random.default_rng(0)
    asked = [(rng.normal(size=(n, 64)).astype(np.float32), np.arange(1, n + 1, dtype=np.float32)) for n in (1, 9, 4)]
    for together, one in zip(index.maxsim(asked, [3, 0, 1]), asked, strict=True):
        (alone,) = index.maxsim([one], [3, 0, 1])
        for field in fields(MaxSim):
            np.testing.assert_allclose(getattr(together, field.name), getattr(alone, field.name), rtol=1e-4, atol=1e-5)


async def test_long_questions_are_compared_in_blocks(index: TokenIndex) -> None:
    """A marked page against many passages takes no memory for all its cosines, and scores as against each alone."""
    (asked,) = await WordHashEmbedder().encode(["what does the lidar measure " * 400])
    question = index.project(np.asarray(asked.token_vectors)), np.ones(2000, dtype=np.float32)
    rows = [3, 0, 2, 1] * 80
    tracemalloc.start()
    (found,) = index.maxsim([question], rows)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for place in (0, 1, 2, 3, 317):
        (alone,) = index.maxsim([question], [rows[place]])
        assert found.passages[place] == pytest.approx(alone.passages[0], abs=1e-5)
        own = found.units[found.unit_starts[place] : found.unit_starts[place + 1]]
        np.testing.assert_allclose(own, alone.units, atol=1e-5)
    assert most_bytes < 45_000_000


async def test_a_cut_file_is_noticed(tmp_path: Path, index: TokenIndex) -> None:
    """A token file of the wrong length is not mapped."""
    assert index.chunks == len(CHUNKS)
    (tmp_path / "tokens.i8").write_bytes((tmp_path / "tokens.i8").read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"tokens\.i8"):
        TokenIndex.open(tmp_path)


def test_segments_tell_heading_units_and_the_rest() -> None:
    """Tokens of the heading path, of each unit and of what lies between are told apart; a lost unit has none."""
    text = "Lead words: alpha beta | gamma"
    units = tuple(
        Unit(kind="list_item", text=item, char_start=0, char_end=1) for item in ("alpha beta", "nowhere", "gamma")
    )
    plain = make_chunk("01/x.md", 0, text)
    chunk = Chunk(**{name: getattr(plain, name) for name in plain.__struct_fields__ if name != "units"}, units=units)
    offsets = np.array(WordHashEmbedder().token_offsets(chunk.embedded_text()), dtype=np.int32)
    starts, labels = segments(chunk, offsets)
    assert labels.tolist() == [HEADING, BETWEEN, 0, BETWEEN, 2]
    words = [chunk.embedded_text()[slice(*offsets[start])] for start in starts]
    assert words == ["x", "Lead", "alpha", "|", "gamma"]


def test_quantised_vectors_keep_their_directions() -> None:
    """Rounding to int8 changes the direction of a vector by less than three degrees."""
    rows = np.random.default_rng(0).normal(size=(500, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    back = restore(quantise(rows))
    cosines = (back * rows).sum(axis=1) / np.linalg.norm(back, axis=1)
    assert cosines.min() > np.cos(np.radians(3))


def test_the_basis_keeps_the_strongest_directions() -> None:
    """Vectors of few directions are restored from as many dimensions, and equal samples give equal bytes."""
    rng = np.random.default_rng(0)
    sample = (rng.normal(size=(300, 5)) @ rng.normal(size=(5, 40))).astype(np.float32)
    basis = fit_basis(sample, 5)
    assert basis.shape == (40, 5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-5)
    np.testing.assert_allclose(sample @ basis @ basis.T, sample, atol=1e-3)
    assert fit_basis(sample, 5).tobytes() == basis.tobytes()


def test_the_product_is_the_product() -> None:
    """Blocks change nothing about the result."""
    for rows, columns in ((0, 12), (1, 12), (341, 12), (342, 65), (5000, 12), (700, 300)):
        rng = np.random.default_rng(rows)
        left, right = (
            rng.integers(-127, 128, size=(rows, 64), dtype=np.int8),
            rng.normal(size=(64, columns)).astype(np.float32),
        )
        np.testing.assert_allclose(product(left, right), left.astype(np.float32) @ right, rtol=1e-4, atol=1e-3)
