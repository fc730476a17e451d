"""Choose the threads of a step by what was measured just now.

Two threads wait for each other at every layer. On a quiet machine two are faster than one; beside busy programs one
that has lost its processor holds the other up, and one alone is faster. Neither is known beforehand, and it changes.
"""

from collections.abc import Mapping

RECENT = 0.25
"""Weight of the newest step in the mean of those with so many threads."""
TRY_EVERY = 32
"""Steps after which the other number is tried again."""
TRIED_STEPS = 2
"""Steps for which it is tried: the first wakes sleeping threads, and counts less."""


class ThreadChoice:
    """The faster of two numbers of threads for steps of the same kind.

    Args:
        seconds: What a step took with each number, when the model was loaded.
    """

    def __init__(self, seconds: Mapping[int, float]) -> None:
        self._seconds = dict(seconds)
        self._steps = 0

    @property
    def best(self) -> int:
        """The number that is faster by all that is known."""
        return min(self._seconds, key=self._seconds.__getitem__)

    def choose(self) -> int:
        """Threads of the next step."""
        self._steps += 1
        if self._steps % TRY_EVERY < TRIED_STEPS and self._steps >= TRY_EVERY:
            return next((number for number in self._seconds if number != self.best), self.best)
        return self.best

    def note(self, threads: int, seconds: float) -> None:
        """Note how long a step took."""
        self._seconds[threads] += RECENT * (seconds - self._seconds[threads])
