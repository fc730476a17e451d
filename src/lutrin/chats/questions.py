"""What readers asked, for those who teach: each question with the fate of its answer, and never who asked."""

from typing import cast

import msgspec
from sqlmodel import Session, col, select

from lutrin.chats import rows
from lutrin.chats.seal import Seal
from lutrin.chats.tables import FeedbackRow, MessageRow
from lutrin.records import AnswerKind


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question that was answered or refused."""

    text: str
    created: str
    """When it was answered: ISO 8601, UTC."""
    kind: AnswerKind | None
    book: str = ""
    """Slug of the book that was cited first; empty: none was."""
    chapter: str = ""
    """Of the first citation."""
    thumb: str = ""
    """`up`, `down`, or empty."""
    comment: str = ""


def newest_asked(session: Session, seal: Seal, most: int) -> list[AskedQuestion]:
    """The newest questions with an answer, the newest first.

    Args:
        session: Of the database.
        seal: Opens readers' words.
        most: How many at most.
    """
    answers = (
        select(MessageRow, FeedbackRow)
        .outerjoin(FeedbackRow, col(FeedbackRow.message) == col(MessageRow.id))
        .where(MessageRow.role == "assistant")
        .order_by(col(MessageRow.position).desc())
        .limit(most)
    )
    found = []
    for said, thumb in session.exec(answers).all():
        judged = cast("FeedbackRow | None", thumb)  # of an outer join, whose types do not say so
        asked = session.exec(
            select(MessageRow.text)
            .where(MessageRow.session == said.session, MessageRow.role == "user")
            .where(col(MessageRow.position) < said.position)
            .order_by(col(MessageRow.position).desc())
            .limit(1)
        ).first()
        if asked is None:
            continue
        message = rows.chat_message(said, "", seal)
        cited = message.citations[0] if message.citations else None
        found.append(
            AskedQuestion(
                text=" ".join(seal.open(asked).split()),
                created=message.created,
                kind=message.kind,
                book=cited.book if cited else "",
                chapter=cited.chapter or cited.section_title if cited else "",
                thumb=judged.value if judged is not None else "",
                comment=seal.open(judged.comment) if judged is not None else "",
            )
        )
    return found
