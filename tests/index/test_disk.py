"""Files that outlive a crash."""

import errno
from pathlib import Path

import pytest

from lutrin.errors import IndexUnavailable, IngestError, NotEnoughSpace, VerificationFailed
from lutrin.index.disk import explain_failure, file_hashes, sync_tree
from lutrin.index.manifest import ReadLock, remove_unless_read
from lutrin.sqlite import OperationalError


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A folder with a manifest and a file below it."""
    path = tmp_path / "g1"
    (path / "vectors").mkdir(parents=True)
    (path / "manifest.json").write_text("{}")
    (path / "vectors" / "data").write_bytes(b"abc")
    return path


def test_a_folder_is_deleted_when_nobody_reads_it(directory: Path) -> None:
    """Readers keep it, the last one to leave lets it go, and deleting twice is no error."""
    first, second = ReadLock(directory / "manifest.json"), ReadLock(directory / "manifest.json")
    assert not remove_unless_read(directory)
    first.close()
    assert not remove_unless_read(directory)
    second.close()
    assert remove_unless_read(directory)
    assert list(directory.parent.iterdir()) == []
    assert remove_unless_read(directory)


def test_a_folder_that_goes_cannot_be_locked(directory: Path) -> None:
    """A folder that is being deleted cannot be locked."""
    directory.rename(directory.with_name(".trash-g1"))
    with pytest.raises(FileNotFoundError):
        ReadLock(directory / "manifest.json")


def test_hashes_name_every_file(directory: Path) -> None:
    """All files below a folder are hashed under their relative names, but for the one left out."""
    sync_tree(directory)
    hashes = file_hashes(directory, without="manifest.json")
    assert hashes == {"vectors/data": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}


def wrapped(inner: Exception) -> IndexUnavailable:
    """An error as the vector index reports it."""
    error = IndexUnavailable("The vector index cannot be written.")
    error.__cause__ = inner
    return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), NotEnoughSpace, "disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), NotEnoughSpace, "disk is full"),
        (OSError(errno.EIO, "Input/output error"), IngestError, "disk reports an error"),
        (OperationalError("database or disk is full"), NotEnoughSpace, "disk is full"),
        (OperationalError("disk I/O error"), IngestError, "disk reports an error"),
        (OperationalError("no such table: chunk"), IngestError, "could not be written"),
        (wrapped(RuntimeError("(code: 13) database or disk is full")), NotEnoughSpace, "disk is full"),
        (wrapped(OSError(errno.EIO, "Input/output error")), IngestError, "disk reports an error"),
    ],
)
def test_failures_of_the_disk_are_explained(
    tmp_path: Path, error: Exception, kind: type[Exception], words: str
) -> None:
    """The error names a full or broken disk, and says that the old index remains in use."""
    explained = explain_failure(error, tmp_path)
    assert isinstance(explained, kind)
    assert words in explained.detail
    assert "goes on serving" in explained.detail


def test_other_errors_are_not_explained_away(tmp_path: Path) -> None:
    """An error that has nothing to do with disk or index stays what it is; one of the index keeps its words."""
    assert explain_failure(ValueError("x"), tmp_path) is None
    explained = explain_failure(wrapped(ValueError("dimension")), tmp_path)
    assert isinstance(explained, IngestError)
    assert explained.detail.startswith("The vector index cannot be written. Nothing was published.")
    assert isinstance(explain_failure(VerificationFailed("Bad."), tmp_path), VerificationFailed)
