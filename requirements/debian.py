"""Find real programs that tests drive, or install Debian's: `python requirements/debian.py chromium caddy`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSER = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
LETTERS = Path("/usr/share/fonts/opentype/urw-base35/P052-Roman.otf")


def has_chromium() -> bool:
    """Whether the browser is there."""
    return BROWSER.exists()


def has_letters() -> bool:
    """Whether a book's typeface is there, as most readers' machines have one; the bare image has a typewriter's."""
    return LETTERS.exists()


def has_buildah() -> bool:
    """Whether images can be built."""
    return shutil.which("buildah") is not None


def has_debootstrap() -> bool:
    """Whether a base of Debian's packages can be made."""
    return shutil.which("debootstrap") is not None


def has_caddy() -> bool:
    """Whether the proxy is there."""
    return shutil.which("caddy") is not None


PROGRAMS = {
    "buildah": (has_buildah, "There is no buildah on the path"),
    "debootstrap": (has_debootstrap, "There is no debootstrap on the path"),
    "chromium": (has_chromium, f"There is no browser at {BROWSER}; name yours in CHROMIUM"),
    "caddy": (has_caddy, "There is no caddy on the path"),
    "fonts-urw-base35": (has_letters, "There is no Palatino among the fonts; pictures will show another typeface"),
}

TESTED = ["chromium", "caddy", "fonts-urw-base35"]


def install(packages: list[str]) -> None:
    """Install Debian's packages if this is Debian and this user may."""
    apt_get = shutil.which("apt-get")
    if not packages or apt_get is None or os.geteuid() != 0:
        return
    print(f"tests: installing Debian's {' and '.join(packages)}", flush=True)
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        subprocess.run([apt_get, *command], check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def main() -> None:
    """Install what is missing if that can be done; else say what to do and exit with 1."""
    wanted = sys.argv[1:] or TESTED
    install([name for name in wanted if not PROGRAMS[name][0]()])
    missing = [f"{PROGRAMS[name][1]}; or: apt-get install {name}" for name in wanted if not PROGRAMS[name][0]()]
    if missing:
        sys.exit("\n".join(missing))


if __name__ == "__main__":
    main()
