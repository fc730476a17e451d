"""Find the browser that the tests drive, or install Debian's: `python requirements/chromium.py`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PLACE = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
COMMANDS = (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])


def main() -> None:
    """Install Chromium if it is missing and this user may; else say what to do."""
    if PLACE.exists():
        return
    if "CHROMIUM" not in os.environ and shutil.which("apt-get") and os.geteuid() == 0:
        print("e2e: installing Debian's chromium")
        for command in COMMANDS:
            subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if not PLACE.exists():
        sys.exit(
            f"e2e: There is no browser at {PLACE}; install one (apt-get install chromium) or name yours in CHROMIUM."
        )


if __name__ == "__main__":
    main()
