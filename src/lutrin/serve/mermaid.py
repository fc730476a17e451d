"""Mermaid's flowcharts and state diagrams as graphs; every other kind of diagram stays text.

The grammar is that of https://mermaid.js.org/syntax/flowchart.html and stateDiagram.html as far as books use it: boxes,
arrows and their labels. Colours, clicks and the frames of subgraphs are passed over.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

Shape = Literal["box", "round", "diamond", "dot"]

MOST_CHARS = 6000
MOST_NODES = 60
MOST_EDGES = 120

_HEAD = re.compile(r"(?:flowchart|graph)(?:-elk)?\s*(TB|TD|BT|RL|LR)?\s*$")
_STATES = re.compile(r"stateDiagram(?:-v2)?\s*$")
_PASSED_OVER = re.compile(r"(?:classDef|class|style|linkStyle|click|subgraph|title|accTitle|accDescr)\b|end\s*$|%%|---")
_DIRECTION = re.compile(r"direction\s+(TB|TD|BT|RL|LR)\s*$")
_ID = re.compile(r"\s*(\w+(?:[-.]\w+)*)")
_CLASS = re.compile(r":::\w+")
# Longest brackets first: `([` must not be read as `(`.
_BRACKETS: tuple[tuple[str, str, Shape], ...] = (
    ("(((", ")))", "round"),
    ("((", "))", "round"),
    ("([", "])", "round"),
    ("[[", "]]", "box"),
    ("[(", ")]", "round"),
    ("[/", "/]", "box"),
    ("[\\", "\\]", "box"),
    ("{{", "}}", "diamond"),
    ("[", "]", "box"),
    ("(", ")", "round"),
    ("{", "}", "diamond"),
    (">", "]", "box"),
)
_LINK = re.compile(
    r"""\s*(?P<back><)?(?:
        (?:--|==|-\.)[ \t]*(?P<said>"[^"]*"|[^\s>|.=-][^>|]*?)[ \t]*(?:-{2,}|={2,}|\.-)(?P<to>[>xo])?
      | (?:-{2,}|={2,}|-\.+-)(?P<head>[>xo])?
    )(?:[ \t]*\|(?P<label>[^|]*)\|)?""",
    re.VERBOSE,
)
_TRANSITION = re.compile(r"\s*(\[\*\]|\w+)\s*-->\s*(\[\*\]|\w+)\s*(?::(.*))?$")
_STATE = re.compile(r'\s*state\s+"([^"]+)"\s+as\s+(\w+)\s*$|\s*(\w+)\s*:(.+)$|\s*(?:state\s+)?(\w+)\s*$')
_BREAK = re.compile(r"<br\s*/?>|\\n")


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
    """From left to right; else from top to bottom."""
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
            label = _text(link["label"] or link["said"] or "")
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
    """Nodes joined by `&`, and where they end."""
    found: list[str] = []
    while True:
        name, at = _read_node(graph, line, at)
        if not name:
            return [], at
        found.append(name)
        following = re.match(r"\s*&", line[at:])
        if following is None:
            return found, at
        at += following.end()


def _read_node(graph: Graph, line: str, at: int) -> tuple[str, int]:
    match = _ID.match(line, at)
    if match is None:
        return "", at
    name, at = match[1], match.end()
    for opening, closing, shape in _BRACKETS:
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
    """What a label says: without its quotation marks, on as many lines as its author broke it into."""
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return "\n".join(line.strip(" `") for line in _BREAK.split(text))
