"""Shares embeddings between ingests, workers and runs, so that each text is embedded once."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from filelock import FileLock

from lutrin.index.catalog import Catalog
from lutrin.platform import close_to_others
from lutrin.settings import load_settings

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
DECIDES = (
    "models/reader/model.onnx",
    "models/reader/tokenizer.json",
    "requirements/development.txt",
    "src/lutrin/adapters/embed_fastembed.py",
)
"""What an embedding depends on besides its text: another model, another library or other code embed anew."""


def kept_embeddings(cache: Path) -> Path:
    """The folder of embeddings that runs leave to each other, named by a hash of `DECIDES`; older ones are deleted."""
    digest = hashlib.sha256()
    for name in DECIDES:
        digest.update((ROOT / name).read_bytes())
    folder = cache / f"embeddings-{digest.hexdigest()[:16]}"
    for old in set(cache.glob("embeddings-*")) - {folder, folder.with_suffix(".lock")}:
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Lenders:
    """Embeddings by their text and their recipe, in a folder that all workers share.

    Args:
        folder: Of this run.
        known: Embeddings of this run and of those before.
    """

    def __init__(self, folder: Path, known: Path) -> None:
        self._folder = folder
        self._known = known
        self._lock = FileLock(known.with_suffix(".lock"))

    @contextmanager
    def lending(self, data_dir: Path) -> Iterator[None]:
        """While the block ingests into this folder no other does: a worker waits rather than embeds the same."""
        with self._lock:
            self.lend_to(data_dir)
            yield
            _copy(data_dir, self._known)

    def lend_to(self, data_dir: Path) -> None:
        """Make a data folder, which need not be there yet, know all embeddings so far."""
        with self._lock:
            _copy(self._known, data_dir)

    def once(self, name: str, kind: type[T], make: Callable[[Path], T]) -> tuple[Path, T]:
        """A folder that the first worker fills and the others find filled, and what filling it returned."""
        place = self._folder / name
        result = place / "result.json"
        with FileLock(self._folder / f"{name}.lock"):
            if not result.exists():
                place.mkdir()
                result.write_bytes(msgspec.json.encode(make(place)))
        return place, msgspec.json.decode(result.read_bytes(), type=kind)


def _copy(source: Path, target: Path) -> None:
    """Add the embeddings of one data folder to another's."""
    if load_settings(data_dir=source).catalog_path.exists():
        with Catalog(load_settings(data_dir=target).catalog_path) as catalog:
            catalog.connection.execute("ATTACH ? AS lender", (str(load_settings(data_dir=source).catalog_path),))
            with catalog.transaction():
                catalog.connection.execute("INSERT OR IGNORE INTO embedding SELECT * FROM lender.embedding")
            catalog.connection.execute("DETACH lender")
        close_to_others(target)
