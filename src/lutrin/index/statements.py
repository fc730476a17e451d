"""Every fixed statement about the catalogue and a book's passages.

`definitions.py` describes the tables of the catalogue, this module those of `passages.db`. Parameters are named after
the columns that they fill or are compared with, unless a statement says otherwise. Statements built for each question
(full-text searches, filters by chapter) stay with their code. A test prepares every statement on new databases.
"""

# The catalogue

FIRST_REVISION = "INSERT INTO decisions (revision) VALUES (0)"
BOOKS = """SELECT info, corpus, recipe, current, previous, manifest_sha256, root, coalesce(choice.record, '{}')
    FROM book JOIN generation ON generation.name = book.current LEFT JOIN choice ON choice.slug = book.slug
    ORDER BY coalesce(choice.place, 1e9), book.rowid"""
"""The books in the order of the shelf: as their teacher arranged them, then by first publication."""
CHOICES = "SELECT slug, record FROM choice ORDER BY place IS NULL, place, slug"
PUT_CHOICE = "INSERT OR REPLACE INTO choice (slug, record, place) VALUES (:slug, :record, :place)"
PLACES = "SELECT slug, place FROM choice"
FORGET_CHOICE = "DELETE FROM choice WHERE slug = :slug"
RETIRED = "SELECT slug, name FROM generation WHERE retired = 1 ORDER BY number"
LIVE = "SELECT name, slug FROM generation WHERE retired = 0"
FILES = "SELECT filename, size, changed_ns, sha256 FROM file WHERE slug = :slug"
TOUCH_FILE = "UPDATE file SET size = :size, changed_ns = :changed_ns WHERE slug = :slug AND filename = :filename"
LAST_NUMBER = "SELECT seq FROM sqlite_sequence WHERE name = 'generation'"
"""The highest generation number ever used."""
ADD_GENERATION = """INSERT INTO generation (name, slug, manifest_sha256, published)
    VALUES (:name, :slug, :manifest_sha256, :published)"""
PUT_BOOK = """INSERT INTO book (slug, info, corpus, recipe, current, previous, root)
    VALUES (:slug, :info, :corpus, :recipe, :current, :previous, :root)
    ON CONFLICT (slug) DO UPDATE SET info = excluded.info, corpus = excluded.corpus, recipe = excluded.recipe,
        current = excluded.current, previous = excluded.previous, root = excluded.root"""
"""Insert a book, or replace its data in its place on the shelf."""
RETIRE_OTHERS = "UPDATE generation SET retired = 1 WHERE slug = :slug AND name NOT IN (:current, :previous)"
RETIRE = "UPDATE generation SET retired = 1 WHERE name = :of"
RETIRE_BOOK = "UPDATE generation SET retired = 1 WHERE slug = :of"
FORGET_FILES = "DELETE FROM file WHERE slug = :slug"
ADD_FILE = """INSERT INTO file (slug, filename, size, changed_ns, sha256)
    VALUES (:slug, :filename, :size, :changed_ns, :sha256)"""
FORGET_LEFT_OUT = "DELETE FROM left_out WHERE corpus = :corpus"
PUT_LEFT_OUT = """INSERT OR REPLACE INTO left_out (corpus, slug, filename, reason)
    VALUES (:corpus, :slug, :filename, :reason)"""
LEFT_OUT = "SELECT filename, reason, slug FROM left_out ORDER BY slug, filename, corpus"
WITHDRAW = "DELETE FROM book WHERE slug = :slug"
ROLL_BACK = "UPDATE book SET recipe = '', current = previous, previous = NULL WHERE slug = :of"
FORGET_GENERATION = "DELETE FROM generation WHERE retired = 1 AND name = :name"
RENAME_GENERATION = "UPDATE generation SET name = :new, manifest_sha256 = :digest WHERE name = :old"
"""Rename the generation `old` to `new`, with the hash of its new manifest."""
RENAME_CURRENT = "UPDATE book SET current = :new WHERE current = :old"

# Copies of the catalogue: `other` is another, attached one

KEEP_CURRENT = (
    "UPDATE book SET previous = NULL",
    "DELETE FROM generation WHERE name NOT IN (SELECT current FROM book)",
)
_EMBEDDING = "content_hash, embedder, windows, token_vectors, token_offsets"
COPY_EMBEDDINGS = f"INSERT OR IGNORE INTO embedding ({_EMBEDDING}) SELECT {_EMBEDDING} FROM other.embedding"
TAKE_OVER = (
    "DELETE FROM book",
    "UPDATE generation SET retired = 1",
    # SQLite would take ON for a part of a SELECT without WHERE.
    """INSERT INTO generation (name, slug, manifest_sha256, published)
        SELECT name, slug, manifest_sha256, published FROM other.generation WHERE TRUE
        ON CONFLICT (name) DO UPDATE SET manifest_sha256 = excluded.manifest_sha256, published = excluded.published,
            retired = 0""",
    """INSERT INTO book (slug, info, corpus, recipe, current, previous, root)
        SELECT slug, info, corpus, recipe, current, previous, root FROM other.book ORDER BY other.book.rowid""",
    """INSERT INTO file (slug, filename, size, changed_ns, sha256)
        SELECT slug, filename, size, changed_ns, sha256 FROM other.file""",
    COPY_EMBEDDINGS,
    """UPDATE sqlite_sequence SET seq = max(seq, (
        SELECT ifnull(max(seq), 0) FROM other.sqlite_sequence WHERE name = 'generation'
    )) WHERE name = 'generation'""",
)
"""Retire the published generations and publish those of `other`; no embedding is lost, no number is reused."""

# Embeddings

HAS_EMBEDDING = "SELECT 1 FROM embedding WHERE content_hash = :content_hash AND embedder = :embedder"
EMBEDDING = """SELECT windows, token_vectors, token_offsets FROM embedding
    WHERE content_hash = :content_hash AND embedder = :embedder"""
PUT_EMBEDDING = f"""INSERT OR REPLACE INTO embedding ({_EMBEDDING})
    VALUES (:content_hash, :embedder, :windows, :token_vectors, :token_offsets)"""
MAKE_LIVE = "CREATE TEMPORARY TABLE IF NOT EXISTS live (content_hash TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID"
"""A temporary table for the hashes of texts in use."""
EMPTY_LIVE = "DELETE FROM live"
ADD_LIVE = "INSERT OR IGNORE INTO live (content_hash) VALUES (:content_hash)"
PRUNE_EMBEDDINGS = "DELETE FROM embedding WHERE content_hash NOT IN (SELECT content_hash FROM live)"

# A teacher's decisions

DECISIONS = "SELECT record, embedder, spoken FROM decision WHERE slug = :slug ORDER BY decided, id"
REVISION = "SELECT revision FROM decisions"
PUT_DECISION = """INSERT OR REPLACE INTO decision (slug, id, record, embedder, spoken, decided)
    VALUES (:slug, :id, :record, :embedder, :spoken, :decided)"""
WITHDRAW_DECISION = "DELETE FROM decision WHERE slug = :slug AND id = :id"
NEXT_REVISION = "UPDATE decisions SET revision = revision + 1"
"""Run after each change of decisions or of studied entries."""
_COPY_DECISIONS = """INTO decision (slug, id, record, embedder, spoken, decided)
    SELECT slug, id, record, embedder, spoken, decided FROM other.decision"""
TAKE_OVER_DECISIONS = (
    "DELETE FROM decision",
    f"INSERT {_COPY_DECISIONS}",
    "DELETE FROM studied",
    """INSERT INTO studied (slug, id, record, embedder, spoken, written)
        SELECT slug, id, record, embedder, spoken, written FROM other.studied""",
    "DELETE FROM choice",
    "INSERT INTO choice (slug, record, place) SELECT slug, record, place FROM other.choice",
    NEXT_REVISION,
)
ADD_DECISIONS = (f"INSERT OR REPLACE {_COPY_DECISIONS}", NEXT_REVISION)

# Entries studied since the books were published

STUDIED = "SELECT record, embedder, spoken FROM studied WHERE slug = :slug ORDER BY written, id"
PUT_STUDIED = """INSERT OR REPLACE INTO studied (slug, id, record, embedder, spoken, written)
    VALUES (:slug, :id, :record, :embedder, :spoken, :written)"""
FORGET_STUDIED = "DELETE FROM studied WHERE slug = :slug AND written < :published"
"""Delete the entries that were in the companion's file when a generation was started."""
FORGET_STUDIED_BOOK = "DELETE FROM studied WHERE slug = :slug"

# Passages

MAKE_PASSAGES = (
    # `ordinal` is the place in the reading order.
    """CREATE TABLE file (filename TEXT NOT NULL PRIMARY KEY, ordinal INTEGER NOT NULL DEFAULT 0, title TEXT NOT NULL,
        module TEXT NOT NULL, chapter TEXT NOT NULL, section TEXT NOT NULL, position REAL, sha256 TEXT NOT NULL,
        chunks INTEGER NOT NULL, source TEXT NOT NULL)""",
    # `chunk_index` is the place in the file, `window_start` the first row in `windows.npy`, `first` the row of the
    # first chunk that this one nearly repeats; `record` is JSON of `records.Chunk`.
    """CREATE TABLE chunk (row INTEGER NOT NULL PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE,
        filename TEXT NOT NULL REFERENCES file (filename), chunk_index INTEGER NOT NULL, module TEXT NOT NULL,
        chapter TEXT NOT NULL, section TEXT NOT NULL, content_type TEXT NOT NULL, role TEXT NOT NULL,
        variant TEXT NOT NULL, content_hash TEXT NOT NULL, window_start INTEGER NOT NULL DEFAULT 0,
        first INTEGER NOT NULL DEFAULT 0, record BLOB NOT NULL)""",
    "CREATE INDEX chunk_chapter ON chunk (chapter)",
    "CREATE INDEX chunk_module ON chunk (module)",
    "CREATE UNIQUE INDEX chunk_place ON chunk (filename, chunk_index)",
    # Number of chunks that contain a word.
    "CREATE TABLE word (word TEXT NOT NULL PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID",
    # Labels by which the book refers to a chunk's contents: `figure 2.1`.
    "CREATE TABLE label (label TEXT NOT NULL, chunk_id TEXT NOT NULL, PRIMARY KEY (label, chunk_id)) WITHOUT ROWID",
)
"""The tables and indexes of a new `passages.db`, besides the full-text indexes of `lexical.py`."""
MAKE_COMMON = """CREATE TABLE common (source TEXT NOT NULL, term TEXT NOT NULL, chunks BLOB NOT NULL,
    scores BLOB NOT NULL, PRIMARY KEY (source, term))"""
"""Contribution of a common term to each chunk of a large book: int32 rows of `chunk`, float32 BM25 of each."""
ADD_PAGE = """INSERT INTO file (filename, title, module, chapter, section, position, sha256, chunks, source)
    VALUES (:filename, :title, :module, :chapter, :section, :position, :sha256, :chunks, :source)"""
ADD_CHUNK = """INSERT INTO chunk (row, chunk_id, filename, chunk_index, module, chapter, section, content_type, role,
        variant, content_hash, record)
    VALUES (:row, :chunk_id, :filename, :chunk_index, :module, :chapter, :section, :content_type, :role,
        :variant, :content_hash, :record)"""
ADD_LABEL = "INSERT OR IGNORE INTO label (label, chunk_id) VALUES (:label, :chunk_id)"
ADD_WORD = "INSERT INTO word (word, chunks) VALUES (:word, :chunks)"
ADD_COMMON = "INSERT INTO common (source, term, chunks, scores) VALUES (:source, :term, :chunks, :scores)"
ORDER_PAGE = "UPDATE file SET ordinal = :place WHERE filename = :of"
SET_WINDOW_START = "UPDATE chunk SET window_start = :start WHERE row = :of"
SET_FIRST = "UPDATE chunk SET first = :same WHERE row = :of"
PAGE_COUNT = "SELECT count(*) FROM file"
CHUNK_COUNT = "SELECT count(*) FROM chunk"
CHUNK_HASHES = "SELECT row, content_hash, filename FROM chunk ORDER BY row"
CHUNK_STATES = "SELECT chunk_id, window_start, first, role FROM chunk ORDER BY row"
LABELS = "SELECT label, chunk_id FROM label JOIN chunk USING (chunk_id) ORDER BY label, row"
RECORDS = "SELECT record FROM chunk ORDER BY row"
RECORD = "SELECT record FROM chunk WHERE row = :row"
FIRST_IDS = "SELECT chunk_id FROM chunk ORDER BY row LIMIT :most"
RECORDS_BY_ID = "SELECT chunk_id, row, record FROM chunk WHERE chunk_id IN (SELECT value FROM json_each(:ids))"
RECORDS_OF_PAGE = "SELECT record FROM chunk WHERE filename = :filename ORDER BY chunk_index"
CHAPTERS = """SELECT chunk.chapter FROM chunk JOIN file ON file.filename = chunk.filename WHERE chunk.chapter != ''
    GROUP BY chunk.chapter ORDER BY min(file.ordinal), min(chunk.row)"""
CHAPTER_STARTS = """SELECT record FROM chunk WHERE row IN (
    SELECT min(row) FROM chunk WHERE chapter != '' AND filename IN (
        SELECT filename FROM chunk WHERE chapter != '' GROUP BY filename HAVING count(DISTINCT chapter) > 1)
    GROUP BY filename, chapter) ORDER BY row"""
"""The first chunk of each chapter, of files that hold several."""
SHEET_COUNT = """SELECT sum(max(1 + length(source) - length(replace(source, char(12), '')), coalesce(
    (SELECT max(json_extract(CAST(record AS TEXT), '$.page')) FROM chunk WHERE chunk.filename = file.filename),
    1))) FROM file"""
"""Pages of a book: a form feed separates two pages of a file; a passage of slides knows its slide."""
SOURCE = "SELECT source FROM file WHERE filename = :filename"
PAGE = """SELECT filename, title, module, chapter, section, position, sha256, source FROM file
    WHERE filename = :filename"""
PAGES = "SELECT filename, title, module, chapter, section, sha256, chunks FROM file ORDER BY ordinal"
PAGE_PLACES = "SELECT filename, title, module, chapter, position FROM file ORDER BY ordinal"
TITLES = "SELECT filename, title FROM file"
WORDS = "SELECT word, chunks FROM word"
WORD = "SELECT chunks FROM word WHERE word = :word"
WORDS_BETWEEN = "SELECT word, chunks FROM word WHERE word >= :start AND word < :stop ORDER BY word"
COMMON_TERM = "SELECT chunks, scores FROM common WHERE source = :source AND term = :term"
