"""Parses a program into statements, with the comments on each and the names that it uses.

A lexer separates comments, names and brackets in any language that it knows, so nothing here depends on a language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Name, Punctuation, String, is_token_subtype
from pygments.util import ClassNotFound

_MARK_BEFORE = re.compile(r"^\s*(?:#+!?|//+!?|/\*+|\*+/?|--+|%+|;+|<!--|(?i:rem )|[rRuU]?(?:\"{3}|'{3}))\s?")
_MARK_BEHIND = re.compile(r"(?<!\s)\s*+(?:(?<!\*)\*++/|-->|\"{3}|'{3})\s*+$")
_PATH = re.compile(r"(?=[/\d_.:-]*+[^\W\d_])[/\w.:-]++")
_QUOTES = "\"'`"


@dataclass(slots=True)
class Statement:
    """A statement of a program, possibly over several lines."""

    first: int
    """Number of its first line, from 1."""
    last: int
    code: str = ""
    """Its first line, without comments; empty if it consists of comments alone."""
    comments: list[str] = field(default_factory=list)
    """Comments before it, in it and at its end, without comment signs."""
    names: list["UsedName"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UsedName:
    """A name in a program, or a path in one of its strings."""

    text: str
    is_called: bool = False
    is_own: bool = False
    """Whether the program defines it here: a function, a class, a variable."""


@dataclass(slots=True)
class _Line:
    """A line of a program after lexing."""

    code: str = ""
    comment: str = ""
    doc: str = ""
    names: list[UsedName] = field(default_factory=list)
    depth: int = 0
    """Opening minus closing brackets."""


def lexer_of(language: str) -> Lexer:
    """The lexer of a language; for an unknown language, one without comments."""
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False)


@lru_cache(maxsize=1024)
def without_comments(text: str, language: str) -> str:
    """Strip the comments from a program, line by line.

    >>> without_comments("stop()  # the motor", "python")
    'stop()'
    """
    return "\n".join(line.code for line in _lines(text, lexer_of(language)))


def statements_of(text: str, language: str) -> list[Statement]:
    r"""The statements of a program in order, each with its comments.

    A comment on its own line belongs to the statement right after it; a docstring belongs to its definition.

    >>> [(one.code, one.comments) for one in statements_of("# start\nopen(\n  1)  # one\n", "python")]
    [('open(', ['start', 'one'])]
    """
    statements: list[Statement] = []
    pending: list[tuple[int, str]] = []
    current: Statement | None = None
    depth = 0
    for number, line in enumerate(_lines(text, lexer_of(language)), 1):
        if current is None and not line.code:
            if line.comment:
                pending.append((number, line.comment))
            elif line.doc and statements:
                statements[-1].comments.append(line.doc)
                statements[-1].last = number
            elif line.doc:
                pending.append((number, line.doc))
            else:
                statements += _remark(pending)
                pending = []
            continue
        if current is None:
            current = Statement(pending[0][0] if pending else number, number, line.code, [one for _, one in pending])
            pending, depth = [], 0
        current.last = number
        current.names += line.names
        current.comments += [one for one in (line.comment, line.doc) if one]
        depth += line.depth
        if depth <= 0 and not line.code.endswith("\\"):
            statements.append(current)
            current = None
    return [*statements, *([current] if current is not None else []), *_remark(pending)]


def _remark(comments: Sequence[tuple[int, str]]) -> list[Statement]:
    """A row for comments that no statement follows."""
    if not comments:
        return []
    return [Statement(comments[0][0], comments[-1][0], "", [one for _, one in comments])]


def _lines(text: str, lexer: Lexer) -> list[_Line]:
    lines = [_Line() for _ in text.split("\n")]
    number, chain, defines = 0, "", False
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        is_preprocessed = is_token_subtype(kind, Comment.Preproc) or is_token_subtype(kind, Comment.PreprocFile)
        is_comment = is_token_subtype(kind, Comment) and not is_preprocessed
        is_doc = is_token_subtype(kind, String.Doc)
        is_name = is_token_subtype(kind, Name) and not is_token_subtype(kind, Name.Builtin.Pseudo)
        if chain and not is_name and value.strip(" \t") and value != ".":
            is_called = value.startswith("(")
            if is_called or not chain.startswith("."):
                name = chain.strip(".")
                lines[number].names.append(UsedName(name, is_called, defines or value == "="))
                if is_called and "." in name:  # the book may speak of the method alone
                    lines[number].names.append(UsedName(name.rpartition(".")[2], is_called))
            chain, defines = "", False
        if is_name or (chain and value == "."):
            chain += value
            defines = defines or (chain == value and kind in {Name.Function, Name.Class})
        elif is_token_subtype(kind, String) and not is_doc and (path := _PATH.fullmatch(value.strip(_QUOTES))):
            lines[number].names.append(UsedName(path[0]))
        for place, piece in enumerate(value.split("\n")):
            number += place > 0
            if is_comment or is_doc:
                own = _MARK_BEHIND.sub("", _MARK_BEFORE.sub("", piece)).strip()
                joined = f"{lines[number].comment} {own}" if is_comment else f"{lines[number].doc} {own}"
                setattr(lines[number], "comment" if is_comment else "doc", joined.strip())
            else:
                lines[number].code += piece
                opened = sum(map(piece.count, "([")) - sum(map(piece.count, ")]"))
                lines[number].depth += opened if is_token_subtype(kind, Punctuation) else 0
    for line in lines:
        line.code = line.code.strip()
    return lines
