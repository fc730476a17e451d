"""File modes of the data folder: readable by its owner and group, not by other users.

The conversations and their key are the owner's alone (0600), which `lutrin.chats` sees to.
"""

import os
from contextlib import suppress
from pathlib import Path

OTHERS = 0o027
"""What files and folders that are made do not get: writing by the group, anything by others."""


def make_closed() -> None:
    """Let this process, and those that it starts, make files with 0640 and folders with 0750, or less."""
    os.umask(os.umask(OTHERS) | OTHERS)


def open_to_others(data_dir: Path) -> list[Path]:
    """What lies in the data folder, made by an earlier version or copied, that other users may read."""
    return [path for path in sorted(data_dir.glob("*")) if not path.is_symlink() and path.stat().st_mode & 0o007]


def close_to_others(data_dir: Path) -> None:
    """Close it; what belongs to another user stays as it is, and `lutrin doctor` names it."""
    for path in open_to_others(data_dir):
        with suppress(PermissionError):
            path.chmod(path.stat().st_mode & ~OTHERS & 0o7777)
