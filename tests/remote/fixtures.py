"""Fixtures that other folders of tests use, too."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.remote.postgres import Cluster, binaries, cluster, database


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running PostgreSQL."""
    if binaries() is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with cluster() as running:
        yield running


@pytest.fixture
async def postgres_url(postgres: Cluster) -> AsyncIterator[str]:
    """Address of an empty database."""
    async with database(postgres) as url:
        yield url
