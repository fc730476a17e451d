"""How this Lutrin was installed, so that a remedy names a command that exists here; for adapters and wiring."""

import shlex
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

ABOVE = Path(__file__).parents[2]
"""The checkout, if Lutrin runs from one."""
RECEIPT = "uv-receipt.toml"
"""File that `uv tool install` leaves in the environment."""


def command_to_add(
    packages: Sequence[str], recipe: str = "", *, environment: Path | None = None, folders: Sequence[Path] | None = None
) -> str:
    """The command that installs packages into this environment.

    Args:
        packages: In the form for a package manager.
        recipe: The command that installs them inside Lutrin's folder; empty if there is none.
        environment: Environment of the running Python; None: this one's.
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
    """The argument of `uv tool install`: a wheel, from its receipt, or a name."""
    with suppress(OSError, tomllib.TOMLDecodeError, KeyError):
        for one in tomllib.loads((environment / RECEIPT).read_text("utf-8"))["tool"]["requirements"]:
            if one["name"] == "lutrin":
                return str(one.get("path", "lutrin"))
    return "lutrin"
