"""Question files: one JSON object a line, checked before anything is asked.

A question of the book has `id, question, kind, expected_files, expected_section, key_facts` and, where it needs them,
`selected_text, previous_question, match`. A question that the book cannot answer has `id, question` and one of the
kinds `far, near, nonenglish, vague, injection`. Further fields are for the authors of the file and are not read.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from lutrin.errors import InvalidInput

Half = Literal["tune", "test"]
Split = Literal["tune", "test", "all"]

OUTSIDE = frozenset({"far", "near", "nonenglish", "vague", "injection"})
"""Kinds of questions that the book does not answer."""


class EvalQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question with what a right answer holds."""

    id: str
    question: str
    kind: str
    expected_files: tuple[str, ...] = ()
    """Paths from the corpus folder or from the book's own folder."""
    expected_section: str = ""
    key_facts: tuple[str, ...] = ()
    """Words, numbers or code that a right answer holds literally."""
    selected_text: str = ""
    previous_question: str = ""
    """Asked before it in the same conversation."""
    match: Literal["any", "all"] = "any"
    """Whether one of the expected files is enough."""

    @property
    def in_book(self) -> bool:
        """Whether the book answers it."""
        return self.kind not in OUTSIDE


def half_of(question_id: str) -> Half:
    """The half that a question belongs to, for good: `tune` or `test`."""
    return "tune" if hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0 else "test"


def select(questions: Iterable[EvalQuestion], split: Split) -> list[EvalQuestion]:
    """The questions of one half, or all."""
    return [item for item in questions if split in {"all", half_of(item.id)}]


def read_questions(paths: Sequence[Path]) -> list[EvalQuestion]:
    """Read question files in order; blank lines are skipped.

    Raises:
        InvalidInput: A file or line is wrong; the message names both.
    """
    questions: list[EvalQuestion] = []
    places: dict[str, str] = {}
    for path in paths:
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InvalidInput(f"{path}: {error.strerror}.") from None
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            place = f"{path}:{number}"
            question = _read_line(line, place)
            if question.id in places:
                raise InvalidInput(f"{place}: the id {question.id} stands already at {places[question.id]}.")
            places[question.id] = place
            questions.append(question)
    if not questions:
        raise InvalidInput(f"{', '.join(map(str, paths))}: there is no question.")
    return questions


def _read_line(line: bytes, place: str) -> EvalQuestion:
    try:
        question = msgspec.json.decode(line, type=EvalQuestion)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{place}: {error}.") from None
    if not question.id or not question.question.strip() or not question.kind:
        raise InvalidInput(f"{place}: id, question and kind may not be empty.")
    if question.in_book and not question.expected_files:
        raise InvalidInput(f"{place}: a question of kind {question.kind} needs expected_files.")
    if any(not fact.strip() for fact in question.key_facts):
        raise InvalidInput(f"{place}: a key fact may not be empty.")
    return question
