"""Compile the engine as one wheel for all processors of an architecture: `python requirements/engine_wheel.py`.

llama.cpp is built with a part for each kind of processor (`libggml-cpu-NAME.so`), of which the best that fits is loaded
when a model is; everything else is compiled for the oldest one. So the wheel, and a bundle or an image that holds it,
travels between machines of one architecture and C library. The sources are those that requirements/runtime.txt pins by
their hash. Twice to three times the work of a build for one processor; a run that was stopped goes on where it was.

`--arch aarch64` compiles for the boards with ARM on a machine of another architecture. Their newest parts need a
compiler that knows SME: GCC 14, which Debian 13 has (apt-get install g++-aarch64-linux-gnu cmake ninja-build).

Prints what to write into `LUTRIN_ENGINE`.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from install import BUILD, ENGINE, HEADER, PINNED, ROOT, stop

FLAGS = (
    "-DGGML_NATIVE=OFF",
    "-DGGML_BACKEND_DL=ON",
    "-DGGML_CPU_ALL_VARIANTS=ON",
    # The parts lie beside the library, which looks for what it needs in its own folder.
    "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_RPATH=$ORIGIN",
)
"""What CMake is told; `GGML_*` are options of llama.cpp's own build."""
ARM = "aarch64"
CROSS = BUILD.with_name(f"engine.{ARM}.cmake")
"""What CMake is told where the compiler is that of another architecture."""
NEWEST = {ARM: "-march=armv9.2-a+sme"}
"""What the compiler has to know, by architecture: llama.cpp has a part for it, and leaves none out."""


def pip(*arguments: str, environment: "dict[str, str] | None" = None) -> None:
    """Run pip, or end with one sentence."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, check=False, env=environment).returncode != 0:
        stop("The engine could not be built; see the message above, then run this again: it goes on where it stopped.")


def sources(work: Path) -> Path:
    """The engine's sources as the requirement file pins them, unpacked in the folder of the build."""
    found = PINNED.search((ROOT / "requirements" / "runtime.txt").read_text("utf-8"))
    if found is None:
        stop(f"requirements/runtime.txt does not name {ENGINE}.")
    folder = work / f"{ENGINE.replace('-', '_')}-{found[1]}"
    if not folder.exists():
        wanted = work / "engine.txt"
        wanted.write_text(found[0], "utf-8")
        pip("download", "--no-deps", "--no-binary", ENGINE, "--require-hashes", "-r", str(wanted), "-d", str(work))
        unfinished = work / "unpacked"
        shutil.rmtree(unfinished, ignore_errors=True)
        with tarfile.open(work / f"{folder.name}.tar.gz") as archive:
            archive.extractall(unfinished, filter="data")
        (unfinished / folder.name).rename(folder)
    return folder


def check_compiler(arch: str) -> None:
    """End with one sentence where no compiler here can make all parts of the engine."""
    crosses = arch != platform.machine()
    names = (f"{arch}-linux-gnu-g++",) if crosses else ("c++", "g++", "clang++")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        package = f"g++-{arch}-linux-gnu" if crosses else "g++"
        stop(f"A C/C++ compiler is needed to build the engine; install one (Debian: apt-get install {package}).")
    # pip would bring those of the other architecture.
    if crosses and not all(map(shutil.which, ("cmake", "ninja"))):
        stop("To compile for another architecture, cmake and ninja are needed (apt-get install cmake ninja-build).")
    if arch in NEWEST:
        command = [found, NEWEST[arch], "-x", "c++", "-E", "-o", os.devnull, os.devnull]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            stop(
                f"{found} does not know {NEWEST[arch]}, which the newest part is compiled for; GCC 14 does (Debian 13)."
            )


def build(work: Path, target: Path, jobs: int, arch: str) -> Path:
    """Compile, and put the wheel into `target`.

    Args:
        work: Folder of the build, which stays for the next time.
        target: Gets the wheel.
        jobs: Compilers at once.
        arch: Architecture, as `uname -m` says it; for another one than this machine's only aarch64.
    """
    work.mkdir(parents=True, exist_ok=True)
    for file in (BUILD, HEADER, CROSS):
        copy = work / file.name
        if not copy.exists() or copy.read_bytes() != file.read_bytes():
            shutil.copyfile(file, copy)
    given = os.environ.get("CMAKE_ARGS", "")
    environment = os.environ | {
        "CMAKE_ARGS": " ".join([*FLAGS, given]).strip(),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs),
    }
    folder = work / "build"
    if arch != platform.machine():
        folder = work / f"build-{arch}"
        # Names the wheel.
        environment |= {"_PYTHON_HOST_PLATFORM": f"linux-{arch}", "CMAKE_TOOLCHAIN_FILE": str(work / CROSS.name)}
    elif sys.platform == "linux":
        environment.setdefault("CMAKE_TOOLCHAIN_FILE", str(work / BUILD.name))
    done = work / "wheels"
    shutil.rmtree(done, ignore_errors=True)
    place = ["-C", f"build-dir={folder}", "-w", str(done)]
    pip("wheel", "--no-deps", "-v", str(sources(work)), *place, environment=environment)
    (wheel,) = done.glob("*.whl")
    target.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(wheel, target / wheel.name))


def needed_library(wheel: Path) -> str:
    """The oldest GNU C library that all of a wheel's libraries load with; empty if none of them names one."""
    with zipfile.ZipFile(wheel) as archive:
        libraries = [archive.read(name) for name in archive.namelist() if ".so" in name]
    versions = {int(found) for library in libraries for found in re.findall(rb"GLIBC_2\.(\d+)\0", library)}
    return f"2.{max(versions)}" if versions else ""


def main() -> None:
    """Build and print the choice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / ".engine", help="folder of the build, kept")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="folder that gets the wheel")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once")
    here = platform.machine()
    parser.add_argument("--arch", default=here, choices=sorted({here, ARM}), help="whose processors (%(default)s)")
    options = parser.parse_args()
    check_compiler(options.arch)
    wheel = build(options.work.resolve(), options.into.resolve(), options.jobs, options.arch)
    if version := needed_library(wheel):
        print(f"It runs where the GNU C library is {version} or newer.", file=sys.stderr)
    print(f"LUTRIN_ENGINE={wheel}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
