"""Draws diagrams on the server, without scripts or styles that a strict content policy would have to allow.

Boxes are laid out in layers after Sugiyama, Tagawa and Toda (1981): cycles are opened, every box gets the layer of its
longest path, long lines and labels get a place of their own in the layers between, each layer is ordered by the mean
place of its neighbours, and boxes move towards their neighbours as far as those beside them let them.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise

from lutrin.serve.mermaid import Edge, Graph, Node, read_mermaid

DIAGRAM = re.compile(r'<pre class="mermaid">(.*?)</pre>', re.DOTALL)
WIDEST = 660
"""Pixels of the reader's column; a wider diagram is drawn from top to bottom instead."""

_CHAR, _LINE = 7.3, 18.0
_GAP_ALONG, _GAP_BESIDE, _MARGIN = 34.0, 22.0, 8.0
_SWEEPS = 12


@dataclass(slots=True)
class _Place:
    """A box, a label, or the bend of a long line: its size and the middle of it."""

    lines: list[str]
    shape: str
    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class _Drawing:
    """A graph with a place for everything; `along` is the direction of the arrows."""

    across: bool
    places: dict[str, _Place] = field(default_factory=dict)
    routes: list[tuple[Edge, list[str]]] = field(default_factory=list)
    """Each line with the places that it goes through, against the arrow where that opened a cycle."""
    size: tuple[float, float] = (0.0, 0.0)

    def middle(self, name: str) -> float:
        return self.places[name].y if self.across else self.places[name].x

    def breadth(self, name: str) -> float:
        return self.places[name].height if self.across else self.places[name].width


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
        f'<figure class="diagram" tabindex="0" aria-label="Diagram">{svg(graph)}'
        f"<details><summary>Diagram as text</summary>{text}</details></figure>"
    )


def svg(graph: Graph) -> str:
    """A graph as an SVG element, styled by the reader's classes alone."""
    drawing = _laid_out(graph, across=graph.across)
    if graph.across and drawing.size[0] > WIDEST:
        drawing = _laid_out(graph, across=False)
    width, height = drawing.size
    lines = "".join(_route(drawing, edge, names) for edge, names in drawing.routes)
    boxes = "".join(_box(place) for place in drawing.places.values())
    return (
        f'<svg role="img" aria-label="{escape(describe(graph))}" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}">{lines}{boxes}</svg>'
    )


def describe(graph: Graph) -> str:
    """Describe a graph in words, as its alternative text."""
    said = []
    for edge in graph.edges:
        ends = [graph.nodes[name].text.replace("\n", " ") for name in (edge.start, edge.end)]
        label = f" ({edge.label})".replace("\n", " ") if edge.label else ""
        said.append(f"{ends[0] or 'start'} to {ends[1] or 'end'}{label}")
    return f"Diagram: {'; '.join(said)}."


def _laid_out(graph: Graph, *, across: bool) -> _Drawing:
    drawing = _Drawing(across)
    for name, node in graph.nodes.items():
        drawing.places[name] = _sized(node)
    forward = _opened(graph)
    step = 2 if any(edge.label for edge in graph.edges) else 1
    for name, layer in _layers(graph.nodes, forward).items():
        drawing.places[name].layer = layer * step
    for number, (start, end, edge) in enumerate(forward):
        drawing.routes.append((edge, _through(drawing, number, start, end, edge)))
    layers = _ordered(drawing)
    _move(drawing, layers)
    _stack(drawing, layers)
    return drawing


def _sized(node: Node) -> _Place:
    if node.shape == "dot":
        return _Place([], "dot", 14, 14)
    lines = _wrapped(node.text, 24)
    width = max(map(len, lines)) * _CHAR + (44 if node.shape == "diamond" else 26)
    return _Place(lines, node.shape, max(width, 48), len(lines) * _LINE + (26 if node.shape == "diamond" else 16))


def _wrapped(text: str, chars: int) -> list[str]:
    return [part for line in text.split("\n") for part in textwrap.wrap(line, chars) or [""]]


def _opened(graph: Graph) -> list[tuple[str, str, Edge]]:
    """Lines as (from, to, edge), turned round where they would close a cycle."""
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
    """The places of a line; between layers that are not neighbours it gets new ones, its label in the middle."""
    first, last = drawing.places[start].layer, drawing.places[end].layer
    names = [start]
    middle = (first + last) // 2
    for layer in range(first + 1, last):
        name = f"\0{number} {layer}"
        lines = _wrapped(edge.label, 20) if edge.label and layer == middle else []
        width = max(map(len, lines), default=0) * _CHAR * 0.92 + (8 if lines else 2)
        drawing.places[name] = _Place(lines, "label", width, max(len(lines) * _LINE, 2), layer)
        names.append(name)
    return [*names, end]


def _neighbours(drawing: _Drawing) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: dict[str, list[str]] = {name: [] for name in drawing.places}
    behind: dict[str, list[str]] = {name: [] for name in drawing.places}
    for _, names in drawing.routes:
        for one, other in pairwise(names):
            behind[one].append(other)
            before[other].append(one)
    return before, behind


def _ordered(drawing: _Drawing) -> list[list[str]]:
    """The layers, each in an order in which few lines cross."""
    layers: list[list[str]] = [[] for _ in range(1 + max(place.layer for place in drawing.places.values()))]
    for name, place in drawing.places.items():
        layers[place.layer].append(name)
    before, behind = _neighbours(drawing)
    rank = {name: float(position) for layer in layers for position, name in enumerate(layer)}
    for sweep in range(_SWEEPS):
        sides, order = (before, layers) if sweep % 2 == 0 else (behind, layers[::-1])
        for layer in order:
            wanted = {name: _mean([rank[other] for other in sides[name]], rank[name]) for name in layer}
            layer.sort(key=wanted.__getitem__)
            rank |= {name: float(position) for position, name in enumerate(layer)}
    return layers


def _move(drawing: _Drawing, layers: Sequence[Sequence[str]]) -> None:
    """Bring each place near its neighbours in the layers beside it, without touching those in its own."""
    before, behind = _neighbours(drawing)
    middle = dict.fromkeys(drawing.places, 0.0)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = [
                _mean([middle[other] for other in (*before[name], *behind[name])], middle[name]) for name in layer
            ]
            gaps = [(drawing.breadth(one) + drawing.breadth(other)) / 2 + _GAP_BESIDE for one, other in pairwise(layer)]
            low, high = wanted[:], wanted[:]
            for position, gap in enumerate(gaps):
                low[position + 1] = max(low[position + 1], low[position] + gap)
            for position in range(len(gaps) - 1, -1, -1):
                high[position] = min(high[position], high[position + 1] - gaps[position])
            middle |= {name: (low[at] + high[at]) / 2 for at, name in enumerate(layer)}
    shift = _MARGIN - min(middle[name] - drawing.breadth(name) / 2 for name in drawing.places)
    for name, place in drawing.places.items():
        if drawing.across:
            place.y = middle[name] + shift
        else:
            place.x = middle[name] + shift


def _stack(drawing: _Drawing, layers: Sequence[Sequence[str]]) -> None:
    """Put the layers one behind the other, and say how large the whole is."""
    along = _MARGIN
    gap = _GAP_ALONG / 2 if any(place.shape == "label" for place in drawing.places.values()) else _GAP_ALONG
    for layer in layers:
        places = [drawing.places[name] for name in layer]
        depth = max(place.width if drawing.across else place.height for place in places)
        for place in places:
            if drawing.across:
                place.x = along + depth / 2
            else:
                place.y = along + depth / 2
        along += depth + gap
    along += _MARGIN - gap
    beside = _MARGIN + max(drawing.middle(name) + drawing.breadth(name) / 2 for name in drawing.places)
    drawing.size = (along, beside) if drawing.across else (beside, along)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _route(drawing: _Drawing, edge: Edge, names: Sequence[str]) -> str:
    """A line from the rim of a box to the rim of another, with its arrow heads."""
    points = [_rim(drawing, names[0], 1)]
    for name in names[1:-1]:
        points += [_rim(drawing, name, -1), _rim(drawing, name, 1)]
    points.append(_rim(drawing, names[-1], -1))
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        bend = (to_x - x) / 2 if drawing.across else (to_y - y) / 2
        control = (x + bend, y, to_x - bend, to_y) if drawing.across else (x, y + bend, to_x, to_y - bend)
        path += "C" + " ".join(f"{number:.1f}" for number in (*control, to_x, to_y))
    turned = names[0] != edge.start
    heads = [(points[-1], 1, edge.back_arrow if turned else edge.arrow)]
    heads.append((points[0], -1, edge.arrow if turned else edge.back_arrow))
    arrows = "".join(_head(drawing, point, way) for point, way, there in heads if there)
    return f'<path class="line" d="{path}"></path>{arrows}'


def _rim(drawing: _Drawing, name: str, way: int) -> tuple[float, float]:
    """Where a line meets a place: at its far side (1) or its near side (-1)."""
    place = drawing.places[name]
    if drawing.across:
        return place.x + way * place.width / 2, place.y
    return place.x, place.y + way * place.height / 2


def _head(drawing: _Drawing, point: tuple[float, float], way: int) -> str:
    x, y = point
    corners = (
        [(x, y), (x - 8 * way, y - 4), (x - 8 * way, y + 4)]
        if drawing.across
        else [(x, y), (x - 4, y - 8 * way), (x + 4, y - 8 * way)]
    )
    return f'<polygon class="head" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"></polygon>'


def _box(place: _Place) -> str:
    x, y, width, height = place.x - place.width / 2, place.y - place.height / 2, place.width, place.height
    if place.shape == "dot":
        return f'<circle class="dot" cx="{place.x:.1f}" cy="{place.y:.1f}" r="6"></circle>'
    form = ""
    if place.shape == "diamond":
        upper = [(x, place.y), (x + 14, y), (x + width - 14, y), (x + width, place.y)]
        corners = [*upper, (x + width - 14, y + height), (x + 14, y + height)]
        form = f'<polygon class="box" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"></polygon>'
    elif place.shape != "label" or place.lines:
        radius = min(height / 2, 17) if place.shape == "round" else 4
        rim = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}"'
        form = f'<rect class="{"ground" if place.shape == "label" else "box"}" {rim}></rect>'
    first = place.y - (len(place.lines) - 1) * _LINE / 2 + 5
    said = "".join(
        f'<text class="{"said" if place.shape == "label" else "name"}" x="{place.x:.1f}" y="{first + row * _LINE:.1f}"'
        f' text-anchor="middle">{escape(line, quote=False)}</text>'
        for row, line in enumerate(place.lines)
    )
    return form + said
