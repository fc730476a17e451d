"""How this Lutrin was installed, so that a remedy names a command that exists here; for adapters and wiring alike."""

import shlex
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

ABOVE = Path(__file__).parents[2]
"""The checkout, where Lutrin runs from one."""
RECEIPT = "uv-receipt.toml"
"""`uv tool install` leaves it in the environment that it makes."""


def command_to_add(
    packages: Sequence[str], recipe: str = "", *, environment: Path | None = None, folders: Sequence[Path] | None = None
) -> str:
    """The command that brings packages into this environment.

    Args:
        packages: As a package manager takes them.
        recipe: The command that brings them where Lutrin's folder is at hand; empty: there is none.
        environment: Of the Python that runs; None: this one's.
        folders: Each may be Lutrin's folder, which has `justw`; None: that of the source, and the one above the
            environment, for a bundle.
    """
    environment = Path(sys.prefix) if environment is None else environment
    folders = (ABOVE, environment.parent) if folders is None else folders
    if recipe and any((folder / "justw").is_file() for folder in folders):
        return recipe
    if (environment / RECEIPT).is_file():
        return shlex.join(["uv", "tool", "install", *(f"--with={name}" for name in packages), _source(environment)])
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", f"--python={environment}", *packages])
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def _source(environment: Path) -> str:
    """What was handed to `uv tool install`: a wheel, as its receipt says, or a name."""
    with suppress(OSError, tomllib.TOMLDecodeError, KeyError):
        for one in tomllib.loads((environment / RECEIPT).read_text("utf-8"))["tool"]["requirements"]:
            if one["name"] == "lutrin":
                return str(one.get("path", "lutrin"))
    return "lutrin"
