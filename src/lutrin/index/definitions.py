"""The tables of the catalogue as SQLModel classes, from which a new `catalog.db` is created.

Only the creation of a catalogue imports this module, because loading SQLModel takes most of a second of processor time,
seven times a command's usual start (docs/decisions/0052).
"""

from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, MetaData, Text, UniqueConstraint, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateTable
from sqlmodel import Field, SQLModel


def _text(*, default: str | None = None, references: str = "", **options: Any) -> Any:  # noqa: ANN401 - as `Field` has it
    """A column of text, which SQLModel alone would make a VARCHAR."""
    kwargs = {} if default is None else {"server_default": text(repr(default))}
    args = (ForeignKey(references, ondelete=options.pop("ondelete", None)),) if references else ()
    return Field(sa_type=Text, sa_column_args=args, sa_column_kwargs=kwargs, **options)


def _blob() -> Any:  # noqa: ANN401 - as `Field` has it
    return Field(sa_type=LargeBinary)


WITHOUT_ROWID = {"sqlite_with_rowid": False}


class CatalogTable(SQLModel):
    """Metadata of `catalog.db`."""

    metadata = MetaData()


class GenerationRow(CatalogTable, table=True):
    """One built index of a book. `number` is never used twice."""

    __tablename__ = "generation"
    __table_args__ = {"sqlite_autoincrement": True}

    number: int | None = Field(default=None, primary_key=True)
    name: str = _text(unique=True)
    slug: str = _text()
    manifest_sha256: str = _text()
    published: str = _text()
    """ISO 8601, UTC."""
    retired: int = Field(sa_column_kwargs={"server_default": text("0")})
    """1 once its folder may be deleted."""


class BookRow(CatalogTable, table=True):
    """A published book and the generations that serve it."""

    __tablename__ = "book"

    slug: str = _text(primary_key=True)
    info: str = _text()
    """JSON of `records.BookInfo`."""
    corpus: str = _text()
    """The folder that it was ingested from, absolute."""
    recipe: str = _text()
    """Fingerprint of the settings and book data that determined its chunks."""
    current: str = _text(references="generation.name")
    previous: str | None = _text(references="generation.name", nullable=True)
    root: str = _text(default="")
    """The book's own folder within the corpus, absolute; empty if unknown."""


class FileRow(CatalogTable, table=True):
    """A source file of a book's current generation, as last read."""

    __tablename__ = "file"
    __table_args__ = WITHOUT_ROWID

    slug: str = _text(primary_key=True, references="book.slug", ondelete="CASCADE")
    filename: str = _text(primary_key=True)
    size: int
    changed_ns: int
    sha256: str = _text()


class EmbeddingRow(CatalogTable, table=True):
    """An embedder's output for a text; see `lutrin.index.embeddings`."""

    __tablename__ = "embedding"
    __table_args__ = (UniqueConstraint("content_hash", "embedder"),)
    __mapper_args__ = {"primary_key": ["content_hash", "embedder"]}

    content_hash: str = _text()
    embedder: str = _text()
    windows: bytes = _blob()
    """float32, (windows, dimension)."""
    token_vectors: bytes = _blob()
    """int8, (tokens, width)."""
    token_offsets: bytes = _blob()
    """int32, (tokens, 2)."""


class LeftOutRow(CatalogTable, table=True):
    """A file that the newest ingest of a folder left out, and why."""

    __tablename__ = "left_out"
    __table_args__ = WITHOUT_ROWID

    corpus: str = _text(primary_key=True)
    slug: str = _text(primary_key=True)
    filename: str = _text(primary_key=True)
    reason: str = _text()


class ChoiceRow(CatalogTable, table=True):
    """A teacher's choices for a book on the shelf; they outlive the book's generations, and its removal."""

    __tablename__ = "choice"
    __table_args__ = WITHOUT_ROWID

    slug: str = _text(primary_key=True)
    record: str = _text()
    """JSON of `catalog.BookChoice`."""
    place: float | None = None
    """Its place on the shelf; null: after those with a place, in the order of their first publication."""


class EntryTable(CatalogTable):
    """Columns of an entry with its questions."""

    slug: str = _text(primary_key=True)
    id: str = _text(primary_key=True)
    record: str = _text()
    embedder: str = _text()
    spoken: bytes = _blob()
    """MessagePack: the entry's questions as the embedder sees them."""


class DecisionRow(EntryTable, table=True):
    """A teacher's decision (`companion.Decision`) about one prepared entry; see `lutrin.index.decisions`."""

    __tablename__ = "decision"

    decided: str = _text()
    """ISO 8601, UTC."""


class StudiedRow(EntryTable, table=True):
    """An entry (`companion.Prepared`) that a study wrote since its book was published; see `lutrin.index.decisions`."""

    __tablename__ = "studied"

    written: str = _text()
    """ISO 8601, UTC."""


class DecisionsRow(CatalogTable, table=True):
    """One row, whose number grows with each decision and studied entry, so that servers notice."""

    __tablename__ = "decisions"
    __mapper_args__ = {"primary_key": ["revision"]}

    revision: int


def make_tables() -> list[str]:
    """The statements that make the tables in a new `catalog.db`."""
    return [str(CreateTable(one).compile(dialect=sqlite.dialect())) for one in CatalogTable.metadata.sorted_tables]
