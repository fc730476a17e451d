"""Models of a hub, pinned by size and SHA-256 at their first download.

A language model is `hf:OWNER/REPO/FILE@REVISION`, an embedding model has its name in fastembed's list.

The first download is trusted if it has the hash that the hub names. From then on only the same bytes are used, even if
the revision moves. The pins are stored in `pins.json` beside the manifest and treated as entries of it, so listing,
verifying, tuning and loading work as for any model.
"""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import httpx
import msgspec

from lutrin.errors import DownloadFailed, InvalidSettings
from lutrin.keep import weights
from lutrin.keep.weights import HUB, Model, ModelFile, Progress, Publisher

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
        DownloadFailed: The hub cannot be reached, has no such file, or sends another one than it names.
    """

    def describe() -> Model:
        publisher = _publisher(spec)
        file = _describe(spec, publisher, publisher.path.rpartition("/")[2], hub)
        return Model(
            name=spec, role="generate", tier=weights.load_manifest(models_dir).tier_of_size(file.size).name,
            summary=UNKNOWN, licence=f"see {publisher.repository}", measured=False,
            file=(msgspec.structs.replace(file, name=f"{file.sha256[:12]}-{file.name}"),),
        )  # fmt: skip

    return _pin(models_dir, spec, describe, progress, hub)


def pin_embedder(models_dir: Path, published: PublishedEmbedder, progress: Progress, *, hub: str = HUB) -> Model:
    """Return a published embedding model; fetch and pin its files first if they are not pinned.

    Raises:
        NotEnoughSpace, DownloadFailed: As for `pin`.
    """

    def describe() -> Model:
        sources = [(published.model_file, ONNX), *((name, name) for name in BESIDE_ONNX)]
        wanted = [(Publisher(published.repository, "main", path), name) for path, name in sources]
        return Model(
            name=published.name, role="embed", tier=published.name, summary=UNKNOWN, licence=published.licence,
            file=tuple(_describe(published.name, publisher, name, hub) for publisher, name in wanted),
            folder=published.name.replace("/", "--"), dimension=published.dimension, pooling=published.pooling,
            measured=False,
        )  # fmt: skip

    return _pin(models_dir, published.name, describe, progress, hub)


def _pin(models_dir: Path, name: str, describe: Callable[[], Model], progress: Progress, hub: str) -> Model:
    """Fetch what is pinned under a name, or else what the hub describes now, which is pinned then."""
    known = weights.read_pins(models_dir)
    found = next((model for model in known if model.name == name), None)
    model = found or describe()
    weights.fetch(models_dir, model, progress, hub=hub)
    if found is None:
        weights.write_pins(models_dir, [*known, model])
    return model


def _describe(spec: str, publisher: Publisher, name: str, hub: str) -> ModelFile:
    """The commit, size and SHA-256 of a file on the hub; one whose hash the hub does not name is read once for that."""
    try:
        with (
            httpx.Client(base_url=hub, timeout=weights.TIMEOUT, follow_redirects=True) as client,
            client.stream("GET", weights.address(publisher)) as response,
        ):
            response.raise_for_status()
            # The hub names commit and hash before it redirects to the bytes.
            told = [*response.history, response]
            commit = next((one.headers["x-repo-commit"] for one in told if "x-repo-commit" in one.headers), "")
            etags = [one.headers.get("x-linked-etag", "").strip('"') for one in told]
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
    found = msgspec.structs.replace(publisher, revision=commit or publisher.revision)
    return ModelFile(name=name, size=size, sha256=sha256, publisher=found)


def _publisher(spec: str) -> Publisher:
    match = SPEC.fullmatch(spec)
    if match is None:
        raise InvalidSettings(
            f"{spec} does not name a file on a model hub.",
            remedy="Write hf:OWNER/REPO/FILE.gguf@REVISION; the revision is a commit, or a branch such as main.",
        )
    repository, path, revision = match.groups()
    return Publisher(repository=repository, revision=revision, path=path)
