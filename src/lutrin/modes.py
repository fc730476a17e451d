"""File modes of the data folder: readable by its owner and group, not by other users.

The conversations and their key are the owner's alone (0600), which `lutrin.chats` sees to.
"""

import os
from contextlib import suppress
from pathlib import Path

OTHERS = 0o027
"""The umask: no writing by the group, nothing for others."""


def make_closed() -> None:
    """Let this process, and those that it starts, make files with 0640 and folders with 0750, or less."""
    os.umask(os.umask(OTHERS) | OTHERS)


def open_to_others(data_dir: Path) -> list[Path]:
    """List what other users can read in the data folder, from earlier versions or copies."""
    return [path for path in sorted(data_dir.glob("*")) if not path.is_symlink() and path.stat().st_mode & 0o007]


def close_to_others(data_dir: Path) -> None:
    """Close it; what belongs to another user stays as it is, and `lutrin doctor` names it."""
    for path in open_to_others(data_dir):
        with suppress(PermissionError):
            path.chmod(path.stat().st_mode & ~OTHERS & 0o7777)
