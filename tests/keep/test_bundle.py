"""A bundle installs a whole Lutrin into an empty folder of a machine that has no network."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from lutrin import __version__
from lutrin.index.catalog import Catalog
from lutrin.index.shelf import Shelf
from lutrin.ingest.discover import find_books
from lutrin.keep.bundle import INSTRUCTIONS, machine, oldest_python
from lutrin.keep.bundle_install import processor_flags
from lutrin.serve.library import ShelfLibrary
from lutrin.settings import load_settings

ROOT = Path(__file__).parents[2]
LUTRIN = Path(sys.executable).with_name("lutrin")
NO_NETWORK = ("unshare", "--map-root-user", "--net")
"""A network of its own without any interface, where the kernel lets us make one."""
FOLDER = f"lutrin-{__version__}"
MOON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3"/></svg>'


def run(command: Sequence[str | Path], cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A command in a bare environment, without a network where that can be had."""
    able = shutil.which(NO_NETWORK[0]) and subprocess.run([*NO_NETWORK, "true"], check=False, capture_output=True)
    prefix = NO_NETWORK if able and able.returncode == 0 else ()
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd / "home"), "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    return subprocess.run(
        [*prefix, *command],
        cwd=cwd,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of a book of one page, unpacked; without a language model, to be small."""
    place = tmp_path_factory.mktemp("bundle")
    (place / "corpus").mkdir()
    page = "# Tides\n\nThe moon pulls the sea, and the sea rises.\n\n![The moon](img/moon.svg)\n"
    (place / "corpus" / "tides.md").write_text(page)
    (place / "corpus" / "img").mkdir()
    (place / "corpus" / "img" / "moon.svg").write_text(MOON)
    (place / "corpus" / "_toc.yml").write_text("root: tides\n")
    (place / "corpus" / "companion.jsonl").write_text("")
    (place / "corpus" / "notes.csv").write_text("The operator's own.")
    variables = {
        "LUTRIN_DATA_DIR": str(place / "data"),
        "LUTRIN_MODELS_DIR": str(ROOT / "models"),
        "LUTRIN_MODEL": "none",
    }
    for command, argument in (("ingest", place / "corpus"), ("bundle", place / "bundle.tar")):
        done = run([LUTRIN, command, argument], ROOT, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(["tar", "-xf", place / "bundle.tar"], place)
    assert done.returncode == 0, done.stderr
    (place / "bundle.tar").unlink()
    return place / FOLDER


@pytest.mark.model
@pytest.mark.slow("everything is installed anew from the bundle")
def test_a_bundle_installs_and_answers_without_a_network(unpacked: Path, tmp_path: Path) -> None:
    """The installer checks, installs and examines; then the book answers, from the new folder alone."""
    done = run([sys.executable, unpacked / "install.py", tmp_path / "lutrin"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    asked = run(
        [tmp_path / "lutrin" / ".venv" / "bin" / "lutrin", "ask", "What pulls the sea?", "--json"], tmp_path / "lutrin"
    )
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert "The moon pulls the sea" in answer["answer"]
    assert answer["kind"] == "extractive"


@pytest.mark.model
def test_the_pictures_and_the_companion_of_a_book_come_along(unpacked: Path, tmp_path: Path) -> None:
    """Served from the new folder, where the book's own folder is gone, its page still shows its picture."""
    home = tmp_path / "home"
    shutil.copytree(unpacked / "home", home)
    book = home / "corpus" / "corpus"
    brought = ["_toc.yml", "book.toml", "companion.jsonl", "img", "moon.svg", "tides.md"]
    assert sorted(path.name for path in book.rglob("*")) == brought
    settings = load_settings(data_dir=home / "data", corpus_dir=home / "corpus")
    with Catalog(settings.catalog_path) as catalog:
        published = catalog.books()[0]

    class Elsewhere(Shelf):
        """The shelf of another machine: where its books lay there is nothing here."""

        def __init__(self) -> None:
            pass

        def corpus(self, slug: str) -> Path:
            return Path("/nowhere") / slug

        def root(self, slug: str) -> Path:
            return Path("/nowhere") / slug

    library = ShelfLibrary(Elsewhere(), settings.corpus_dir)
    slug = published.info.slug
    (name,) = asyncio.run(library.find_pictures(slug, "tides.md", ["img/moon.svg"]))
    assert asyncio.run(library.picture(slug, name)).decode() == MOON
    assert find_books(book)[0].info == published.info


@pytest.mark.model
def test_a_bundle_holds_no_secret(unpacked: Path) -> None:
    """No key, no conversation, no setting of the machine that made it."""
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert not {name for name in names if "chat" in Path(name).name and name.startswith("home/data")}
    assert (unpacked / "home" / ".env").read_text() == "LUTRIN_MODEL=none\n"


@pytest.mark.model
def test_the_container_can_be_built_from_a_bundle(unpacked: Path) -> None:
    """All that the container and its compose file take from the checkout is there, licences of what is inside too."""
    home = unpacked / "home"
    steps = re.sub(r"\\\n\s*", "", (home / "Containerfile").read_text("utf-8")).splitlines()
    copied = {
        name for step in steps if step.startswith("COPY ") and "--from" not in step for name in step.split()[1:-1]
    }
    services = yaml.safe_load((home / "compose.yaml").read_text("utf-8"))["services"].values()
    mounted = {mount.split(":")[0] for service in services for mount in service.get("volumes", [])}
    wanted = copied | {name for name in mounted if name.startswith("./")} | {".dockerignore", "THIRD_PARTY.md"}
    assert {name for name in wanted if not (home / name).exists()} == set()


def test_the_oldest_python_is_that_of_every_package() -> None:
    """Where one package needs a later release of this Python, the installer says so before it copies anything."""
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert oldest_python(["", ">=3.8", f">={this}"]) == f"{this}.0"
    assert oldest_python([f">={this}.5", f"!=3.9.1,>= {this}.2"]) == f"{this}.5"


def test_an_engine_for_all_processors_asks_for_none(tmp_path: Path) -> None:
    """Its wheel holds parts for each; one that was compiled here needs what this processor has."""
    both = [tmp_path / f"llama_cpp_python-0.3.36-{kind}.whl" for kind in ("one", "all")]
    for wheel, name in zip(both, ("libggml-cpu.so", "libggml-cpu-haswell.so"), strict=True):
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"llama_cpp/lib/{name}", "")
    here = INSTRUCTIONS & set(processor_flags())
    assert [set(machine([wheel])["instructions"].split()) for wheel in both] == [here, set()]
    assert machine([])["instructions"] == ""


@pytest.mark.model
def test_a_damaged_bundle_installs_nothing(unpacked: Path, tmp_path: Path) -> None:
    """One changed byte, and the file is named; the folder is not even made."""
    damaged = unpacked / "home" / "README.md"
    original = damaged.read_bytes()
    damaged.write_bytes(b"X" + original[1:])
    done = run([sys.executable, unpacked / "install.py", tmp_path / "lutrin"], tmp_path)
    damaged.write_bytes(original)
    assert done.returncode == 1
    assert done.stderr.startswith("install: home/README.md is damaged")
    assert not (tmp_path / "lutrin").exists()


@pytest.mark.model
@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("python", "2.7", "This bundle is for Python 2.7"),
        ("oldest", "3.99.5", "This bundle needs Python 3.99.5 or newer"),
        ("platform", "plan9-mips", "This bundle is for plan9-mips"),
        ("libc", "glibc-99.1", "This bundle needs glibc 99.1 or newer"),
        ("instructions", "avx2 warp9", "The engine needs a processor with warp9"),
    ],
)
def test_another_machine_is_told_so(unpacked: Path, tmp_path: Path, part: str, value: str, sentence: str) -> None:
    """Compiled parts that cannot run are not installed."""
    file = unpacked / "machine.json"
    original = file.read_text()
    file.write_text(json.dumps(json.loads(original) | {part: value}))
    done = run([sys.executable, unpacked / "install.py", tmp_path / "lutrin"], tmp_path)
    file.write_text(original)
    assert (done.returncode, done.stderr.startswith(f"install: {sentence}")) == (1, True), done.stderr
    assert not (tmp_path / "lutrin").exists()
