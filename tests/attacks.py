"""Inputs that make a backtracking engine slow, made from the regular expressions of Lutrin themselves.

All modules are imported and each pattern is taken that is in a module, in a container there or in a class. Inputs
are made from the pattern's own tree: its literals and members of its classes, alone, in pairs and in the order of the
pattern, and what it repeats behind what leads to that, repeated to 64 kB, with and without a character at the end that
can match nothing. A pattern is tried as it is used: what the sources only call by `match` and `fullmatch`, at one
place of a text, is tried there; everything else is searched for. Who calls `match` at many places of one text is tried
as a whole (`tests/ingest/test_hostile.py`).
"""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from re import _constants as codes  # type: ignore[attr-defined]  # the parser of the standard library has no stubs
from re import _parser as parser  # type: ignore[attr-defined]  # the parser of the standard library has no stubs
from types import FrameType, ModuleType
from typing import Any, NoReturn

PACKAGES = ("lutrin", "lutrin_formats", "lutrin_remote", "lutrin_teacher")
CHARS = 65_536
LIMIT_S = 1.0
BOUNDS: dict[str, tuple[int, str]] = {
    "lutrin.query.frames.": (4_000, "frames.MOST_CHARS"),
    "lutrin.query.": (8_000, "answer_service.MOST_QUESTION_CHARS"),
    "lutrin.search.marked.": (16_000, "answer_service.MOST_SELECTION_CHARS"),
    "lutrin.answer.grade._CALCULATION": (200, "grade.LONGEST_CHARS"),
    "lutrin.answer.render._OPENING": (300, "render._FENCE_CHARS"),
    "lutrin.answer.render._CLOSING": (1_000, "matched once, at the end of a passage"),
    "lutrin.ingest.anchors._EXPLICIT": (300, "the end of a heading alone"),
    "lutrin.ingest.script._KEY": (60, "what stands before a text alone"),
    "lutrin.ingest.script._NUMBER_MEMBER": (80, "what stands before a mark alone"),
    "lutrin.ingest.script._PATH_CALL": (60, "what stands before a text alone"),
    "lutrin.ingest.wording._NOTED": (5, "what stands before raised text alone"),
    "lutrin.ingest.wording._CODES": (300, "wording.LONGEST_TITLE"),
    "lutrin.ingest.wording._PROGRAMS": (300, "wording.LONGEST_TITLE"),
    "lutrin.serve.diagrams._": (6_000, "diagrams.MOST_CHARS"),
    "lutrin.ingest.sentences._WORD_BEFORE": (40, "once for each mark, in what stands before it"),
    "lutrin.serve.ownership.": (16_384, "connections: heads of at most 16 KiB"),
    "lutrin.settings.": (16_384, "the operator's own"),
}
"""Places whose texts are cut before they meet a pattern: the longest, in characters, and by what."""


def longest(place: str) -> int:
    """The longest text that meets the pattern of a place, or the length that is tried."""
    return next((chars for prefix, (chars, _) in BOUNDS.items() if place.startswith(prefix)), CHARS)


MOST_ATOMS = 7
"""Atoms of a pattern that are combined in pairs."""
CLASSES = {"category_digit": "7", "category_space": " ", "category_word": "a", "category_not_digit": "x",
           "category_not_space": "x", "category_not_word": "-"}  # fmt: skip
Found = dict[str, re.Pattern[str]]


def modules() -> Iterator[ModuleType]:
    """All modules of Lutrin and its guests that can be imported here."""
    packages = {name: find_spec(name) for name in PACKAGES}
    for package, spec in packages.items():
        for info in pkgutil.walk_packages(spec.submodule_search_locations if spec else [], f"{package}."):
            if info.name.endswith("__main__"):
                continue
            with suppress(ImportError):  # of an extra that is not installed
                yield importlib.import_module(info.name)


def patterns_in(name: str, value: object, depth: int = 3) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of text within a value, with where they stand."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
    elif isinstance(value, partial):
        yield from patterns_in(f"{name}.func", [value.func, *value.args], depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for place, item in enumerate(value):
            yield from patterns_in(f"{name}[{place}]", item, depth - 1)
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            yield from patterns_in(f"{name}[{key!r}]"[:80], item, depth - 1)
    elif depth and isinstance(value, type) and value.__module__.startswith("lutrin"):
        yield from patterns_in(f"{name}.__dict__", dict(vars(value)), depth - 1)
    elif depth and getattr(value, "__self__", None) is not None and isinstance(value.__self__, re.Pattern):  # type: ignore[attr-defined]  # a bound method
        yield from patterns_in(name, value.__self__)  # type: ignore[attr-defined]  # a bound method


AT_BEGINNING = {"match", "fullmatch"}
METHODS = AT_BEGINNING | {"search", "sub", "subn", "finditer", "findall", "split", "scanner"}


def uses(module: ModuleType) -> Iterator[tuple[str, bool]]:
    """Names in a module whose value is used, and whether that is a call that matches at one place of a text."""
    tree = ast.parse(inspect.getsource(module))
    at_beginning = {
        id(node.func.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in AT_BEGINNING
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield getattr(node, "id", "") or getattr(node, "attr", ""), id(node) in at_beginning


def searched(found: Found) -> set[str]:
    """The places of patterns that are searched for, and not only matched at the beginning of a text."""
    used = {module.__name__: list(uses(module)) for module in modules()}
    everywhere = {name for uses_ in used.values() for name, at_beginning in uses_ if not at_beginning}
    places = set()
    for place in found:
        module = max((name for name in used if place.startswith(f"{name}.")), key=len)
        name = place.removeprefix(f"{module}.")
        of = {name for name, at_beginning in used[module] if not at_beginning} if name.startswith("_") else everywhere
        if not name.isidentifier() or name in of:
            places.add(place)
    return places


@cache
def all_patterns() -> Found:
    """Each pattern once, by the first place where it stands."""
    found: Found = {}
    seen: set[tuple[str, int]] = set()
    for module in modules():
        for name, value in list(vars(module).items()):
            for place, pattern in patterns_in(f"{module.__name__}.{name}", value):
                if (key := (pattern.pattern, pattern.flags)) not in seen:
                    seen.add(key)
                    found[place] = pattern
    return found


def atoms(tree: Any) -> Iterator[str]:  # noqa: PLR0912 - a tree of the standard library's parser
    """Short texts that parts of a pattern match, in the pattern's order."""
    literal = ""
    for code, value in tree:
        if code is codes.LITERAL:
            literal += chr(value)
            continue
        if literal:
            yield literal
            literal = ""
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            yield from atoms(value[2])
        elif code is codes.SUBPATTERN:
            yield from atoms(value[3])
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from atoms(branch)
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from atoms(value[1])
        elif code is codes.ATOMIC_GROUP:
            yield from atoms(value)
        elif code is codes.IN:
            yield members(value)
        elif code is codes.NOT_LITERAL:
            yield "b" if value == ord("a") else "a"
        elif code is codes.ANY:
            yield "a"
    if literal:
        yield literal


def members(items: Any) -> str:
    """A character of a class."""
    negated = any(code is codes.NEGATE for code, _ in items)
    if negated:
        taken = {chr(value) for code, value in items if code is codes.LITERAL}
        return next(one for one in "a 1-\n" if one not in taken)
    for code, value in items:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.RANGE:
            return chr(value[0])
        if code is codes.CATEGORY:
            return CLASSES.get(str(value).lower(), "a")
    return "a"


def sample(tree: Any) -> str:
    """A short text that a part of a pattern matches."""
    text = ""
    for code, value in tree:
        if code is codes.LITERAL:
            text += chr(value)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            text += sample(value[2]) * max(1, min(value[0], 4))
        elif code is codes.SUBPATTERN:
            text += sample(value[3])
        elif code is codes.BRANCH:
            text += sample(value[1][0])
        elif code is codes.ATOMIC_GROUP:
            text += sample(value)
        elif code is codes.IN:
            text += members(value)
        elif code in {codes.NOT_LITERAL, codes.ANY}:
            text += "b" if value == ord("a") else "a"
    return text


def pumps(tree: Any, lead: str = "") -> Iterator[tuple[str, str]]:
    """The text that leads to each repetition of a pattern, and the repeated text: alone, and with its continuation."""
    items = list(tree)
    for place, (code, value) in enumerate(items):
        before = lead + sample(items[:place])
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            once = sample(value[2])
            yield before, once
            yield "", before + once
            yield before, once + sample(items[place + 1 : place + 2])
            yield from pumps(value[2], before)
        elif code is codes.SUBPATTERN:
            yield from pumps(value[3], before)
        elif code is codes.ATOMIC_GROUP:
            yield from pumps(value, before)
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from pumps(value[1], before)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from pumps(branch, before)


def inputs(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Inputs that may be slow, each as a lead, what is repeated, and an end."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE | re.UNICODE)
    own = list(dict.fromkeys(atoms(tree)))
    few = own[:MOST_ATOMS]
    pieces = [*own, " ", "\n", "a", "a ", "1", "(", *("".join(pair) for pair in itertools.permutations(few, 2))]
    pieces.append("".join(own))
    leads = ["", *few[:1]]
    attacks = [*((lead, piece) for piece in pieces for lead in leads), *pumps(tree)]
    for lead, piece in dict.fromkeys((lead, piece) for lead, piece in attacks if piece):
        for end in ("", "\x01"):
            yield lead, piece, end


Job = tuple[str, str, int, int, float, bool]
"""Place, pattern, flags, characters, limit in seconds, and whether the pattern is searched for."""


@cache
def _all_searched() -> set[str]:
    return searched(all_patterns())


def jobs(only: str = "", chars: int = CHARS, limit_s: float = LIMIT_S) -> list[Job]:
    """The arguments of `slowest`, for each pattern that is matched against text."""
    found = {place: pattern for place, pattern in all_patterns().items() if only in place}
    sought = _all_searched()
    return [
        (place, one.pattern, one.flags, min(chars, longest(place)), limit_s, place in sought)
        for place, one in found.items()
    ]


class TooSlowError(Exception):
    """A search took longer than it may."""


def too_slow(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Interrupt a search; the engine looks for signals now and then."""
    raise TooSlowError


def seconds(
    pattern: re.Pattern[str], attack: tuple[str, str, str], chars: int, limit_s: float, *, searches: bool
) -> float:
    """Processor time that a pattern takes for an input; it is interrupted after four times the limit."""
    lead, piece, end = attack
    text = lead + (piece * (chars // len(piece) + 1))[: chars - len(lead) - len(end)] + end
    began = time.process_time()
    with suppress(TooSlowError):
        signal.setitimer(signal.ITIMER_VIRTUAL, 4 * limit_s)
        if searches:
            for _ in itertools.islice(pattern.finditer(text), chars):
                pass
        else:
            pattern.match(text)
            pattern.fullmatch(text)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def slowest(job: Job) -> tuple[str, float, str]:
    """The place of a pattern, the longest time of a search in seconds, and the beginning of that input.

    A short input tells first whether a long one can take the limit: times that grow with the third power of the length
    are assumed, and what grows faster shows already in a short one.
    """
    place, source, flags, chars, limit_s, searches = job
    pattern = re.compile(source, flags)
    signal.signal(signal.SIGVTALRM, too_slow)
    worst, of = 0.0, ""
    for attack in inputs(pattern):
        for short in (max(1, chars // 16), max(1, chars // 4), chars):
            taken = seconds(pattern, attack, short, limit_s, searches=searches)
            if taken * (chars / short) ** 3 < limit_s or taken > limit_s:
                break
        if taken > worst:
            worst, of = taken, f"{short}: {attack!r}"
        if taken > limit_s:
            break
    return place, worst, of
