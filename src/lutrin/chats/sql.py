"""SQL of the conversations, for SQLite and PostgreSQL.

Compiled from `tables.py` and `statements.py` by `./justw docs`; do not edit.
"""

RECOUNT = (
    "UPDATE session SET message_count=(SELECT count(*) AS count_1 FROM message WHERE message.session = :of), "
    'stored_bytes=(session.stored_bytes + :added) WHERE session."key" = :of'
)
"""Updates the number of messages of a conversation and adds the stored bytes."""
SIZES = (
    'SELECT (SELECT coalesce(sum(session.stored_bytes), 0) AS coalesce_1 FROM session WHERE session."key" = :of) AS '
    "conversation, (SELECT coalesce(sum(session.stored_bytes), 0) AS coalesce_1 FROM session WHERE session.owner = "
    ":whose) AS reader"
)
"""Selects the bytes of a conversation, and of all conversations of the owner `whose`."""
HISTORY = (
    "SELECT message.position, message.id, message.session, message.role, message.text, message.created, message.mode, "
    "message.kind, message.selected_text, message.chunk_ids, message.citations, message.made, message.shown, "
    'session.id AS public FROM message JOIN session ON session."key" = message.session WHERE message.session = :of '
    "ORDER BY message.position DESC LIMIT :most OFFSET 0"
)
"""Selects the newest `most` messages of a conversation, newest first, with the browser's id of the conversation."""
SESSION = (
    'SELECT session."key", session.id, session.owner, session.title, session.created, session.updated, session.book, '
    "session.generation, session.user_agent, session.message_count, session.stored_bytes FROM session WHERE "
    'session."key" = :of'
)
"""Selects a conversation."""
SESSIONS = (
    'SELECT session."key", session.id, session.owner, session.title, session.created, session.updated, session.book, '
    "session.generation, session.user_agent, session.message_count, session.stored_bytes FROM session WHERE "
    'session.owner = :whose ORDER BY session.updated DESC, session."key"'
)
"""Selects the conversations of the owner `whose`, the last used first."""
RENAME = (
    'UPDATE session SET title=:named WHERE session."key" = :of RETURNING "key", id, owner, title, created, updated, '
    "book, generation, user_agent, message_count, stored_bytes"
)
"""Gives a conversation the title `named` and returns the row."""
DELETE = 'DELETE FROM session WHERE session."key" = :of RETURNING "key"'
"""Delete a conversation and everything that belongs to it; each returns its key."""
DELETE_ID = 'DELETE FROM session WHERE session.id = :id RETURNING "key"'
DELETE_BEFORE = 'DELETE FROM session WHERE session.updated < :before RETURNING "key"'
DELETE_ALL = 'DELETE FROM session RETURNING "key"'
ANSWER_OF = (
    'SELECT message.id FROM message JOIN session ON session."key" = message.session WHERE message.id = :said AND '
    "message.role = 'assistant' AND session.owner = :whose"
)
"""Selects the answer `said`, if it is in a conversation of the owner `whose`."""
DAYS = "SELECT day.day FROM day WHERE day.day <= :today ORDER BY day.day DESC LIMIT :most OFFSET 0"
"""Selects the newest `most` days up to `today`, newest first."""
REFUSED = (
    "SELECT asked.position, asked.id, asked.session, asked.role, asked.text, asked.created, asked.mode, asked.kind, "
    "asked.selected_text, asked.chunk_ids, asked.citations, asked.made, asked.shown, said.text AS refusal FROM message "
    "AS asked JOIN message AS said ON asked.position = (SELECT max(earlier.position) AS max_1 FROM message AS earlier "
    "WHERE earlier.session = said.session AND earlier.role = 'user' AND earlier.position < said.position) WHERE "
    "said.role = 'assistant' AND said.kind = 'refusal' ORDER BY asked.position"
)
"""Selects the questions whose answer was a refusal, oldest first, each with the text of the `refusal`."""
ASKED = (
    "SELECT said.position, said.id, said.session, said.role, said.text, said.created, said.mode, said.kind, "
    "said.selected_text, said.chunk_ids, said.citations, said.made, said.shown, asked.text AS question, "
    "feedback.value, feedback.comment FROM message AS said JOIN message AS asked ON asked.position = (SELECT "
    "max(earlier.position) AS max_1 FROM message AS earlier WHERE earlier.session = said.session AND earlier.role = "
    "'user' AND earlier.position < said.position) LEFT OUTER JOIN feedback ON feedback.message = said.id WHERE "
    "said.role = 'assistant' ORDER BY said.position DESC LIMIT :most OFFSET 0"
)
"""Selects the newest `most` answers, newest first, each with its `question` and its reader's judgement."""
LEADING_TO = (
    "SELECT message.position, message.id, message.session, message.role, message.text, message.created, message.mode, "
    "message.kind, message.selected_text, message.chunk_ids, message.citations, message.made, message.shown FROM "
    "message JOIN message AS last ON message.session = last.session WHERE last.id = :said AND message.position <= "
    "last.position ORDER BY message.position"
)
"""Selects the message `said` and those before it in its conversation, oldest first."""
UPSERT_SESSION = (
    'INSERT INTO session ("key", id, owner, title, created, updated, book, generation, user_agent, message_count, '
    "stored_bytes) VALUES (:key, :id, :owner, :title, :created, :updated, :book, :generation, :user_agent, "
    ':message_count, :stored_bytes) ON CONFLICT ("key") DO UPDATE SET updated = excluded.updated, book = CASE WHEN '
    "(excluded.book != '') THEN excluded.book ELSE session.book END, generation = CASE WHEN (excluded.generation != "
    "'') THEN excluded.generation ELSE session.generation END"
)
"""Inserts a conversation, or updates its time, and its book and generation if they are known."""
UPSERT_MESSAGE = (
    "INSERT INTO message (id, session, role, text, created, mode, kind, selected_text, chunk_ids, citations, made, "
    "shown) VALUES (:id, :session, :role, :text, :created, :mode, :kind, :selected_text, :chunk_ids, :citations, "
    ":made, :shown) ON CONFLICT (id) DO UPDATE SET role = excluded.role, text = excluded.text, created = "
    "excluded.created, mode = excluded.mode, kind = excluded.kind, selected_text = excluded.selected_text, chunk_ids = "
    "excluded.chunk_ids, citations = excluded.citations, made = excluded.made, shown = excluded.shown WHERE "
    "message.session = excluded.session RETURNING id"
)
"""Inserts a message and returns its id; one that is there is replaced in its place, unless it is another
conversation's: then nothing is returned."""
UPSERT_FEEDBACK = (
    "INSERT INTO feedback (message, value, comment, created) VALUES (:message, :value, :comment, :created) ON CONFLICT "
    "(message) DO UPDATE SET value = excluded.value, comment = excluded.comment, created = excluded.created"
)
"""Inserts the judgement of a message, or replaces it."""
KEEP_DAY = "INSERT INTO day (day) VALUES (:day) ON CONFLICT DO NOTHING"
"""Inserts the day unless it is stored already."""
