"""Stores a folder in one file: written under another name, read back, renamed, and only unpacked if it is complete.

The file is a tar archive without compression, whose last member, `manifest.json`, has the SHA-256 of every other one.
So a file that was truncated, or changed in a single bit, is always noticed. `SHA256SUMS` has the same hashes for
`sha256sum -c`.
"""

import hashlib
import hmac
import os
import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath

import msgspec

from lutrin import __version__, sqlite
from lutrin.errors import ArchiveError, IndexUnavailable, NotEnoughSpace
from lutrin.index.disk import FULL, file_hash, sync

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
FORMAT = 1
HEADROOM_BYTES = 64 << 20


class ArchiveManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of an archive."""

    kind: str
    format: int
    lutrin: str
    """Version of the program that wrote it."""
    created: str
    """ISO 8601, UTC."""
    hashes: dict[str, str]
    """Name of each member -> its SHA-256."""
    seal: str = ""
    """SHA-256 of the manifest without this field and the next one."""
    origin: str = ""
    """HMAC of the seal under the key of the installation that wrote it; empty if it has none."""


def _seal_of(manifest: ArchiveManifest) -> str:
    bare = msgspec.structs.replace(manifest, seal="", origin="")
    return hashlib.sha256(msgspec.json.encode(bare)).hexdigest()


def _origin_of(seal: str, key: bytes) -> str:
    return hmac.new(key, seal.encode(), hashlib.sha256).hexdigest()


def require_own(source: Path, manifest: ArchiveManifest, keys: Iterable[bytes], *, trust: bool) -> None:
    """Refuse an archive that another installation wrote, unless the operator trusts it.

    Anyone who can write a file can compute hashes; only this installation has the key.
    """
    if trust or any(hmac.compare_digest(_origin_of(manifest.seal, key), manifest.origin) for key in keys):
        return
    raise ArchiveError(
        f"{source} was not written by this installation. Nothing was changed.",
        remedy="If you trust its maker, add --trust: it brings books, answers and a teacher's decisions.",
    )


def write_archive(
    target: Path,
    members: Iterable[tuple[str, Path]],
    kind: str,
    created: str,
    *,
    expected: Mapping[str, str] | None = None,
    key: bytes | None = None,
    prefix: str = "",
) -> None:
    """Write named files into one archive. It replaces the target only once it is complete and has been read back.

    Args:
        members: Name and file of each.
        created: ISO 8601, UTC.
        expected: Published SHA-256 of some of them.
        key: Proves that this installation wrote it.
        prefix: Before each name in the archive, not in its manifest.

    Raises:
        IndexUnavailable: A member differs from its published hash.
        NotEnoughSpace, ArchiveError: It could not be written.
    """
    partial = target.with_name(f".{target.name}.part")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as out, tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            hashes = {name: _add(tar, prefix + name, path) for name, path in members}
            for name, digest in (expected or {}).items():
                if hashes[name] != digest:
                    raise damaged_index(name)
            sums = "".join(f"{digest}  {name}\n" for name, digest in hashes.items()).encode()
            hashes[SUMS] = _add_bytes(tar, prefix + SUMS, sums)
            manifest = ArchiveManifest(kind=kind, format=FORMAT, lutrin=__version__, created=created, hashes=hashes)
            seal = _seal_of(manifest)
            origin = _origin_of(seal, key) if key is not None else ""
            manifest = msgspec.structs.replace(manifest, seal=seal, origin=origin)
            _add_bytes(tar, prefix + MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        sync(partial)
        _read_archive(partial, kind, prefix=prefix)
        partial.replace(target)
        sync(target.parent)
    except OSError as error:
        raise unwritable(error, target) from error
    finally:
        partial.unlink(missing_ok=True)


def unpack_archive(source: Path, kind: str, folder: Path) -> ArchiveManifest:
    """Unpack an archive into an empty folder. If this raises, use nothing in the folder.

    Raises:
        ArchiveError: The file is not an archive of this kind, or is incomplete.
        NotEnoughSpace: The disk is too small for it.
    """
    room(folder, source.stat().st_size if source.exists() else 0)
    return _read_archive(source, kind, folder)


def _read_archive(source: Path, kind: str, folder: Path | None = None, *, prefix: str = "") -> ArchiveManifest:
    """Hash the members in order, and write them into the folder; they are valid only if this returns."""
    hashes: dict[str, str] = {}
    try:
        left_bytes = source.stat().st_size
        with tarfile.open(source, mode="r:") as tar:
            for member in tar:
                left_bytes -= member.size
                if left_bytes < 0:
                    raise _damage(source, "its files are larger than itself")
                name = _checked_name(source, member, prefix)
                file = tar.extractfile(member)
                if file is None or name in hashes:
                    raise _damage(source, f"{name} is not a single file")
                if name == MANIFEST:
                    return _checked_manifest(source, kind, file.read(), hashes)
                if folder is None:
                    hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # a buffered reader
                    continue
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(0o600, exist_ok=False)
                with path.open("wb") as out:
                    shutil.copyfileobj(file, out)
                hashes[name] = file_hash(path)
    except (tarfile.TarError, EOFError) as error:
        raise _damage(source, str(error)) from error
    except OSError as error:
        if error.errno in FULL:
            raise unwritable(error, folder or source) from error
        raise ArchiveError(f"{source} cannot be read: {error.strerror or error}.") from error
    raise _damage(source, "it ends too early")


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Make a temporary folder on the same disk as a future file, and remove it at the end."""
    work = target.with_name(f".{target.name}.work")
    try:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
    except OSError as error:
        raise unwritable(error, target) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def room(folder: Path, needed_bytes: int) -> None:
    """Check that the disk has room for the given bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + HEADROOM_BYTES:
        raise NotEnoughSpace(
            f"{(needed_bytes + HEADROOM_BYTES) >> 20} MB of free space are needed in {folder}, "
            f"there are {free >> 20} MB.",
            remedy="Free some space.",
        )


def unwritable(error: OSError, target: Path) -> ArchiveError | NotEnoughSpace:
    """Explain to the operator why a file could not be written."""
    if error.errno in FULL:
        return NotEnoughSpace(f"The disk is full; {target} was not written.", remedy="Free some space.")
    return ArchiveError(f"{target} cannot be written: {error.strerror or error}.", remedy="Check the folder's rights.")


def damaged_index(name: str) -> IndexUnavailable:
    """Explain that a published file has changed."""
    return IndexUnavailable(
        f"The index is damaged at {name}; nothing was written.", remedy="Run `lutrin ingest --rebuild`."
    )


def _add(tar: tarfile.TarFile, name: str, path: Path) -> str:
    """Add a file; return its SHA-256. If it changes meanwhile, reading back detects that."""
    info = tarfile.TarInfo(name)
    info.mode = 0o755 if os.access(path, os.X_OK) else 0o644
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        info.size = file.tell()
        file.seek(0)
        tar.addfile(info, file)
    return digest


def _add_bytes(tar: tarfile.TarFile, name: str, text: bytes) -> str:
    info = tarfile.TarInfo(name)
    info.size = len(text)
    tar.addfile(info, BytesIO(text))
    return hashlib.sha256(text).hexdigest()


def _checked_name(source: Path, member: tarfile.TarInfo, prefix: str) -> str:
    """Return the name of a member, if it is a plain file that stays inside the folder it is unpacked to."""
    name = member.name.removeprefix(prefix)
    path = PurePosixPath(name)
    below = str(path) == name and not path.is_absolute() and not {"..", "."} & {*path.parts} and "\\" not in name
    # A log beside a database becomes part of it as soon as it is opened.
    below = below and not name.endswith(("-wal", "-shm", "-journal"))
    if not member.isreg() or member.issparse() or not member.name.startswith(prefix) or not below:
        raise _damage(source, f"it holds {member.name!r}")
    return name


def _checked_manifest(source: Path, kind: str, text: bytes, hashes: dict[str, str]) -> ArchiveManifest:
    try:
        manifest = msgspec.json.decode(text, type=ArchiveManifest)
    except msgspec.MsgspecError as error:
        raise _damage(source, f"its manifest cannot be read: {error}") from error
    if manifest.seal != _seal_of(manifest):
        raise _damage(source, "its manifest is not what was written")
    if manifest.kind != kind or manifest.format != FORMAT:
        raise ArchiveError(
            f"{source} is not a {kind} that this version of Lutrin can read.", remedy="Name another file."
        )
    if manifest.hashes != hashes:
        wrong = sorted(name for name in {*manifest.hashes, *hashes} if manifest.hashes.get(name) != hashes.get(name))
        raise _damage(source, f"{wrong[0]} is not what was written")
    return manifest


def _damage(source: Path, reason: str) -> ArchiveError:
    return ArchiveError(f"{source} is damaged: {reason}. Nothing was changed.", remedy="Use another copy.")


FULL_TEXT = re.compile(r"CREATE VIRTUAL TABLE \S+ USING fts5\s*\(", re.IGNORECASE)
COMPUTED = frozenset({2, 3})
"""How `table_xinfo` marks generated columns."""


def check_schema(database: Path, tables: frozenset[str] | None = None) -> None:
    """Check a database's schema before using any of it; it may have these tables, None: any.

    A view named like a table can compute rows without end, and a trigger can write unasked.

    Raises:
        IndexUnavailable: It contains anything but tables and indexes, or other tables, or is not a database.
    """
    try:
        with closing(sqlite.connect(database, readonly=True)) as connection:
            rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            for kind, name, sql in rows:
                if kind not in {"table", "index"}:
                    raise IndexUnavailable(f"{database.name} holds a {kind}, {name!r}.")
                is_virtual = (sql or "").upper().lstrip().startswith("CREATE VIRTUAL")
                if is_virtual and not FULL_TEXT.match(sql):
                    raise IndexUnavailable(f"{database.name} holds the virtual table {name!r}.")
                if kind == "table" and tables is not None and name not in tables and not name.startswith("sqlite_"):
                    raise IndexUnavailable(f"{database.name} holds a table {name!r} that is not of this program.")
                if kind == "table" and not is_virtual:
                    columns = connection.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
                    if any(hidden in COMPUTED for (hidden,) in columns):
                        raise IndexUnavailable(f"{database.name} computes columns of {name!r}.")
    except sqlite.DatabaseError as error:
        raise IndexUnavailable(f"{database.name} cannot be read: {error}") from error
