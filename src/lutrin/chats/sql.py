"""Statements about the conversations, which SQLite and PostgreSQL both read.

`tables.py` describes the tables. The parameter `of` is always a conversation's key. An insert has a parameter for each
column. A test prepares every statement on both databases.
"""

_SESSION = "key id owner title created updated book generation user_agent message_count stored_bytes"
_MESSAGE = "role text created mode kind selected_text chunk_ids citations made shown"
_FEEDBACK = "value comment created"


def _insert(table: str, columns: str) -> str:
    names = columns.split()
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _replace(columns: str) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in columns.split())


_ALL = "coalesce(sum(stored_bytes), 0)"
_QUESTION_BEFORE = """(SELECT max(earlier.position) FROM message AS earlier
    WHERE earlier.session = answer.session AND earlier.role = 'user' AND earlier.position < answer.position)"""
"""The position of the last question before an answer in its conversation."""

RECOUNT = """UPDATE session SET message_count = (SELECT count(*) FROM message WHERE message.session = :of),
    stored_bytes = stored_bytes + :added WHERE key = :of"""
"""Updates the number of messages of a conversation and adds the stored bytes."""
SIZES = f"""SELECT (SELECT {_ALL} FROM session WHERE key = :of) AS conversation,
    (SELECT {_ALL} FROM session WHERE owner = :whose) AS reader"""
"""Selects the bytes of a conversation, and of all conversations of the owner `whose`."""
HISTORY = """SELECT message.*, session.id AS public FROM message JOIN session ON session.key = message.session
    WHERE message.session = :of ORDER BY message.position DESC LIMIT :most"""
"""Selects the newest `most` messages of a conversation, newest first, with the browser's id of the conversation."""
SESSION = "SELECT * FROM session WHERE key = :of"
MESSAGE = "SELECT * FROM message WHERE id = :id AND session = :of"
"""Selects a message of a conversation."""
DELETE_MESSAGE = "DELETE FROM message WHERE id = :id AND session = :of RETURNING id"
DELETE_EMPTY = "DELETE FROM session WHERE key = :of AND message_count = 0 RETURNING key"
"""Deletes a conversation that has no message."""
SESSIONS = "SELECT * FROM session WHERE owner = :whose ORDER BY updated DESC, key LIMIT :most OFFSET :past"
"""Selects `most` conversations of the owner `whose` after the first `past`, the last used first."""
RENAME = "UPDATE session SET title = :named WHERE key = :of RETURNING *"
"""Gives a conversation the title `named` and returns the row."""
DELETE = "DELETE FROM session WHERE key = :of RETURNING key"
"""Delete a conversation and everything that belongs to it; each returns its key."""
DELETE_ID = "DELETE FROM session WHERE id = :id RETURNING key"
DELETE_BEFORE = "DELETE FROM session WHERE updated < :before RETURNING key"
DELETE_ALL = "DELETE FROM session RETURNING key"
ANSWER_OF = """SELECT message.id FROM message JOIN session ON session.key = message.session
    WHERE message.id = :answer AND message.role = 'assistant' AND session.owner = :whose"""
"""Selects the answer with the id `answer`, if it belongs to a conversation of the owner `whose`."""
DAYS = "SELECT day FROM day WHERE day <= :today ORDER BY day DESC LIMIT :most"
"""Selects the newest `most` days up to `today`, newest first."""
REFUSALS = f"""SELECT question.*, answer.shown AS reply
    FROM message AS question JOIN message AS answer ON question.position = {_QUESTION_BEFORE}
    WHERE answer.role = 'assistant' AND answer.kind = 'refusal' ORDER BY question.position"""
"""Selects the questions whose answer was a refusal, oldest first, each with the parts of its answer as `reply`."""
ANSWERS = f"""SELECT answer.*, question.text AS question, feedback.value, feedback.comment
    FROM message AS answer JOIN message AS question ON question.position = {_QUESTION_BEFORE}
    LEFT OUTER JOIN feedback ON feedback.message = answer.id
    WHERE answer.role = 'assistant' AND answer.kind IS NOT NULL ORDER BY answer.position DESC LIMIT :most"""
"""Selects the newest `most` answers, newest first, each with `question` and its reader's judgement."""
UPSERT_SESSION = f"""{_insert("session", _SESSION)} ON CONFLICT (key) DO UPDATE SET updated = excluded.updated,
    book = CASE WHEN excluded.book != '' THEN excluded.book ELSE session.book END,
    generation = CASE WHEN excluded.generation != '' THEN excluded.generation ELSE session.generation END"""
"""Inserts a conversation, or updates its time, and its book and generation if given."""
UPSERT_MESSAGE = f"""{_insert("message", f"id session {_MESSAGE}")} ON CONFLICT (id) DO UPDATE SET {_replace(_MESSAGE)}
    WHERE message.session = excluded.session RETURNING id"""
"""Inserts a message and returns its id, or replaces an existing one in place, unless that belongs to another
conversation: then it returns nothing."""
UPSERT_FEEDBACK = f"""{_insert("feedback", f"message {_FEEDBACK}")}
    ON CONFLICT (message) DO UPDATE SET {_replace(_FEEDBACK)}"""
"""Inserts the judgement of a message, or replaces it."""
KEEP_DAY = "INSERT INTO day (day) VALUES (:day) ON CONFLICT DO NOTHING"
"""Inserts the day unless it is already stored."""
ADD_ASSIGNMENT = _insert("assignment", "id created body opened finished sent")
ASSIGNMENT = "SELECT * FROM assignment WHERE id = :id"
ASSIGNMENTS = "SELECT * FROM assignment ORDER BY created DESC, id"
ASSIGNMENT_CARDS = "SELECT card, tries, missed FROM assignment_card WHERE assignment = :id"
KEEP_RECEIPT = f"""{_insert("assignment_receipt", "receipt assignment")}
    ON CONFLICT DO NOTHING RETURNING receipt"""
"""Inserts the mark of results; returns nothing if it is already stored."""
COUNT_BROWSER = """UPDATE assignment SET opened = opened + :opened, finished = finished + :finished, sent = sent + 1
    WHERE id = :id"""
COUNT_CARD = f"""{_insert("assignment_card", "assignment card tries missed")} ON CONFLICT (assignment, card)
    DO UPDATE SET tries = assignment_card.tries + excluded.tries, missed = assignment_card.missed + excluded.missed"""
"""Inserts the counts of a card, or adds them to the stored ones."""
FORGET_ASSIGNMENT = "DELETE FROM assignment WHERE id = :id RETURNING id"
"""Deletes an assignment with its counts and marks."""
