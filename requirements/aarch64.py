"""Ask the resolver whether Lutrin's packages have wheels for aarch64: `python requirements/aarch64.py`.

Everything but the engine, which is compiled on the machine, has to come as a wheel for a small board, in the versions
of the requirement file. Needs the package registry; nothing is installed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENGINE = "llama-cpp-python"
PLATFORM = "aarch64-manylinux_2_28"
PYTHONS = ("3.11", "3.12", "3.13")
PIN = re.compile(r"^([A-Za-z0-9._-]+==[^\s\\]+(?: ; [^\\\n]+)?)", re.MULTILINE)


def main() -> None:
    """One line for each version of Python; exit 1 if a package has no wheel."""
    pins = [pin for pin in PIN.findall((ROOT / "requirements" / "runtime.txt").read_text("utf-8")) if ENGINE not in pin]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "pins.txt")
        wanted.write_text("\n".join(pins) + "\n", "utf-8")
        for python in PYTHONS:
            command = [
                "uv",
                "pip",
                "compile",
                "--quiet",
                "--no-header",
                "--no-annotate",
                "--only-binary",
                ":all:",
                "--no-deps",
            ]
            command += ["--python-platform", PLATFORM, "--python-version", python, str(wanted)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            failed |= done.returncode != 0
            said = f"{done.stdout.count('==')} packages have wheels" if done.returncode == 0 else done.stderr.strip()
            print(f"{PLATFORM}, Python {python}: {said}")
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
