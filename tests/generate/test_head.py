"""The model's own head, and the model file that it belongs to."""

from pathlib import Path

import msgspec
import numpy as np

from lutrin.generate.head import Head, shipped_head
from lutrin.index.disk import file_hash
from lutrin.keep.weights import load_manifest
from lutrin.runtime.language_model import head_of


def test_a_head_reads_its_layers() -> None:
    """And no other layer of the model."""
    head = Head(sha256="", size=0, layers=(1, 3), weights=np.array([1, 2, 3, 4], "<f2").tobytes(), bias=0.5)
    values = np.array([[9, 9], [1, 0], [0, 1], [9, 9]], np.float32)
    assert head.odds(values) == 1 + 4 + 0.5


def test_another_model_has_no_head(tmp_path: Path) -> None:
    """Not even one that is as large to the byte."""
    own, other = tmp_path / "own.gguf", tmp_path / "other.gguf"
    own.write_bytes(b"model")
    other.write_bytes(b"lemod")
    head = msgspec.structs.replace(shipped_head(), size=5, sha256=file_hash(own))
    assert [head_of(path, head) for path in (own, other)] == [head, None]


def test_the_shipped_head_belongs_to_a_model_of_the_manifest(models_dir: Path) -> None:
    """With a weight for each number of its layers."""
    head = shipped_head()
    files = {(file.sha256, file.size) for model in load_manifest(models_dir).model for file in model.file}
    assert (head.sha256, head.size) in files
    first, end = head.layers
    assert len(head.weights) % (2 * (end - first)) == 0
    assert 0 < np.abs(np.frombuffer(head.weights, "<f2")).max() < 10
