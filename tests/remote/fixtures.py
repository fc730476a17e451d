"""Fixtures that other folders of tests use, too."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.end_to_end.processes import environment
from tests.end_to_end.warm import REMOTE, Warm
from tests.remote.postgres import Cluster, cluster, database


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running PostgreSQL."""
    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def warm_remote(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """A process that has loaded what commands load under the remote profile."""
    place = tmp_path_factory.mktemp("warm")
    made = Warm(environment(models_dir, place / "data"), place, REMOTE)
    yield made
    made.close()


@pytest.fixture
async def postgres_url(postgres: Cluster) -> AsyncIterator[str]:
    """Address of an empty database."""
    async with database(postgres) as url:
        yield url
