"""Units of found passages with how well each answers the question."""

from dataclasses import dataclass

from lutrin.records import Chunk, Unit


@dataclass(frozen=True, slots=True)
class Evidence:
    """One unit of a found passage."""

    chunk: Chunk
    position: int
    """Index of the unit in `chunk.units`."""
    score: float
    """Late-interaction score of the unit (with its headings) for the question; 1 is a perfect match."""

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.chunk.units[self.position]
