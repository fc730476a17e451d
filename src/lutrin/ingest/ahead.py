"""Looks ahead for the end of a fence or formula, without walking the same lines twice."""

from bisect import bisect_right

from lutrin.ingest.placed import indentation

# A fence whose end is farther ahead counts as closed.
_FARTHEST = 2000


class Ahead:
    """Where in a page fences and formulas can close."""

    def __init__(self, source: str, lines: list[tuple[int, int]]) -> None:
        self._source = source
        self._lines = lines
        self._closers: dict[str, list[tuple[int, int]]] = {}
        self._last_formula = -1
        self._formulas_known = False

    def formula_closes(self, number: int) -> bool:
        """Whether a line after line `number` ends in `$$`."""
        if not self._formulas_known:
            self._formulas_known = True
            for candidate in range(len(self._lines) - 1, -1, -1):
                if self._text(candidate).endswith("$$"):
                    self._last_formula = candidate
                    break
        return self._last_formula > number

    def fence_closes(self, number: int, marker: str) -> int | None:
        """Find the first line after `number` whose run is at least as long as `marker`; None if no line is."""
        closers = self._closers.get(marker[0])
        if closers is None:
            closers = self._closers[marker[0]] = self._find_closers(marker[0])
        for index in range(bisect_right(closers, (number, 1 << 30)), len(closers)):
            if closers[index][1] >= len(marker):
                return closers[index][0]
        return None

    def fence_opens(self, number: int, until: int, marker: str) -> bool:
        """Whether a fence with a language starts after a blank line and before line `until`."""
        for candidate in range(number + 2, min(until, number + _FARTHEST)):
            text = self._text(candidate)
            language = text[len(marker) : len(marker) + 1]
            if text.startswith(marker) and language.isalpha() and not self._text(candidate - 1):
                return True
        return False

    def _find_closers(self, char: str) -> list[tuple[int, int]]:
        found = []
        for number in range(len(self._lines)):
            text = self._text(number)
            if len(text) >= 3 and not text.strip(char):
                found.append((number, len(text)))
        return found

    def _text(self, number: int) -> str:
        begin, end = self._lines[number]
        return self._source[begin:end].strip(" \t>")

    def is_indented(self, number: int, columns: int) -> bool:
        """Whether the next line, or the one after a blank line, is indented by so many columns."""
        for begin, end in self._lines[number + 1 : number + 3]:
            at, indent = indentation(self._source, begin, begin, end)
            if at < end:
                return indent >= columns
        return False
