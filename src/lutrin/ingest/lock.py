"""One ingest at a time: a process holds this lock while it changes the index; the kernel frees it if it dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lutrin.errors import IngestInProgress
from lutrin.index.disk import explain_failure


@contextmanager
def ingest_lock(data_dir: Path) -> Iterator[None]:
    """Hold a data folder's ingest lock; imports almost nothing, so that a second ingest ends at once.

    Raises:
        IngestInProgress: Another process holds it.
        NotEnoughSpace, IngestError: The folder cannot be written.
    """
    lock = FileLock(data_dir / "ingest.lock", timeout=0)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise IngestInProgress from None
    except OSError as error:
        raise explain_failure(error, data_dir) or error from error
    try:
        yield
    finally:
        lock.release()
