"""Units of found passages with how well each answers the question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from lutrin.records import Chunk, Unit


@dataclass(frozen=True, slots=True)
class Evidence:
    """One unit of a found passage."""

    chunk: Chunk
    position: int
    """Index of the unit in `chunk.units`."""
    score: float
    """Late-interaction score of the unit (with its headings) for the question; 1 is a perfect match."""
    own: float = 0.0
    """The part of it that the unit's own words have; 0 where nothing but the score is known."""
    passage: float = 0.0
    """Cosine of the question and the passage as a whole; 0 likewise."""
    whole: float = 0.0
    """The score of the list that holds it, all items together; 0 if it is no item of a list."""

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.chunk.units[self.position]

    @property
    def place(self) -> tuple[str, int]:
        """Where it stands: chunk and position."""
        return self.chunk.chunk_id, self.position


class Late(Sequence[Evidence]):
    """Evidence that is computed when somebody first looks at it; of several books that are searched only one answers.

    Args:
        find: Computes it.
    """

    def __init__(self, find: Callable[[], Sequence[Evidence]]) -> None:
        self._find: Callable[[], Sequence[Evidence]] | None = find
        self._found: Sequence[Evidence] = ()

    @overload
    def __getitem__(self, index: int) -> Evidence: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Evidence]: ...

    def __getitem__(self, index: int | slice) -> Evidence | Sequence[Evidence]:
        """One or several of them."""
        return self._all()[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all())

    def _all(self) -> Sequence[Evidence]:
        if self._find is not None:
            self._found, self._find = self._find(), None
        return self._found
