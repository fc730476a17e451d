"""A trial of a book: questions that it answers and questions that it does not, with the answers for pupils."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from lutrin.guest_ports import Library
from lutrin.records import Answer

ANSWERED, NOT_ANSWERED = 5, 3
"""Questions of either kind."""
TRIED = 6
"""Most questions from elsewhere to try in search of those that the book does not answer."""
FROM_ELSEWHERE = (
    "How do I bake bread at home?",
    "Who painted the Mona Lisa?",
    "What is the capital of Mongolia?",
    "How many players are in a football team?",
    "When did the first people walk on the moon?",
    "How do bees make honey?",
)
"""Used if no other book on the shelf has questions of its own; few books answer more than one of them."""

Ask = Callable[[str, str], Awaitable[Answer]]
"""Returns the answer to a question for a reader of a book (its slug, the second argument)."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a trial, and its answer."""

    question: str
    answer: Answer

    @property
    def is_answered(self) -> bool:
        """Whether the reader gets an answer, not a refusal."""
        return self.answer.kind != "refusal"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """The questions to a book."""

    own: Sequence[Tried] = ()
    """Questions on the book's contents."""
    foreign: Sequence[Tried] = ()
    """Questions from elsewhere, refused ones first."""


async def try_book(library: Library, ask: Ask, slug: str) -> Trial:
    """Ask a book five questions of its own and three from elsewhere; none of it is stored."""
    own = [await _tried(ask, question, slug) for question in await library.trial_questions(ANSWERED, slug)]
    foreign: list[Tried] = []
    for question in await _from_elsewhere(library, slug):
        if sum(not one.is_answered for one in foreign) < NOT_ANSWERED:
            foreign.append(await _tried(ask, question, slug))
    return Trial(own=own, foreign=sorted(foreign, key=lambda one: one.is_answered)[:NOT_ANSWERED])


async def _tried(ask: Ask, question: str, slug: str) -> Tried:
    return Tried(question=question, answer=await ask(question, slug))


async def _from_elsewhere(library: Library, slug: str) -> list[str]:
    """Questions of the other books in turn, then the general ones."""
    others = [book.slug for book in await library.books() if book.slug != slug]
    near = [question for other in others[:NOT_ANSWERED] for question in await library.trial_questions(1, other)]
    return [*near, *FROM_ELSEWHERE][:TRIED]
