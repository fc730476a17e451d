"""Questions that are asked of any book, and how near another question is to them."""

from pathlib import Path

import numpy as np
import pytest

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.fakes import WordHashEmbedder
from lutrin.retrieve.asked import pooled
from lutrin.retrieve.background import NEAREST, background_questions, background_vectors, computed, nearness
from lutrin.retrieve.trials import foreign_questions

EMBEDDER = Path(__file__).parents[2] / "models" / "all-MiniLM-L6-v2-int8"


def test_the_questions_differ_and_none_is_one_that_scope_is_fitted_on() -> None:
    """A question that is fitted on and stands here would be as near as can be to itself, and teach nothing."""
    questions = background_questions()
    assert len(set(questions)) == len(questions) > 200
    assert all(question.endswith("?") for question in questions)
    assert not set(questions) & set(foreign_questions())


@pytest.mark.model
async def test_the_vectors_that_come_with_lutrin_are_those_of_its_embedder() -> None:
    """Run `python bench/background.py` after a change of the questions or of the model."""
    embedder = FastembedEmbedder(EMBEDDER)
    known, own = await background_vectors(embedder), await computed(embedder)
    embedder.close()
    assert known.shape == own.shape
    # Another processor rounds other numbers; vectors of another model would be near none of these.
    assert np.einsum("qd,qd->q", known, own).min() > 0.99


async def test_another_embedder_computes_its_own() -> None:
    """Vectors of different models are never compared."""
    embedder = WordHashEmbedder()
    found = await background_vectors(embedder)
    assert found.shape == (len(background_questions()), embedder.dimension)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_nearness_is_the_mean_of_the_nearest() -> None:
    """One alone may be there by chance."""
    background = np.array([[1, 0], [1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    assert nearness(np.array([1, 0], dtype=np.float32), background) == pytest.approx((1 + 1 + 0.6) / NEAREST)


@pytest.mark.model
async def test_what_is_asked_of_any_book_is_nearer_than_what_is_asked_of_one() -> None:
    """By more than the weight of the signal needs to turn the odds of a doubtful question."""
    embedder = FastembedEmbedder(EMBEDDER)
    background = await background_vectors(embedder)
    usual, own = await embedder.encode(
        ["How do I reverse a string in Python?", "How often does Wren publish the state of its gripper?"]
    )
    embedder.close()
    assert nearness(pooled(usual), background) > nearness(pooled(own), background) + 0.1
