"""Language models of a hub: believed once, then only the same bytes."""

import hashlib
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lutrin.adapters.embed_fastembed import FILES, find_published
from lutrin.errors import ChecksumMismatch, DownloadFailed, InvalidSettings, ModelMissing
from lutrin.keep import weights
from lutrin.runtime.language_model import ability_of, model_path
from lutrin.runtime.profile import fetch_embedder, open_embedder
from lutrin.settings import load_settings

CONTENT = b"GGUF" + bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SPEC = "hf:school/tutor-GGUF/tutor-q4.gguf@main"


class Hub(ThreadingHTTPServer):
    """A hub that names commit and hash, then hands on to where the bytes lie."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = CONTENT
        self.named = SHA256
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Address of the hub."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if "/resolve/" in self.path and not self.path.endswith("other.gguf"):
            self.send_response(302)
            self.send_header("Location", "/bytes")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("X-Linked-ETag", f'"{self.server.named}"')
            self.end_headers()
        elif self.path == "/bytes":
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.server.content)))
            self.end_headers()
            self.wfile.write(self.server.content)
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub with one file."""
    server = Hub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path: Path, models_dir: Path) -> Path:
    """A folder of models with the manifest alone."""
    shutil.copy(models_dir / "manifest.toml", tmp_path / "manifest.toml")
    return tmp_path


def silent(name: str, done: int, total: int) -> None:
    """Show nothing."""


def test_a_model_is_pinned_when_it_is_first_fetched(hub: Hub, folder: Path) -> None:
    """By size, SHA-256 and the commit that the revision stood for; then it is a model as all others are."""
    model = weights.pin(folder, SPEC, silent, hub=hub.url)
    assert (model.file[0].size, model.file[0].sha256) == (len(CONTENT), SHA256)
    assert model.file[0].publisher is not None
    assert model.file[0].publisher.revision == COMMIT
    settings = load_settings(models_dir=folder, data_dir=folder / "data", model=SPEC)
    name, path = model_path(settings) or ("", Path())
    assert (name, path.read_bytes()) == (SPEC, CONTENT)
    assert ability_of(settings).tier == "tiny"


def test_a_file_whose_hash_the_hub_does_not_name_is_pinned_as_it_came(hub: Hub, folder: Path) -> None:
    """It is read once for its size and hash."""
    hub.named = ""
    model = weights.pin(folder, SPEC, silent, hub=hub.url)
    assert (model.file[0].size, model.file[0].sha256) == (len(CONTENT), SHA256)
    assert weights.verified_path(folder, model).read_bytes() == CONTENT


def test_what_is_pinned_is_not_asked_for_again(hub: Hub, folder: Path) -> None:
    """A branch may move on; this machine does not."""
    weights.pin(folder, SPEC, silent, hub=hub.url)
    hub.asked.clear()
    hub.content = b"GGUF of another day"
    weights.pin(folder, SPEC, silent, hub=hub.url)
    assert hub.asked == []


def test_a_published_embedder_is_pinned_with_all_its_files(hub: Hub, folder: Path) -> None:
    """A name of fastembed's list: its ONNX file and what lies beside it; then one setting chooses it."""
    name = "BAAI/bge-small-en-v1.5"
    repository, model_file, dimension, pooling, licence = find_published(name) or ("", "", 0, "mean", "")
    described = weights.PublishedEmbedder(
        name=name,
        repository=repository,
        model_file=model_file,
        dimension=dimension,
        pooling=pooling,
        licence=licence,
    )
    assert (dimension, pooling) == (384, "cls")
    model = weights.pin_embedder(folder, described, silent, hub=hub.url)
    assert f"/{repository}/resolve/main/{model_file}" in hub.asked
    assert weights.verified_path(folder, model) == folder / "BAAI--bge-small-en-v1.5" / "model.onnx"
    assert {file.name for file in model.file} == set(FILES)
    assert open_embedder(load_settings(models_dir=folder, embedder=name)).name.startswith(f"{name}-{SHA256[:8]}/")
    hub.asked.clear()
    assert weights.pin_embedder(folder, described, silent, hub=hub.url) == model
    assert hub.asked == []


def test_an_embedder_that_nobody_has_is_named_with_the_command(folder: Path) -> None:
    """One that was never fetched, and one that there is not."""
    with pytest.raises(ModelMissing) as caught:
        open_embedder(load_settings(models_dir=folder, embedder="BAAI/bge-small-en-v1.5"))
    assert caught.value.remedy == "Run `lutrin models fetch BAAI/bge-small-en-v1.5`."
    with pytest.raises(InvalidSettings, match="There is no embedding model named tiny"):
        open_embedder(load_settings(models_dir=folder, embedder="tiny"))
    with pytest.raises(InvalidSettings, match="There is no embedding model named x/y"):
        fetch_embedder(load_settings(models_dir=folder), "x/y", silent)


def test_a_file_that_is_lost_comes_back_as_the_same_bytes_or_not_at_all(hub: Hub, folder: Path) -> None:
    """From the commit that was pinned."""
    file = folder / weights.pin(folder, SPEC, silent, hub=hub.url).file[0].name
    file.unlink()
    hub.asked.clear()
    weights.pin(folder, SPEC, silent, hub=hub.url)
    assert f"/resolve/{COMMIT}/" in hub.asked[0]
    file.unlink()
    hub.content = CONTENT[:-1] + b"x"
    with pytest.raises(DownloadFailed):
        weights.pin(folder, SPEC, silent, hub=hub.url)
    assert not file.exists()


def test_a_damaged_file_is_not_loaded(hub: Hub, folder: Path) -> None:
    """As one of the manifest is not."""
    file = folder / weights.pin(folder, SPEC, silent, hub=hub.url).file[0].name
    file.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(ChecksumMismatch):
        model_path(load_settings(models_dir=folder, data_dir=folder / "data", model=SPEC))


def test_another_file_than_the_hub_names_is_deleted(hub: Hub, folder: Path) -> None:
    """Nothing is pinned then."""
    hub.named = "0" * 64
    with pytest.raises(DownloadFailed, match="arrived with other contents"):
        weights.pin(folder, SPEC, silent, hub=hub.url)
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.toml"]


def test_what_the_hub_does_not_have_is_said(hub: Hub, folder: Path) -> None:
    """With the name, and what to do."""
    with pytest.raises(DownloadFailed, match=r"hf:school/tutor-GGUF/other\.gguf@main could not be fetched"):
        weights.pin(folder, "hf:school/tutor-GGUF/other.gguf@main", silent, hub=hub.url)
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize(
    "spec", ["hf:school/tutor.gguf@main", "hf:school/tutor/x.gguf", "hf:school/tutor/../x.gguf@main/../..", "hf:"]
)
def test_a_spec_of_another_form_is_refused(folder: Path, spec: str) -> None:
    """Before anybody is asked."""
    with pytest.raises(InvalidSettings, match="does not name a file on a model hub"):
        weights.pin(folder, spec, silent, hub="http://127.0.0.1:9")


def test_what_was_never_fetched_is_named_with_the_command(folder: Path) -> None:
    """A server without its model answers with excerpts, and says why."""
    with pytest.raises(ModelMissing, match="has not been fetched yet") as caught:
        weights.load_manifest(folder).find(SPEC, "generate")
    assert caught.value.remedy == f"Run `lutrin models fetch {SPEC}`."
