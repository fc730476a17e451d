"""Joints between two questions within one."""

import pytest
from tests.fakes import WordHashEmbedder

from lutrin.language.gate import LanguageGate
from lutrin.query.understand import Query, understand
from lutrin.records import Question
from lutrin.search.joints import MOST_JOINTS, MOST_WORDS, SIGNALS, first_joints, fit, joints_of, model_of, parted
from lutrin.search.search import Searcher
from lutrin.search.sought import weights


def understood(text: str) -> Query:
    """The question as it is understood."""
    return understand(Question(text=text), history=(), language=LanguageGate(["en"]), embedder=WordHashEmbedder())


@pytest.mark.parametrize(
    ("topic", "rights"),
    [
        ("define drift, and how hot may the pack get?", ["how hot may the pack get"]),
        ("price of the sledge and weight of the anvil", ["weight of the anvil"]),
        ("What is a torque? Tell its unit.", ["Tell its unit"]),
        ("How hot, how dry?", ["how dry"]),
        ("What is annealing?", []),
        ("the value of 3,5 in v1.2", []),
    ],
)
def test_a_question_may_go_on_at_a_mark_or_a_joining_word(topic: str, rights: list[str]) -> None:
    """If both halves name something; never within a number."""
    found = [one.right for one in joints_of(topic)]
    assert [one for one in rights if one not in found] == []
    assert bool(found) == bool(rights)


def test_a_long_question_is_searched_for_at_few_joints() -> None:
    """No question is searched for at many times its length; a usual one is tried at each of the first four joints."""
    clause = "how hot the pack may get, "
    for count in range(2, 60):
        topic = clause * count
        tried = len(first_joints(topic))
        assert tried * 6 * count <= MOST_WORDS
        assert tried == min(count - 1, MOST_JOINTS) or 6 * count * (tried + 1) > MOST_WORDS


async def test_another_embedder_parts_nothing() -> None:
    """The fit does not apply to its similarities."""
    query = understood("price of the sledge and weight of the anvil")
    assert await parted(Searcher(WordHashEmbedder()), [], query) is query


def test_the_fit_is_of_the_reader_that_comes_with_lutrin() -> None:
    """As other fitted numbers are."""
    kept = weights()
    assert kept is not None
    assert fit().embedder == model_of(kept.embedder)
    assert len(fit().weights) == len(SIGNALS) + 1
