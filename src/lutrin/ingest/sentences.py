"""Splits running text into sentences, the smallest quotable unit; joins lines into running text."""

import re
from collections.abc import Iterable, Sequence

# A full stop after one of these never ends a sentence.
_ABBREVIATIONS = frozenset(
    "e.g i.e fig figs eq eqs sec sect ch chap no nos vol vols p pp ed eds vs cf approx resp ca al "
    "dr mr mrs ms prof st rev gen col jan feb mar apr jun jul aug sep sept oct nov dec inc ltd viz".split()
)
# Possessive and anchored at the first mark of a run: linear on ten megabytes of dots.
_STOP = re.compile(r"(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++[\"'”’»)\]*_]*+(?=\s)|[。！？]++[”’」』）]*+")
_WORD_BEFORE = re.compile(r"[\w.]*$")
_LOWER = re.compile(r"[\"'“‘(\[*_]{0,20}+[a-zß-öø-ÿ]")
_SOFT_BREAK = re.compile(r"[;:,]\s|\s")
_LONGEST = 1200
_HYPHEN = re.compile(r"(?<!\w)(?<!\w-)(\w++(?:-\w++)*+)[-\u2010\u2011]\Z")
_FIRST_WORD = re.compile(r"\w+")
_WHOLE_WORD = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]-)[^\W\d_]++(?:-[^\W\d_]++)*+(?![\w-])")
# Words that form compounds with a hyphen, even if the hyphen ends a line.
_HYPHENATED_AFTER = frozenset({"half", "quasi", "self", "well"})
# Words inside compounds, followed by another word: state-of-the-art, up-to-date.
_JOINING = frozenset("a and by in of on or the to".split())
# Least letters of the second word of a compound; shorter ones are endings, as in selfish.
_LEAST_COMPOUND = 5


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
        # A question mark before a small letter belongs to a title or a quotation inside the sentence.
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
    # No author writes such a sentence; without a bound, one line of ten megabytes would be a single quote.
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


def join_lines(lines: Sequence[str], vocabulary: frozenset[str]) -> list[str]:
    """One piece for each line of a paragraph: hyphenation undone by the document's words, else with a blank."""
    pieces = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        broken, first = _HYPHEN.search(line), _FIRST_WORD.match(following)
        if not following:
            pieces.append(line)
        elif line.endswith("\u00ad"):
            pieces.append(line[:-1])
        elif broken is None or first is None:
            pieces.append(f"{line} ")
        elif _keeps_hyphen(broken[1], first.group(), vocabulary):
            pieces.append(line)
        else:
            pieces.append(line[:-1])
    return pieces


def _keeps_hyphen(before: str, after: str, vocabulary: frozenset[str]) -> bool:
    """Whether the hyphen at the end of a line is part of the word, as in `20-30`, `AX-104` and `self-closing`."""
    if not (before[-1:].isalpha() and after[:1].islower()):
        return True
    word = before.rpartition("-")[2]
    if f"{before}-{after}".casefold() in vocabulary:
        return True
    if f"{word}{after}".casefold() in vocabulary:
        return False
    is_compound = word != before and word in _JOINING
    return is_compound or (word.casefold() in _HYPHENATED_AFTER and len(after) >= _LEAST_COMPOUND)


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """Words of lines, except those that may be broken at the end of one."""
    return frozenset(word.casefold() for line in lines for word in _WHOLE_WORD.findall(line))
