"""Memory that loading has freed, back to the system."""

import ctypes
import gc
import os
from contextlib import suppress
from pathlib import Path


def resident_bytes() -> int:
    """Memory that this process holds; 0 where the system does not say so (proc(5), Linux)."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's `malloc.h`."""


def use_one_arena() -> None:
    """Let all threads of this process allocate from one place (mallopt(3); elsewhere than on glibc nothing happens).

    Each thread has an arena of its own otherwise, and what one of them has freed the others cannot use: 50 MB of an
    ingest. Call it before threads start.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").mallopt(ARENA_MAX, 1)


def give_back() -> None:
    """Return what is free; the C library keeps it otherwise (malloc_trim(3); elsewhere than on glibc nothing happens).

    Loading the embedding model frees 60 MB of what reading its file took.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
