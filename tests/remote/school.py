"""A school for tests of the remote profile: one book that was read with services elsewhere, servers side by side."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end_to_end import books
from tests.end_to_end.processes import START_S, Done, Server, environment, wait_until
from tests.end_to_end.warm import Warm
from tests.remote.postgres import Cluster
from tests.remote.services import Services
from tests.tiers import end_with_group

TOKEN = "administrator-of-this-test"
INGEST_S = 900.0
"""Longest time for an ingest, which gives way to everything else that runs on the machine."""


class School:
    """One ingested book, and servers over it."""

    def __init__(self, services: Services, warm: Warm, models_dir: Path, place: Path, **variables: str) -> None:
        self.place = place
        self._warm = warm
        self.data = place / "data"
        self.book = books.write_book(place / "book")
        own = {
            "LUTRIN_CORPUS_DIR": str(self.book),
            "LUTRIN_ADMIN_TOKEN": TOKEN,
            "LUTRIN_EXPLAIN_S": "20",
            "LUTRIN_RATE_PEER_PER_MIN": "10000",  # all readers share one address here
        }
        self.variables = environment(models_dir, self.data, **{**services.variables(self.data), **own, **variables})
        self.servers: list[Server] = []

    def ingest(self) -> Done:
        """Read the book by the command."""
        return self.run("ingest", self.book)

    def run(self, *arguments: str | Path, **variables: str) -> Done:
        """A command with the school's settings, in its folder."""
        return self._warm.run({**self.variables, **variables}, *arguments, within_s=INGEST_S, cwd=self.place)

    def serve(self, data: str = "data") -> Server:
        """One more server on the same services, with its books in this folder; it waits until it has some."""
        variables = {**self.variables, "LUTRIN_DATA_DIR": str(self.place / data)}
        server = Server(variables, self.place, self.place / f"server-{len(self.servers)}.log")
        self.servers.append(server)
        server.start()
        await_books(server)
        return server

    def close(self) -> None:
        """End all servers."""
        for server in self.servers:
            server.close()


def await_books(server: Server) -> None:
    """Wait until a server can be asked."""
    wait_until(lambda: server.client.get("/ready").status_code == 200, START_S, "a book is open")


@pytest.fixture(scope="session")
def services(postgres: Cluster) -> Iterator[Services]:
    """A model, Qdrant and PostgreSQL."""
    made = Services(postgres)
    made.openai.writes = "One ballast cycle of the robot takes 90 seconds."
    yield made
    made.close()


@pytest.fixture(scope="session")
def school(
    services: Services,
    warm_remote: Warm,
    models_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> School:
    """A book that was ingested with services elsewhere, and two servers over it, one of them with an empty disk."""
    made = School(services, warm_remote, models_dir, tmp_path_factory.mktemp("school"))
    end_with_group(pytestconfig, made.close)
    done = made.ingest()
    assert done.code == 0, done.err
    made.serve()
    made.serve("elsewhere")
    return made
