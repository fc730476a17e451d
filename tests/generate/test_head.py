"""The model's own head, and the model file that it belongs to."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.generate.head import Head, shipped_head
from lutrin.index.disk import file_hash
from lutrin.keep.weights import load_manifest
from lutrin.ports import TokenRun
from lutrin.runtime.language_model import head_of
from lutrin.settings import load_settings


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
    assert [head_of(load_settings(model=str(path)), head) for path in (own, other)] == [head, None]


def test_the_shipped_head_belongs_to_medium(models_dir: Path) -> None:
    """However that is converted; with a weight for each number of its layers."""
    head = shipped_head()
    tiers = ("tiny", "small", "medium", "large")
    found = [head_of(load_settings(model=tier, models_dir=models_dir), head) is head for tier in tiers]
    assert found == [False, False, True, False]
    (file,) = load_manifest(models_dir).find("medium").file
    assert file.size == head.size
    first, end = head.layers
    assert len(head.weights) % (2 * (end - first)) == 0
    assert 0 < np.abs(np.frombuffer(head.weights, "<f2")).max() < 10


@pytest.mark.gguf
def test_values_in_another_form_are_not_read(models_dir: Path) -> None:
    """Values of an 8-bit cache are rotated; a state of several tokens, or a cut one, is not the state of one token."""
    from lutrin.adapters.llamacpp import values_of  # noqa: PLC0415 - needs the engine

    small = open_decoder(models_dir / "smollm2-135m-instruct-q4_1.gguf", 256, 1, 1, kv_type="q8_0")
    small.step([TokenRun(0, 0, [1, 2, 3], wanted=True)])
    assert small.values(0, 2) is None
    state = small.save(0, 3)
    small.close()
    assert [values_of(one) for one in (b"", state, state[:200])] == [None, None, None]
