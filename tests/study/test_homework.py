"""Which cards an assignment proposes, and when a pupil knew one."""

import pytest

from lutrin.prepared import Card, CardKind
from lutrin_teacher.homework import ItemResult, propose, was_known


def card(name: str, kind: CardKind = "question", back: str = "", answer: int | None = None) -> Card:
    """A card of a book."""
    return Card(
        id=name, kind=kind, front=name, back=back, answer=answer, url="/read/b/p", section="S", chapter="C", author="b"
    )


def test_questions_and_cards_come_from_all_over_and_never_twice() -> None:
    """A question is no card to learn beside it; tables and lists are learnt, not asked on paper."""
    cards = [card(f"q{place}") for place in range(10)] + [card("t", "table"), card("l", "list")]
    learnt, asked = propose(cards, 4, 4, ["question", "table"])
    assert len(learnt) == len(asked) == 4
    assert not {one.id for one in learnt} & {one.id for one in asked}
    assert {one.kind for one in asked} == {"question"}
    assert {asked[0].id, asked[-1].id} == {"q0", "q7"}
    assert [one.id for one in propose(cards[:1], 3, 3, ["question"])[1]] == ["q0"]


@pytest.mark.parametrize(
    ("result", "known"),
    [
        (ItemResult(card="c", known=True, picked=0), True),
        (ItemResult(card="c", picked=1), True),
        (ItemResult(card="c", picked=0), False),
        (ItemResult(card="c", typed=" LiDAR. "), True),
        (ItemResult(card="c", typed="radar"), False),
        (ItemResult(card="c", typed=""), False),
        (ItemResult(card="c"), False),
    ],
)
def test_a_pupil_knew_a_card_by_his_word_or_what_he_handed_in(result: ItemResult, *, known: bool) -> None:
    """His own word counts before what he chose; how a word is written does not."""
    assert was_known(card("c", back="lidar", answer=1), result) is known
