"""SQL of the catalogue and of a book's passages.

Compiled from `definitions.py` and `expressions.py` by `./justw docs`; do not edit.
"""

MAKE_CATALOG = (
    (
        "CREATE TABLE decision (slug TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, embedder TEXT NOT NULL, "
        "spoken BLOB NOT NULL, decided TEXT NOT NULL, PRIMARY KEY (slug, id))"
    ),
    "CREATE TABLE decisions (revision INTEGER NOT NULL)",
    (
        "CREATE TABLE embedding (content_hash TEXT NOT NULL, embedder TEXT NOT NULL, windows BLOB NOT NULL, "
        "token_vectors BLOB NOT NULL, token_offsets BLOB NOT NULL, UNIQUE (content_hash, embedder))"
    ),
    (
        "CREATE TABLE generation (number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, slug TEXT NOT "
        "NULL, manifest_sha256 TEXT NOT NULL, published TEXT NOT NULL, retired INTEGER DEFAULT 0 NOT NULL, UNIQUE "
        "(name))"
    ),
    (
        "CREATE TABLE left_out (corpus TEXT NOT NULL, slug TEXT NOT NULL, filename TEXT NOT NULL, reason TEXT NOT "
        "NULL, PRIMARY KEY (corpus, slug, filename)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE book (slug TEXT NOT NULL, info TEXT NOT NULL, corpus TEXT NOT NULL, recipe TEXT NOT NULL, "
        "current TEXT NOT NULL, previous TEXT, root TEXT DEFAULT '' NOT NULL, PRIMARY KEY (slug), FOREIGN KEY(current) "
        "REFERENCES generation (name), FOREIGN KEY(previous) REFERENCES generation (name))"
    ),
    (
        "CREATE TABLE file (slug TEXT NOT NULL, filename TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT "
        "NULL, sha256 TEXT NOT NULL, PRIMARY KEY (slug, filename), FOREIGN KEY(slug) REFERENCES book (slug) ON DELETE "
        "CASCADE) WITHOUT ROWID"
    ),
)
"""The tables of a new `catalog.db`, each of which a migration may make by itself."""
MAKE_PASSAGES = (
    (
        "CREATE TABLE file (filename TEXT NOT NULL, ordinal INTEGER DEFAULT 0 NOT NULL, title TEXT NOT NULL, module "
        "TEXT NOT NULL, chapter TEXT NOT NULL, section TEXT NOT NULL, position REAL, sha256 TEXT NOT NULL, chunks "
        "INTEGER NOT NULL, source TEXT NOT NULL, PRIMARY KEY (filename))"
    ),
    (
        'CREATE TABLE chunk ("row" INTEGER NOT NULL, chunk_id TEXT NOT NULL, filename TEXT NOT NULL, chunk_index '
        "INTEGER NOT NULL, module TEXT NOT NULL, chapter TEXT NOT NULL, section TEXT NOT NULL, content_type TEXT NOT "
        "NULL, role TEXT NOT NULL, variant TEXT NOT NULL, content_hash TEXT NOT NULL, window_start INTEGER DEFAULT 0 "
        'NOT NULL, first INTEGER DEFAULT 0 NOT NULL, record BLOB NOT NULL, PRIMARY KEY ("row"), UNIQUE (chunk_id), '
        "FOREIGN KEY(filename) REFERENCES file (filename))"
    ),
    "CREATE INDEX chunk_chapter ON chunk (chapter)",
    "CREATE INDEX chunk_module ON chunk (module)",
    "CREATE UNIQUE INDEX chunk_place ON chunk (filename, chunk_index)",
)
"""The tables and indexes of a new `passages.db`."""
MAKE_LEFT_OUT = (
    "CREATE TABLE left_out (corpus TEXT NOT NULL, slug TEXT NOT NULL, filename TEXT NOT NULL, reason TEXT NOT NULL, "
    "PRIMARY KEY (corpus, slug, filename)) WITHOUT ROWID"
)
MAKE_DECISION = (
    "CREATE TABLE decision (slug TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, embedder TEXT NOT NULL, spoken "
    "BLOB NOT NULL, decided TEXT NOT NULL, PRIMARY KEY (slug, id))"
)
MAKE_DECISIONS = "CREATE TABLE decisions (revision INTEGER NOT NULL)"
MAKE_COMMON = (
    "CREATE TABLE common (source TEXT NOT NULL, term TEXT NOT NULL, chunks BLOB NOT NULL, scores BLOB NOT NULL, "
    "PRIMARY KEY (source, term))"
)
MAKE_WORD = "CREATE TABLE word (word TEXT NOT NULL, chunks INTEGER NOT NULL, PRIMARY KEY (word)) WITHOUT ROWID"
FIRST_REVISION = "INSERT INTO decisions (revision) VALUES (0)"
"""The number that `decisions` begins with."""
BOOKS = (
    "SELECT book.info, book.corpus, book.recipe, book.current, book.previous, generation.manifest_sha256, book.root "
    "FROM book JOIN generation ON generation.name = book.current ORDER BY book.rowid"
)
"""All published books, the one published first first; see `catalog.published_book`."""
RETIRED = (
    "SELECT generation.slug, generation.name FROM generation WHERE generation.retired = 1 ORDER BY generation.number"
)
"""Generations whose folders may be deleted."""
LIVE = "SELECT generation.name, generation.slug FROM generation WHERE generation.retired = 0"
"""Generations that are current or previous."""
FILES = "SELECT file.filename, file.size, file.changed_ns, file.sha256 FROM file WHERE file.slug = :slug"
"""The files of a book."""
TOUCH_FILE = "UPDATE file SET size=:size, changed_ns=:changed_ns WHERE file.slug = :slug AND file.filename = :filename"
"""Set size and time of a file."""
LAST_NUMBER = "SELECT seq FROM sqlite_sequence WHERE name = 'generation'"
"""The highest number that a generation ever had."""
ADD_GENERATION = (
    "INSERT INTO generation (name, slug, manifest_sha256, published) VALUES (:name, :slug, :manifest_sha256, "
    ":published)"
)
"""Insert a generation."""
PUT_BOOK = (
    "INSERT INTO book (slug, info, corpus, recipe, current, previous, root) VALUES (:slug, :info, :corpus, :recipe, "
    ":current, :previous, :root) ON CONFLICT (slug) DO UPDATE SET info = excluded.info, corpus = excluded.corpus, "
    "recipe = excluded.recipe, current = excluded.current, previous = excluded.previous, root = excluded.root"
)
"""Insert a book, or replace what is known of it in its place on the shelf."""
RETIRE_OTHERS = (
    "UPDATE generation SET retired=1 WHERE generation.slug = :slug AND (generation.name NOT IN (:current, :previous))"
)
"""Retire all generations of a book but two."""
RETIRE = "UPDATE generation SET retired=1 WHERE generation.name = :of"
"""Retire the generation `of`."""
RETIRE_BOOK = "UPDATE generation SET retired=1 WHERE generation.slug = :of"
"""Retire all generations of the book `of`."""
FORGET_FILES = "DELETE FROM file WHERE file.slug = :slug"
"""Delete what is known of a book's files."""
ADD_FILE = (
    "INSERT INTO file (slug, filename, size, changed_ns, sha256) VALUES (:slug, :filename, :size, :changed_ns, :sha256)"
)
"""Insert a file."""
FORGET_LEFT_OUT = "DELETE FROM left_out WHERE left_out.corpus = :corpus"
"""Delete what is known of the files that a folder's ingest left out."""
PUT_LEFT_OUT = (
    "INSERT OR REPLACE INTO left_out (corpus, slug, filename, reason) VALUES (:corpus, :slug, :filename, :reason)"
)
"""Insert a file that was left out."""
LEFT_OUT = (
    "SELECT left_out.filename, left_out.reason, left_out.slug FROM left_out ORDER BY left_out.slug, left_out.filename, "
    "left_out.corpus"
)
"""Files left out, by book and name."""
WITHDRAW = "DELETE FROM book WHERE book.slug = :slug"
"""Delete a book."""
ROLL_BACK = "UPDATE book SET recipe='', current=book.previous, previous=NULL WHERE book.slug = :of"
"""Make the previous generation of the book `of` its current one."""
FORGET_GENERATION = "DELETE FROM generation WHERE generation.retired = 1 AND generation.name = :name"
"""Delete a retired generation."""
RENAME_GENERATION = "UPDATE generation SET name=:new, manifest_sha256=:digest WHERE generation.name = :old"
"""Call the generation `old` by the name `new`, with the hash of its new manifest."""
RENAME_CURRENT = "UPDATE book SET current=:new WHERE book.current = :old"
"""The same in the books that it is current of."""
KEEP_CURRENT = (
    "UPDATE book SET previous=NULL",
    "DELETE FROM generation WHERE (generation.name NOT IN (SELECT book.current FROM book))",
)
"""Forget every generation that is not current."""
TAKE_OVER = (
    "DELETE FROM book",
    "UPDATE generation SET retired=1",
    (
        "INSERT INTO generation (name, slug, manifest_sha256, published) SELECT other.generation.name, "
        "other.generation.slug, other.generation.manifest_sha256, other.generation.published FROM other.generation "
        "WHERE 1 = 1 ON CONFLICT (name) DO UPDATE SET manifest_sha256 = excluded.manifest_sha256, published = "
        "excluded.published, retired = 0"
    ),
    (
        "INSERT INTO book (slug, info, corpus, recipe, current, previous, root) SELECT other.book.slug, "
        "other.book.info, other.book.corpus, other.book.recipe, other.book.current, other.book.previous, "
        "other.book.root FROM other.book ORDER BY other.book.rowid"
    ),
    (
        "INSERT INTO file (slug, filename, size, changed_ns, sha256) SELECT other.file.slug, other.file.filename, "
        "other.file.size, other.file.changed_ns, other.file.sha256 FROM other.file"
    ),
    (
        "INSERT OR IGNORE INTO embedding (content_hash, embedder, windows, token_vectors, token_offsets) SELECT "
        "other.embedding.content_hash, other.embedding.embedder, other.embedding.windows, "
        "other.embedding.token_vectors, other.embedding.token_offsets FROM other.embedding"
    ),
    (
        "UPDATE sqlite_sequence SET seq=max(sqlite_sequence.seq, (SELECT ifnull(max(other.sqlite_sequence.seq), 0) AS "
        "ifnull_1 FROM other.sqlite_sequence WHERE other.sqlite_sequence.name = 'generation')) WHERE name = "
        "'generation'"
    ),
)
"""Retire what is published now and publish what `other` publishes; no embedding is lost, no number is used again."""
COPY_EMBEDDINGS = (
    "INSERT OR IGNORE INTO embedding (content_hash, embedder, windows, token_vectors, token_offsets) SELECT "
    "other.embedding.content_hash, other.embedding.embedder, other.embedding.windows, other.embedding.token_vectors, "
    "other.embedding.token_offsets FROM other.embedding"
)
"""Add the embeddings of `other`."""
HAS_EMBEDDING = (
    "SELECT 1 FROM embedding WHERE embedding.content_hash = :content_hash AND embedding.embedder = :embedder"
)
"""One row if there is such an embedding."""
EMBEDDING = (
    "SELECT embedding.windows, embedding.token_vectors, embedding.token_offsets FROM embedding WHERE "
    "embedding.content_hash = :content_hash AND embedding.embedder = :embedder"
)
"""The three arrays of an embedding."""
PUT_EMBEDDING = (
    "INSERT OR REPLACE INTO embedding (content_hash, embedder, windows, token_vectors, token_offsets) VALUES "
    "(:content_hash, :embedder, :windows, :token_vectors, :token_offsets)"
)
"""Insert an embedding."""
MAKE_LIVE = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS live (content_hash TEXT NOT NULL, PRIMARY KEY (content_hash)) WITHOUT ROWID"
)
"""A table of this connection alone, for the hashes of texts that are in use."""
EMPTY_LIVE = "DELETE FROM live"
ADD_LIVE = "INSERT OR IGNORE INTO live (content_hash) VALUES (:content_hash)"
PRUNE_EMBEDDINGS = "DELETE FROM embedding WHERE (embedding.content_hash NOT IN (SELECT live.content_hash FROM live))"
"""Delete the embeddings of texts that are not in use."""
DECISIONS = (
    "SELECT decision.record, decision.embedder, decision.spoken FROM decision WHERE decision.slug = :slug ORDER BY "
    "decision.decided, decision.id"
)
"""What was decided about the entries of a book, oldest first; see `decisions.decided`."""
REVISION = "SELECT decisions.revision FROM decisions"
"""Another number after each decision."""
PUT_DECISION = (
    "INSERT OR REPLACE INTO decision (slug, id, record, embedder, spoken, decided) VALUES (:slug, :id, :record, "
    ":embedder, :spoken, :decided)"
)
"""Insert a decision."""
WITHDRAW_DECISION = "DELETE FROM decision WHERE decision.slug = :slug AND decision.id = :id"
"""Delete a decision."""
NEXT_REVISION = "UPDATE decisions SET revision=(decisions.revision + 1)"
"""To be run after each change of decisions."""
TAKE_OVER_DECISIONS = (
    "DELETE FROM decision",
    (
        "INSERT INTO decision (slug, id, record, embedder, spoken, decided) SELECT other.decision.slug, "
        "other.decision.id, other.decision.record, other.decision.embedder, other.decision.spoken, "
        "other.decision.decided FROM other.decision"
    ),
    "UPDATE decisions SET revision=(decisions.revision + 1)",
)
"""Put the decisions of `other` in the place of ours."""
ADD_DECISIONS = (
    (
        "INSERT OR REPLACE INTO decision (slug, id, record, embedder, spoken, decided) SELECT other.decision.slug, "
        "other.decision.id, other.decision.record, other.decision.embedder, other.decision.spoken, "
        "other.decision.decided FROM other.decision"
    ),
    "UPDATE decisions SET revision=(decisions.revision + 1)",
)
"""Add the decisions of `other`."""
ADD_PAGE = (
    "INSERT INTO file (filename, title, module, chapter, section, position, sha256, chunks, source) VALUES (:filename, "
    ":title, :module, :chapter, :section, :position, :sha256, :chunks, :source)"
)
"""Insert a source file."""
ADD_CHUNK = (
    'INSERT INTO chunk ("row", chunk_id, filename, chunk_index, module, chapter, section, content_type, role, variant, '
    "content_hash, record) VALUES (:row, :chunk_id, :filename, :chunk_index, :module, :chapter, :section, "
    ":content_type, :role, :variant, :content_hash, :record)"
)
"""Insert a chunk."""
ADD_WORD = "INSERT INTO word (word, chunks) VALUES (:word, :chunks)"
"""Insert a word."""
ADD_COMMON = "INSERT INTO common (source, term, chunks, scores) VALUES (:source, :term, :chunks, :scores)"
"""Insert a common term."""
ORDER_PAGE = "UPDATE file SET ordinal=:place WHERE file.filename = :of"
"""Set the place of the file `of` in the reading order."""
SET_WINDOW_START = 'UPDATE chunk SET window_start=:start WHERE chunk."row" = :of'
"""Set where the windows of the chunk in row `of` start."""
SET_FIRST = 'UPDATE chunk SET first=:same WHERE chunk."row" = :of'
"""Set the row of the chunk that row `of` repeats."""
PAGE_COUNT = "SELECT count(*) AS count_1 FROM file"
CHUNK_COUNT = "SELECT count(*) AS count_1 FROM chunk"
CHUNK_IDS = "SELECT chunk.chunk_id FROM chunk"
CHUNK_HASHES = 'SELECT chunk."row", chunk.content_hash FROM chunk ORDER BY chunk."row"'
CHUNK_STATES = (
    'SELECT chunk.chunk_id, chunk.window_start, chunk.first, chunk.role, chunk.variant FROM chunk ORDER BY chunk."row"'
)
RECORDS = 'SELECT chunk.record FROM chunk ORDER BY chunk."row"'
"""All chunks, in the order of rows."""
RECORD = 'SELECT chunk.record FROM chunk WHERE chunk."row" = :row'
FIRST_IDS = 'SELECT chunk.chunk_id FROM chunk ORDER BY chunk."row" LIMIT :most OFFSET 0'
"""The ids of the first `most` chunks."""
RECORDS_BY_ID = (
    'SELECT chunk.chunk_id, chunk."row", chunk.record FROM chunk WHERE chunk.chunk_id IN (SELECT anon_1.value FROM '
    "json_each(:ids) AS anon_1)"
)
"""The chunks whose ids are in the JSON array `ids`."""
RECORDS_OF_PAGE = "SELECT chunk.record FROM chunk WHERE chunk.filename = :filename ORDER BY chunk.chunk_index"
"""The chunks of a file, in order."""
NEIGHBOURS = (
    "SELECT chunk.record FROM chunk WHERE chunk.filename = :filename AND chunk.chunk_index IN (:before, :after) ORDER "
    "BY chunk.chunk_index"
)
"""The chunks of a file in the places `before` and `after`."""
CHAPTERS = (
    "SELECT chunk.chapter FROM chunk JOIN file ON file.filename = chunk.filename WHERE chunk.chapter != '' GROUP BY "
    'chunk.chapter ORDER BY min(file.ordinal), min(chunk."row")'
)
"""The names of chapters in reading order."""
SHEET_COUNT = "SELECT sum((1 + length(file.source)) - length(replace(file.source, char(12), ''))) AS sum_1 FROM file"
"""Pages of a book; a form feed stands between two pages of one file."""
SOURCE = "SELECT file.source FROM file WHERE file.filename = :filename"
"""The text of a file."""
PAGE = (
    "SELECT file.filename, file.title, file.module, file.chapter, file.section, file.position, file.sha256, "
    "file.source FROM file WHERE file.filename = :filename"
)
"""A file as `build.BookFile` has it."""
PAGES = (
    "SELECT file.filename, file.title, file.module, file.chapter, file.section, file.sha256, file.chunks FROM file "
    "ORDER BY file.ordinal"
)
"""All files in reading order, as `records.FileEntry` has them."""
TITLES = "SELECT file.filename, file.title FROM file"
WORDS = "SELECT word.word, word.chunks FROM word"
WORD = "SELECT word.chunks FROM word WHERE word.word = :word"
"""In how many chunks a word stands."""
WORDS_BETWEEN = (
    "SELECT word.word, word.chunks FROM word WHERE word.word >= :start AND word.word < :stop ORDER BY word.word"
)
"""Words from `start` up to `stop`."""
COMMON_TERM = "SELECT common.chunks, common.scores FROM common WHERE common.source = :source AND common.term = :term"
"""What a common term adds."""
