"""Search as two functions for other programs."""

import asyncio
import math
import operator
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lutrin
from lutrin.api import Library
from lutrin.errors import InvalidQuestion, NotFound
from lutrin.runtime import ingestion
from lutrin.settings import Settings, load_settings

PAGE = """# Bees

## The queen

The queen lays up to two thousand eggs a day in early summer.

## The smoker

A smoker calms a colony, because its bees fill themselves with honey when they smell smoke.
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a small book, not ingested yet."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "bees.md").write_text(PAGE, encoding="utf-8")
    models = Path(__file__).parents[2] / "models"
    return load_settings(data_dir=folder / "data", corpus_dir=folder / "corpus", models_dir=models, log_level="error")


@pytest.fixture(scope="module")
def library(settings: Settings) -> Iterator[Library]:
    """The book, ingested and open."""
    ingest = ingestion.run_ingest(settings, settings.corpus_dir)
    asyncio.run(ingest)
    with Library(settings) as opened:
        yield opened


def test_importing_lutrin_loads_nothing() -> None:
    """No models and no numerical libraries load before the first call."""
    code = "import sys, lutrin; print(sorted({'numpy', 'onnxruntime', 'chromadb', 'litestar'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_both_functions_are_in_the_package() -> None:
    """They are named, and a name that is not there is said to be missing."""
    assert callable(lutrin.get_embedding)
    assert callable(lutrin.retrieve)
    with pytest.raises(AttributeError, match="answer_me"):
        lutrin.answer_me  # noqa: B018 - a name that the package does not have


@pytest.mark.model
def test_an_embedding_is_a_list_of_numbers(library: Library) -> None:
    """384 of them, of length 1; a text about the same thing is nearer than another one."""
    queen, eggs, smoke = map(library.get_embedding, ("Who lays eggs?", "The queen lays eggs.", "Light a fire."))
    assert len(queen) == 384
    assert math.hypot(*queen) == pytest.approx(1, abs=1e-4)
    assert sum(map(operator.mul, queen, eggs)) > sum(map(operator.mul, queen, smoke))


@pytest.mark.model
def test_passages_are_what_the_server_gives(library: Library) -> None:
    """Text, score and metadata; the best passage holds the answer."""
    found = library.retrieve("How many eggs does the queen lay a day?", top_k=1)
    assert [set(passage) for passage in found] == [{"text", "score", "metadata"}]
    assert "two thousand eggs" in found[0]["text"]
    assert found[0]["metadata"]["filename"] == "bees.md"
    assert library.retrieve("How do I apply for a passport?") == []
    assert library.retrieve("How many eggs doesthe queen lay inaday?", top_k=1) == library.retrieve(
        "How many eggs does the queen lay in a day?", top_k=1
    )


@pytest.mark.model
def test_what_cannot_be_searched_is_said(library: Library) -> None:
    """No question, no such book."""
    with pytest.raises(InvalidQuestion):
        library.retrieve(" ?")
    with pytest.raises(InvalidQuestion):
        library.get_embedding("")
    with pytest.raises(NotFound):
        library.retrieve("What is a queen?", book="wasps")
