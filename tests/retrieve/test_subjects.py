"""The name of what a book is about."""

import pytest

from lutrin.retrieve.subjects import without


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Does Drayline run on Windows?", "Does it run on Windows?"),
        ("How many Swifts fit into a van?", "How many it fit into a van?"),
        ("What is Drayline?", None),
        ("Does swiftly moving air lift it?", None),
        ("Does it run on Windows?", None),
        ("Why does it run?", None),
    ],
)
def test_what_is_asked_besides_the_name(question: str, left: str | None) -> None:
    """Whoever asks for the name alone, or without it, is searched for once; what any question holds is no name."""
    assert without(question, ["drayline", "swift", "why"]) == left
    assert without(question, []) is None
