"""Draw `docs/architecture.svg`: rooms of `src/lutrin`, guests beside it, and which import which, read from the imports.

`just docs` writes it, a test compares it. A line means "imports"; lines that follow from others are left out, and so
are the modules at the top (records, ports, errors, settings ...), which every room may import.
"""

import ast
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src" / "lutrin"
FOLDERS = {
    path.parent.name: path.parent for path in (*SRC.glob("*/__init__.py"), *SRC.parent.glob("lutrin_*/__init__.py"))
}
ROOMS = sorted(FOLDERS)
"""Rooms of the core, and guests, each a package beside it."""
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 224, 84, 20, 36, 16
LETTERS = 31
"""Letters of a box's text that fit into one line."""
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #3b2a1e }
.name { font-weight: 600; font-size: 15px }
.count { fill: #7a6654; font-size: 11px }
rect { fill: #fffaf0; stroke: #b79f86 }
.all { fill: #f1e6d2 }
path { fill: none; stroke: #8a6f57; stroke-width: 1.4 }
.ground { fill: #faf2e6; stroke: none }
"""


def purpose(room: str) -> str:
    """The first line of a room's docstring."""
    text = ast.get_docstring(ast.parse((FOLDERS[room] / "__init__.py").read_text("utf-8"))) or ""
    return text.splitlines()[0].rstrip(".")


@cache
def used(room: str) -> frozenset[str]:
    """The other rooms that a room imports, anywhere in its code."""
    return imported(FOLDERS[room].rglob("*.py")) - {room}


def imported(paths: Iterable[Path]) -> frozenset[str]:
    """The rooms that modules import."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module == "lutrin":
                names += [f"lutrin.{alias.name}" for alias in node.names]
            found |= {name.split(".")[1] for name in names if name.startswith("lutrin.")}
    return frozenset(found & set(ROOMS))


@cache
def reach(room: str) -> frozenset[str]:
    """Every room that is needed to understand this one, itself not counted unless it is in a circle."""
    found: set[str] = set()
    waiting = list(used(room))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += used(name)
    return frozenset(found)


def below(room: str) -> frozenset[str]:
    """The rooms under this one: what it needs and what does not need it."""
    return frozenset(name for name in reach(room) if room not in reach(name))


def lines(room: str) -> list[str]:
    """The imports that do not follow from another one."""
    return sorted(
        name for name in used(room) & below(room) if not any(name in below(other) for other in used(room) & below(room))
    )


@cache
def row(room: str) -> int:
    """Rows from the top: one below the lowest room that needs it."""
    above = [row(name) for name in ROOMS if room in below(name)]
    return 1 + max(above, default=-1)


def wrapped(text: str) -> list[str]:
    """A text in lines of a box."""
    out = [""]
    for word in text.split():
        if len(out[-1]) + len(word) > LETTERS:
            out.append("")
        out[-1] = f"{out[-1]} {word}".strip()
    return out[:3]


def picture() -> str:
    """The whole picture, as SVG."""
    rows: dict[int, list[str]] = {}
    for room in ROOMS:
        rows.setdefault(row(room), []).append(room)
    widest = max(len(names) for names in rows.values())
    total = MARGIN * 2 + widest * WIDTH + (widest - 1) * GAP_X
    places = {}
    for level, names in rows.items():
        left = (total - len(names) * WIDTH - (len(names) - 1) * GAP_X) / 2
        for number, room in enumerate(names):
            places[room] = (left + number * (WIDTH + GAP_X), MARGIN + level * (HEIGHT + GAP_Y))
    foot = MARGIN + len(rows) * (HEIGHT + GAP_Y)
    parts = [f'<rect class="ground" width="{total:g}" height="{foot + 44 + MARGIN:g}"/>']
    parts += [_line(places[room], places[other]) for room in ROOMS for other in lines(room)]
    parts += [box for room in ROOMS for box in _box(room, *places[room])]
    top = ", ".join(path.stem for path in sorted(SRC.glob("[!_]*.py")) if not imported([path]))
    parts.append(f'<rect class="all" x="{MARGIN}" y="{foot:g}" width="{total - 2 * MARGIN:g}" height="44" rx="8"/>')
    parts.append(f'<text x="{MARGIN + 12}" y="{foot + 18:g}" class="name">for every room</text>')
    parts.append(f'<text x="{MARGIN + 12}" y="{foot + 35:g}" class="count">{escape(top)}</text>')
    box = (
        f'viewBox="0 0 {total:g} {foot + 44 + MARGIN:g}" role="img" aria-label="The rooms of Lutrin and their imports"'
    )
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', f"<style>{STYLE}</style>", *parts, "</svg>", ""]
    )


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From the lower edge of one box to the upper edge of another."""
    x, y, to_x, to_y = start[0] + WIDTH / 2, start[1] + HEIGHT, end[0] + WIDTH / 2, end[1]
    return f'<path d="M{x:g} {y:g} C{x:g} {y + GAP_Y:g} {to_x:g} {to_y - GAP_Y:g} {to_x:g} {to_y:g}"/>'


def _box(room: str, x: float, y: float) -> list[str]:
    """Name and purpose."""
    out = [f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>']
    out.append(f'<text x="{x + 12:g}" y="{y + 22:g}" class="name">{room}/</text>')
    for number, line in enumerate(wrapped(purpose(room))):
        out.append(f'<text x="{x + 12:g}" y="{y + 42 + 16 * number:g}">{escape(line)}</text>')
    return out


if __name__ == "__main__":
    print(picture(), end="")
