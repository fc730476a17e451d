"""The block of YAML, TOML or JSON at the top of a page."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from lutrin.ingest.configuration import PlainLoader, parse
from lutrin.ingest.script import ScriptText

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?=[\r\n]|\Z)(?:\r\n|\n|\r)?", re.MULTILINE)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BRACE = re.compile(r"\{\s*\"")
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_PERCENT = re.compile(r"\ufeff?%[ \t]+(?=\S)[^\n]*(?:\n(?:%|[ \t]+(?=\S))[^\n]*){0,8}(?:\n|\Z)")
_PLAIN_LINE = re.compile(r"([A-Za-z_][\w-]*):[ \t]+(\S.*)")
_MAX_CHARS = 65_536


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The page's front matter."""

    end: int = 0
    """Offset of the page's own text."""
    values: dict[str, Any] = field(default_factory=dict)
    yaml: str = ""
    yaml_start: int = 0
    """Its offset in the source."""

    def text(self, name: str) -> str:
        """A value as one line of text; empty if it is missing or not text."""
        value = self.values.get(name)
        return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, or one text separated by commas."""
        value = self.values.get(name)
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list):
            return ()
        return tuple(
            " ".join(str(item).split()) for item in value if isinstance(item, str | int | float) and str(item).strip()
        )

    def flag(self, name: str) -> bool | None:
        """A truth value; None if it is missing or neither true nor false."""
        value = self.values.get(name)
        if isinstance(value, str):
            return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
        return value if isinstance(value, bool) else None

    def number(self, name: str) -> float | None:
        """A number; None if it is missing or not a number."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return None
        try:
            return float(value) if isinstance(value, str | int | float) else None
        except (ValueError, OverflowError):
            return None


def front_texts(source: str, front: FrontMatter) -> list[tuple[str, ScriptText]]:
    """Every readable string and number of a front matter in YAML, in text order, with its path.

    A path has the names from the top down, `hero.tagline`; items of a list have the name of the list. A range includes
    quotes, and line breaks of a folded string.
    """
    try:
        root = yaml.compose(front.yaml, Loader=PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []  # `read_front_matter` has told the author
    texts: list[tuple[str, ScriptText]] = []
    pending: list[tuple[str, yaml.Node | None]] = [("", root)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            pending += [(f"{path}.{key.value}".lstrip("."), value) for key, value in reversed(node.value)]
        elif isinstance(node, yaml.SequenceNode):
            pending += [(path, item) for item in reversed(node.value)]
        elif isinstance(node, yaml.ScalarNode) and str(node.value).strip():
            start, end = front.yaml_start + node.start_mark.index, front.yaml_start + node.end_mark.index
            end = start + len(source[start:end].rstrip())
            texts.append((path, ScriptText(" ".join(str(node.value).split()), start, end)))
    return texts


def read_front_matter(source: str, problem: Callable[[int, str], None]) -> FrontMatter:
    """Read the front matter of a page; if it is broken, use its plain `name: value` lines."""
    opening = _OPENING.match(source)
    none = FrontMatter(end=int(source.startswith("\ufeff")))
    if opening is None:
        return _toml(source, problem) or _json(source, none.end) or _title_block(source) or none
    closing = _CLOSING.search(source, opening.end(), opening.end() + _MAX_CHARS)
    if closing is None:
        return none
    text = source[opening.end() : closing.start()]
    try:
        values = yaml.load(text, Loader=PlainLoader)  # noqa: S506 - a subclass of SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problem(opening.end() + (mark.index if mark else 0), f"front matter: {error.problem}")
        values = _plain_lines(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem(opening.end(), f"front matter: {type(error).__name__}: {str(error)[:100] or 'nested too deeply'}")
        values = _plain_lines(text)
    if (values is not None and not isinstance(values, dict)) or (values == {} and text.strip()):
        # Two horizontal lines with text between them.
        return none
    fields = {str(name): value for name, value in (values or {}).items()}
    return FrontMatter(closing.end(), fields, text if fields else "", opening.end())


def _toml(source: str, problem: Callable[[int, str], None]) -> FrontMatter | None:
    """Read the front matter of Hugo and Zola between lines of three plus signs."""
    block = _TOML.match(source, 0, _MAX_CHARS)
    if block is None:
        return None
    try:
        return FrontMatter(block.end(), parse(block[1], "toml") or {})
    except ValueError as error:
        problem(block.start(1), f"front matter: {str(error)[:100]}")
        return FrontMatter(block.end())


def _json(source: str, start: int) -> FrontMatter | None:
    """Read Hugo's front matter in braces, up to the end of a line."""
    if not _BRACE.match(source, start):
        return None
    try:
        values, end = json.JSONDecoder().raw_decode(source[: start + _MAX_CHARS], start)
    except (ValueError, RecursionError):
        return None  # an expression of MDX
    closing = _LINE_END.match(source, end)
    return FrontMatter(closing.end(), values) if values and closing else None


def _title_block(source: str) -> FrontMatter | None:
    """Read Pandoc's lines of title, authors and date, each after a percent sign."""
    block = _PERCENT.match(source)
    if block is None:
        return None
    lines = [" ".join(line.replace("\n", " ").split()) for line in re.split(r"^%", block[0], flags=re.MULTILINE)[1:]]
    names = ("title", "author", "date")
    return FrontMatter(block.end(), {name: line for name, line in zip(names, lines, strict=False) if line})


def _plain_lines(text: str) -> dict[str, Any]:
    matches = (_PLAIN_LINE.fullmatch(line.rstrip()) for line in text.splitlines())
    return {match[1]: match[2].strip("\"'") for match in matches if match}
