-- What Lutrin 0.2.0 wrote, table by table, as its own programs left it (version 2 of the catalogue, version 5 of the
-- conversations, format 5 of an index). `test_upgrade.py` makes a data folder of it.

-- catalog.db
CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL,
    manifest_sha256 TEXT NOT NULL, published TEXT NOT NULL, retired INTEGER NOT NULL DEFAULT 0);
CREATE TABLE book (
    slug TEXT PRIMARY KEY, info TEXT NOT NULL, corpus TEXT NOT NULL, recipe TEXT NOT NULL,
    current TEXT NOT NULL REFERENCES generation (name), previous TEXT REFERENCES generation (name),
    root TEXT NOT NULL DEFAULT '');
CREATE TABLE file (
    slug TEXT NOT NULL REFERENCES book (slug) ON DELETE CASCADE, filename TEXT NOT NULL, size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (slug, filename)) WITHOUT ROWID;
CREATE TABLE embedding (
    content_hash TEXT NOT NULL, embedder TEXT NOT NULL, windows BLOB NOT NULL, token_vectors BLOB NOT NULL,
    token_offsets BLOB NOT NULL, UNIQUE (content_hash, embedder));
CREATE TABLE left_out (
    corpus TEXT NOT NULL, slug TEXT NOT NULL, filename TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (corpus, slug, filename)) WITHOUT ROWID;
INSERT INTO generation VALUES (1, '000001-3e3dfc8c', 'robots', :manifest, '2026-11-25T09:00:00+00:00', 0);
INSERT INTO book VALUES (
    'robots', '{"slug":"robots","title":"Robots","edition":"","version":"1","language":"en","hazards":{"code":[],"words":[]}}',
    :corpus, '3e3dfc8cf21bf515d4eb2c13a34adf897ab7a7091ac262a193a6533810d91da4', '000001-3e3dfc8c', NULL, :root);
INSERT INTO file VALUES ('robots', 'page.md', :size, :changed_ns, :sha256);
INSERT INTO embedding VALUES (:sha256, 'lutrin-reader-9e6aad1e/w256o32/i8/p6c92550f', x'00', x'00', x'00');
PRAGMA user_version = 2;

-- chats.db
CREATE TABLE session (
    "key" VARCHAR NOT NULL PRIMARY KEY, id VARCHAR NOT NULL, owner VARCHAR NOT NULL, title VARCHAR NOT NULL,
    created VARCHAR NOT NULL, updated VARCHAR NOT NULL, book VARCHAR NOT NULL, generation VARCHAR NOT NULL,
    user_agent VARCHAR NOT NULL, message_count INTEGER NOT NULL, stored_bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX ix_session_id ON session (id);
CREATE INDEX ix_session_updated ON session (updated);
CREATE TABLE message (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR NOT NULL,
    session VARCHAR NOT NULL REFERENCES session ("key") ON DELETE CASCADE, role VARCHAR NOT NULL,
    text VARCHAR NOT NULL, created VARCHAR NOT NULL, mode VARCHAR, kind VARCHAR, selected_text VARCHAR NOT NULL,
    chunk_ids VARCHAR NOT NULL, citations VARCHAR NOT NULL, made VARCHAR NOT NULL DEFAULT '',
    shown VARCHAR NOT NULL DEFAULT '');
CREATE UNIQUE INDEX ix_message_id ON message (id);
CREATE TABLE feedback (
    message VARCHAR NOT NULL PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE, value VARCHAR NOT NULL,
    comment VARCHAR NOT NULL, created VARCHAR NOT NULL);
CREATE INDEX ix_session_owner_updated ON session (owner, updated);
CREATE INDEX ix_message_session ON message (session, position);
CREATE TABLE day (day VARCHAR NOT NULL PRIMARY KEY);
INSERT INTO session VALUES (
    's1', 's1', '', 'When does a robot stop?', '2026-11-25T10:00:00.000000+00:00', '2026-11-25T10:00:01.000000+00:00',
    'robots', '000001-3e3dfc8c', '', 2, 1260);
INSERT INTO message VALUES (
    1, 'q1', 's1', 'user', 'When does a robot stop?', '2026-11-25T10:00:00.000000+00:00', NULL, NULL, '', '[]', '[]', '', '');
INSERT INTO message VALUES (
    2, 'a1', 's1', 'assistant', 'A robot stops when its button is pressed. [1]', '2026-11-25T10:00:01.000000+00:00', NULL,
    'extractive', '', '["c1"]',
    '[{"n":1,"chunk_id":"c1","book":"Robots","chapter":"","section":"","section_title":"Robots","filename":"page.md","page":null,"url":"/read/robots/page#robots","quote":"A robot stops when its button is pressed.","relevance_score":0.9}]',
    '{"question":{"text":"When does a robot stop?"},"searched":"When does a robot stop?","generation":"000001-3e3dfc8c","prompt":[],"settings":{"version":"0.2.0"}}',
    '{"excerpts":[{"n":1,"text":"A robot stops when its button is pressed.","marks":[[0,41]],"cut_before":false,"cut_after":false,"heading_path":["Robots"],"url":"/read/robots/page#robots","chunk_id":"c1"}],"suggestions":["What is a gripper?"],"explainable":true}');
INSERT INTO feedback VALUES ('a1', 'up', 'clear', '2026-11-25T10:01:00.000000+00:00');
INSERT INTO day VALUES ('2026-11-25');
PRAGMA user_version = 5;

-- passages.db
CREATE TABLE file (
    filename TEXT PRIMARY KEY, ordinal INTEGER NOT NULL DEFAULT 0, title TEXT NOT NULL, module TEXT NOT NULL,
    chapter TEXT NOT NULL, section TEXT NOT NULL, position REAL, sha256 TEXT NOT NULL, chunks INTEGER NOT NULL,
    source TEXT NOT NULL);
CREATE TABLE chunk (
    row INTEGER PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE, filename TEXT NOT NULL REFERENCES file (filename),
    chunk_index INTEGER NOT NULL, module TEXT NOT NULL, chapter TEXT NOT NULL, section TEXT NOT NULL,
    content_type TEXT NOT NULL, role TEXT NOT NULL, variant TEXT NOT NULL, content_hash TEXT NOT NULL,
    window_start INTEGER NOT NULL DEFAULT 0, first INTEGER NOT NULL DEFAULT 0, record BLOB NOT NULL);
INSERT INTO file VALUES ('page.md', 0, 'Robots', '', '', '', NULL, :sha256, 0, :source);
