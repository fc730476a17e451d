"""Formulas and diagrams are drawn on the server: nothing is fetched for them, and nothing in them can run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lutrin.serve.diagrams import Edge, figure, read_mermaid
from lutrin.serve.rendering import mathml, render_page

CHART = """flowchart LR
  A[Depth & colour] --> B([Segment])
  B -->|best grasp| C{Go?}
  C -- "none, look again" --> A
  C -.-> D & E
  classDef hot fill:#f00
"""


def test_a_formula_is_drawn_and_keeps_its_source() -> None:
    """In MathML, on its own line or in the text, with the TeX as an annotation."""
    page = render_page("# T\n\nTorque $\\tau = \\frac{F}{r}$ here.\n\n$$\n\\sqrt{x^2}\n$$\n", "a.mdx").html
    assert '<math display="inline"><semantics>' in page
    assert "<mfrac>" in page
    assert '<annotation encoding="application/x-tex">\\tau = \\frac{F}{r}</annotation>' in page
    assert '<math display="block"><semantics><mrow><msqrt>' in page
    assert "$" not in re.sub(r"<[^>]+>", "", page)


def test_what_cannot_be_drawn_stays_as_it_was_typed() -> None:
    """Broken, self-defining and endless formulas are text."""
    for tex in ("\\frac", "{", "\\begin{bmatrix}", "\\def\\a{\\a\\a}\\a", "x" * 5000):
        assert mathml(tex, display=True) is None
        assert f'<span class="math">$${tex}$$</span>' in render_page(f"# T\n\n$$\n{tex}\n$$\n", "a.mdx").html


def test_a_formula_can_do_nothing() -> None:
    """Its content is shown as characters."""
    for tex in (
        "\\text{<script>alert(1)</script>}",
        "\\href{javascript:alert(1)}{x}",
        "\\style{background:url(https://evil.invalid)}{x}",
        "\\text{</annotation></math><img src=x onerror=alert(1)>}",
        "\\class{x}{<svg onload=alert(1)>}",
    ):
        page = render_page(f"# T\n\n$${tex}$$\n", "a.mdx").html
        assert not re.search(r"<(script|img|svg|a|style)\b|<[^>]*\s(on\w+|style|href|src)=", page)


@given(
    st.lists(
        st.sampled_from(["\\frac", "{", "}", "^", "_", "&", "\\\\", "\\left(", "\\right", "x", "\\text{", "<", "\\sum"])
    )
)
def test_any_formula_is_answered(parts: list[str]) -> None:
    """With MathML or with None, never with an error."""
    drawn = mathml(" ".join(parts), display=False)
    assert drawn is None or drawn.startswith("<math ")


def test_a_flowchart_is_understood() -> None:
    """Boxes, labels in both forms, several targets; colours are passed over."""
    graph = read_mermaid(CHART)
    assert graph is not None
    assert {name: node.text for name, node in graph.nodes.items()} == {
        "A": "Depth & colour",
        "B": "Segment",
        "C": "Go?",
        "D": "D",
        "E": "E",
    }
    assert graph.edges == [
        Edge("A", "B"),
        Edge("B", "C", "best grasp"),
        Edge("C", "A", "none, look again"),
        Edge("C", "D"),
        Edge("C", "E"),
    ]


def test_a_diagram_is_drawn_with_words_for_those_who_do_not_see_it() -> None:
    """Every box and label once, no two boxes on each other, and its source below."""
    drawn = figure(CHART)
    assert re.findall(r'<text class="name"[^>]*>([^<]+)<', drawn) == ["Depth &amp; colour", "Segment", "Go?", "D", "E"]
    assert "best grasp" in re.findall(r'<text class="said"[^>]*>([^<]+)<', drawn)
    assert "Depth &amp; colour to Segment; Segment to Go? (best grasp)" in drawn
    assert "<summary>Diagram as text</summary>" in drawn
    boxes = [
        tuple(float(number) for number in found)
        for found in re.findall(
            r'<rect class="box" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', drawn
        )
    ]
    for number, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:number]:
            beside = x >= other_x + other_width or other_x >= x + width
            assert beside or y >= other_y + other_height or other_y >= y + height


def test_a_state_diagram_is_understood() -> None:
    """Its start and end are dots."""
    graph = read_mermaid('stateDiagram-v2\n  [*] --> Look\n  Look --> [*]: done\n  state "Long name" as Look\n')
    assert graph is not None
    assert [node.shape for node in graph.nodes.values()] == ["dot", "round", "dot"]
    assert graph.nodes["Look"].text == "Long name"


def test_other_diagrams_stay_text() -> None:
    """Unknown syntax is shown as source."""
    for source in ("sequenceDiagram\n A->>B: hi", "flowchart LR\n A --> A", "flowchart LR\n A ~~ ?? B", "", "pie\n x"):
        assert "<svg" not in figure(source)
        assert "<pre" in figure(source)


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</text></svg><a href=javascript:x>"]
)
def test_a_diagram_can_do_nothing(text: str) -> None:
    """Its words are words, in the picture and in its description."""
    page = render_page(f"# T\n\n```mermaid\nflowchart LR\n  A[{text}] --> B\n```\n", "a.mdx").html
    outside_of_values = re.sub(r'"[^"]*"', '""', page)
    assert not re.search(r"<(script|img|a|style)\b|<[^>]*\s(on\w+|style|href|src)=", outside_of_values)


def test_no_line_begins_with_the_comma_behind_a_formula() -> None:
    """What ends a clause stays with the formula; a formula on its own line, or one before a word, is left alone."""
    page = render_page("# T\n\nSay $K_t$, with $x$ and ($y$). Then $z$\n\n$$\na\n$$\n", "a.mdx").html
    joined = re.findall(r'<span class="joined"><math.*?</math>(.*?)</span>', page)
    assert joined == [",", ")."]
