"""Make wheels of installed packages, so that a bundle carries what was installed (and the engine compiled) here.

An installed package is what its wheel was: RECORD lists its files with their hashes (specification "Recording installed
projects" of the Python Packaging User Guide). Each file is checked against it and put where the wheel format has it
("Binary distribution format", same guide). Files that the installer added are left out.
"""

import base64
import configparser
import fnmatch
import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib import metadata
from pathlib import Path, PurePosixPath

from lutrin.errors import ArchiveError

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
ADDED = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_build.json", "uv_cache.json"})
"""Files of a `.dist-info` folder that the installer writes."""
COMPRESSION = 3
"""Compression level of zlib, 0 to 9. Most bytes are machine code, which a higher level hardly shrinks."""
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can hold
PROGRAM = 0o755  # bits of a mode that a wheel keeps
AGAIN = "Delete .venv and run `./justw setup`."


def pins(requirements: str) -> dict[str, set[str]]:
    """Read a requirement file: name of each package -> its versions, several if they depend on Python's version."""
    found: dict[str, set[str]] = {}
    for name, version in PIN.findall(requirements):
        found.setdefault(normal(name), set()).add(version)
    return found


def normal(name: str) -> str:
    """Return a project's name in the form that names of wheels use."""
    return re.sub(r"[-_.]+", "_", name).lower()


def installed() -> dict[str, metadata.Distribution]:
    """Map the name of every package of this environment to its metadata."""
    found = {normal(item.metadata["Name"]): item for item in metadata.distributions() if item.metadata["Name"]}
    return dict(sorted(found.items()))


def write_wheel(package: metadata.Distribution, folder: Path, *, source: Path | None = None) -> Path:
    """Make a package's wheel; one that is installed in editable mode is imported from `source`.

    Raises:
        ArchiveError: A file is missing, or has changed since it was installed.
    """
    name, version = normal(package.metadata["Name"]), package.version
    target = folder / f"{name}-{version}-{_tags(package)}.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as wheel:
        files = list(_files(package, linked=_is_link(package)))
        if source is not None and _is_link(package):
            paths = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
            files += [(path.relative_to(source.parent).as_posix(), path, "") for path in paths]
        record = [_add(wheel, place, path, digest) for place, path, digest in files]
        record.append(f"{info}/RECORD,,")
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", EPOCH), "\n".join(record) + "\n")
    return target


def holds(wheel: Path, pattern: str) -> bool:
    """Return whether a wheel contains a file whose name matches the pattern (fnmatch)."""
    with zipfile.ZipFile(wheel) as file:
        return bool(fnmatch.filter(file.namelist(), pattern))


def requires_python(wheel: Path) -> str:
    """Return a wheel's `Requires-Python`, or an empty text ("Core metadata", same guide)."""
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        return str(message_from_bytes(file.read(names[0])).get("Requires-Python", "")) if names else ""


def _tags(package: metadata.Distribution) -> str:
    lines = (package.read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag:").strip().split("-") for line in lines if line.startswith("Tag:")]
    if not tags:
        raise ArchiveError(f"The package {package.metadata['Name']} was not installed from a wheel.", remedy=AGAIN)
    return "-".join(".".join(dict.fromkeys(column)) for column in zip(*tags, strict=True))


def _is_link(package: metadata.Distribution) -> bool:
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


def _files(package: metadata.Distribution, *, linked: bool) -> Iterator[tuple[str, Path, str]]:
    """Yield, in the order of RECORD, the place in the wheel, the file and its recorded SHA-256 (empty if none)."""
    name, version = normal(package.metadata["Name"]), package.version
    info = re.compile(rf"{re.escape(name)}-{re.escape(version)}\.dist-info/", re.IGNORECASE)
    commands = _commands(package)
    for item in package.files or []:
        path = PurePosixPath(item.as_posix())
        if path.suffix == ".pyc" or (info.match(str(path)) and path.name in ADDED and len(path.parts) == 2):
            continue
        if linked and path.suffix == ".pth":
            continue
        place = str(path)
        if path.parts[0] == "..":
            outside = _outside(path, commands)
            if outside is None:
                continue
            place = f"{name}-{version}.data/{outside}"
        digest = item.hash.value if item.hash is not None and item.hash.mode == "sha256" else ""
        yield place, Path(str(item.locate())), digest


def _commands(package: metadata.Distribution) -> frozenset[str]:
    """Return the names of the commands that an installer makes from entry points."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their case
    parser.read_string(package.read_text("entry_points.txt") or "")
    sections = [name for name in ("console_scripts", "gui_scripts") if parser.has_section(name)]
    return frozenset(command for section in sections for command in parser.options(section))


def _outside(path: PurePosixPath, commands: frozenset[str]) -> str | None:
    """Return the place in a wheel's `.data` of a file outside site-packages; None for a generated command."""
    parts = [part for part in path.parts if part != ".."]
    if parts[0] == "bin":
        return None if parts[-1] in commands else "scripts/" + "/".join(parts[1:])
    if parts[:2] == ["include", "site"]:
        return "headers/" + "/".join(parts[4:])  # include/site/python3.11/NAME/...
    return "data/" + "/".join(parts)


def _add(wheel: zipfile.ZipFile, place: str, path: Path, digest: str) -> str:
    """Add a file to the wheel and return its line of RECORD."""
    try:
        content = path.read_bytes()
        mode = path.stat().st_mode & PROGRAM
    except OSError as error:
        raise ArchiveError(f"The installed file {path} cannot be read: {error.strerror}.", remedy=AGAIN) from error
    found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    if digest and digest.rstrip("=") != found:
        raise ArchiveError(f"The installed file {path} has changed since it was installed.", remedy=AGAIN)
    entry = zipfile.ZipInfo(place, EPOCH)
    entry.external_attr = (0o100644 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content, compresslevel=COMPRESSION)
    return f"{_quote(place)},sha256={found},{len(content)}"


def _quote(place: str) -> str:
    return f'"{place}"' if "," in place else place
