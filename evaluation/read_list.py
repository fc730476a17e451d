"""Lists of questions to be read by eye, and the marks that a reader gives: JSON lines, and columns between tabs.

A list has one question a line: `id`, `kind`, `question`, `wanted` (what a good answer holds, for who marks) and, where
needed, `selected_text` and `after`, the id of the question before it in the same conversation.

Marks have one line an answer. Who reads fills in the columns

- `answers`: 2 it answers the question, 1 in part, 0 not;
- `give`: y or n, whether a strict teacher would give it to a pupil as it stands;
- `begins`: y or n, whether its first sentence, row, step or command is already what was asked for;
- `false`: y or n, whether it states something that is not so, or not so in the book;
- `irrelevant`: how many of its excerpts have nothing to do with the question;
- `unsafe`: y or n, whether following it could hurt somebody;
- `cause`: where it falls short, one of `CAUSES`.

`begins` and `false` may be empty in marks that were given before there were these two. The other columns are written by
the program. `digest` is that of the answer's text: an answer that has not changed keeps its marks when the list is
asked again.
"""

import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec

from lutrin.errors import InvalidInput
from lutrin.records import Answer, AnswerKind

CAUSES = {
    "": "nothing falls short",
    "scope": "refused though the book answers, or answered though it does not",
    "retrieval": "the passage that answers was not found",
    "choice": "the passage was found; the wrong parts of it stand in the answer, or in the wrong order",
    "generation": "somebody would have to write what stands nowhere in the book",
    "language": "the language of the question was taken for another",
    "dialogue": "what was said before was lost, or mixed in",
    "premise": "what the question takes for granted is wrong, and nobody says so",
    "safety": "the warning is missing, or what it says is wrong",
}
WRITTEN = ("id", "kind", "answered_as", "digest")
"""Columns that the program writes."""
COLUMNS = (*WRITTEN, "answers", "give", "begins", "false", "irrelevant", "unsafe", "cause", "note")
YES_OR_NO = {"y": True, "n": False, "": None}


class ReadQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question whose answer somebody will read."""

    id: str
    kind: str
    question: str
    wanted: str = ""
    """Contents of a good answer."""
    selected_text: str = ""
    after: str = ""
    """Id of the question before it in the same conversation."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A person's marks of an answer; None and empty: not marked yet."""

    id: str
    kind: str
    answered_as: AnswerKind
    digest: str
    answers: int | None = None
    give: bool | None = None
    begins: bool | None = None
    false: bool | None = None
    irrelevant: int = 0
    unsafe: bool = False
    cause: str = ""
    note: str = ""

    @property
    def is_marked(self) -> bool:
        """Whether somebody has read it."""
        return self.answers is not None and self.give is not None


def read_list(path: Path) -> list[ReadQuestion]:
    """Read a list of questions.

    Raises:
        InvalidInput: The file or a line is wrong; the message names it.
    """
    found: list[ReadQuestion] = []
    known: set[str] = set()
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            item = msgspec.json.decode(line, type=ReadQuestion)
        except msgspec.DecodeError as error:
            raise InvalidInput(f"{path}:{number}: {error}.") from None
        if item.id in known:
            raise InvalidInput(f"{path}:{number}: the id {item.id} stands there twice.")
        if item.after and (not found or item.after != found[-1].id):
            raise InvalidInput(f"{path}:{number}: {item.id} must stand right below {item.after}, which it comes after.")
        known.add(item.id)
        found.append(item)
    if not found:
        raise InvalidInput(f"{path}: there is no question.")
    return found


def digest(answer: Answer) -> str:
    """A short name of what an answer says; the same text has the same one."""
    return hashlib.sha256(answer.answer.encode()).hexdigest()[:12]


def blank_mark(question: ReadQuestion, answer: Answer) -> Mark:
    """The mark of an unread answer."""
    return Mark(id=question.id, kind=question.kind, answered_as=answer.kind, digest=digest(answer))


def carried_over(marks: Sequence[Mark], earlier: Sequence[Mark]) -> list[Mark]:
    """Marks with those of answers that say the same as before."""
    known = {(mark.id, mark.digest): mark for mark in earlier if mark.is_marked}
    return [known.get((mark.id, mark.digest), mark) for mark in marks]


def write_marks(marks: Sequence[Mark]) -> str:
    """Marks as the text of a file."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    rows.writerow(COLUMNS)
    for mark in marks:
        cells = {name: getattr(mark, name) for name in COLUMNS}
        if not mark.is_marked:
            cells.update(irrelevant=None, unsafe=None)
        rows.writerow([{True: "y", False: "n"}[cell] if isinstance(cell, bool) else cell for cell in cells.values()])
    return out.getvalue()


def read_marks(path: Path) -> list[Mark]:
    """Read marks; empty columns are answers without marks yet.

    Raises:
        InvalidInput: The file or a line is wrong; the message names it.
    """
    rows = list(csv.reader(io.StringIO(_text(path)), delimiter="\t"))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise InvalidInput(f"{path}: the first line must name the columns {', '.join(COLUMNS)}, with tabs between.")
    return [_mark(row, f"{path}:{number}") for number, row in enumerate(rows[1:], start=2) if any(row)]


def _mark(row: Sequence[str], place: str) -> Mark:
    if len(row) < len(COLUMNS) - 1:
        raise InvalidInput(f"{place}: {len(COLUMNS)} columns are wanted, with tabs between.")
    cells = {name: cell.strip() for name, cell in zip(COLUMNS, [*row, ""], strict=False)}
    if cells["answered_as"] not in get_args(AnswerKind):
        raise InvalidInput(
            f"{place}: answered_as is {cells['answered_as']!r}; the program writes it, leave it as it is."
        )
    if not cells["answers"] and not cells["give"]:
        return msgspec.convert({name: cells[name] for name in (*WRITTEN, "note")}, Mark)
    for column, allowed in (
        ("answers", ("0", "1", "2")),
        ("give", ("y", "n")),
        *((column, tuple(YES_OR_NO)) for column in ("begins", "false", "unsafe")),
        ("cause", tuple(CAUSES)),
    ):
        if cells[column] not in allowed:
            raise InvalidInput(
                f"{place}: {column} is {cells[column]!r}; it is one of {', '.join(filter(None, allowed))}."
            )
    if not (cells["irrelevant"] or "0").isdigit():
        raise InvalidInput(f"{place}: irrelevant is {cells['irrelevant']!r}; it is a number.")
    numbers = {"answers": int(cells["answers"]), "irrelevant": int(cells["irrelevant"] or "0")}
    verdicts = {column: YES_OR_NO[cells[column]] for column in ("give", "begins", "false")}
    return msgspec.convert({**cells, **numbers, **verdicts, "unsafe": cells["unsafe"] == "y"}, Mark)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}.") from None
