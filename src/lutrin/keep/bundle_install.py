"""Install Lutrin from this folder, without a network: `python3 install.py FOLDER`.

It checks the SHA-256 of every file first, then fills FOLDER with Lutrin, its models, books and index, and makes an
environment in FOLDER/.venv. Books, index and settings that are already in FOLDER stay as they are. It needs only the
standard library; `lutrin bundle` puts this file into each bundle as install.py.
"""

import argparse
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT = (".env", "data", "corpus")
"""Files that belong to the operator and are never replaced."""
INSTRUCTIONS = (
    "avx", "avx2", "f16c", "fma", "bmi2", "avx_vnni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd",
    "avx512_vnni", "avx512_vbmi", "avx512_bf16", "amx_tile", "amx_int8", "asimddp", "i8mm", "sve",
)  # fmt: skip
"""Instructions that the engine may use if the processor of the bundle's maker has them (names of /proc/cpuinfo)."""


def processor_flags() -> list[str]:
    """Return the instructions of this processor; none where /proc/cpuinfo does not list them."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    flags = [line.partition(":")[2].split() for line in lines if line.split(":")[0].strip() in {"flags", "Features"}]
    return flags[0] if flags else []


def stop(message: str) -> None:
    """Exit with one sentence."""
    sys.exit(f"install: {message}")


def say(message: str) -> None:
    """Print the progress."""
    sys.stdout.write(message + "\n")
    sys.stdout.flush()


def check_machine(target: "dict[str, str]") -> None:
    """Stop if the compiled parts cannot run here."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if python != target["python"]:
        stop(f"This bundle is for Python {target['python']}, this is {python}; run it with python{target['python']}.")
    if _numbers(platform.python_version()) < _numbers(target["oldest"]):
        stop(
            f"This bundle needs Python {target['oldest']} or newer, this is {platform.python_version()}; make one with "
            "this Python, for which there are other versions of some packages."
        )
    if sysconfig.get_platform() != target["platform"]:
        stop(
            f"This bundle is for {target['platform']}, not {sysconfig.get_platform()}; make one on a machine like this."
        )
    name, _, version = target["libc"].partition("-")
    here = platform.libc_ver()
    if here[0] != name or _numbers(here[1]) < _numbers(version):
        stop(
            f"This bundle needs {name} {version} or newer, this machine has {' '.join(here).strip() or 'another one'}."
        )
    if missing := set(target["instructions"].split()) - set(processor_flags()):
        stop(f"The engine needs a processor with {', '.join(sorted(missing))}; make the bundle on a machine like this.")


def check_files() -> None:
    """Stop unless every file has its packed hash."""
    hashes = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))["hashes"]
    for name, digest in hashes.items():
        path = HERE / name
        if not path.is_file():
            stop(f"{name} is missing; unpack the bundle again.")
        hasher = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                hasher.update(block)
        if hasher.hexdigest() != digest:
            stop(f"{name} is damaged: its SHA-256 is not the one in manifest.json; copy the bundle again.")
    say(f"{len(hashes)} files match their SHA-256.")


def lay_out(target: Path) -> None:
    """Copy everything except the packages; keep the operator's files."""
    for item in sorted((HERE / "home").iterdir()):
        place = target / item.name
        if item.name in KEPT and place.exists():
            say(f"{place} is there already and stays as it is.")
        elif item.is_dir():
            shutil.copytree(item, place, dirs_exist_ok=True)
            if item.name == "data":
                close_to_others(place)
        else:
            shutil.copy2(item, place)


def close_to_others(folder: Path) -> None:
    """Deny other users of this machine access to the data, as `lutrin.platform` does when Lutrin creates them."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o027)


def install_packages(target: Path) -> None:
    """Make the environment and install the wheels into it."""
    home = target / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(home)], check=True)  # noqa: S603 - this Python, a folder named by the operator
    python = home / "bin" / "python"
    pip = next(iter(sorted((HERE / "wheels").glob("pip-*.whl"))), None)
    if pip is None:
        subprocess.run([str(python), "-m", "ensurepip"], check=True)  # noqa: S603 - made above
    command = [str(python), f"{pip}/pip" if pip is not None else "-m", *([] if pip is not None else ["pip"])]
    command += ["--isolated", "--disable-pip-version-check", "install", "--no-index", "--no-cache-dir", "--quiet"]
    command += ["--find-links", str(HERE / "wheels"), "--require-hashes", "-r", str(HERE / "requirements.txt")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    done = subprocess.run(command, check=False, env={**environment, "PIP_CONFIG_FILE": os.devnull})  # noqa: S603 - pip, checked
    if done.returncode != 0:
        stop("The packages could not be installed; see the message above.")


def main() -> int:
    """Check, copy, install, then run `lutrin doctor`."""
    parser = argparse.ArgumentParser(description="Install Lutrin from this folder, without a network.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("lutrin"))
    target = parser.parse_args().folder.resolve()
    check_machine(json.loads((HERE / "machine.json").read_text(encoding="utf-8")))
    check_files()
    target.mkdir(parents=True, exist_ok=True)
    lay_out(target)
    install_packages(target)
    lutrin = target / ".venv" / "bin" / "lutrin"
    code = subprocess.run([str(lutrin), "doctor"], cwd=target, check=False).returncode  # noqa: S603 - installed above
    say(f"Start it: cd {shlex.quote(str(target))} && .venv/bin/lutrin serve")
    return code


def _numbers(version: str) -> "list[int]":
    return [int(part) for part in version.split(".") if part.isdigit()]


if __name__ == "__main__":
    sys.exit(main())
