"""Every fixed statement about the tables of `definitions.py`; `compiled.py` holds their SQL.

Parameters are named after the columns that they fill or are compared with, unless the statement says otherwise. What
is put together when a question is asked (full-text searches, filters by chapter) stays with its code.
"""

from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Insert,
    MetaData,
    Select,
    Table,
    TableClause,
    Text,
    and_,
    bindparam,
    column,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    table,
    text,
    true,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from lutrin.index import definitions
from lutrin.index.definitions import CatalogTable

_generation, _book, _file, _embedding = (
    definitions.GENERATION,
    definitions.BOOK,
    definitions.FILE,
    definitions.EMBEDDING,
)
_left_out, _decision, _decisions = definitions.LEFT_OUT, definitions.DECISION, definitions.DECISIONS
_page, _chunk, _word, _common = definitions.PAGE, definitions.CHUNK, definitions.WORD, definitions.COMMON
_live = Table(
    "live",
    MetaData(),
    Column("content_hash", Text, primary_key=True),
    prefixes=["TEMPORARY"],
    sqlite_with_rowid=False,
)


def _named(*columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Each of these columns has the value of the parameter of its name."""
    return and_(*(one == bindparam(one.name) for one in columns))


def _replace(into: Table) -> Insert:
    """Insert a row; one with the same key gives way to it."""
    return insert(into).prefix_with("OR REPLACE")


def _copied(into: Table, *, ignore: bool = False, replace: bool = False) -> Insert:
    """Insert all rows of the same table of a catalogue that is attached as `other`."""
    names = [one.name for one in into.c]
    found = sqlite.insert(into).from_select(names, select(*_other(into).c))
    return found.prefix_with("OR IGNORE" if ignore else "OR REPLACE" if replace else "")


def _other(of: Table) -> TableClause:
    return table(of.name, *(column(one.name) for one in of.c), schema="other")


MAKE_CATALOG = [CreateTable(one) for one in CatalogTable.metadata.sorted_tables]
"""The tables of a new `catalog.db`, each of which a migration may make by itself."""
MAKE_PASSAGES = [
    *(CreateTable(one) for one in (_page, _chunk)),
    *(CreateIndex(one) for one in sorted(_chunk.indexes, key=lambda one: str(one.name))),
]
"""The tables and indexes of a new `passages.db`."""
MAKE_LEFT_OUT = CreateTable(_left_out)
MAKE_DECISION = CreateTable(_decision)
MAKE_DECISIONS = CreateTable(_decisions)
MAKE_COMMON = CreateTable(_common)
MAKE_WORD = CreateTable(_word)

# The catalogue

FIRST_REVISION = insert(_decisions).values(revision=0)
"""The number that `decisions` begins with."""
BOOKS = (
    select(
        *(_book.c[name] for name in ("info", "corpus", "recipe", "current", "previous")),
        _generation.c.manifest_sha256,
        _book.c.root,
    )
    .select_from(_book.join(_generation, _generation.c.name == _book.c.current))
    .order_by(literal_column("book.rowid"))
)
"""All published books, the one published first first; see `catalog.published_book`."""
RETIRED = select(_generation.c.slug, _generation.c.name).where(_generation.c.retired == 1).order_by("number")
"""Generations whose folders may be deleted."""
LIVE = select(_generation.c.name, _generation.c.slug).where(_generation.c.retired == 0)
"""Generations that are current or previous."""
FILES = select(*(_file.c[name] for name in ("filename", "size", "changed_ns", "sha256"))).where(_named(_file.c.slug))
"""The files of a book."""
TOUCH_FILE = (
    update(_file)
    .values(size=bindparam("size"), changed_ns=bindparam("changed_ns"))
    .where(_named(_file.c.slug, _file.c.filename))
)
"""Set size and time of a file."""
LAST_NUMBER: Select[Any] = (
    select(column("seq")).select_from(table("sqlite_sequence")).where(text("name = 'generation'"))
)
"""The highest number that a generation ever had."""
ADD_GENERATION = insert(_generation).values(
    {name: bindparam(name) for name in ("name", "slug", "manifest_sha256", "published")}
)
"""Insert a generation."""
_published = sqlite.insert(_book).values({one.name: bindparam(one.name) for one in _book.c})
PUT_BOOK = _published.on_conflict_do_update(
    index_elements=["slug"], set_={one.name: _published.excluded[one.name] for one in _book.c if one.name != "slug"}
)
"""Insert a book, or replace what is known of it in its place on the shelf."""
RETIRE_OTHERS = (
    update(_generation)
    .values(retired=1)
    .where(_named(_generation.c.slug), _generation.c.name.not_in([bindparam("current"), bindparam("previous")]))
)
"""Retire all generations of a book but two."""
RETIRE = update(_generation).values(retired=1).where(_generation.c.name == bindparam("of"))
"""Retire the generation `of`."""
RETIRE_BOOK = update(_generation).values(retired=1).where(_generation.c.slug == bindparam("of"))
"""Retire all generations of the book `of`."""
FORGET_FILES = delete(_file).where(_named(_file.c.slug))
"""Delete what is known of a book's files."""
ADD_FILE = insert(_file)
"""Insert a file."""
FORGET_LEFT_OUT = delete(_left_out).where(_named(_left_out.c.corpus))
"""Delete what is known of the files that a folder's ingest left out."""
PUT_LEFT_OUT = _replace(_left_out)
"""Insert a file that was left out."""
LEFT_OUT = select(_left_out.c.filename, _left_out.c.reason, _left_out.c.slug).order_by("slug", "filename", "corpus")
"""Files left out, by book and name."""
WITHDRAW = delete(_book).where(_named(_book.c.slug))
"""Delete a book."""
ROLL_BACK = (
    update(_book)
    .values(current=_book.c.previous, previous=null(), recipe=text("''"))
    .where(_book.c.slug == bindparam("of"))
)
"""Make the previous generation of the book `of` its current one."""
FORGET_GENERATION = delete(_generation).where(_generation.c.retired == 1, _named(_generation.c.name))
"""Delete a retired generation."""
RENAME_GENERATION = (
    update(_generation)
    .values(name=bindparam("new"), manifest_sha256=bindparam("digest"))
    .where(_generation.c.name == bindparam("old"))
)
"""Call the generation `old` by the name `new`, with the hash of its new manifest."""
RENAME_CURRENT = update(_book).values(current=bindparam("new")).where(_book.c.current == bindparam("old"))
"""The same in the books that it is current of."""

# Copies of the catalogue: `other` is another one that is attached

KEEP_CURRENT = [
    update(_book).values(previous=null()),
    delete(_generation).where(_generation.c.name.not_in(select(_book.c.current))),
]
"""Forget every generation that is not current."""
_theirs = _other(_generation)
_arrived = sqlite.insert(_generation).from_select(
    ["name", "slug", "manifest_sha256", "published"],
    # SQLite would take ON for a part of a SELECT without WHERE.
    select(*(_theirs.c[name] for name in ("name", "slug", "manifest_sha256", "published"))).where(true()),
)
_numbers, _their_numbers = (
    table("sqlite_sequence", column("seq"), column("name"), schema=at) for at in (None, "other")
)
_highest = select(func.ifnull(func.max(_their_numbers.c.seq), 0)).where(_their_numbers.c.name == text("'generation'"))
TAKE_OVER = [
    delete(_book),
    update(_generation).values(retired=1),
    _arrived.on_conflict_do_update(
        index_elements=["name"],
        set_={
            "manifest_sha256": _arrived.excluded.manifest_sha256,
            "published": _arrived.excluded.published,
            "retired": 0,
        },
    ),
    insert(_book).from_select(
        [one.name for one in _book.c], select(*_other(_book).c).order_by(literal_column("other.book.rowid"))
    ),
    _copied(_file),
    _copied(_embedding, ignore=True),
    update(_numbers)
    .values(seq=func.max(_numbers.c.seq, _highest.scalar_subquery()))
    .where(text("name = 'generation'")),
]
"""Retire what is published now and publish what `other` publishes; no embedding is lost, no number is used again."""
COPY_EMBEDDINGS = _copied(_embedding, ignore=True)
"""Add the embeddings of `other`."""

# Embeddings

HAS_EMBEDDING: Select[Any] = select(literal_column("1")).where(_named(_embedding.c.content_hash, _embedding.c.embedder))
"""One row if there is such an embedding."""
EMBEDDING = select(*(_embedding.c[name] for name in ("windows", "token_vectors", "token_offsets"))).where(
    _named(_embedding.c.content_hash, _embedding.c.embedder)
)
"""The three arrays of an embedding."""
PUT_EMBEDDING = _replace(_embedding)
"""Insert an embedding."""
MAKE_LIVE = CreateTable(_live, if_not_exists=True)
"""A table of this connection alone, for the hashes of texts that are in use."""
EMPTY_LIVE = delete(_live)
ADD_LIVE = insert(_live).prefix_with("OR IGNORE")
PRUNE_EMBEDDINGS = delete(_embedding).where(_embedding.c.content_hash.not_in(select(_live.c.content_hash)))
"""Delete the embeddings of texts that are not in use."""

# A teacher's decisions

DECISIONS = (
    select(_decision.c.record, _decision.c.embedder, _decision.c.spoken)
    .where(_named(_decision.c.slug))
    .order_by("decided", "id")
)
"""What was decided about the entries of a book, oldest first; see `decisions.decided`."""
REVISION = select(_decisions.c.revision)
"""Another number after each decision."""
PUT_DECISION = _replace(_decision)
"""Insert a decision."""
WITHDRAW_DECISION = delete(_decision).where(_named(_decision.c.slug, _decision.c.id))
"""Delete a decision."""
NEXT_REVISION = update(_decisions).values(revision=_decisions.c.revision + 1)
"""To be run after each change of decisions."""
TAKE_OVER_DECISIONS = [delete(_decision), _copied(_decision), NEXT_REVISION]
"""Put the decisions of `other` in the place of ours."""
ADD_DECISIONS = [_copied(_decision, replace=True), NEXT_REVISION]
"""Add the decisions of `other`."""

# Passages

ADD_PAGE = insert(_page).values({one.name: bindparam(one.name) for one in _page.c if one.name != "ordinal"})
"""Insert a source file."""
ADD_CHUNK = insert(_chunk).values(
    {one.name: bindparam(one.name) for one in _chunk.c if one.name not in {"window_start", "first"}}
)
"""Insert a chunk."""
ADD_WORD = insert(_word)
"""Insert a word."""
ADD_COMMON = insert(_common)
"""Insert a common term."""
ORDER_PAGE = update(_page).values(ordinal=bindparam("place")).where(_page.c.filename == bindparam("of"))
"""Set the place of the file `of` in the reading order."""
SET_WINDOW_START = update(_chunk).values(window_start=bindparam("start")).where(_chunk.c.row == bindparam("of"))
"""Set where the windows of the chunk in row `of` start."""
SET_FIRST = update(_chunk).values(first=bindparam("same")).where(_chunk.c.row == bindparam("of"))
"""Set the row of the chunk that row `of` repeats."""
PAGE_COUNT = select(func.count()).select_from(_page)
CHUNK_COUNT = select(func.count()).select_from(_chunk)
CHUNK_IDS = select(_chunk.c.chunk_id)
CHUNK_HASHES = select(_chunk.c.row, _chunk.c.content_hash).order_by("row")
CHUNK_STATES = select(*(_chunk.c[name] for name in ("chunk_id", "window_start", "first", "role", "variant"))).order_by(
    "row"
)
RECORDS = select(_chunk.c.record).order_by("row")
"""All chunks, in the order of rows."""
RECORD = select(_chunk.c.record).where(_named(_chunk.c.row))
FIRST_IDS = select(_chunk.c.chunk_id).order_by("row").limit(bindparam("most"))
"""The ids of the first `most` chunks."""
_wanted = func.json_each(bindparam("ids")).table_valued("value")
RECORDS_BY_ID = select(_chunk.c.chunk_id, _chunk.c.row, _chunk.c.record).where(
    _chunk.c.chunk_id.in_(select(_wanted.c.value))
)
"""The chunks whose ids are in the JSON array `ids`."""
RECORDS_OF_PAGE = select(_chunk.c.record).where(_named(_chunk.c.filename)).order_by("chunk_index")
"""The chunks of a file, in order."""
NEIGHBOURS = (
    select(_chunk.c.record)
    .where(_named(_chunk.c.filename), _chunk.c.chunk_index.in_([bindparam("before"), bindparam("after")]))
    .order_by("chunk_index")
)
"""The chunks of a file in the places `before` and `after`."""
CHAPTERS = (
    select(_chunk.c.chapter)
    .select_from(_chunk.join(_page))
    .where(_chunk.c.chapter != text("''"))
    .group_by(_chunk.c.chapter)
    .order_by(func.min(_page.c.ordinal), func.min(_chunk.c.row))
)
"""The names of chapters in reading order."""
_feeds = func.replace(_page.c.source, func.char(12), text("''"))
SHEET_COUNT = select(func.sum(1 + func.length(_page.c.source) - func.length(_feeds)))
"""Pages of a book; a form feed stands between two pages of one file."""
SOURCE = select(_page.c.source).where(_named(_page.c.filename))
"""The text of a file."""
PAGE = select(
    *(_page.c[name] for name in ("filename", "title", "module", "chapter", "section", "position", "sha256", "source"))
).where(_named(_page.c.filename))
"""A file as `build.BookFile` has it."""
PAGES = select(
    *(_page.c[name] for name in ("filename", "title", "module", "chapter", "section", "sha256", "chunks"))
).order_by("ordinal")
"""All files in reading order, as `records.FileEntry` has them."""
TITLES = select(_page.c.filename, _page.c.title)
WORDS = select(_word.c.word, _word.c.chunks)
WORD = select(_word.c.chunks).where(_named(_word.c.word))
"""In how many chunks a word stands."""
WORDS_BETWEEN = (
    select(_word.c.word, _word.c.chunks)
    .where(_word.c.word >= bindparam("start"), _word.c.word < bindparam("stop"))
    .order_by("word")
)
"""Words from `start` up to `stop`."""
COMMON_TERM = select(_common.c.chunks, _common.c.scores).where(_named(_common.c.source, _common.c.term))
"""What a common term adds."""
