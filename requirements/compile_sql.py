"""Print the SQL of a room from its SQLModel tables: `compile_sql.py index|chats`.

`just docs` writes both files, and a test compares them.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

from sqlalchemy import ClauseElement
from sqlalchemy.dialects.sqlite import dialect

from lutrin.chats import statements
from lutrin.index import expressions

ROOMS = {
    "index": (expressions, "the catalogue and of a book's passages", "definitions.py` and `expressions.py"),
    "chats": (statements, "the conversations, for SQLite and PostgreSQL", "tables.py` and `statements.py"),
}
"""The module with the statements, what they are about, and where they come from."""
HEADER = '''"""SQL of {}.

Compiled from `{}` by `./justw docs`; do not edit.
"""
'''
COLUMNS = 120


def sql(statement: ClauseElement) -> str:
    """A statement as SQLite reads it, in one line, with named parameters; its own values stand in the text.

    Raises:
        ValueError: It brings a value of its own that is neither a number nor a plain text.
    """
    compiled = statement.compile(dialect=dialect(paramstyle="named"))
    text = re.sub(r"\s+", " ", str(compiled)).strip()
    for name, value in (compiled.params or {}).items():
        if isinstance(value, int):
            text = re.sub(rf":{name}\b", str(value), text)
        elif isinstance(value, str) and re.fullmatch(r"\w*", value):
            text = re.sub(rf":{name}\b", f"'{value}'", text)
        elif value is not None:
            raise ValueError(f"{text} has the value {value!r}")
    return text.replace("( ", "(").replace(" )", ")")


def literal(text: str, indent: str, before: int = 0) -> str:
    """A string literal of one or several lines, as the formatter leaves it."""
    one = _quoted(text)
    if len(indent) + before + len(one) <= COLUMNS:
        return one
    if len(indent) + 4 + len(one) <= COLUMNS:
        return f"(\n{indent}    {one}\n{indent})"
    width = COLUMNS - len(indent) - 4 - 2
    parts = textwrap.wrap(text, width - 1, break_long_words=False, break_on_hyphens=False)
    lines = [_quoted(part + (" " if number < len(parts) else "")) for number, part in enumerate(parts, start=1)]
    return "(\n" + "".join(f"{indent}    {line}\n" for line in lines) + f"{indent})"


def _quoted(text: str) -> str:
    if '"' in text and "'" in text:
        text = text.replace('"', '\\"')
        return f'"{text}"'
    return f"'{text}'" if '"' in text else f'"{text}"'


def documented(module: ModuleType) -> dict[str, str]:
    """What a module says below each of its constants."""
    body = ast.parse(inspect.getsource(module)).body
    found = {}
    for line, below in pairwise(body):
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        if isinstance(target, ast.Name):
            said = below.value if isinstance(below, ast.Expr) else None
            found[target.id] = str(said.value) if isinstance(said, ast.Constant) else ""
    return found


def lines(room: str) -> Iterator[str]:
    """The module, constant by constant, in the order of its source."""
    module, about, sources = ROOMS[room]
    yield HEADER.format(about, sources)
    for name, said in documented(module).items():
        value = getattr(module, name)
        if not name.isupper() or name.startswith("_"):
            continue
        if isinstance(value, list):
            items = [literal(sql(one), "    ", 1) for one in value]
            yield f"{name} = (\n" + "".join(f"    {item},\n" for item in items) + ")"
        elif isinstance(value, ClauseElement):
            yield f"{name} = {literal(sql(value), '', len(name) + 3)}"
        else:
            continue
        if said:
            yield f'"""{said}"""'


def text(room: str) -> str:
    """The whole module."""
    return "\n".join(lines(room)) + "\n"


if __name__ == "__main__":
    print(text(sys.argv[1]), end="")
