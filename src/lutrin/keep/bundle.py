"""Implements `lutrin bundle`: a whole Lutrin in one file, for a machine with nothing but Python.

It contains the packages of this environment as wheels, the engine as compiled here; the models, the published index,
the books with their pictures, the program's source; the SHA-256 of every file; and `install.py`, which checks them and
needs no network. Conversations and keys are never included.

An installed package is identical to its wheel: RECORD lists its files with their hashes (specification "Recording
installed projects" of the Python Packaging User Guide). Each file is checked against it and put in its place in the
wheel format ("Binary distribution format", same guide). Files that the installer added are left out.
"""

import base64
import fnmatch
import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from email import message_from_bytes
from importlib import metadata
from pathlib import Path, PurePosixPath

import msgspec

from lutrin import __version__
from lutrin.errors import ArchiveError, IndexUnavailable
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.disk import file_hash
from lutrin.ingest.scan import COMPANION
from lutrin.ingest.sites import CONFIGURATIONS
from lutrin.keep import bundle_install, weights
from lutrin.keep.archive import beside, room, write_archive
from lutrin.keep.backup import index_members
from lutrin.serve.library import book_root, candidates
from lutrin.serve.rendering import pictures_in
from lutrin.settings import Settings

KIND = "lutrin bundle"
REQUIREMENTS = "requirements/runtime.txt"
SOURCE = (
    "src", "requirements", "docs", "web", "corpus", "examples", "models/manifest.toml", "models/reader", "justfile",
    "justw", "pyproject.toml", "README.md", "LICENSE", "THIRD_PARTY.md", "SECURITY.md", "CHANGELOG.md",
    "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "Containerfile", "Dockerfile", ".dockerignore",
    "compose.yaml", "Caddyfile", ".env.example",
)  # fmt: skip
LEFT_OUT = frozenset({"__pycache__", "node_modules", "build", ".docusaurus"})
INSTRUCTIONS = frozenset(bundle_install.INSTRUCTIONS)
ENGINE = "llama_cpp_python-"
PARTS = "llama_cpp/lib/libggml-cpu-*"
"""Files of an engine that chooses its code for the processor at run time (adapters/llamacpp.py)."""
UNPACKED_RATIO = 2
"""For a moment both the wheels and the bundle made from them are on the disk."""


class BundleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a bundle and the machines that it runs on."""

    file: str
    folder: str
    """Name of the folder that it unpacks to."""
    python: str
    platform: str
    wheels: int
    models: list[str]
    books: list[str]
    bytes: int


def bundle(
    settings: Settings, language_model: str | None, root: Path, target: Path, now: Callable[[], datetime]
) -> BundleSummary:
    """Write the bundle, without a language model if it has none in the manifest."""
    if not (root / REQUIREMENTS).exists():
        raise ArchiveError(
            f"There is no {REQUIREMENTS} here.",
            remedy="Run the command in Lutrin's folder: a clone of its repository, or an unpacked bundle.",
        )
    tier, models = _models(settings, language_model)
    target.parent.mkdir(parents=True, exist_ok=True)
    with beside(target) as work, ExitStack() as locks:
        room(work, UNPACKED_RATIO * sum(path.stat().st_size for path in models.values()))
        members, expected = index_members(settings, work, locks)
        if not expected:
            raise IndexUnavailable("No book is published.", remedy="Run `lutrin ingest`.")
        packages = _wheels((root / REQUIREMENTS).read_text(encoding="utf-8"), work)
        here = machine(packages)
        files = {
            "install.py": Path(bundle_install.__file__),
            "machine.json": _write(work / "machine.json", msgspec.json.encode(here)),
            "requirements.txt": _write(work / "requirements.txt", _pin_wheels(packages)),
            "home/.env": _write(work / "env", f"LUTRIN_MODEL={tier}\n".encode()),
            **{f"wheels/{path.name}": path for path in packages},
            **{f"home/{name}": path for name, path in _source(root)},
            **{f"home/corpus/{name}": path for name, path in _books(settings, root / "corpus", work).items()},
            **{f"home/models/{name}": path for name, path in models.items()},
            **{f"home/data/{name}": path for name, path in members},
        }
        folder = f"lutrin-{__version__}"
        published = {f"home/data/{name}": digest for name, digest in expected.items()}
        created = now().isoformat(timespec="seconds")
        write_archive(target, files.items(), KIND, created, expected=published, prefix=f"{folder}/")
    books = sorted({name.split("/")[1] for name in expected})
    return BundleSummary(
        file=str(target), folder=folder, python=here["python"], platform=here["platform"], wheels=len(packages),
        models=sorted({Path(name).parts[0] for name in models}), books=books, bytes=target.stat().st_size,
    )  # fmt: skip


def machine(packages: Iterable[Path] = ()) -> dict[str, str]:
    """Describe the compiled parts' needs: Python's version, platform, C library and processor instructions."""
    wishes, is_bound = [], False
    for path in packages:
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            texts = [wheel.read(name) for name in names if name.endswith(".dist-info/METADATA")]
        wishes += [message_from_bytes(text).get("Requires-Python", "") for text in texts]
        is_bound |= path.name.startswith(ENGINE) and not fnmatch.filter(names, PARTS)
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "oldest": oldest_python(wishes),
        "platform": sysconfig.get_platform(),
        "libc": "-".join(platform.libc_ver()),
        "instructions": " ".join(sorted(INSTRUCTIONS & set(bundle_install.processor_flags()))) if is_bound else "",
    }


def oldest_python(wishes: Iterable[str]) -> str:
    """Return the oldest release of this Python that satisfies every `Requires-Python`, such as 3.11.5.

    An older one would need other package versions, which this environment does not have.
    """
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    minors = [int(release) for wish in wishes for release in re.findall(rf">=\s*{re.escape(this)}\.(\d+)", wish)]
    return f"{this}.{max(minors, default=0)}"


def _wheels(requirements: str, work: Path) -> list[Path]:
    """Make wheels of every installed package in the requirement file, of Lutrin, and of pip if it is installed."""
    folder = work / "wheels"
    folder.mkdir()
    wanted, here = pins(requirements), installed_packages()
    for name in sorted(wanted.keys() & here.keys()):
        if here[name].version not in wanted[name]:
            raise ArchiveError(
                f"{name} {here[name].version} is installed, the requirement file wants {' or '.join(wanted[name])}.",
                remedy="Run `./justw setup`.",
            )
    # A pinned package that is not installed is for other platforms: `./justw setup` installs all that this one needs.
    chosen = [here[name] for name in sorted({*wanted, "lutrin", "pip"} & here.keys())]
    return [write_wheel(package, folder, source=Path(__file__).parents[1]) for package in chosen]


def _pin_wheels(packages: Iterable[Path]) -> bytes:
    lines = []
    for path in packages:
        name, version = path.name.split("-")[:2]
        if name != "pip":
            lines.append(f"{name}=={version} --hash=sha256:{file_hash(path)}\n")
    return "".join(lines).encode()


def _models(settings: Settings, language_model: str | None) -> tuple[str, dict[str, Path]]:
    """Return the value of LUTRIN_MODEL for the other machine, and the models' files by name below `models/`.

    A model converted for this processor is left out: on the other one, another format may be faster.
    """
    manifest = weights.load_manifest(settings.models_dir)
    models = [manifest.find(settings.embedder, "embed")] + ([manifest.find(language_model)] if language_model else [])
    files: dict[str, Path] = {}
    for model in models:
        weights.verified_path(settings.models_dir, model)
        for file in model.file:
            path = weights.file_path(settings.models_dir, model, file)
            files[path.relative_to(settings.models_dir).as_posix()] = path
    if settings.model.endswith(".gguf"):
        own = Path(settings.model)
        return f"models/{own.name}", files | {own.name: own}
    return models[-1].tier if language_model else "none", files


def _source(root: Path) -> list[tuple[str, Path]]:
    entries = []
    for name in SOURCE:
        place = root / name
        if place.is_file():
            entries.append((name, place))
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            paths = (Path(folder, file) for file in sorted(files))
            entries += [(path.relative_to(root).as_posix(), path) for path in paths if not path.is_symlink()]
    return entries


def _books(settings: Settings, corpus: Path, work: Path) -> dict[str, Path]:
    """Collect the files of published books outside of `corpus/`, by their new names below it."""
    files: dict[str, Path] = {}
    with Catalog(settings.catalog_path) as catalog:
        for book in catalog.books():
            root = Path(book.root) if book.root else book_root(Path(book.corpus), book.info.slug)
            if root is None or root.resolve().is_relative_to(corpus.resolve()):
                continue
            folder = book.info.slug
            while (corpus / folder).exists():
                folder += "-"
            names = {name for page in catalog.files(book.info.slug) for name in _belonging(root, page)}
            names |= {path.relative_to(root).as_posix() for path in root.rglob(f"*{COMPANION}")}
            files |= {f"{folder}/{name}": root / name for name in sorted(names) if _is_inside(root, root / name)}
            # It keeps the slug, title and edition that the operator may have given on the command line.
            files[f"{folder}/book.toml"] = _write(work / f"{folder}.toml", _describe(book))
    return files


def _belonging(root: Path, page: str) -> set[str]:
    """Yield a page, its pictures, and the files in its folders that define the order of pages."""
    names = {page, *((folder / name).as_posix() for folder in PurePosixPath(page).parents for name in CONFIGURATIONS)}
    path = root / page
    if path.suffix.lower() != ".pdf" and _is_inside(root, path):
        addresses = pictures_in(path.read_text(encoding="utf-8", errors="replace"), page)
        names.update(name for address in addresses for name in candidates(page, address))
    return names


def _is_inside(root: Path, path: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(root.resolve())


def _describe(book: PublishedBook) -> bytes:
    values = msgspec.to_builtins(book.info)
    hazards = values.pop("hazards", {})
    return "".join([*_lines(values), "\n[hazards]\n", *_lines(hazards)]).encode()


def _lines(values: Mapping[str, object]) -> Iterator[str]:
    """Format lines of TOML. JSON's strings and lists of strings are valid TOML."""
    return (f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


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
    versions = defaultdict(set)
    for name, version in PIN.findall(requirements):
        versions[normal(name)].add(version)
    return dict(versions)


def normal(name: str) -> str:
    """Return a project's name in the form that names of wheels use."""
    return re.sub(r"[-_.]+", "_", name).lower()


def installed_packages() -> dict[str, metadata.Distribution]:
    """Map the name of every package of this environment to its metadata."""
    packages = {normal(item.metadata["Name"]): item for item in metadata.distributions() if item.metadata["Name"]}
    return dict(sorted(packages.items()))


def write_wheel(package: metadata.Distribution, folder: Path, *, source: Path | None = None) -> Path:
    """Make a package's wheel; one that is installed in editable mode is imported from `source`."""
    name, version = normal(package.metadata["Name"]), package.version
    target = folder / f"{name}-{version}-{_tags(package)}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as wheel:
        files = list(_files(package, linked=_is_link(package)))
        if source is not None and _is_link(package):
            paths = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
            files += [(path.relative_to(source.parent).as_posix(), path, "") for path in paths]
        record = [_add(wheel, place, path, digest) for place, path, digest in files]
        place = f"{name}-{version}.dist-info/RECORD"
        wheel.writestr(zipfile.ZipInfo(place, EPOCH), "\n".join([*record, f"{place},,"]) + "\n")
    return target


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
    # The commands that an installer makes.
    commands = {entry.name for entry in package.entry_points if entry.group in {"console_scripts", "gui_scripts"}}
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


def _outside(path: PurePosixPath, commands: set[str]) -> str | None:
    """Return the place in a wheel's `.data` of a file outside site-packages; None for a generated command."""
    parts = [part for part in path.parts if part != ".."]
    if parts[0] == "bin":
        return None if parts[-1] in commands else "scripts/" + "/".join(parts[1:])
    if parts[:2] == ["include", "site"]:
        return "headers/" + "/".join(parts[4:])  # include/site/python3.11/NAME/...
    return "data/" + "/".join(parts)


def _add(wheel: zipfile.ZipFile, place: str, path: Path, digest: str) -> str:
    try:
        content = path.read_bytes()
        mode = path.stat().st_mode & PROGRAM
    except OSError as error:
        raise ArchiveError(f"The installed file {path} cannot be read: {error.strerror}.", remedy=AGAIN) from error
    actual = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    if digest and digest.rstrip("=") != actual:
        raise ArchiveError(f"The installed file {path} has changed since it was installed.", remedy=AGAIN)
    entry = zipfile.ZipInfo(place, EPOCH)
    entry.external_attr = (0o100644 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content, compresslevel=COMPRESSION)
    name = f'"{place}"' if "," in place else place
    return f"{name},sha256={actual},{len(content)}"
