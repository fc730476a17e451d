"""Embeddings that one test's ingest made, lent to the next: the same words are embedded once in a run."""

from pathlib import Path

from lutrin.index.catalog import Catalog
from lutrin.settings import load_settings


class Lenders:
    """Data folders whose embeddings a later ingest of the same run begins with."""

    def __init__(self) -> None:
        self._folders: list[Path] = []

    def add(self, data_dir: Path) -> None:
        """Remember a data folder that was ingested."""
        self._folders.append(data_dir)

    def lend_to(self, data_dir: Path) -> None:
        """Make a data folder, which need not be there yet, know all embeddings of the run so far."""
        with Catalog(load_settings(data_dir=data_dir).catalog_path) as catalog:
            for folder in self._folders:
                catalog.connection.execute("ATTACH ? AS lender", (str(load_settings(data_dir=folder).catalog_path),))
                with catalog.transaction():
                    catalog.connection.execute("INSERT OR IGNORE INTO embedding SELECT * FROM lender.embedding")
                catalog.connection.execute("DETACH lender")
