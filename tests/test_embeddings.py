"""Embeddings go from one run of the tests to the next, and stop where the model changes."""

from pathlib import Path

import pytest
from tests import embeddings
from tests.embeddings import Lenders, kept_embeddings

from lutrin.index.catalog import Catalog
from lutrin.settings import load_settings

ROW = ("text", "model", b"w", b"t", b"o")


def known(data: Path) -> list[str]:
    """The texts whose embeddings a data folder has."""
    with Catalog(load_settings(data_dir=data).catalog_path) as catalog:
        return [row[0] for row in catalog.connection.execute("SELECT content_hash FROM embedding")]


def test_a_later_run_need_not_embed_what_an_earlier_one_did(tmp_path: Path) -> None:
    """Embeddings from an ingest of the first run are available to a data folder of the second."""
    kept = kept_embeddings(tmp_path / "cache")
    first, second = tmp_path / "first", tmp_path / "second"
    with (
        Lenders(tmp_path, kept).lending(first),
        Catalog(load_settings(data_dir=first).catalog_path) as catalog,
    ):
        catalog.connection.execute("INSERT INTO embedding VALUES (?, ?, ?, ?, ?)", ROW)
    Lenders(tmp_path, kept_embeddings(tmp_path / "cache")).lend_to(second)
    assert known(second) == ["text"]


def test_another_model_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder has another name, and that of the former model is gone."""
    for name in embeddings.DECIDES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "ascii")
    monkeypatch.setattr(embeddings, "ROOT", tmp_path)
    before = kept_embeddings(tmp_path / "cache")
    assert kept_embeddings(tmp_path / "cache") == before
    (tmp_path / embeddings.DECIDES[0]).write_text("another model", "ascii")
    after = kept_embeddings(tmp_path / "cache")
    assert after != before
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [after.name]
