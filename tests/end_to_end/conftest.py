"""Fixtures of the end-to-end tests: one ingest of two books, one server, and copies of both to break."""

import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.embeddings import Lenders
from tests.tiers import end_with_group

from . import books
from .processes import Done, Server, environment, run, start_anew
from .warm import Warm

ROOT = Path(__file__).parents[2]
FOUNDATIONS = ROOT / "corpus" / "physical-ai" / "01-part-1-foundations"
FOUNDATIONS_SLUG = "01-part-1-foundations"
EMBEDDER = "reader"
TINY = "smollm2-135m-instruct-q4_1.gguf"
LOG_CHARACTERS = 6000
"""Of a server's log, shown with a test that failed."""

Lutrin = Callable[..., Done]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],  # noqa: ARG001 - the names that pytest gives
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the servers of a failed test printed."""
    report = yield
    if report.failed:
        for value in getattr(item, "funcargs", {}).values():
            servers = [value] if isinstance(value, Server) else getattr(value, "servers", [])
            for server in servers:
                report.sections.append((f"server on port {server.port}", server.printed()[-LOG_CHARACTERS:]))
    return report


@dataclass(frozen=True)
class Library:
    """Two ingested books, and how it went."""

    data_dir: Path
    book: Path
    """Folder of the small book."""
    first: Done
    """The ingest of the small book."""
    second: Done
    """The ingest of the sample book's first part."""

    @property
    def folders(self) -> dict[str, Path]:
        """Folders of the books' files, by slug."""
        return {books.SLUG: self.book, FOUNDATIONS_SLUG: FOUNDATIONS}


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without `.env`, in which all commands run."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="session")
def library(
    lenders: Lenders, tmp_path_factory: pytest.TempPathFactory, models_dir: Path, empty_folder: Path, warm: Warm
) -> Library:
    """The small book and the first part of the sample book, read by two runs of the command; nothing may change it."""

    def read(place: Path) -> tuple[Done, Done]:
        variables, data = environment(models_dir, place / "data"), place / "data"
        with lenders.lending(data):
            first = run(variables, empty_folder, "ingest", books.write_book(place / "books" / "tidepool"))
            return first, warm.run(variables, "ingest", FOUNDATIONS)

    place, (first, second) = lenders.once("library", tuple[Done, Done], read)
    # Each worker has an index of its own, as an index is one process's.
    data = shutil.copytree(place / "data", tmp_path_factory.mktemp("library") / "data")
    return Library(data, place / "books" / "tidepool", first, second)


@pytest.fixture
def data_dir(library: Library, tmp_path: Path) -> Path:
    """A copy of the data folder with both books, free to be changed."""
    return shutil.copytree(library.data_dir, tmp_path / "data")


@pytest.fixture
def library_book(library: Library) -> Path:
    """The folder that the small book was read from; not to be changed."""
    return library.book


@pytest.fixture(scope="module")
def library_copy(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the data folder for all tests of a module."""
    return shutil.copytree(library.data_dir, tmp_path_factory.mktemp("copy") / "data")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A fresh copy of the small book, free to be changed."""
    return books.write_book(tmp_path / "tidepool")


@pytest.fixture
def models(models_dir: Path, tmp_path: Path) -> Path:
    """A models folder of the test's own: the manifest, and links to the files that the tests use."""
    own = tmp_path / "models"
    (own / EMBEDDER).mkdir(parents=True)
    shutil.copy(models_dir / "manifest.toml", own)
    for file in (models_dir / EMBEDDER).iterdir():
        (own / EMBEDDER / file.name).symlink_to(file.resolve())
    (own / TINY).symlink_to((models_dir / TINY).resolve())
    return own


@pytest.fixture(scope="session")
def warm(models_dir: Path, empty_folder: Path) -> Iterator[Warm]:
    """A process that has loaded what commands load."""
    made = Warm(environment(models_dir, empty_folder / "data"), empty_folder)
    yield made
    made.close()


@pytest.fixture
def lutrin(library: Library, models_dir: Path, empty_folder: Path, warm: Warm) -> Lutrin:
    """Run a command on the shared data folder, without a language model unless it is asked for."""

    def call(
        *arguments: str | Path, data_dir: Path | None = None, models: Path | None = None, **variables: str
    ) -> Done:
        known = environment(models or models_dir, data_dir or library.data_dir, **{"LUTRIN_MODEL": "none", **variables})
        # Python looks at PYTHONPATH when it starts, and a server's last lines are logged when it ends.
        if "PYTHONPATH" in variables or arguments[0] == "serve":
            return run(known, empty_folder, *arguments)
        return warm.run(known, *arguments)

    return call


class Servers:
    """Starts servers for one test and ends them with it.

    Args:
        models_dir: Model files, if the test names no others.
        cwd: Folder that they are started in.
        place: Folder of their logs.
        warm: They are its forks.
        profile: Variables of all of them, by their data folder.
    """

    def __init__(
        self,
        models_dir: Path,
        cwd: Path,
        place: Path,
        warm: Warm,
        profile: Callable[[Path], dict[str, str]] = lambda _: {},
    ) -> None:
        self.servers: list[Server] = []
        self._warm = warm
        self._models_dir = models_dir
        self._cwd = cwd
        self._place = place
        self._profile = profile

    def __call__(
        self, data_dir: Path, *arguments: str, models: Path | None = None, anew: bool = False, **variables: str
    ) -> Server:
        """A server on `data_dir` that answers; without a language model and limits unless they are asked for.

        Args:
            data_dir: Its data folder.
            arguments: Of the command.
            models: Its model files.
            anew: In a Python of its own.
            variables: Of its environment.
        """
        bare = {"LUTRIN_MODEL": "none", "LUTRIN_RATE_SESSION_PER_MIN": "0", "LUTRIN_RATE_PEER_PER_MIN": "0"}
        known = environment(models or self._models_dir, data_dir, **{**bare, **self._profile(data_dir), **variables})
        log = self._place / f"server-{len(self.servers)}.log"
        start = start_anew if anew else self._warm.start
        server = Server(known, self._cwd, log, *arguments, start=start)
        self.servers.append(server)
        return server.start()

    def close(self) -> None:
        """End all of them."""
        for server in self.servers:
            server.close()


@pytest.fixture
def serve(models_dir: Path, empty_folder: Path, tmp_path: Path, warm: Warm) -> Iterator[Servers]:
    """Servers of the test's own."""
    servers = Servers(models_dir, empty_folder, tmp_path, warm)
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def server(
    library: Library,
    models_dir: Path,
    empty_folder: Path,
    warm: Warm,
    *,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> Server:
    """One server on a copy of both books with the tiny model loaded, for all tests that break nothing."""
    place = tmp_path_factory.mktemp("server")
    data = shutil.copytree(library.data_dir, place / "data")
    servers = Servers(models_dir, empty_folder, place, warm)
    end_with_group(pytestconfig, servers.close)
    started = servers(data, LUTRIN_MODEL="tiny")
    started.await_model()
    return started
