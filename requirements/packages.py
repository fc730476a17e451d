"""Install the packages of an npm folder, once: `python requirements/packages.py web|web/site`.

Where Node.js is missing and this user may, Debian's is installed. npm leaves a copy of the lock file's contents in
node_modules; a stamp beside it keeps the hash of what was installed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    ["apt-get", "update", "-qq"],
    ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "nodejs", "npm"],
)
ROOT = Path(__file__).resolve().parents[1]
OLDEST = (20, 19)


def stop(message: str) -> None:
    """End with one sentence."""
    sys.exit(f"web: {message}")


def node_version() -> tuple[int, int]:
    """Major and minor version of Node.js; zeros if there is none."""
    if not shutil.which("node") or not shutil.which("npm"):
        return (0, 0)
    printed = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S607 - found on the path above
    found = re.match(r"v(\d+)\.(\d+)", printed)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def main() -> None:
    """Run `npm ci` in the folder unless its packages are what the lock file says."""
    folder = ROOT / sys.argv[1]
    if node_version() == (0, 0) and shutil.which("apt-get") and os.geteuid() == 0:
        print("web: installing Debian's Node.js")
        for command in COMMANDS:
            subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if node_version() < OLDEST:
        stop("Node.js 20.19 or newer with npm is needed to build the pages; install it and run this again.")
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "node_modules" / ".lutrin-packages"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    command = ["npm", "ci", "--no-audit", "--no-fund"]
    if subprocess.run(command, cwd=folder, check=False).returncode != 0:
        stop("The packages above could not be installed; check the network and the message, then run this again.")
    stamp.write_text(wanted)


if __name__ == "__main__":
    main()
