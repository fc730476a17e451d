"""Cutting running text into sentences, the smallest thing that an answer may quote."""

import re
from collections.abc import Sequence

# A full stop after one of these ends no sentence, whatever follows.
_ABBREVIATIONS = frozenset(
    "e.g i.e fig figs eq eqs sec sect ch chap no nos vol vols p pp ed eds vs cf approx resp ca al "
    "dr mr mrs ms prof st rev gen col jan feb mar apr jun jul aug sep sept oct nov dec inc ltd viz".split()
)
# Possessive and anchored at the first mark of a run: linear on ten megabytes of dots.
_STOP = re.compile(r"(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++[\"'”’»)\]*_]*+(?=\s)|[。！？]++[”’」』）]*+")
_WORD_BEFORE = re.compile(r"[\w.]*$")
_LOWER = re.compile(r"[\"'“‘(\[*_]*[a-zß-öø-ÿ]")
_SOFT_BREAK = re.compile(r"[;:,]\s|\s")
_LONGEST = 1200


def sentence_ranges(text: str, protected: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Start and end of each sentence, none in a protected range (code, maths)."""
    ranges: list[tuple[int, int]] = []
    start = guard = 0
    for stop in _STOP.finditer(text):
        end = stop.end()
        while guard < len(protected) and protected[guard][1] < end:
            guard += 1
        inside = guard < len(protected) and protected[guard][0] < stop.start() < protected[guard][1]
        if inside or not _ends_sentence(text, start, stop):
            continue
        _append(ranges, text, start, end)
        start = end
    _append(ranges, text, start, len(text))
    return ranges


def paragraph_ranges(text: str, protected: Sequence[tuple[int, int]] = (), run_in: int = 0) -> list[tuple[int, int]]:
    """The sentences of a paragraph; a run-in title of `run_in` characters stays with its sentence."""
    ranges = sentence_ranges(text, protected)
    if len(ranges) > 1 and 0 < ranges[0][1] == len(text[:run_in].rstrip()) and text[ranges[0][1] - 1] == ".":
        ranges[:2] = [(ranges[0][0], ranges[1][1])]
    return ranges


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = stop.group()
    goes_on = _follows_lower(text, stop.end())
    if not mark.startswith((".", "…")):
        # A question mark followed by a small letter belongs to a title or a quotation inside the sentence.
        return mark[0] not in "!?" or not goes_on
    if goes_on:
        return False
    if mark != ".":
        return True
    word = _WORD_BEFORE.search(text, max(start, stop.start() - 40), stop.start())
    before = word.group() if word else ""
    if before.lower() in _ABBREVIATIONS:
        return False
    if len(before) == 1 and before.isupper() and before != "I":
        # An initial, J. Smith, but not a unit: at most 60 V.
        return text[max(start, stop.start() - 3) : stop.start() - 1].strip().isdigit()
    return not (before.isdigit() and not text[start : stop.start() - len(before)].strip())  # the number of a list item


def _follows_lower(text: str, index: int) -> bool:
    while index < len(text) and text[index].isspace():
        index += 1
    return _LOWER.match(text, index) is not None


def _append(ranges: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    # Nobody writes such a sentence; without a bound one line of ten megabytes would be a single quote.
    while end - start > _LONGEST:
        cut = start + _LONGEST
        for soft in _SOFT_BREAK.finditer(text, start + _LONGEST // 2, start + _LONGEST):
            cut = soft.end()
        ranges.append((start, start + len(text[start:cut].rstrip())))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        ranges.append((start, end))
