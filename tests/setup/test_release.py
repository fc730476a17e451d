"""What a release is made of, as far as no network is needed for it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "requirements" / "release.py"


def test_checksums_are_those_that_sha256sum_finds(tmp_path: Path) -> None:
    """Every file of the folder is in the list, and `sha256sum --check` agrees with it."""
    for name in ("lutrin.whl", "lutrin.cdx.json"):
        (tmp_path / name).write_text(name)
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import release, pathlib; "
    code += f"f = pathlib.Path({str(tmp_path)!r}); (f / release.SUMS).write_text(release.checksums(f))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    check = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert check.stdout == "lutrin.cdx.json: OK\nlutrin.whl: OK\n"


def test_a_release_overwrites_nothing(tmp_path: Path) -> None:
    """A folder that holds something is named, and what it holds stays."""
    (tmp_path / "mine").write_text("kept")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.strip() == f"release: {tmp_path} is not empty; move what is in it, or name another folder."
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_widget_carries_the_licences_of_what_is_in_it(tmp_path: Path) -> None:
    """Each package's text once; one that is not installed ends the release with its name."""
    (tmp_path / "@lit" / "element").mkdir(parents=True)
    (tmp_path / "@lit" / "element" / "LICENSE").write_text("Copyright somebody\n")
    code = f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); import release, pathlib; "
    code += f"print(release.notices(sys.argv[1:], [pathlib.Path({str(tmp_path)!r})]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "@lit/element", "@types/it"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "@lit/element\n\nCopyright somebody\n\n"
    missing = subprocess.run(
        [sys.executable, "-c", code, "absent"], capture_output=True, text=True, check=False, timeout=60
    )
    assert "absent is not in web/, so its licence is missing" in missing.stderr
