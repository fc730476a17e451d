"""`lutrin bundle`: a whole Lutrin in one file, for a machine that has Python and nothing else.

The packages of this environment as wheels, the engine as it was compiled here; the models, the published index, the
books with their pictures, the program's source; the SHA-256 of every file; and `install.py`, which checks them and
needs no network. No conversation and no key is ever in it.
"""

import json
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path, PurePosixPath

import msgspec

from lutrin import __version__
from lutrin.errors import ArchiveError, IndexUnavailable
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.disk import file_hash
from lutrin.ingest.scan import COMPANION
from lutrin.ingest.sites import CONFIGURATIONS
from lutrin.keep import bundle_install, weights, wheels
from lutrin.keep.archive import FORMAT, ArchiveManifest, beside, room, write_archive
from lutrin.keep.backup import index_members, same_files
from lutrin.serve.library import book_root
from lutrin.serve.pictures import candidates
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
"""Files of an engine that chooses its code for the processor at run time (adapters/llamacpp_backend.py)."""
UNPACKED_RATIO = 2
"""For a moment the wheels and the bundle made of them are both on the disk."""


class BundleSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a bundle and the machines that it fits."""

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
    """Write the bundle, without a language model if it has none in the manifest.

    Raises:
        ArchiveError: This is not Lutrin's folder, a package is missing or changed, or the file cannot be written.
        ModelMissing, ChecksumMismatch: A model cannot be used.
        IndexUnavailable: Nothing is published, or it is damaged.
        NotEnoughSpace: The disk is too small.
    """
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
        created = now().isoformat(timespec="seconds")

        def describe(hashes: dict[str, str]) -> ArchiveManifest:
            same_files({f"home/data/{name}": digest for name, digest in expected.items()}, hashes)
            return ArchiveManifest(kind=KIND, format=FORMAT, lutrin=__version__, created=created, hashes=hashes)

        write_archive(target, files.items(), describe, prefix=f"{folder}/")
    books = sorted({name.split("/")[1] for name in expected})
    return BundleSummary(
        file=str(target), folder=folder, python=here["python"], platform=here["platform"], wheels=len(packages),
        models=sorted({Path(name).parts[0] for name in models}), books=books, bytes=target.stat().st_size,
    )  # fmt: skip


def machine(packages: Iterable[Path] = ()) -> dict[str, str]:
    """Describe what the compiled parts need: Python's version, platform, C library and processor instructions."""
    packages = list(packages)
    bound = any(path.name.startswith(ENGINE) and not wheels.holds(path, PARTS) for path in packages)
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "oldest": oldest_python(map(wheels.requires_python, packages)),
        "platform": sysconfig.get_platform(),
        "libc": "-".join(platform.libc_ver()),
        "instructions": " ".join(sorted(INSTRUCTIONS & set(bundle_install.processor_flags()))) if bound else "",
    }


def oldest_python(wishes: Iterable[str]) -> str:
    """Return the oldest release of this Python that satisfies every `Requires-Python`, such as 3.11.5.

    An older one would need other versions of packages, which this environment does not have.
    """
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    wanted = [int(release) for wish in wishes for release in re.findall(rf">=\s*{re.escape(this)}\.(\d+)", wish)]
    return f"{this}.{max(wanted, default=0)}"


def _wheels(requirements: str, work: Path) -> list[Path]:
    """Make wheels of every installed package of the requirement file, of Lutrin, and of pip if it is installed."""
    folder = work / "wheels"
    folder.mkdir()
    wanted, here = wheels.pins(requirements), wheels.installed()
    for name in sorted(wanted.keys() & here.keys()):
        if here[name].version not in wanted[name]:
            raise ArchiveError(
                f"{name} {here[name].version} is installed, the requirement file wants {' or '.join(wanted[name])}.",
                remedy="Run `./justw setup`.",
            )
    # A pinned package that is not installed is one for other platforms: `./justw setup` installs what this one needs.
    chosen = [here[name] for name in sorted({*wanted, "lutrin", "pip"} & here.keys())]
    return [wheels.write_wheel(package, folder, source=Path(__file__).parents[1]) for package in chosen]


def _pin_wheels(packages: Iterable[Path]) -> bytes:
    """Write the requirement file of the bundle: every wheel but pip, with version and hash."""
    lines = []
    for path in packages:
        name, version = path.name.split("-")[:2]
        if name != "pip":
            lines.append(f"{name}=={version} --hash=sha256:{file_hash(path)}\n")
    return "".join(lines).encode()


def _models(settings: Settings, language_model: str | None) -> tuple[str, dict[str, Path]]:
    """Return the value of LUTRIN_MODEL for the other machine, and the files of the models by name below `models/`.

    A model that was converted for this processor is left out: on the other one, another format may be faster.
    """
    manifest = weights.load_manifest(settings.models_dir)
    models = [manifest.embedding_model(settings.embedder)] + ([manifest.find(language_model)] if language_model else [])
    found: dict[str, Path] = {}
    for model in models:
        weights.verified_path(settings.models_dir, model)
        for file in model.file:
            path = weights.file_path(settings.models_dir, model, file)
            found[path.relative_to(settings.models_dir).as_posix()] = path
    if settings.model.endswith(".gguf"):
        own = Path(settings.model)
        return f"models/{own.name}", found | {own.name: own}
    return models[-1].tier if language_model else "none", found


def _source(root: Path) -> list[tuple[str, Path]]:
    """Collect the files of Lutrin and the books."""
    found = []
    for name in SOURCE:
        place = root / name
        if place.is_file():
            found.append((name, place))
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            paths = (Path(folder, file) for file in sorted(files))
            found += [(path.relative_to(root).as_posix(), path) for path in paths if not path.is_symlink()]
    return found


def _books(settings: Settings, corpus: Path, work: Path) -> dict[str, Path]:
    """Collect the files of published books from outside `corpus/`, by the names that they get below it."""
    found: dict[str, Path] = {}
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
            found |= {f"{folder}/{name}": root / name for name in sorted(names) if _is_inside(root, root / name)}
            # It keeps the slug, title and edition that the operator may have given on the command line.
            found[f"{folder}/book.toml"] = _write(work / f"{folder}.toml", _describe(book))
    return found


def _belonging(root: Path, page: str) -> set[str]:
    """Yield a page, its pictures, and the files in its folders that define the order of pages."""
    found = {page, *((folder / name).as_posix() for folder in PurePosixPath(page).parents for name in CONFIGURATIONS)}
    path = root / page
    if path.suffix.lower() != ".pdf" and _is_inside(root, path):
        shown = pictures_in(path.read_text(encoding="utf-8", errors="replace"), page)
        found.update(name for address in shown for name in candidates(page, address))
    return found


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
