"""Fixtures of all tests: the backend of asynchronous tests and the real model files."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

# Before NumPy loads, as `lutrin` does: its threads would fight those of the other worker for the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import aiosqlite
import pytest
import structlog
from hypothesis import settings
from tests.embeddings import Lenders, kept_embeddings

ROOT = Path(__file__).parents[1]
# A server under test fetches and compiles nothing; tests of a model name it.
os.environ.setdefault("LUTRIN_MODEL", "none")
# The model's process imports the fakes, too.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])

pytest_plugins = ["tests.tiers", "tests.endured"]

# Every run tries the same examples, on slow machines too; `--hypothesis-profile=default` looks for new ones.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, bool | None, bool | None]:
    """Keep what is loaded here from the garbage collector, as the server does.

    Three thousand tests and what they import stay until the end; ingests look through everything for garbage, and took
    four times as long.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionfinish() -> None:
    """Let the process end though a failed test left conversations open, whose threads would keep it alive."""
    for found in gc.get_objects():
        if isinstance(found, aiosqlite.Connection):
            found.stop()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asynchronous tests run under asyncio, as the server does."""
    return "asyncio"


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of the manifest and the fetched model files; `just test` fetches what the tests need."""
    return ROOT / "models"


@pytest.fixture(scope="session")
def lenders(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Lenders:
    """Embeddings of this run and of those before, shared by its workers."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if hasattr(request.config, "workerinput") else base
    return Lenders(folder, kept_embeddings(ROOT / ".pytest_cache"))


@pytest.fixture(autouse=True)
def _own_log() -> None:
    """A test that runs a command in this process leaves its log to nobody else."""
    structlog.reset_defaults()
