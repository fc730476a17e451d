"""The readers' questions: different ones for each reader, with the same mix of kinds for all."""

import random
from collections.abc import Sequence

# The same question in other words is another question to the server, which answers an exact repeat from its memory.
OPENINGS = (
    "{}", "Please tell me: {}", "I would like to know: {}", "One question: {}", "Could you tell me? {}",
    "In the book: {}", "For my homework: {}", "According to the book: {}", "I need help with this: {}", "I wonder: {}",
    "Briefly: {}", "Our teacher asks: {}", "Could somebody explain? {}", "I forgot: {}", "Just to be sure: {}",
    "For the exam: {}", "My neighbour asks: {}", "Next question: {}", "Explain to me: {}", "What does the book say? {}",
)  # fmt: skip


class Deck:
    """Questions by kind (definitions, comparisons, tables, ...), dealt in rounds.

    In its nth round each reader gets a question of the same kind as all others in theirs, so that sessions can be
    compared: none has the harder questions. Within a round no question is dealt twice while there are enough of that
    kind, and none comes again in the same words before all have been dealt.
    """

    def __init__(self) -> None:
        self._kinds: list[list[str]] = []
        self._readers = 1
        self._seats = 0

    def open(self, kinds: Sequence[Sequence[str]], readers: int) -> None:
        """Shuffle the questions; the same every time.

        Args:
            kinds: Questions of each kind.
            readers: How many will ask.
        """
        order = random.Random(7)
        self._kinds = []
        for questions in kinds:
            shuffled = list(questions)
            order.shuffle(shuffled)
            self._kinds.append([opening.format(text) for opening in OPENINGS for text in shuffled])
        self._readers = readers
        self._seats = 0

    def seat(self) -> int:
        """The number of a reader who comes in."""
        self._seats += 1
        return self._seats - 1

    def deal(self, seat: int, turn: int) -> str:
        """The question of a reader in one of its turns, both counted from 0."""
        lap, kind = divmod(turn, len(self._kinds))
        questions = self._kinds[kind]
        # One further each lap: a reader who comes to the same question again finds it in other words.
        return questions[(seat + lap * (self._readers + 1)) % len(questions)]
