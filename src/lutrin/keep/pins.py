"""Models of a hub, pinned by size and SHA-256 at their first download.

A language model is `hf:OWNER/REPO/FILE@REVISION`, an embedding model has its name in fastembed's list.

The first download is trusted if it has the hash that the hub names. From then on only the same bytes are used, even if
the revision moves. The pins are stored in `pins.json` beside the manifest and treated as entries of it, so listing,
verifying, tuning and loading work as for any model.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import httpx
import msgspec

from lutrin.errors import ChecksumMismatch, DownloadFailed, InvalidSettings, NotEnoughSpace
from lutrin.index.disk import file_hash
from lutrin.keep import weights
from lutrin.keep.weights import BLOCK_BYTES, HEADROOM_BYTES, HUB, Model, ModelFile, Progress, Publisher

UNKNOWN = "chosen here; not measured by us"
ONNX = "model.onnx"
BESIDE_ONNX = ("tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
"""Files beside the weights of an embedding model."""
SPEC = re.compile(r"hf:([\w.-]+/[\w.-]+)/((?:[\w.-]+/)*[\w.-]+\.gguf)@([\w.-]+)")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class PublishedEmbedder(msgspec.Struct, frozen=True, kw_only=True):
    """An embedding model of a hub, as fastembed's list describes it."""

    name: str
    repository: str
    model_file: str
    """Path of the ONNX file in the repository."""
    dimension: int
    pooling: Literal["mean", "cls"]
    licence: str


def is_spec(name: str) -> bool:
    """Whether LUTRIN_MODEL names a file of a hub."""
    return name.startswith("hf:")


def pin(models_dir: Path, spec: str, progress: Progress, *, hub: str = HUB) -> Model:
    """Return the model of `hf:OWNER/REPO/FILE@REVISION`, a GGUF; fetch and pin it first if it is not pinned.

    Raises:
        InvalidSettings: The spec has another form.
        NotEnoughSpace: The disk has too little room.
        DownloadFailed: The hub cannot be reached, or has no such file.
        ChecksumMismatch: What arrived is not what the hub named.
    """
    known = weights.read_pins(models_dir)
    found = next((model for model in known if model.name == spec), None)
    if found is not None:
        weights.fetch(models_dir, found, progress, hub=hub)
        return found
    publisher = _publisher(spec)
    (file,) = _fetch_and_pin(models_dir, spec, [(publisher, publisher.path.rpartition("/")[2])], progress, hub)
    named = msgspec.structs.replace(file, name=f"{file.sha256[:12]}-{file.name}")
    (models_dir / file.name).replace(models_dir / named.name)
    tier = weights.load_manifest(models_dir).tier_of_size(file.size).name
    model = Model(
        name=spec, role="generate", tier=tier, summary=UNKNOWN,
        licence=f"see {publisher.repository}", file=(named,), measured=False,
    )  # fmt: skip
    weights.write_pins(models_dir, [*known, model])
    return model


def pin_embedder(models_dir: Path, published: PublishedEmbedder, progress: Progress, *, hub: str = HUB) -> Model:
    """Return a published embedding model; fetch and pin its files first if they are not pinned.

    Raises:
        NotEnoughSpace, DownloadFailed, ChecksumMismatch: As for `pin`.
    """
    known = weights.read_pins(models_dir)
    found = next((model for model in known if model.name == published.name), None)
    if found is not None:
        weights.fetch(models_dir, found, progress, hub=hub)
        return found
    folder = published.name.replace("/", "--")
    sources = [(published.model_file, ONNX), *((name, name) for name in BESIDE_ONNX)]
    wanted = [(Publisher(published.repository, "main", path), name) for path, name in sources]
    model = Model(
        name=published.name, role="embed", tier=published.name, summary=UNKNOWN, licence=published.licence,
        file=tuple(_fetch_and_pin(models_dir / folder, published.name, wanted, progress, hub)),
        folder=folder, dimension=published.dimension, pooling=published.pooling, measured=False,
    )  # fmt: skip
    weights.write_pins(models_dir, [*known, model])
    return model


def _fetch_and_pin(
    folder: Path, spec: str, wanted: Sequence[tuple[Publisher, str]], progress: Progress, hub: str
) -> list[ModelFile]:
    """Download files of a hub to a folder, each under a name of its own, and return what is to be pinned."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with httpx.Client(base_url=hub, timeout=httpx.Timeout(30.0, connect=3.0), follow_redirects=True) as client:
        for publisher, name in wanted:
            partial = folder / f"{name}.part"
            try:
                commit, named = _download(client, publisher, partial, progress)
            except (httpx.HTTPError, OSError) as error:
                partial.unlink(missing_ok=True)
                raise DownloadFailed(
                    f"{spec} could not be fetched ({type(error).__name__}: {error}).",
                    remedy="Check the name, the revision and the network, or put the file here and give its path.",
                ) from error
            digest = file_hash(partial)
            if named and named != digest:
                partial.unlink()
                raise ChecksumMismatch(f"{spec} arrived as another file than the hub names; it was deleted.")
            revision = commit or publisher.revision
            found = msgspec.structs.replace(publisher, revision=revision)
            files.append(ModelFile(name=name, size=partial.stat().st_size, sha256=digest, publisher=found))
            partial.replace(folder / name)
    return files


def _publisher(spec: str) -> Publisher:
    match = SPEC.fullmatch(spec)
    if match is None:
        raise InvalidSettings(
            f"{spec} names no file of a model hub.",
            remedy="Write hf:OWNER/REPO/FILE.gguf@REVISION; the revision is a commit, or a branch such as main.",
        )
    repository, path, revision = match.groups()
    return Publisher(repository=repository, revision=revision, path=path)


def _download(client: httpx.Client, publisher: Publisher, partial: Path, progress: Progress) -> tuple[str, str]:
    """Write the file; return the commit of its revision and its SHA-256, if the hub names them."""
    url = f"/{publisher.repository}/resolve/{publisher.revision}/{publisher.path}"
    with client.stream("GET", url) as response, partial.open("wb") as out:
        response.raise_for_status()
        # The hub names both before it redirects to the bytes.
        told = [*response.history, response]
        commit = next((one.headers["x-repo-commit"] for one in told if "x-repo-commit" in one.headers), "")
        etags = [one.headers.get("x-linked-etag", "").strip('"') for one in told]
        size = int(response.headers.get("content-length", 0))
        if (free := shutil.disk_usage(partial.parent).free) < size + HEADROOM_BYTES:
            raise NotEnoughSpace(
                f"{publisher.path} needs {size >> 20} MB in {partial.parent}, there are {free >> 20} MB.",
                remedy="Free some space or set LUTRIN_MODELS_DIR to another disk.",
            )
        done = 0
        for block in response.iter_bytes(BLOCK_BYTES):
            out.write(block)
            done += len(block)
            progress(partial.stem, done, size)
    return commit, next((etag for etag in etags if _SHA256.fullmatch(etag)), "")
