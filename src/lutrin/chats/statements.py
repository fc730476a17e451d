"""Statements for the conversations' database, compiled once from the tables of `tables.py`.

To build or compile a statement takes longer than to run it. Parameters have names: `of` is a conversation's key.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Select, Table, bindparam, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lutrin.chats import tables

Insert = sqlite.Insert | postgresql.Insert
Inserter = Callable[[Table], Insert]
"""`insert` of the database's dialect; both know `ON CONFLICT`, in the same words."""
_session, _message, _feedback, _day = tables.SESSION, tables.MESSAGE, tables.FEEDBACK, tables.DAY
_of = _session.c.key == bindparam("of")


class Statements:
    """Statements of one database; each is compiled by its driver when it first runs.

    Args:
        insert: Of the database's dialect.
    """

    def __init__(self, insert: Inserter) -> None:
        self.upsert_session = _upsert_session(insert)
        """Inserts a conversation; one that is there gets the new time, and the book and generation where known."""
        self.upsert_message = _upsert_message(insert)
        """Inserts a message and returns its id; one that is there is replaced in its place, unless it is another
        conversation's: then nothing is returned."""
        self.upsert_feedback = _upsert_feedback(insert)
        """Inserts a judgement, or replaces the one of that message."""
        self.keep_day = insert(_day).inline().on_conflict_do_nothing()
        """Inserts the day, unless it is there."""


_count = select(func.count()).select_from(_message).where(_message.c.session == bindparam("of")).scalar_subquery()
RECOUNT = (
    update(_session).where(_of).values(message_count=_count, stored_bytes=_session.c.stored_bytes + bindparam("added"))
)
"""Brings the number of messages of a conversation up to date, and adds the bytes that were stored."""

_whole = func.coalesce(func.sum(_session.c.stored_bytes), 0)
SIZES = select(
    select(_whole).where(_of).scalar_subquery().label("conversation"),
    select(_whole).where(_session.c.owner == bindparam("whose")).scalar_subquery().label("reader"),
)
"""Bytes of a conversation, and of all conversations of the owner `whose`."""

HISTORY = (
    select(_message, _session.c.id.label("public"))
    .select_from(_message.join(_session))
    .where(_message.c.session == bindparam("of"))
    .order_by(_message.c.position.desc())
    .limit(bindparam("most"))
)
"""The newest `most` messages of a conversation, the newest first, with the browser's id of it."""

SESSION = select(_session).where(_of)
"""A conversation."""

SESSIONS = (
    select(_session).where(_session.c.owner == bindparam("whose")).order_by(_session.c.updated.desc(), _session.c.key)
)
"""The conversations of the owner `whose`, the one used last first."""

RENAME = update(_session).where(_of).values(title=bindparam("named")).returning(*_session.c)
"""Gives a conversation the title `named`, and returns it."""

DELETE = delete(_session).where(_of).returning(_session.c.key)
"""Deletes a conversation with all that belongs to it; the deletions return its key."""
DELETE_ID = delete(_session).where(_session.c.id == bindparam("id")).returning(_session.c.key)
DELETE_BEFORE = delete(_session).where(_session.c.updated < bindparam("before")).returning(_session.c.key)
DELETE_ALL = delete(_session).returning(_session.c.key)

ANSWER_OF = (
    select(_message.c.id)
    .select_from(_message.join(_session))
    .where(_message.c.id == bindparam("said"), _message.c.role == "assistant", _session.c.owner == bindparam("whose"))
)
"""The answer `said`, if it is in a conversation of the owner `whose`."""

DAYS = select(_day.c.day).where(_day.c.day <= bindparam("today")).order_by(_day.c.day.desc()).limit(bindparam("most"))
"""The newest `most` days up to `today`, the newest first."""


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
    """The place of the last question before an answer in its conversation."""
    before = _message.alias("before")
    return (
        select(func.max(before.c.position))
        .where(before.c.session == said.c.session, before.c.role == "user", before.c.position < said.c.position)
        .correlate(said)
        .scalar_subquery()
    )


REFUSED = _refused()
"""Questions whose answer was a refusal, oldest first, each with the text of the `refusal`."""
ASKED = _asked()
"""The newest `most` answers, the newest first, each with its `question` and what its reader thought of it."""


def _leading_to() -> Select[Any]:
    last = _message.alias("last")
    return (
        select(_message)
        .select_from(_message.join(last, _message.c.session == last.c.session))
        .where(last.c.id == bindparam("said"), _message.c.position <= last.c.position)
        .order_by(_message.c.position)
    )


LEADING_TO = _leading_to()
"""The message `said` after those of its conversation that came before it, oldest first."""


def _upsert_session(insert: Inserter) -> Insert:
    begun = insert(_session).inline()
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


def _upsert_message(insert: Inserter) -> Any:  # noqa: ANN401 - an insertion that returns, of either dialect
    said = insert(_message)
    kept = {"position", "id", "session"}
    return said.on_conflict_do_update(
        index_elements=["id"],
        set_={column.name: said.excluded[column.name] for column in _message.c if column.name not in kept},
        where=_message.c.session == said.excluded.session,
    ).returning(_message.c.id)


def _upsert_feedback(insert: Inserter) -> Insert:
    judged = insert(_feedback).inline()
    return judged.on_conflict_do_update(
        index_elements=["message"],
        set_={name: judged.excluded[name] for name in ("value", "comment", "created")},
    )
