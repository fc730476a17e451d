"""Bring .venv up to a requirement file, once: `python requirements/install.py runtime|remote|load|development`.

`--dry-run` behind it prints what would be run, with what CMake is told, and changes nothing.

Needs the standard library alone. A stamp beside the environment keeps the hash of what was installed, so a second call
returns at once. What is missing (compiler, room on the disk, network) is said in one sentence with the remedy.

`LUTRIN_ENGINE` chooses the language model's engine, and holds until another one is chosen: `none`, `cpu` (compiled for
this processor), `cuda`, `vulkan` or `metal` (compiled for a graphics processor, whose tools have to be here),
or a wheel, `PATH#sha256=HEX` or `https://...whl#sha256=HEX`, which needs no compiler (`just engine-wheel` makes one).
Where nothing is chosen, running Lutrin gets none unless `LUTRIN_MODEL` names a model: with `auto`, the default, the
server has it compiled while it answers. Everything else gets `cpu`.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
NEEDED_BYTES = 3 << 30
ENGINE = "llama-cpp-python"
BUILD = ROOT / "requirements" / "engine.cmake"
HEADER = ROOT / "requirements" / "engine.h"
"""How the engine is compiled, where the standard C and C++ compilers of Linux do it."""
NONE = "none"
AUTO = "auto"
SERVING = ("runtime", "remote")
"""What running Lutrin needs, as against testing it."""
ENV_FILE = ROOT / ".env"
FLAGS = {"cpu": "", "cuda": "-DGGML_CUDA=ON", "vulkan": "-DGGML_VULKAN=ON", "metal": "-DGGML_METAL=ON"}
"""What CMake is told beside that, by the choice of the engine."""
TOOLS = {"cuda": ("nvcc", "NVIDIA's CUDA toolkit"), "vulkan": ("glslc", "Vulkan's headers and glslc")}
"""A program without which a choice cannot be compiled, and what brings it."""
PINNED = re.compile(rf"^{ENGINE}==(\S+)(?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)
"""Its lines in a requirement file."""
WHEEL = re.compile(r"(?:.*/)?llama_cpp_python-(?P<version>[^-/]+)-[^/]+\.whl#sha256=(?P<digest>[0-9a-f]{64})")
# Each of the files on the right holds all of the file on the left.
LARGER = {"runtime": ("remote", "load"), "remote": ("development",), "load": ("development",)}


def wanted(group: str, choice: str) -> str:
    """Hash of everything that decides what a group installs."""
    files = (ROOT / "requirements" / f"{group}.txt", ROOT / "pyproject.toml", BUILD, HEADER)
    return hashlib.sha256(b"\0".join([path.read_bytes() for path in files] + built_by(choice))).hexdigest()


def engine(choice: str) -> str:
    """What decides how the engine is compiled."""
    parts = [BUILD.read_bytes(), HEADER.read_bytes(), *built_by(choice)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def built_by(choice: str) -> list[bytes]:
    """The choice, and what somebody hands to CMake; nothing where neither is out of the ordinary."""
    given = os.environ.get("CMAKE_ARGS", "")
    return [f"{choice} {given}".encode()] if choice != "cpu" or given else []


def chosen(group: str) -> str:
    """The engine that is asked for, now or the last time; ends with a sentence if it is not one."""
    kept = stamp("engine-choice")
    choice = os.environ.get("LUTRIN_ENGINE", "").strip() or (kept.read_text() if kept.exists() else needed(group))
    if choice not in (NONE, *FLAGS) and not WHEEL.fullmatch(choice):
        stop(
            f"LUTRIN_ENGINE={choice} is neither of {NONE}, {', '.join(FLAGS)} nor a wheel with its hash; write "
            "PATH/llama_cpp_python-VERSION-....whl#sha256=HEX, HEX as `sha256sum` prints it."
        )
    return choice


def needed(group: str) -> str:
    """The engine where none was chosen: none if no model is named (`runtime/language_model.py` brings it)."""
    return NONE if group in SERVING and language_model() in {NONE, AUTO} else "cpu"


def language_model() -> str:
    """`LUTRIN_MODEL` as Lutrin will read it: from the environment, or from `.env` beside it."""
    if "LUTRIN_MODEL" in os.environ:
        return os.environ["LUTRIN_MODEL"].strip() or AUTO
    lines = ENV_FILE.read_text("utf-8").splitlines() if ENV_FILE.exists() else []
    found = [line.partition("=")[2] for line in lines if re.match(r"\s*(export\s+)?LUTRIN_MODEL\s*=", line)]
    return found[-1].partition(" #")[0].strip(" \t'\"") if found else AUTO


def stamp(group: str) -> Path:
    """The file that remembers what was installed for a group."""
    return Path(sys.prefix) / f".lutrin-{group}"


def is_installed(group: str, choice: str) -> bool:
    """Whether the group, or one that holds all of it, stands in the environment as it is wanted.

    An engine that nobody asked for does no harm.
    """
    if choice == NONE and is_installed(group, "cpu"):
        return True
    here = stamp(group).exists() and stamp(group).read_text() == wanted(group, choice)
    return here or any(is_installed(larger, choice) for larger in LARGER.get(group, ()))


def stop(message: str) -> NoReturn:
    """End with one sentence."""
    sys.exit(f"setup: {message}")


def check_machine(choice: str) -> None:
    """Say what is missing before minutes are spent."""
    compilers = ("c++", "g++", "clang++")
    if choice in FLAGS and not any(shutil.which(name) for name in compilers):
        stop(
            "A C/C++ compiler is needed to build the engine; install one (Debian: apt-get install g++), or name a "
            "wheel in LUTRIN_ENGINE."
        )
    program, brought_by = TOOLS.get(choice, ("", ""))
    if program and not shutil.which(program):
        stop(f"LUTRIN_ENGINE={choice} needs {brought_by}: {program} is not on the path.")
    if (free := shutil.disk_usage(ROOT).free) < NEEDED_BYTES:
        stop(f"{NEEDED_BYTES >> 20} MB of free space are needed, there are {free >> 20}; free some and try again.")


def with_wheel(requirements: str, choice: str) -> str:
    """A requirement file whose engine is the wheel of the choice, pinned by its hash."""
    found = WHEEL.fullmatch(choice)
    pinned = PINNED.search(requirements)
    if found is None or pinned is None:
        raise ValueError(choice)
    if found["version"] != pinned[1]:
        stop(f"The wheel in LUTRIN_ENGINE is version {found['version']}, Lutrin needs {pinned[1]}.")
    place = choice.partition("#")[0]
    if not urlsplit(place).scheme:
        path = Path(place).expanduser().resolve()
        if not path.is_file():
            stop(f"LUTRIN_ENGINE: there is no file {path}.")
        place = path.as_uri()
    return requirements.replace(pinned[0], f"{ENGINE} @ {place} --hash=sha256:{found['digest']}\n")


def commands(group: str, choice: str, folder: Path) -> tuple[list[list[str]], dict[str, str]]:
    """What is run to install a group, and its environment.

    Args:
        group: Of requirements.
        choice: From `chosen`.
        folder: For a requirement file of its own.
    """
    file, environment, options = ROOT / "requirements" / f"{group}.txt", os.environ.copy(), []
    built = stamp("engine")
    if choice != NONE and (not built.exists() or built.read_text() != engine(choice)):
        options = ["--reinstall-package", ENGINE]
    if choice not in FLAGS:
        text = file.read_text("utf-8")
        text = PINNED.sub("", text) if choice == NONE else with_wheel(text, choice)
        file = folder / file.name
        file.write_text(text, "utf-8")
    else:
        environment["CMAKE_ARGS"] = f"{FLAGS[choice]} {environment.get('CMAKE_ARGS', '')}".strip()
        if sys.platform == "linux":
            environment.setdefault("CMAKE_TOOLCHAIN_FILE", str(BUILD))
        # CMake has no use for this; uv keeps what it compiled apart by it.
        options += ["--config-settings-package", f"{ENGINE}:cmake.define.LUTRIN_ENGINE={engine(choice)}"]
    install = ["uv", "pip", "install", "--python", sys.executable]
    return [
        [*install, *options, "--require-hashes", "-r", str(file)],
        [*install, "--no-deps", "-e", str(ROOT)],
    ], environment


def planned(group: str, choice: str) -> str:
    """What set-up would do, in lines: the choice, what CMake is told, the commands."""
    with tempfile.TemporaryDirectory() as folder:
        to_run, environment = commands(group, choice, Path(folder))
        told = [f"{name}={environment[name]}" for name in ("CMAKE_ARGS", "CMAKE_TOOLCHAIN_FILE") if name in environment]
        state = "installed" if is_installed(group, choice) else "to be installed"
        return "\n".join([f"engine {choice}, {group} {state}", *told, *map(shlex.join, to_run)])


def main() -> None:
    """Install one group of requirements and Lutrin itself."""
    group, *options = sys.argv[1:]
    choice = chosen(group)
    if options == ["--dry-run"]:
        print(planned(group, choice))
        return
    if is_installed(group, choice):
        return
    check_machine(choice)
    how = "compiles once, about 4 minutes on two cores" if choice in FLAGS else "comes as a wheel"
    print(f"setup: installing {group} ({f'the engine {how}' if choice != NONE else 'no engine'})", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        to_run, environment = commands(group, choice, Path(folder))
        for command in to_run:
            if subprocess.run(command, env=environment, check=False).returncode != 0:
                stop("The packages above could not be installed; check network and message, then run this again.")
    if choice != NONE:
        stamp("engine").write_text(engine(choice))
    if choice != NONE or os.environ.get("LUTRIN_ENGINE"):
        stamp("engine-choice").write_text(choice)
    stamp(group).write_text(wanted(group, choice))


if __name__ == "__main__":
    main()
