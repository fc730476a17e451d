"""Bring .venv up to a requirement file, once: `python requirements/install.py runtime|remote|load|development`.

Needs the standard library alone. A stamp beside the environment keeps the hash of what was installed, so a second call
returns at once. What is missing (compiler, room on the disk, network) is said in one sentence with the remedy.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED_BYTES = 3 << 30
ENGINE = "llama-cpp-python"
BUILD = ROOT / "requirements" / "engine.cmake"
HEADER = ROOT / "requirements" / "amx_tiles.h"
"""How the engine is compiled, where the standard C and C++ compilers of Linux do it."""
# Each of the files on the right holds all of the file on the left.
LARGER = {"runtime": ("remote", "load"), "remote": ("development",), "load": ("development",)}


def wanted(group: str) -> str:
    """Hash of everything that decides what a group installs."""
    files = (ROOT / "requirements" / f"{group}.txt", ROOT / "pyproject.toml", BUILD, HEADER)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def stamp(group: str) -> Path:
    """The file that remembers what was installed for a group."""
    return Path(sys.prefix) / f".lutrin-{group}"


def is_installed(group: str) -> bool:
    """Whether the group, or one that holds all of it, stands in the environment as it is wanted."""
    larger = LARGER.get(group, ())
    return (stamp(group).exists() and stamp(group).read_text() == wanted(group)) or any(map(is_installed, larger))


def stop(message: str) -> None:
    """End with one sentence."""
    sys.exit(f"setup: {message}")


def check_machine() -> None:
    """Say what is missing before minutes are spent."""
    compilers = ("c++", "g++", "clang++")
    if not any(shutil.which(name) for name in compilers):
        stop("A C/C++ compiler is needed to build the engine; install one (Debian: apt-get install g++).")
    if (free := shutil.disk_usage(ROOT).free) < NEEDED_BYTES:
        stop(f"{NEEDED_BYTES >> 20} MB of free space are needed, there are {free >> 20}; free some and try again.")


def engine() -> str:
    """What decides how the engine is compiled."""
    return hashlib.sha256(BUILD.read_bytes() + b"\0" + HEADER.read_bytes()).hexdigest()[:16]


def main() -> None:
    """Install one group of requirements and Lutrin itself."""
    group = sys.argv[1]
    if is_installed(group):
        return
    check_machine()
    print(f"setup: installing {group} (the language model's engine compiles once, about 4 minutes on two cores)")
    options, environment, built = [], os.environ.copy(), stamp("engine")
    if sys.platform == "linux":
        environment.setdefault("CMAKE_TOOLCHAIN_FILE", str(BUILD))
        # CMake has no use for this; uv keeps what it compiled apart by it.
        options = ["--config-settings-package", f"{ENGINE}:cmake.define.LUTRIN_ENGINE={engine()}"]
        if not built.exists() or built.read_text() != engine():
            options += ["--reinstall-package", ENGINE]
    requirements = [*options, "--require-hashes", "-r", str(ROOT / "requirements" / f"{group}.txt")]
    for arguments in (requirements, ["--no-deps", "-e", str(ROOT)]):
        command = ["uv", "pip", "install", "--python", sys.executable, *arguments]
        if subprocess.run(command, env=environment, check=False).returncode != 0:
            stop("The packages above could not be installed; check the network and the message, then run this again.")
    built.write_text(engine())
    stamp(group).write_text(wanted(group))


if __name__ == "__main__":
    main()
