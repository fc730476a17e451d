"""Memory that loading has freed, back to the system."""

import ctypes
import gc
from contextlib import suppress


def give_back() -> None:
    """Return what is free; the C library keeps it otherwise (malloc_trim(3); elsewhere than on glibc nothing happens).

    Loading the embedding model frees 60 MB of what reading its file took.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
