"""Statements about the conversations' tables; `sql.py` holds their SQL, which SQLite and PostgreSQL both read.

The parameter `of` is always a conversation's key. What inserts a row has a parameter for each of its columns.
"""

from typing import Any

from sqlalchemy import Select, bindparam, case, delete, func, select, update
from sqlalchemy.dialects.sqlite import Insert, insert

from lutrin.chats import tables

_session, _message, _feedback, _day = tables.SESSION, tables.MESSAGE, tables.FEEDBACK, tables.DAY
_of = _session.c.key == bindparam("of")
_PLACE = "position"
"""The database itself numbers the messages."""


_count = select(func.count()).select_from(_message).where(_message.c.session == bindparam("of")).scalar_subquery()
RECOUNT = (
    update(_session).where(_of).values(message_count=_count, stored_bytes=_session.c.stored_bytes + bindparam("added"))
)
"""Updates the number of messages of a conversation and adds the stored bytes."""

_whole = func.coalesce(func.sum(_session.c.stored_bytes), 0)
SIZES = select(
    select(_whole).where(_of).scalar_subquery().label("conversation"),
    select(_whole).where(_session.c.owner == bindparam("whose")).scalar_subquery().label("reader"),
)
"""Selects the bytes of a conversation, and of all conversations of the owner `whose`."""

HISTORY = (
    select(_message, _session.c.id.label("public"))
    .select_from(_message.join(_session))
    .where(_message.c.session == bindparam("of"))
    .order_by(_message.c.position.desc())
    .limit(bindparam("most"))
)
"""Selects the newest `most` messages of a conversation, newest first, with the browser's id of the conversation."""

SESSION = select(_session).where(_of)
"""Selects a conversation."""

SESSIONS = (
    select(_session).where(_session.c.owner == bindparam("whose")).order_by(_session.c.updated.desc(), _session.c.key)
)
"""Selects the conversations of the owner `whose`, the last used first."""

RENAME = update(_session).where(_of).values(title=bindparam("named")).returning(*_session.c)
"""Gives a conversation the title `named` and returns the row."""

DELETE = delete(_session).where(_of).returning(_session.c.key)
"""Delete a conversation and everything that belongs to it; each returns its key."""
DELETE_ID = delete(_session).where(_session.c.id == bindparam("id")).returning(_session.c.key)
DELETE_BEFORE = delete(_session).where(_session.c.updated < bindparam("before")).returning(_session.c.key)
DELETE_ALL = delete(_session).returning(_session.c.key)

ANSWER_OF = (
    select(_message.c.id)
    .select_from(_message.join(_session))
    .where(_message.c.id == bindparam("said"), _message.c.role == "assistant", _session.c.owner == bindparam("whose"))
)
"""Selects the answer `said`, if it is in a conversation of the owner `whose`."""

DAYS = select(_day.c.day).where(_day.c.day <= bindparam("today")).order_by(_day.c.day.desc()).limit(bindparam("most"))
"""Selects the newest `most` days up to `today`, newest first."""


def _refused() -> Select[Any]:
    asked, said = _message.alias("asked"), _message.alias("said")
    return (
        select(asked, said.c.text.label("refusal"))
        .select_from(asked.join(said, asked.c.position == _question_before(said)))
        .where(said.c.role == "assistant", said.c.kind == "refusal")
        .order_by(asked.c.position)
    )


def _asked() -> Select[Any]:
    asked, said = _message.alias("asked"), _message.alias("said")
    return (
        select(said, asked.c.text.label("question"), _feedback.c.value, _feedback.c.comment)
        .select_from(
            said.join(asked, asked.c.position == _question_before(said)).outerjoin(
                _feedback, _feedback.c.message == said.c.id
            )
        )
        .where(said.c.role == "assistant")
        .order_by(said.c.position.desc())
        .limit(bindparam("most"))
    )


def _question_before(said: Any) -> Any:  # noqa: ANN401 - an alias and a subquery, which SQLAlchemy does not type
    """Select the position of the last question before an answer in its conversation."""
    earlier = _message.alias("earlier")
    return (
        select(func.max(earlier.c.position))
        .where(earlier.c.session == said.c.session, earlier.c.role == "user", earlier.c.position < said.c.position)
        .correlate(said)
        .scalar_subquery()
    )


REFUSED = _refused()
"""Selects the questions whose answer was a refusal, oldest first, each with the text of the `refusal`."""
ASKED = _asked()
"""Selects the newest `most` answers, newest first, each with its `question` and its reader's judgement."""


def _leading_to() -> Select[Any]:
    last = _message.alias("last")
    return (
        select(_message)
        .select_from(_message.join(last, _message.c.session == last.c.session))
        .where(last.c.id == bindparam("said"), _message.c.position <= last.c.position)
        .order_by(_message.c.position)
    )


LEADING_TO = _leading_to()
"""Selects the message `said` and those before it in its conversation, oldest first."""


def _upsert_session() -> Insert:
    begun = insert(_session)
    return begun.on_conflict_do_update(
        index_elements=["key"],
        set_={
            "updated": begun.excluded.updated,
            "book": case((begun.excluded.book != "", begun.excluded.book), else_=_session.c.book),
            "generation": case(
                (begun.excluded.generation != "", begun.excluded.generation), else_=_session.c.generation
            ),
        },
    )


def _upsert_message() -> Any:  # noqa: ANN401 - an insertion that returns
    said = insert(_message).values({column: bindparam(column.name) for column in _message.c if column.name != _PLACE})
    kept = {_PLACE, "id", "session"}
    return said.on_conflict_do_update(
        index_elements=["id"],
        set_={column.name: said.excluded[column.name] for column in _message.c if column.name not in kept},
        where=_message.c.session == said.excluded.session,
    ).returning(_message.c.id)


def _upsert_feedback() -> Insert:
    judged = insert(_feedback)
    return judged.on_conflict_do_update(
        index_elements=["message"],
        set_={name: judged.excluded[name] for name in ("value", "comment", "created")},
    )


UPSERT_SESSION = _upsert_session()
"""Inserts a conversation, or updates its time, and its book and generation if they are known."""
UPSERT_MESSAGE = _upsert_message()
"""Inserts a message and returns its id; one that is there is replaced in its place, unless it is another
conversation's: then nothing is returned."""
UPSERT_FEEDBACK = _upsert_feedback()
"""Inserts the judgement of a message, or replaces it."""
KEEP_DAY = insert(_day).on_conflict_do_nothing()
"""Inserts the day unless it is stored already."""
