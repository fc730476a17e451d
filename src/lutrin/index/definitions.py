"""The tables of the catalogue and of a book's passages, as SQLModel classes.

Nothing in a running Lutrin imports this module or `expressions.py`, which holds the statements: loading SQLModel takes
0.9 s of processor time, seven times what a command needs to start. `requirements/compile_sql.py` compiles both into
`compiled.py`, which is what the program reads; `./justw docs` runs it, and a test fails if they differ
(docs/decisions/0052).
"""

from typing import Any

from sqlalchemy import REAL, ForeignKey, Index, LargeBinary, MetaData, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel


def _text(*, default: str | None = None, references: str = "", **options: Any) -> Any:  # noqa: ANN401 - as `Field` has it
    """A column of text, which SQLModel alone would make a VARCHAR."""
    kwargs = {} if default is None else {"server_default": text(repr(default))}
    args = (ForeignKey(references, ondelete=options.pop("ondelete", None)),) if references else ()
    return Field(sa_type=Text, sa_column_args=args, sa_column_kwargs=kwargs, **options)


def _blob() -> Any:  # noqa: ANN401 - as `Field` has it
    return Field(sa_type=LargeBinary)


def _counter() -> Any:  # noqa: ANN401 - as `Field` has it
    """An integer that is 0 until something sets it."""
    return Field(sa_column_kwargs={"server_default": text("0")})


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
    retired: int = _counter()
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
    """Fingerprint of the settings and book data that decided about its chunks."""
    current: str = _text(references="generation.name")
    previous: str | None = _text(references="generation.name", nullable=True)
    root: str = _text(default="")
    """The book's own folder within the corpus, absolute; empty: not known."""


class FileRow(CatalogTable, table=True):
    """A source file of a book's current generation, as it was when it was read."""

    __tablename__ = "file"
    __table_args__ = WITHOUT_ROWID

    slug: str = _text(primary_key=True, references="book.slug", ondelete="CASCADE")
    filename: str = _text(primary_key=True)
    size: int
    changed_ns: int
    sha256: str = _text()


class EmbeddingRow(CatalogTable, table=True):
    """What an embedder made of a text; see `lutrin.index.embeddings`."""

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


class DecisionRow(CatalogTable, table=True):
    """What a teacher decided about one prepared entry; see `lutrin.index.decisions`."""

    __tablename__ = "decision"

    slug: str = _text(primary_key=True)
    id: str = _text(primary_key=True)
    record: str = _text()
    """JSON of `companion.Decision`."""
    embedder: str = _text()
    spoken: bytes = _blob()
    """MessagePack: the entry's questions as the embedder sees them."""
    decided: str = _text()
    """ISO 8601, UTC."""


class DecisionsRow(CatalogTable, table=True):
    """One row, whose number grows with each decision, so that servers notice."""

    __tablename__ = "decisions"
    __mapper_args__ = {"primary_key": ["revision"]}

    revision: int


class PassageTable(SQLModel):
    """Metadata of a generation's `passages.db`; its full-text indexes are virtual tables (`lutrin.index.lexical`)."""

    metadata = MetaData()


class BookFileRow(PassageTable, table=True):
    """A source file with its text."""

    __tablename__ = "file"

    filename: str = _text(primary_key=True)
    ordinal: int = _counter()
    """Place in the reading order."""
    title: str = _text()
    module: str = _text()
    chapter: str = _text()
    section: str = _text()
    position: float | None = Field(sa_type=REAL, nullable=True)
    sha256: str = _text()
    chunks: int
    source: str = _text()


class ChunkRow(PassageTable, table=True):
    """A chunk: what filters and orders look at, and the whole of it as a record."""

    __tablename__ = "chunk"
    __table_args__ = (
        Index("chunk_place", "filename", "chunk_index", unique=True),
        Index("chunk_chapter", "chapter"),
        Index("chunk_module", "module"),
    )

    row: int | None = Field(default=None, primary_key=True)
    chunk_id: str = _text(unique=True)
    filename: str = _text(references="file.filename")
    chunk_index: int
    """Place in its file."""
    module: str = _text()
    chapter: str = _text()
    section: str = _text()
    content_type: str = _text()
    role: str = _text()
    variant: str = _text()
    content_hash: str = _text()
    window_start: int = _counter()
    """Its first row in `windows.npy`."""
    first: int = _counter()
    """The row of the first chunk that this one nearly repeats."""
    record: bytes = _blob()
    """JSON of `records.Chunk`."""


class WordRow(PassageTable, table=True):
    """In how many chunks a word stands."""

    __tablename__ = "word"
    __table_args__ = WITHOUT_ROWID

    word: str = _text(primary_key=True)
    chunks: int


class CommonRow(PassageTable, table=True):
    """What a common term of a large book adds to each chunk; see `lutrin.index.postings`."""

    __tablename__ = "common"

    source: str = _text(primary_key=True)
    """The full-text table."""
    term: str = _text(primary_key=True)
    chunks: bytes = _blob()
    """int32: rows of `chunk`."""
    scores: bytes = _blob()
    """float32: BM25 of each."""


GENERATION, BOOK, FILE, EMBEDDING, LEFT_OUT, DECISION, DECISIONS = (
    CatalogTable.metadata.tables[name]
    for name in ("generation", "book", "file", "embedding", "left_out", "decision", "decisions")
)
PAGE, CHUNK, WORD, COMMON = (PassageTable.metadata.tables[name] for name in ("file", "chunk", "word", "common"))
