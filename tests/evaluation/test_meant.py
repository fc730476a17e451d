"""Questions on two small books: each kind reaches its share of right answers."""

import pytest

from evaluation import meant

LEAST = {
    "careless": 0.8,
    "comparison": 0.9,
    "everyday": 0.9,
    "follow-up": 0.85,
    "page": 0.85,
    "parts": 0.8,
    "procedure": 0.9,
    "quantity": 0.85,
    "selection": 0.9,
}
"""Shares that were reached."""


@pytest.mark.slow("asks some hundred questions of two books")
@pytest.mark.usefixtures("models_dir")
async def test_what_is_meant_is_answered() -> None:
    """A follow-up, both sides of a comparison, every step, each part, a selection alone, the thing asked for."""
    right = await meant.ask([one for one in meant.read_questions() if one.kind in LEAST])
    shares = {kind: sum(found) / len(found) for kind, found in right.items()}
    assert {kind: share for kind, share in shares.items() if share < LEAST[kind]} == {}
