"""Readers' questions for the teacher: each with the outcome of its answer, never with its author."""

from typing import Any

import msgspec

from lutrin.chats import rows
from lutrin.chats.seal import Seal
from lutrin.records import AnswerKind


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question that was answered or refused."""

    text: str
    created: str
    """Time of the answer: ISO 8601, UTC."""
    kind: AnswerKind | None
    book: str = ""
    """Slug of the book that was cited first; empty if none was."""
    chapter: str = ""
    """Chapter of the first citation."""
    thumb: str = ""
    """`up`, `down`, or empty."""
    comment: str = ""


def asked_question(row: Any, seal: Seal) -> AskedQuestion:  # noqa: ANN401 - a row of either driver
    """Make the record of a row of `sql.ASKED`.

    Args:
        row: An answer with its question and its judgement.
        seal: Opens readers' words.
    """
    message = rows.chat_message(row, "", seal)
    cited = message.citations[0] if message.citations else None
    return AskedQuestion(
        text=" ".join(seal.open(row.question).split()),
        created=message.created,
        kind=message.kind,
        book=cited.book if cited else "",
        chapter=cited.chapter or cited.section_title if cited else "",
        thumb=row.value or "",
        comment=seal.open(row.comment) if row.comment else "",
    )
