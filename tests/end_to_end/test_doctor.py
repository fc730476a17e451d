"""`lutrin doctor`: everything well is exit 0; each thing that is not is named with a remedy that helps."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import books
from .conftest import EMBEDDER, TINY, Lutrin, Servers
from .processes import Done, flip_a_byte
from .warm import Warm

pytestmark = pytest.mark.model


def failures(done: Done) -> dict[str, dict[str, Any]]:
    """The checks that failed, by name; the exit code says the same."""
    failed = {check["name"]: check for check in done.json() if not check["ok"]}
    assert done.code == (1 if failed else 0), done.err
    assert all(check["remedy"] for check in failed.values())
    return failed


def checks(done: Done) -> list[str]:
    """The lines of the checks; what a book leaves out is below its own, further in."""
    return [line for line in done.out.splitlines() if not line.startswith("  ")]


@pytest.mark.gguf
def test_all_is_well(lutrin: Lutrin) -> None:
    """After an ingest every check passes, and the language model's file is among them."""
    done = lutrin("doctor", LUTRIN_MODEL="tiny")
    assert (done.code, done.err) == (0, "")
    lines = checks(done)
    assert [line for line in lines if not line.startswith("ok    ")] == []
    assert any("can be used; what computes it: " in line for line in lines)
    names = [line.removeprefix("ok    ").partition(":")[0] for line in lines]
    assert names == [
        "versions",
        "settings",
        "address",
        "rights",
        "disk",
        "embedding model",
        "language model",
        "catalogue",
        "left out",
        f"index of {books.SLUG}",
        "index of 01-part-1-foundations",
        "conversations",
    ]


def test_settings_that_do_not_hold(lutrin: Lutrin) -> None:
    """A name that nothing reads is told with the nearest one, and a proxy without an address by its variable."""
    done = lutrin("doctor", "--json", LUTRIN_PROT="80", LUTRIN_TRUSTED_PROXIES="no-such-proxy.invalid")
    said = [f"{check['detail']} {check['remedy']}" for check in done.json() if check["name"] == "settings"]
    assert said[1:] == ["Nothing reads LUTRIN_PROT. Write LUTRIN_PORT, or remove it."]
    assert "LUTRIN_TRUSTED_PROXIES: no-such-proxy.invalid has no address" in said[0]


def test_what_only_this_machine_can_judge(lutrin: Lutrin) -> None:
    """An address that this machine does not have, and a model that the manifest does not have, are told by name."""
    failed = failures(lutrin("doctor", "--json", LUTRIN_RERANK="no-such-model", LUTRIN_HOST="300.1.1.1"))
    assert failed["cross-encoder"]["detail"] == "LUTRIN_RERANK: the manifest has no cross-encoder no-such-model."
    assert failed["address"]["detail"].startswith("LUTRIN_HOST: 300.1.1.1 is not an address of this machine")


@pytest.mark.gguf
@pytest.mark.parametrize(
    "where",
    [("embedding model", f"{EMBEDDER}/model.onnx", "default"), ("language model", TINY, "tiny")],
    ids=["embedding model", "language model"],
)
@pytest.mark.parametrize("fault", [Path.unlink, flip_a_byte], ids=["missing", "one flipped byte"])
def test_a_model_file(lutrin: Lutrin, models: Path, where: tuple[str, str, str], fault: Callable[[Path], None]) -> None:
    """A missing file and one flipped byte are found, and the remedy fetches that very model."""
    name, file, tier = where
    fault(models / file)
    done = lutrin("doctor", models=models, LUTRIN_MODEL="tiny")
    assert done.code == 1
    (line,) = [line for line in checks(done) if not line.startswith("ok    ")]
    assert line.startswith(f"FAIL  {name}: The model file {models / file} is ")
    assert f"Run `lutrin models fetch {tier}`" in line


def test_no_manifest(lutrin: Lutrin, tmp_path: Path) -> None:
    """Outside of Lutrin's folder the manifest is missed, and the remedy says how to name it."""
    failed = failures(lutrin("doctor", "--json", models=tmp_path / "nowhere"))
    assert set(failed) == {"embedding model"}
    assert "LUTRIN_MODELS_DIR" in failed["embedding model"]["remedy"]


def test_no_index(lutrin: Lutrin, tmp_path: Path) -> None:
    """Before the first ingest the remedy is to ingest, and looking has changed nothing."""
    data = tmp_path / "data"
    failed = failures(lutrin("doctor", "--json", data_dir=data))
    assert {name: check["remedy"] for name, check in failed.items()} == {"index": "Run `lutrin ingest`."}
    assert not data.exists()


@pytest.mark.parametrize("part", ["passages.db", "tokens", "vectors", "manifest.json"])
def test_a_damaged_index_is_found(lutrin: Lutrin, data_dir: Path, part: str) -> None:
    """One flipped byte in any part of an index is found, and the remedy is to build it anew."""
    (generation,) = (data_dir / "books" / books.SLUG).iterdir()
    flip_a_byte(largest_file(generation, part))
    failed = failures(lutrin("doctor", "--json", data_dir=data_dir))
    assert {name: check["remedy"] for name, check in failed.items()} == {
        f"index of {books.SLUG}": "Run `lutrin ingest --rebuild`."
    }


def test_an_index_of_another_embedder_is_found(lutrin: Lutrin, data_dir: Path) -> None:
    """The index is whole but answers no question; the remedy is to read the books again."""
    manifests = list((data_dir / "books" / books.SLUG).glob("*/manifest.json"))
    assert manifests
    for path in manifests:
        path.write_text(path.read_text(encoding="utf-8").replace("/i8", "/older"), encoding="utf-8")
    check = failures(lutrin("doctor", "--json", data_dir=data_dir))[f"index of {books.SLUG}"]
    assert "/older" in check["detail"]
    assert check["remedy"] == "Run `lutrin ingest`."


def test_the_remedy_for_a_damaged_index_helps(lutrin: Lutrin, library_book: Path, data_dir: Path) -> None:
    """After `lutrin ingest --rebuild` all is well again, and nothing had to be embedded for it."""
    (generation,) = (data_dir / "books" / books.SLUG).iterdir()
    flip_a_byte(largest_file(generation, "passages.db"))
    summary = lutrin("ingest", library_book, "--rebuild", "--json", data_dir=data_dir).json()
    assert (summary["processed"], summary["texts_embedded"]) == (len(books.MDX_FILES), 0)
    assert failures(lutrin("doctor", "--json", data_dir=data_dir)) == {}


def test_a_damaged_catalogue_and_its_remedy(lutrin: Lutrin, library_book: Path, data_dir: Path) -> None:
    """A catalogue that is none is found; its remedy costs no conversation and makes all well again."""
    (data_dir / "catalog.db").write_bytes(b"this is no database" * 1000)
    (data_dir / "catalog.db-wal").unlink(missing_ok=True)
    failed = failures(lutrin("doctor", "--json", data_dir=data_dir))
    assert set(failed) == {"catalogue"}
    remedy = failed["catalogue"]["remedy"]
    assert remedy == f"Delete {data_dir / 'catalog.db'} and run `lutrin ingest`; conversations stay."
    (data_dir / "catalog.db").unlink()
    assert lutrin("ingest", library_book, data_dir=data_dir).code == 0
    assert failures(lutrin("doctor", "--json", data_dir=data_dir)) == {}


def wrong(key: Path) -> None:
    """Another key than the one that the conversations were encrypted with."""
    key.write_text("ab" * 32 + "\n", "utf-8")


def garbled(key: Path) -> None:
    """Something that is no key."""
    key.write_text("not a key", "utf-8")


def open_to_all(key: Path) -> None:
    """A file that everybody may read."""
    key.chmod(0o644)


@pytest.fixture(scope="module")
def chatted(
    library_copy: Path, models_dir: Path, empty_folder: Path, warm: Warm, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A data folder with a conversation in it."""
    servers = Servers(models_dir, empty_folder, tmp_path_factory.mktemp("chatted"), warm)
    try:
        server = servers(library_copy)
        body = {"session_id": "reader", "message": books.QUESTION}
        server.client.post("/chat", json=body).raise_for_status()
    finally:
        servers.close()
    return library_copy


@pytest.mark.parametrize("fault", [Path.unlink, wrong, garbled, open_to_all])
def test_a_key_that_cannot_be_used(
    lutrin: Lutrin, chatted: Path, tmp_path: Path, fault: Callable[[Path], None]
) -> None:
    """A lost, wrong, garbled or exposed key of the conversations is found, named, and neither replaced nor printed."""
    data = shutil.copytree(chatted, tmp_path / "data")
    key = data / "chat.key"
    before = key.read_text("ascii").strip()
    fault(key)
    done = lutrin("doctor", "--json", data_dir=data)
    failed = failures(done)
    assert set(failed) == {"conversations"} | ({"rights"} if fault is open_to_all else set())
    assert str(data) in failed["conversations"]["detail"]
    assert before not in done.out + done.err
    assert not key.exists() or fault is not Path.unlink


def largest_file(generation: Path, part: str) -> Path:
    """A file of an index: the one whose path names the part, the largest of several."""
    files = [
        path for path in generation.rglob("*") if path.is_file() and part in path.relative_to(generation).as_posix()
    ]
    return max(files, key=lambda path: path.stat().st_size)


def test_json_has_a_remedy_for_each_failure_only(lutrin: Lutrin, tmp_path: Path) -> None:
    """Each check of `--json` has name, verdict, detail and remedy; what is well needs none."""
    checks = json.loads(lutrin("doctor", "--json", data_dir=tmp_path).out)
    assert {frozenset(check) for check in checks} == {frozenset({"name", "ok", "detail", "remedy"})}
    assert all(bool(check["remedy"]) is not check["ok"] for check in checks)
