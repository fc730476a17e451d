"""Everything that a release consists of, in one folder: `python requirements/release.py [FOLDER]` (default dist/).

The wheel (program, manifest, reader, pages), the widget with the licences of what it contains, the bundle for machines
without network, a bill of materials in the form of CycloneDX, licences, and SHA256SUMS of all of it. The folder must be
empty or absent.
"""

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".venv-release"
WIDGET = ROOT / "src" / "lutrin" / "serve" / "static" / "widget" / "lutrin.js"
SUMS = "SHA256SUMS"
_BLOCK = 1 << 20


def stop(message: str) -> None:
    """End with one sentence."""
    sys.exit(f"release: {message}")


def run(*command: str | Path) -> None:
    """Run one step; what fails ends the release with what failed."""
    if subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode != 0:
        stop(f"{Path(command[0]).name} failed; nothing of {' '.join(map(str, command[1:3]))} is in the release.")


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def checksums(folder: Path) -> str:
    """What `sha256sum --check` reads: a line for each file of a folder but this one, by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    return "".join(f"{digest(path)}  {path.name}\n" for path in files)


def bill(folder: Path) -> None:
    """Write the bill of materials of what running Lutrin installs."""
    python = TOOLS / "bin" / "python"
    if not python.exists():
        venv.create(TOOLS, with_pip=False)
    needed = ROOT / "requirements" / "release.txt"
    run("uv", "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", needed)
    inventory: list[str | Path] = [python, "-m", "cyclonedx_py", "requirements", "requirements/runtime.txt"]
    run(*inventory, "--pyproject", "pyproject.toml", "--output-format", "JSON", "-o", folder / "lutrin.cdx.json")


def widget(folder: Path) -> None:
    """Write the widget below the licences of what it contains, which its build has put beside it."""
    licences = WIDGET.with_name(f"{WIDGET.name}.LICENSE.txt").read_text(encoding="utf-8").replace("*/", "* /")
    script = WIDGET.read_text(encoding="utf-8").partition("\n")[2]  # without the line that names the file beside it
    (folder / "lutrin-widget.js").write_text(f"/*!\n{licences}*/\n{script}", encoding="utf-8")


def main() -> None:
    """Make all parts, then the sums."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    if folder.exists() and any(folder.iterdir()):
        stop(f"{folder} is not empty; move what is in it, or name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    run("uv", "build", "--quiet", "--wheel", "--out-dir", folder)
    (folder / ".gitignore").unlink(missing_ok=True)
    run(Path(sys.executable).with_name("lutrin"), "bundle", folder / "lutrin-bundle.tar")
    widget(folder)
    for name in ("LICENSE", "THIRD_PARTY.md"):
        shutil.copy2(ROOT / name, folder / name)
    bill(folder)
    (folder / SUMS).write_text(checksums(folder), encoding="utf-8")
    print(f"release: {', '.join(sorted(path.name for path in folder.iterdir()))} in {folder}")


if __name__ == "__main__":
    main()
