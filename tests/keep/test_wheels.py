"""An installed package becomes the wheel that it was."""

import base64
import csv
import hashlib
import shutil
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import lutrin
from lutrin.errors import ArchiveError
from lutrin.keep import bundle


@pytest.fixture
def greenlet(tmp_path: Path) -> Path:
    """A copy of an installed package with machine code and a header file outside of the packages' folder."""
    package = bundle.installed_packages()["greenlet"]
    for item in package.files or []:
        parts = [part for part in item.parts if part != ".."]
        target = (
            tmp_path.joinpath("lib", "python", "site", *parts) if ".." not in item.parts else tmp_path.joinpath(*parts)
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source := Path(str(item.locate()))).exists():
            shutil.copy2(source, target)
    return tmp_path / "lib" / "python" / "site"


def distribution(site: Path) -> metadata.Distribution:
    """The only package of a folder."""
    (found,) = metadata.distributions(path=[str(site)])
    return found


def test_a_wheel_holds_what_its_record_says(greenlet: Path, tmp_path: Path) -> None:
    """Every file but RECORD is in it with its SHA-256; the header went back to its place."""
    path = bundle.write_wheel(distribution(greenlet), tmp_path)
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        (record,) = (name for name in names if name.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert {row[0] for row in rows} == names
        for name, digest, _ in rows:
            if name != record:
                found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={found}", name
    assert any(name.endswith(".data/headers/greenlet.h") for name in names)
    assert not any(name.endswith(("INSTALLER", "direct_url.json", ".pyc")) or name.startswith("..") for name in names)


def test_a_wheel_is_named_after_its_tags(greenlet: Path, tmp_path: Path) -> None:
    """What may be installed where is what the original said."""
    package = distribution(greenlet)
    name = bundle.write_wheel(package, tmp_path).name
    assert name.startswith(f"greenlet-{package.version}-cp")
    assert name.endswith(".whl")


def test_the_same_package_gives_the_same_bytes(greenlet: Path, tmp_path: Path) -> None:
    """No time of day is in a wheel."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (bundle.write_wheel(distribution(greenlet), tmp_path / name) for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_changed_package_is_refused(greenlet: Path, tmp_path: Path) -> None:
    """A package that was edited after its installation is not copied."""
    with (greenlet / "greenlet" / "__init__.py").open("a") as file:
        file.write("# changed\n")
    with pytest.raises(ArchiveError, match=r"__init__\.py has changed since"):
        bundle.write_wheel(distribution(greenlet), tmp_path)


def test_a_missing_file_is_named(greenlet: Path, tmp_path: Path) -> None:
    """The message says which one."""
    (greenlet / "greenlet" / "__init__.py").unlink()
    with pytest.raises(ArchiveError, match=r"__init__\.py cannot be read"):
        bundle.write_wheel(distribution(greenlet), tmp_path)


def test_lutrin_itself_is_made_from_its_source(tmp_path: Path) -> None:
    """Whether it is installed as a link or not, its wheel holds every module and the command."""
    source = Path(lutrin.__file__).parent
    path = bundle.write_wheel(bundle.installed_packages()["lutrin"], tmp_path, source=source)
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        assert wheel.read("lutrin/cli/main.py") == (source / "cli" / "main.py").read_bytes()
        (entry,) = (name for name in names if name.endswith("entry_points.txt"))
        assert b"lutrin = lutrin.cli.main:main" in wheel.read(entry)
    assert "lutrin/serve/static/widget/lutrin.js" in names
    assert not any(name.endswith(".pth") for name in names)


def test_a_requirement_file_may_pin_two_versions() -> None:
    """Which one is installed depends on Python's version."""
    text = "numpy==2.4 ; python_full_version < '3.12' \\\n    --hash=sha256:0\nnumpy==2.5\nllama-cpp-python==0.3 \\\n"
    assert bundle.pins(text) == {"numpy": {"2.4", "2.5"}, "llama_cpp_python": {"0.3"}}
