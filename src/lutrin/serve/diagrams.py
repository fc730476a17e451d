"""Draws Mermaid's flowcharts and state diagrams on the server; every other kind of diagram stays text.

Drawing them in the browser would need scripts and styles that a strict content policy forbids. The grammar is that of
https://mermaid.js.org/syntax/flowchart.html and stateDiagram.html as far as books use it: boxes, arrows and their
labels. Colours, clicks and the frames of subgraphs are ignored.

Boxes are laid out in layers after Sugiyama, Tagawa and Toda (1981): cycles are opened, every box gets the layer of its
longest path, long lines and labels get places of their own in the layers between, each layer is ordered by the mean
place of its neighbours, and boxes move towards their neighbours as far as the boxes beside them allow.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise
from typing import Literal

from lutrin import messages

DIAGRAM = re.compile(r'<pre class="mermaid">([^<]*+)</pre>')
WIDEST = 660
"""Pixels of the reader's column; a wider diagram is drawn from top to bottom instead."""
Shape = Literal["box", "round", "diamond", "dot"]

MOST_CHARS = 6000
MOST_NODES = 60
MOST_EDGES = 120

_HEAD = re.compile(r"(?:flowchart|graph)(?:-elk)?\s*+(TB|TD|BT|RL|LR)?\s*+$")
_STATES = re.compile(r"stateDiagram(?:-v2)?\s*$")
_PASSED_OVER = re.compile(r"(?:classDef|class|style|linkStyle|click|subgraph|title|accTitle|accDescr)\b|end\s*$|%%|---")
_DIRECTION = re.compile(r"direction\s+(TB|TD|BT|RL|LR)\s*$")
_ID = re.compile(r"\s*(\w+(?:[-.]\w+)*)")
_CLASS = re.compile(r":::\w+")
_BRACKETS: dict[Shape, tuple[str, ...]] = {
    "round": ("((( )))", "(( ))", "([ ])", "[( )]", "( )"),
    "box": ("[[ ]]", "[/ /]", "[\\ \\]", "[ ]", "> ]"),
    "diamond": ("{{ }}", "{ }"),
}
# Longest brackets first: `([` must not be read as `(`.
_SHAPES = sorted(
    ((pair.split()[0], pair.split()[1], shape) for shape, pairs in _BRACKETS.items() for pair in pairs),
    key=lambda entry: -len(entry[0]),
)
_LINK = re.compile(
    r"""\s*(?P<back><)?(?:
        (?:--|==|-\.)[ \t]*(?P<text>"[^"]*"|[^\s>|.=-][^>|]*?)[ \t]*(?:-{2,}|={2,}|\.-)(?P<to>[>xo])?
      | (?:-{2,}|={2,}|-\.+-)(?P<head>[>xo])?
    )(?:[ \t]*\|(?P<label>[^|]*)\|)?""",
    re.VERBOSE,
)
_TRANSITION = re.compile(r"\s*(\[\*\]|\w+)\s*-->\s*(\[\*\]|\w+)\s*(?::(.*))?$")
_STATE = re.compile(r'\s*state\s+"([^"]+)"\s+as\s+(\w+)\s*$|\s*(\w+)\s*:(.+)$|\s*(?:state\s+)?(\w+)\s*$')
_BREAK = re.compile(r"<br\s*/?>|\\n")

_CHAR, _LINE = 7.3, 18.0
_GAP_ALONG, _GAP_BESIDE, _MARGIN = 34.0, 22.0, 8.0
_SWEEPS = 12


@dataclass(slots=True)
class Node:
    """A box: its text and its form."""

    text: str
    shape: Shape = "box"


@dataclass(frozen=True, slots=True)
class Edge:
    """A line between two boxes, by their ids."""

    start: str
    end: str
    label: str = ""
    arrow: bool = True
    back_arrow: bool = False


@dataclass(slots=True)
class Graph:
    """A diagram."""

    across: bool = False
    """From left to right; otherwise from top to bottom."""
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


def read_mermaid(source: str) -> Graph | None:
    """Parse a flowchart or state diagram; None if the text is another kind, too large or malformed."""
    if len(source) > MOST_CHARS:
        return None
    lines = [line.strip() for part in source.splitlines() for line in part.split(";")]
    lines = [line for line in lines if line and not line.startswith("%%")]
    if not lines:
        return None
    head = _HEAD.match(lines[0])
    graph = Graph(across=bool(head and head[1] in {"LR", "RL"}))
    if head:
        understood = all(_read_chain(graph, line) for line in lines[1:])
    else:
        understood = bool(_STATES.match(lines[0])) and all(_read_state(graph, line) for line in lines[1:])
    small = 1 < len(graph.nodes) <= MOST_NODES and len(graph.edges) <= MOST_EDGES
    return graph if understood and small and all(edge.start != edge.end for edge in graph.edges) else None


def _read_chain(graph: Graph, line: str) -> bool:
    """`A[text] -->|label| B & C --> D`."""
    direction = _DIRECTION.match(line)
    if direction or _PASSED_OVER.match(line):
        return True
    at, before, link = 0, [], None
    while True:
        group, at = _read_group(graph, line, at)
        if not group:
            return False
        if link is not None:
            label = _text(link["label"] or link["text"] or "")
            arrow = bool(link["head"] or link["to"])
            back = bool(link["back"])
            graph.edges += [Edge(start, end, label, arrow, back) for start in before for end in group]
        if not line[at:].strip():
            return True
        link = _LINK.match(line, at)
        if link is None:
            return False
        at, before = link.end(), group


def _read_group(graph: Graph, line: str, at: int) -> tuple[list[str], int]:
    """Nodes joined by `&`, and the position after them."""
    names: list[str] = []
    while True:
        name, at = _read_node(graph, line, at)
        if not name:
            return [], at
        names.append(name)
        following = re.match(r"\s*&", line[at:])
        if following is None:
            return names, at
        at += following.end()


def _read_node(graph: Graph, line: str, at: int) -> tuple[str, int]:
    match = _ID.match(line, at)
    if match is None:
        return "", at
    name, at = match[1], match.end()
    for opening, closing, shape in _SHAPES:
        if line.startswith(opening, at):
            quoted = line.startswith('"', at + len(opening))
            end = line.find(f'"{closing}' if quoted else closing, at + len(opening))
            if end < 0:
                return "", at
            graph.nodes[name] = Node(_text(line[at + len(opening) : end + quoted]) or name, shape)
            at = end + quoted + len(closing)
            break
    graph.nodes.setdefault(name, Node(name))
    styled = _CLASS.match(line, at)
    return name, styled.end() if styled else at


def _read_state(graph: Graph, line: str) -> bool:
    """`Look --> Grasp: found`, `state "Long name" as Look`, `Look : Long name`."""
    if _DIRECTION.match(line) or _PASSED_OVER.match(line):
        return True
    transition = _TRANSITION.match(line)
    if transition:
        ends = [transition[1], transition[2]]
        names = [f"[*]{side}" if name == "[*]" else name for name, side in zip(ends, "><", strict=True)]
        for name in names:
            graph.nodes.setdefault(name, Node("", "dot") if name.startswith("[*]") else Node(name, "round"))
        graph.edges.append(Edge(names[0], names[1], _text(transition[3] or "")))
        return True
    state = _STATE.match(line)
    if state is None:
        return False
    name = state[2] or state[3] or state[5]
    graph.nodes[name] = Node(_text(state[1] or state[4] or name), "round")
    return True


def _text(written: str) -> str:
    """The text of a label: without quotation marks, with its author's line breaks."""
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return "\n".join(line.strip(" `") for line in _BREAK.split(text))


@dataclass(slots=True)
class _Place:
    """A box, a label, or the bend of a long line: its size, and its centre along and across the arrows."""

    lines: list[str]
    shape: str
    width: float
    height: float
    layer: int = 0
    along: float = 0.0
    beside: float = 0.0


@dataclass(slots=True)
class _Drawing:
    """A graph with a place for every part."""

    across: bool
    places: dict[str, _Place] = field(default_factory=dict)
    routes: list[tuple[Edge, list[str]]] = field(default_factory=list)
    """Each line with the places on its way, against its arrow if that opened a cycle."""
    before: dict[str, list[str]] = field(default_factory=dict)
    behind: dict[str, list[str]] = field(default_factory=dict)
    size: tuple[float, float] = (0.0, 0.0)

    def xy(self, along: float, beside: float) -> tuple[float, float]:
        return (along, beside) if self.across else (beside, along)

    def depth(self, place: _Place) -> float:
        return place.width if self.across else place.height

    def breadth(self, place: _Place) -> float:
        return place.height if self.across else place.width


def with_diagrams(page: str) -> str:
    """Turn every Mermaid block in safe HTML into a figure: a drawing if possible, always with its text below."""
    return DIAGRAM.sub(lambda match: figure(unescape(match[1])), page)


def figure(source: str) -> str:
    """Render a diagram of Mermaid's language as HTML."""
    graph = read_mermaid(source)
    text = f'<pre tabindex="0"><code>{escape(source, quote=False)}</code></pre>'
    if graph is None:
        return f'<figure class="diagram">{text}</figure>'
    return (
        f'<figure class="diagram" tabindex="0" aria-label="{messages.DIAGRAM}">{svg(graph)}'
        f"<details><summary>{messages.DIAGRAM_AS_TEXT}</summary>{text}</details></figure>"
    )


def svg(graph: Graph) -> str:
    """A graph as an SVG element, styled by the reader's classes alone."""
    drawing = _laid_out(graph, across=graph.across)
    if graph.across and drawing.size[0] > WIDEST:
        drawing = _laid_out(graph, across=False)
    width, height = drawing.size
    lines = "".join(_route(drawing, edge, names) for edge, names in drawing.routes)
    boxes = "".join(_box(drawing, place) for place in drawing.places.values())
    return (
        f'<svg role="img" aria-label="{escape(describe(graph))}" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}">{lines}{boxes}</svg>'
    )


def describe(graph: Graph) -> str:
    """Describe a graph in words, as its alternative text."""
    sentences = []
    for edge in graph.edges:
        start, end = (graph.nodes[name].text.replace("\n", " ") for name in (edge.start, edge.end))
        start, end = start or messages.NO_START, end or messages.NO_END
        label = f" ({edge.label})".replace("\n", " ") if edge.label else ""
        sentences.append(messages.EDGE.format(start=start, end=end, label=label))
    return messages.DIAGRAM_IN_WORDS.format(edges="; ".join(sentences))


def _laid_out(graph: Graph, *, across: bool) -> _Drawing:
    drawing = _Drawing(across)
    for name, node in graph.nodes.items():
        drawing.places[name] = _size(node)
    forward = _break_cycles(graph)
    step = 2 if any(edge.label for edge in graph.edges) else 1
    for name, layer in _layers(graph.nodes, forward).items():
        drawing.places[name].layer = layer * step
    for number, (start, end, edge) in enumerate(forward):
        drawing.routes.append((edge, _through(drawing, number, start, end, edge)))
    drawing.before = {name: [] for name in drawing.places}
    drawing.behind = {name: [] for name in drawing.places}
    for _, names in drawing.routes:
        for one, other in pairwise(names):
            drawing.behind[one].append(other)
            drawing.before[other].append(one)
    layers = _order(drawing)
    _move(drawing, layers)
    _stack(drawing, layers)
    return drawing


def _size(node: Node) -> _Place:
    if node.shape == "dot":
        return _Place([], "dot", 14, 14)
    lines = _wrap(node.text, 24)
    width = max(map(len, lines)) * _CHAR + (44 if node.shape == "diamond" else 26)
    return _Place(lines, node.shape, max(width, 48), len(lines) * _LINE + (26 if node.shape == "diamond" else 16))


def _wrap(text: str, chars: int) -> list[str]:
    return [part for line in text.split("\n") for part in textwrap.wrap(line, chars) or [""]]


def _break_cycles(graph: Graph) -> list[tuple[str, str, Edge]]:
    """Lines as (from, to, edge), reversed where they would close a cycle."""
    following: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for edge in graph.edges:
        following[edge.start].append(edge.end)
    done: set[str] = set()
    turned: set[tuple[str, str]] = set()

    def visit(name: str, path: set[str]) -> None:
        path.add(name)
        for other in following[name]:
            if other in path:
                turned.add((name, other))
            elif other not in done:
                visit(other, path)
        path.discard(name)
        done.add(name)

    for name in graph.nodes:
        if name not in done:
            visit(name, set())
    return [
        (edge.end, edge.start, edge) if (edge.start, edge.end) in turned else (edge.start, edge.end, edge)
        for edge in graph.edges
    ]


def _layers(names: Iterable[str], forward: Sequence[tuple[str, str, Edge]]) -> dict[str, int]:
    layer = dict.fromkeys(names, 0)
    for _ in layer:
        for start, end, _edge in forward:
            layer[end] = max(layer[end], layer[start] + 1)
    return layer


def _through(drawing: _Drawing, number: int, start: str, end: str, edge: Edge) -> list[str]:
    """The places of a line; between distant layers it gets new ones, with its label in the middle."""
    first, last = drawing.places[start].layer, drawing.places[end].layer
    names = [start]
    middle = (first + last) // 2
    for layer in range(first + 1, last):
        name = f"\0{number} {layer}"
        lines = _wrap(edge.label, 20) if edge.label and layer == middle else []
        width = max(map(len, lines), default=0) * _CHAR * 0.92 + (8 if lines else 2)
        drawing.places[name] = _Place(lines, "label", width, max(len(lines) * _LINE, 2), layer)
        names.append(name)
    return [*names, end]


def _order(drawing: _Drawing) -> list[list[str]]:
    """The layers, each in an order with few crossings."""
    layers: list[list[str]] = [[] for _ in range(1 + max(place.layer for place in drawing.places.values()))]
    for name, place in drawing.places.items():
        layers[place.layer].append(name)
    rank = {name: float(position) for layer in layers for position, name in enumerate(layer)}
    for sweep in range(_SWEEPS):
        sides, order = (drawing.before, layers) if sweep % 2 == 0 else (drawing.behind, layers[::-1])
        for layer in order:
            means = {name: _mean([rank[other] for other in sides[name]], rank[name]) for name in layer}
            layer.sort(key=means.__getitem__)
            rank |= {name: float(position) for position, name in enumerate(layer)}
    return layers


def _move(drawing: _Drawing, layers: Sequence[Sequence[str]]) -> None:
    """Bring each place near its neighbours in the adjacent layers, without touching those in its own."""
    breadth = {name: drawing.breadth(place) for name, place in drawing.places.items()}
    middle = dict.fromkeys(drawing.places, 0.0)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            targets = [
                _mean([middle[other] for other in (*drawing.before[name], *drawing.behind[name])], middle[name])
                for name in layer
            ]
            gaps = [(breadth[one] + breadth[other]) / 2 + _GAP_BESIDE for one, other in pairwise(layer)]
            low, high = targets[:], targets[:]
            for position, gap in enumerate(gaps):
                low[position + 1] = max(low[position + 1], low[position] + gap)
            for position in range(len(gaps) - 1, -1, -1):
                high[position] = min(high[position], high[position + 1] - gaps[position])
            middle |= {name: (low[at] + high[at]) / 2 for at, name in enumerate(layer)}
    shift = _MARGIN - min(middle[name] - breadth[name] / 2 for name in drawing.places)
    for name, place in drawing.places.items():
        place.beside = middle[name] + shift


def _stack(drawing: _Drawing, layers: Sequence[Sequence[str]]) -> None:
    """Stack the layers, and compute the size of the whole."""
    along = _MARGIN
    gap = _GAP_ALONG / 2 if any(place.shape == "label" for place in drawing.places.values()) else _GAP_ALONG
    for layer in layers:
        places = [drawing.places[name] for name in layer]
        depth = max(map(drawing.depth, places))
        for place in places:
            place.along = along + depth / 2
        along += depth + gap
    along += _MARGIN - gap
    beside = _MARGIN + max(place.beside + drawing.breadth(place) / 2 for place in drawing.places.values())
    drawing.size = drawing.xy(along, beside)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _route(drawing: _Drawing, edge: Edge, names: Sequence[str]) -> str:
    """A line from the rim of one box to the rim of another, with its arrow heads."""
    points = []
    for name in names:  # it meets a place at its near side and leaves it at its far side
        place = drawing.places[name]
        half = drawing.depth(place) / 2
        points += [(place.along - half, place.beside), (place.along + half, place.beside)]
    points = points[1:-1]
    x, y = drawing.xy(*points[0])
    path = f"M{x:.1f} {y:.1f}"
    for (along, beside), (to, to_beside) in pairwise(points):
        bend = (to - along) / 2
        curve = ((along + bend, beside), (to - bend, to_beside), (to, to_beside))
        path += "C" + " ".join(f"{number:.1f}" for point in curve for number in drawing.xy(*point))
    turned = names[0] != edge.start
    heads = [(points[-1], 1, edge.back_arrow if turned else edge.arrow)]
    heads.append((points[0], -1, edge.arrow if turned else edge.back_arrow))
    arrows = "".join(_head(drawing, point, way) for point, way, there in heads if there)
    return f'<path class="line" d="{path}"></path>{arrows}'


def _head(drawing: _Drawing, point: tuple[float, float], way: int) -> str:
    along, beside = point
    corners = (point, (along - 8 * way, beside - 4), (along - 8 * way, beside + 4))
    return _polygon("head", [drawing.xy(*corner) for corner in corners])


def _polygon(style: str, corners: Sequence[tuple[float, float]]) -> str:
    return f'<polygon class="{style}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"></polygon>'


def _box(drawing: _Drawing, place: _Place) -> str:
    middle, center = drawing.xy(place.along, place.beside)
    if place.shape == "dot":
        return f'<circle class="dot" cx="{middle:.1f}" cy="{center:.1f}" r="6"></circle>'
    x, y, width, height = middle - place.width / 2, center - place.height / 2, place.width, place.height
    form, is_label = "", place.shape == "label"
    if place.shape == "diamond":
        upper = [(x, center), (x + 14, y), (x + width - 14, y), (x + width, center)]
        form = _polygon("box", [*upper, (x + width - 14, y + height), (x + 14, y + height)])
    elif not is_label or place.lines:
        radius = min(height / 2, 17) if place.shape == "round" else 4
        rim = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}"'
        form = f'<rect class="{"ground" if is_label else "box"}" {rim}></rect>'
    first = center - (len(place.lines) - 1) * _LINE / 2 + 5
    text = "".join(
        f'<text class="{"said" if is_label else "name"}" x="{middle:.1f}" y="{first + row * _LINE:.1f}"'
        f' text-anchor="middle">{escape(line, quote=False)}</text>'
        for row, line in enumerate(place.lines)
    )
    return form + text
