"""The model says the books before anybody asks: by command, and by a server that nobody asks."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from tests.embeddings import Lenders

from lutrin import sqlite

from . import books
from .conftest import Lutrin, Servers
from .processes import COMMAND_S, environment, run, wait_until


def said(data: Path) -> list[tuple[bytes, bytes]]:
    """What is kept, in the order in which it was kept."""
    with closing(sqlite.connect(data / "said.db")) as database:
        return database.execute("SELECT key, texts FROM said ORDER BY number").fetchall()


@pytest.fixture(scope="module")
def small(lenders: Lenders, tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Path:
    """A data folder with the small book alone."""
    place = tmp_path_factory.mktemp("small")
    book = books.write_book(place / "tidepool")
    with lenders.lending(place / "data"):
        done = run(environment(models_dir, place / "data"), place, "ingest", book)
    assert done.code == 0, done.err
    return place / "data"


@pytest.mark.gguf
@pytest.mark.slow("the model says every page of a small book")
def test_a_server_that_nobody_asks_says_its_books(serve: Servers, lutrin: Lutrin, small: Path, tmp_path: Path) -> None:
    """`/ready` says how far it is; what it has said, the command need not say again."""
    data = shutil.copytree(small, tmp_path / "data")
    server = serve(data, LUTRIN_MODEL="tiny", LUTRIN_READ_AHEAD="true", LUTRIN_ANSWER_TOKENS="16")
    wait_until(
        lambda: (state := server.client.get("/ready").json())["pages"] and state["pages_ahead"] == state["pages"],
        COMMAND_S,
        "all pages are said",
    )
    pages = server.client.get("/ready").json()["pages"]
    server.end()
    kept = said(data)
    assert len(kept) > pages
    done = lutrin("read-ahead", data_dir=data, LUTRIN_MODEL="tiny", LUTRIN_READ_AHEAD="true", LUTRIN_ANSWER_TOKENS="16")
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1] == f"{pages} of {pages} pages"
    assert said(data) == kept


@pytest.mark.gguf
def test_a_server_may_be_told_not_to(serve: Servers, small: Path, tmp_path: Path) -> None:
    """Then it keeps nothing, and says of no page that it was said."""
    data = shutil.copytree(small, tmp_path / "data")
    server = serve(data, LUTRIN_MODEL="tiny")
    server.await_model()
    state = server.client.get("/ready").json()
    assert (state["pages_ahead"], state["pages"]) == (0, 0)
    server.client.post("/api/query", json={"query": books.QUESTION})
    assert not (data / "said.db").exists()


def test_without_a_model_there_is_nothing_to_say(lutrin: Lutrin, small: Path) -> None:
    """The command says which settings decide that."""
    done = lutrin("read-ahead", data_dir=small, LUTRIN_READ_AHEAD="true")
    assert done.code == 1
    assert done.err.splitlines()[-1] == "No model's words are kept: see LUTRIN_MODEL and LUTRIN_READ_AHEAD."


@pytest.mark.gguf
def test_before_the_books_are_read_that_is_said(lutrin: Lutrin, tmp_path: Path) -> None:
    """With the remedy."""
    done = lutrin("read-ahead", data_dir=tmp_path / "data", LUTRIN_MODEL="tiny", LUTRIN_READ_AHEAD="true")
    assert done.code == 1
    assert "lutrin ingest" in done.err
