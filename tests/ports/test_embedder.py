"""The contract of every embedder; the fake, the local model and a remote service pass the same suite.

The service is one on the loopback interface; where GEMINI_API_KEY is set, the suite runs against Gemini, too.
"""

import os
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder
from tests.remote.openai_server import KEY, running

from lutrin.adapters.embed_fastembed import FastembedEmbedder, multiplies_signed
from lutrin.errors import ModelMissing
from lutrin.ports import Embedder, windows
from lutrin.settings import GEMINI_URL
from lutrin_remote.remote_openai import RemoteEmbedder

LONG = " ".join(f"The robot number {number} walks over the bridge." for number in range(120))


REAL = os.environ.get("GEMINI_API_KEY", "")
WITHOUT_KEY = pytest.mark.skipif(not REAL, reason="GEMINI_API_KEY is not set")


@pytest.fixture(
    params=[
        "word-hash",
        pytest.param("fastembed", marks=pytest.mark.model),
        "remote",
        pytest.param("gemini", marks=WITHOUT_KEY),
    ]
)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    """Each embedder in turn; the local model gets two threads."""
    if request.param == "word-hash":
        yield WordHashEmbedder()
    elif request.param == "fastembed":
        local = FastembedEmbedder(request.getfixturevalue("models_dir") / "reader", threads=2)
        yield local
        local.close()
    elif request.param == "remote":
        async with running() as service:
            remote = RemoteEmbedder("loopback", 128, service.url, KEY, WordHashEmbedder(), patience_s=10)
            yield remote
            await remote.close()
    else:
        real = RemoteEmbedder("gemini-embedding-001", 768, GEMINI_URL, REAL, WordHashEmbedder(), patience_s=60)
        yield real
        await real.close()


async def test_vectors_have_the_promised_shape_and_length(embedder: Embedder) -> None:
    """Pooled and token vectors are float32 rows of length 1 in the embedder's dimension."""
    (encoding,) = await embedder.encode(["A gait is a pattern of steps."])
    assert encoding.token_vectors is not None
    for rows in (encoding.windows, encoding.token_vectors):
        assert rows.dtype == np.float32
        assert rows.shape[1] == embedder.dimension
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert len(encoding.windows) == 1


async def test_results_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    """Texts of mixed lengths come back in order, and each as if it had come alone."""
    texts = ["torque", LONG, "An actuator turns energy into motion.", "torque"]
    together = await embedder.encode(texts)
    alone = [(await embedder.encode([text]))[0] for text in texts]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.windows, other.windows, atol=0 if "gemini" not in embedder.name else 1e-3)
        np.testing.assert_array_equal(one.token_offsets, other.token_offsets)
    np.testing.assert_allclose(together[0].windows, together[3].windows, atol=1e-3)


async def test_each_token_has_a_vector_and_a_place(embedder: Embedder) -> None:
    """Offsets ascend, lie inside the text, cover its words, and are those that `token_offsets` counts."""
    text = "The ZMP, or zero-moment point, is where `tau = 0` holds."
    (encoding,) = await embedder.encode([text])
    offsets = encoding.token_offsets
    assert encoding.token_vectors is not None
    assert len(offsets) == len(encoding.token_vectors)
    assert [tuple(pair) for pair in offsets.tolist()] == list(embedder.token_offsets(text))
    assert (offsets[1:, 0] >= offsets[:-1, 1]).all()
    covered = "".join(text[start:end] for start, end in offsets)
    assert covered == "".join(text.split())


async def test_no_word_of_a_long_text_is_left_out(embedder: Embedder) -> None:
    """A text longer than the model's window has several windows, and a token vector for its last word."""
    (encoding,) = await embedder.encode([LONG])
    assert encoding.token_vectors is not None
    assert len(encoding.windows) > 1
    assert encoding.token_offsets[-1].tolist() == [len(LONG) - 1, len(LONG)]
    np.testing.assert_allclose(np.linalg.norm(encoding.token_vectors, axis=1), 1, atol=1e-4)


async def test_an_empty_text_has_one_window(embedder: Embedder) -> None:
    """Nothing is encoded as something, so that every passage has a vector."""
    (encoding,) = await embedder.encode([""])
    assert encoding.windows.shape == (1, embedder.dimension)
    assert encoding.token_offsets.shape == (0, 2)
    assert await embedder.encode([]) == []


async def test_alike_texts_are_nearer(embedder: Embedder) -> None:
    """The cosine of texts that say the same is larger than that of texts that do not."""
    question, answer, other = await embedder.encode(
        ["how does the robot walk", "the robot does walk on two legs", "boil the pasta in salted water"]
    )
    assert float(question.windows[0] @ answer.windows[0]) > float(question.windows[0] @ other.windows[0]) + 0.2


def test_windows_cover_all_tokens_and_overlap() -> None:
    """Each window fits, the first starts at 0, the last ends at the end, and neighbours share the overlap."""
    for length in (0, 1, 254, 255, 300, 476, 477, 1000, 5003):
        cut = windows(length, 254, 32)
        assert cut[0][0] == 0
        assert cut[-1][1] == length
        assert all(stop - start <= 254 for start, stop in cut)
        assert all(left[1] - right[0] >= 31 for left, right in pairwise(cut))


async def test_a_missing_model_is_named(tmp_path: Path) -> None:
    """An incomplete folder says which files are missing and what to do."""
    with pytest.raises(ModelMissing, match=r"model\.onnx.*models fetch"):
        await FastembedEmbedder(tmp_path).encode(["x"])


def test_processors_whose_sums_overflow_take_the_other_way() -> None:
    """On x86 without VNNI two products of signed weights are added in 16 bits."""
    cases = {
        ("x86_64", "flags: avx2 avx512_vnni"): True,
        ("x86_64", "flags: avx2 avx_vnni"): True,
        ("x86_64", "flags: sse4_2 avx2 avx512f"): False,
        ("AMD64", ""): False,
        ("aarch64", ""): True,
    }
    assert {case: multiplies_signed(*case) for case in cases} == cases
