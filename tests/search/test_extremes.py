"""The row with the most or the least is found by what the reader makes of a question and a table's heads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.search.extremes import Column, rows_at_extreme
from lutrin.search.search import Searcher

NAMES = {
    "Clay": ("Shrinkage", "Absorption", "Price"),
    "Planet": ("Mass", "Moons", "Distance from the Sun"),
    "Rock": ("Mass", "Weight"),
}
TABLES = {
    row: [
        Column(row, name, ((1, place + 1.0), (2, place + 2.0), (3, float(place)))) for place, name in enumerate(names)
    ]
    for row, names in NAMES.items()
}
"""Of each column the second row has the most, and the third the least."""


@pytest.fixture(scope="module")
def searcher(models_dir: Path) -> Iterator[Searcher]:
    """With the real reader."""
    local = FastembedEmbedder(models_dir / "reader", threads=2)
    yield Searcher(local)
    local.close()


@pytest.mark.model
@pytest.mark.parametrize(
    ("table", "question", "rows"),
    [
        ("Clay", "Which clay has the highest absorption?", [2]),
        ("Clay", "Which clay absorbs most?", [2]),
        ("Clay", "Which clay shrinks least?", [3]),
        ("Clay", "Which clay costs the most?", [2]),
        ("Clay", "What is the cheapest clay?", [3]),
        ("Planet", "Which planet is the heaviest?", [2]),
        ("Planet", "Which planet is farthest from the Sun?", [2]),
        ("Rock", "Which rock is the heaviest?", []),
        ("Clay", "Which clay is the strongest?", []),
        ("Clay", "Which clay is best for beginners?", []),
        ("Clay", "Which clay shrinks more than others?", []),
        ("Clay", "Why does clay shrink?", []),
        ("Clay", "How much does porcelain shrink?", []),
        ("Planet", "Which planet is hottest?", []),
        ("Planet", "What is the mass of a planet?", []),
    ],
)
async def test_the_most_and_the_least_are_asked_for_in_any_form(
    searcher: Searcher, table: str, question: str, rows: list[int]
) -> None:
    """As a noun, a verb or an adjective; what no column tells, or two do, and what asks for no extreme, has no row."""
    assert await rows_at_extreme(question, TABLES[table], searcher.encode) == rows
