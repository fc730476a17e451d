"""Readers' questions for the teacher: each with the outcome of its answer, never with its author."""

from collections.abc import Sequence
from typing import Any

import msgspec

from lutrin.chats import rows
from lutrin.chats.seal import Seal
from lutrin.records import AnswerKind, Made, Refusal


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
    searched: str = ""
    """The question, completed from its conversation; empty if nothing says how it was answered."""
    answer: str = ""
    """What the reader was told: the explanation, or the whole text if there was none."""
    refusal: Refusal | None = None
    closest: bool = False
    """Whether only the closest passage was shown."""
    prepared_by: str = ""
    odds: float | None = None
    """The reader's log odds that the book answers it; None: unknown, or beyond doubt."""
    yes: float | None = None
    """Log odds of the model's yes to the same; None if it was not asked."""
    chunk_ids: tuple[str, ...] = ()
    """Of the passages that were cited."""
    again: bool = False
    """Whether the same reader asked it again later, in the same words."""

    @property
    def key(self) -> str:
        """See `key_of`."""
        return key_of(self.searched or self.text)


def key_of(question: str) -> str:
    """What is equal for questions of the same words; how they are written and how they end does not count."""
    return " ".join(question.split()).casefold().rstrip("?!. ")


_signals = msgspec.json.Decoder(Made)


def asked_questions(found: Sequence[Any], seal: Seal) -> list[AskedQuestion]:
    """Make the records of rows of `sql.ASKED`."""
    asked: list[AskedQuestion] = []
    later: set[tuple[str, str]] = set()
    for row in found:
        question = _asked_question(row, seal)
        place = (row.session, question.key)
        asked.append(msgspec.structs.replace(question, again=place in later))
        later.add(place)
    return asked


def _asked_question(row: Any, seal: Seal) -> AskedQuestion:  # noqa: ANN401 - a row of either driver
    message = rows.chat_message(row, "", seal)
    made = _signals.decode(seal.open(row.made)) if row.made else Made()
    cited = message.citations[0] if message.citations else None
    return AskedQuestion(
        text=" ".join(seal.open(row.question).split()),
        created=message.created,
        kind=message.kind,
        book=cited.book if cited else "",
        chapter=cited.chapter or cited.section_title if cited else "",
        thumb=row.value or "",
        comment=seal.open(row.comment) if row.comment else "",
        searched=made.searched,
        chunk_ids=message.chunk_ids,
        answer=message.explanation or message.text,
        refusal=message.refusal,
        closest=message.closest,
        prepared_by=message.prepared_by,
        odds=made.odds or None,
        yes=made.yes,
    )
