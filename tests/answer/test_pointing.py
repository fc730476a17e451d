"""What a question beside an open page points at, by the real reader."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lutrin.answer.pointing import points_at
from lutrin.ports import Embedder, Encoding
from lutrin.query.understand import Pointing, alone
from lutrin.records import Question
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

MODELS = Path(__file__).resolve().parents[2] / "models"


class Widened:
    """A service's embedder: its own vectors for texts, and the local one's for tokens, padded to its width."""

    def __init__(self, local: Embedder) -> None:
        self.name, self.dimension, self.reading = f"service-512+{local.name}", 512, local.reading
        self._local = local

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """As the local one."""
        return self._local.token_offsets(text)

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """One vector for a text, the same for all."""
        found = []
        for one in await self._local.encode(texts):
            assert one.token_vectors is not None
            windows = np.full((1, 512), 512**-0.5, dtype=np.float32)
            tokens = np.pad(one.token_vectors, ((0, 0), (0, 512 - one.token_vectors.shape[1])))
            found.append(replace(one, windows=windows, token_vectors=tokens))
        return found


@pytest.fixture(scope="module", params=["local", "service"])
async def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Searcher]:
    """With the real reader, alone or beside a service."""
    settings = load_settings(data_dir=tmp_path_factory.mktemp("data"), models_dir=MODELS)
    local = open_embedder(settings, threads=1)
    yield Searcher(local if request.param == "local" else Widened(local))
    local.close()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is this page about?", "page"),
        ("Which commands does this page use?", "commands"),
        ("What does the table here say about the mill?", "table"),
        ("which number means idle in the commands listed here?", "here"),
        ("which key turns the saw off, according to this page?", "here"),
        ("How does a page table map addresses?", "perhaps"),
        ("What is a lathe?", "none"),
        ("How do I sharpen a chisel?", "none"),
        ("How do I list the files here in Bash?", "perhaps"),
        ("Why is that?", "here"),
        ("Which letter turns the saw around so that it cuts the lines in this episode?", "perhaps"),
    ],
)
async def test_what_a_question_points_at(searcher: Searcher, text: str, kind: Pointing) -> None:
    """Its manner of asking tells, whatever it names."""
    assert await points_at(searcher, alone(Question(text=text, page="01-tools.md"))) == kind


async def test_without_an_open_page_nothing_is_pointed_at(searcher: Searcher) -> None:
    """There is nothing to point at."""
    assert await points_at(searcher, alone(Question(text="What is this page about?"))) == "none"
