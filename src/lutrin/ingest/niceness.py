"""An ingest stands back: whoever answers readers has the processor and the disk first."""

import os
from contextlib import suppress

LOWEST = 19
"""Niceness: a reader's question weighs some seventy times as much; on an idle machine nothing is lost."""


def stand_back() -> None:
    """Give this process, and all that it starts, the lowest priority; it cannot be raised again."""
    with suppress(OSError):  # a container may forbid it: then readers wait a little longer
        os.nice(LOWEST)
