"""A book that changes under a running server: readers notice the new text, never the change."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from tests.loopback import NO_TLS

from . import books
from .conftest import Lutrin, Servers
from .processes import START_S, Server, wait_until

pytestmark = pytest.mark.model

PICKED_UP_S = 2.0
TRIES = 3
"""A machine that is busy with other things may delay one try, not all of them."""


class Readers:
    """Asks one question after the other and keeps what became of each.

    Args:
        address: Of the server.
    """

    def __init__(self, address: str) -> None:
        self.statuses: list[int | str] = []
        self.generations: set[str] = set()
        self.enough = threading.Event()
        self._address = address

    def run(self) -> None:
        """Ask until it is enough."""
        with httpx.Client(base_url=self._address, timeout=60, trust_env=False, verify=NO_TLS) as client:
            while not self.enough.is_set():
                question = f"What is the ballast cycle, part {len(self.statuses)}?"  # none is answered from memory
                try:
                    response = client.post("/api/query", json={"query": question, "book": books.SLUG})
                except httpx.HTTPError as error:
                    self.statuses.append(type(error).__name__)
                else:
                    self.statuses.append(response.status_code)
                    self.generations.add(response.json().get("generation", ""))
                time.sleep(0.02)


@contextmanager
def reading(server: Server) -> Iterator[Readers]:
    """A reader who asks all the time."""
    readers = Readers(str(server.client.base_url))
    thread = threading.Thread(target=readers.run)
    thread.start()
    try:
        yield readers
    finally:
        readers.enough.set()
        thread.join()


def generation(server: Server) -> str:
    """Name of the small book's generation that the server answers from."""
    named: dict[str, str] = {book["slug"]: book["generation"] for book in server.client.get("/ready").json()["books"]}
    return named[books.SLUG]


def has_changed(server: Server, before: str) -> bool:
    """Whether the server answers from another generation than before."""
    return generation(server) != before


def test_a_changed_book_is_picked_up(lutrin: Lutrin, serve: Servers, data_dir: Path, book: Path) -> None:
    """Within 2 s of an ingest its text can be found, while no question fails."""
    server = serve(data_dir)
    page = book / books.ANSWER_FILE
    with reading(server) as readers:
        for seconds in range(70, 70 + TRIES):
            text = books.PAGES[books.ANSWER_FILE].replace("takes 90 seconds", f"takes {seconds} seconds")
            page.write_text(text, "utf-8")
            before = generation(server)
            assert lutrin("ingest", book, data_dir=data_dir).code == 0
            published = time.monotonic()
            wait_until(partial(has_changed, server, before), START_S, "the new generation is open")
            waited_s = time.monotonic() - published
            if waited_s <= PICKED_UP_S:
                break
        wait_until(lambda: len(readers.generations) >= 2, START_S, "a reader is answered from the new generation")
    assert waited_s <= PICKED_UP_S
    assert set(readers.statuses) == {httpx.codes.OK}
    passages = server.client.post("/api/retrieve", json={"query": books.QUESTION, "book": books.SLUG}).json()
    found = " ".join(passage["text"] for passage in passages)
    assert f"takes {seconds} seconds" in found
    assert "takes 90 seconds" not in found
