"""Whether the book answers: from the reader's odds alone, or with the model's yes."""

from msgspec import structs

from lutrin.search.result import Decision, Decisions, load_decisions

DECISION = Decision(reader=1.0, yes=0.5, bias=0.0, answers=1.0, closest=0.0)
ALONE, TOLD, HEADED = (structs.replace(DECISION, yes=yes, head=head) for yes, head in ((0, 0), (0.5, 0), (0.5, 2.0)))


def test_between_yes_and_no_stands_the_closest_passage() -> None:
    """Each from its floor on."""
    assert [DECISION.verdict(reader) for reader in (-0.1, 0.0, 0.9, 1.0)] == ["no", "closest", "closest", "answers"]


def test_the_model_s_yes_counts_beside_the_reader() -> None:
    """It may save a question that the reader doubts, and stop one that it believes."""
    assert DECISION.verdict(-0.5, yes=4.0) == "answers"
    assert DECISION.verdict(1.5, yes=-4.0) == "no"


def test_no_yes_helps_what_the_reader_is_sure_of() -> None:
    """There are models that say yes to anything."""
    bounded = structs.replace(DECISION, least=-1.0)
    assert [bounded.verdict(reader, yes=99.0) for reader in (-1.1, -1.0)] == ["no", "answers"]


def test_each_signal_counts_where_it_is_known() -> None:
    """Without a model the reader decides; a model without a head has its yes."""
    decisions = Decisions(without_model=ALONE, by_reader=ALONE, with_model=TOLD, with_head=HEADED)
    assert [decisions.odds(1.0, yes, head) for yes, head in ((None, None), (4.0, None), (4.0, -3.0))] == [1, 3, -3]
    assert [decisions.verdict(0.0, yes, head) for yes, head in ((None, None), (4.0, None), (4.0, -3.0))] == [
        "closest", "answers", "no",
    ]  # fmt: skip


def test_what_comes_with_lutrin_is_in_order() -> None:
    """It is written by a script; without a model no yes counts."""
    found = load_decisions()
    assert found.without_model.yes == 0
    assert found.with_model.yes > 0
    assert found.with_model.head == 0 < found.with_head.head
    for one in (found.without_model, found.with_model, found.with_head):
        assert one.reader > 0
        assert one.closest <= one.answers
