"""Print `src/lutrin/index/compiled.py` from the SQLModel tables there; `just docs` writes it, a test compares it."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from sqlalchemy import ClauseElement
from sqlalchemy.dialects.sqlite import dialect

from lutrin.index import expressions

HEADER = '''"""SQL of the catalogue and of a book's passages.

Compiled from `definitions.py` and `expressions.py` by `./justw docs`; do not edit.
"""
'''
COLUMNS = 120


def sql(statement: ClauseElement) -> str:
    """A statement as SQLite reads it, in one line, with named parameters; its own numbers stand in the text.

    Raises:
        ValueError: It brings a value of its own that is not a number.
    """
    compiled = statement.compile(dialect=dialect(paramstyle="named"))
    text = re.sub(r"\s+", " ", str(compiled)).strip()
    for name, value in (compiled.params or {}).items():
        if isinstance(value, int):
            text = re.sub(rf":{name}\b", str(value), text)
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
    return f"'{text}'" if '"' in text else f'"{text}"'


def documented() -> dict[str, str]:
    """What `expressions.py` says below each of its constants."""
    body = ast.parse(inspect.getsource(expressions)).body
    found = {}
    for line, below in pairwise(body):
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        if isinstance(target, ast.Name):
            said = below.value if isinstance(below, ast.Expr) else None
            found[target.id] = str(said.value) if isinstance(said, ast.Constant) else ""
    return found


def lines() -> Iterator[str]:
    """The module, constant by constant, in the order of `expressions.py`."""
    yield HEADER
    for name, said in documented().items():
        value = getattr(expressions, name)
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


def text() -> str:
    """The whole module."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    print(text(), end="")
