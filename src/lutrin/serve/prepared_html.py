"""The teacher's pages on what is prepared; their HTML stands in `templates/teacher_companion.html` and beside it."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec

from lutrin.index.companion import KINDS
from lutrin.records import Answer, Passage
from lutrin.serve.addresses import page_path
from lutrin.serve.html import ShelvedBook
from lutrin.serve.templating import render
from lutrin.study.teach import Listed, Wanted

NAMES = {
    "keypoints": "Key points",
    "term": "Term",
    "question": "Question",
    "explanation": "Explanation",
    "simpler": "Simpler words",
    "example": "Example",
    "analogy": "Analogy",
    "quiz": "Quiz",
}
STATES = {"proposed": "not read yet", "approved": "approved", "hidden": "hidden"}
_MARKER = re.compile(r"\s*\[\d+\]")


class PreparedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line on the teacher's page about what is prepared for a book."""

    slug: str
    title: str
    words: str
    proposed: int
    """Entries that nobody has read yet."""
    study: str = ""
    """How far the model is that studies the book; empty: none did."""


def prepared_row(slug: str, listed: Listed, study: str = "") -> PreparedRow:
    """Summarise what is prepared for a book."""
    counts = [(listed.states.get(state, 0), name) for state, name in STATES.items()]
    told = [f"{count:,} {name}" for count, name in (*counts, (listed.pinned, "pinned")) if count]
    words = ", ".join(told) or "nothing yet"
    return PreparedRow(
        slug=slug, title=listed.title, words=words, proposed=listed.states.get("proposed", 0), study=study
    )


def companion_page(book: str, listed: Listed, wanted: Wanted, form_key: str) -> str:
    """The entries of a companion, each with its form."""
    state = "pinned" if wanted.pinned else wanted.state or ""
    known = {"kind": wanted.kind or "", "state": state, "words": wanted.words}
    chosen = {name: value for name, value in known.items() if value}
    return render(
        "teacher_companion.html",
        chat=False,
        book=book,
        listed=listed,
        wanted=known,
        form_key=form_key,
        kinds=[(kind, NAMES[kind]) for kind in KINDS],
        names=NAMES,
        states=STATES,
        place=lambda entry: page_path(book, entry.file) + (f"#{entry.anchor}" if entry.anchor else ""),
        page=wanted.page,
        back=urlencode({**chosen, "page": str(wanted.page)}),
        at=lambda number: f"/teacher/companion/{book}?{urlencode({**chosen, 'page': str(number)})}",
    )


def proposal_page(
    books: Sequence[ShelvedBook],
    book: ShelvedBook,
    question: str,
    answer: Answer | None,
    form_key: str,
    *,
    near: Sequence[Passage] = (),
    back: str = "",
) -> str:
    """A question with its current answer or passages near it, and the form that pins an answer and leads `back`."""
    return render(
        "teacher_answer.html",
        chat=False,
        books=books,
        book=book,
        question=question,
        answer=answer,
        text=proposed_text(answer) if answer is not None else "",
        near=near,
        back=back,
        form_key=form_key,
    )


def proposed_text(answer: Answer) -> str:
    """The text that the form starts with: the explanation without its markers, or else the words that answer."""
    if answer.explanation:
        return _MARKER.sub("", answer.explanation).strip()
    marked = [" ".join(one.text[first:last].split()) for one in answer.excerpts for first, last in one.marks]
    return " ".join(marked)
