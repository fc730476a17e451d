"""Whether the book answers: from the reader's odds alone, or with the model's yes."""

from msgspec import structs

from lutrin.search.reader import Decision, load_decisions

DECISION = Decision(reader=1.0, yes=0.5, bias=0.0, answers=1.0, closest=0.0)


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


def test_what_comes_with_lutrin_is_in_order() -> None:
    """It is written by a script; without a model no yes counts."""
    found = load_decisions()
    assert found.without_model.yes == 0
    assert found.with_model.yes > 0
    for one in (found.without_model, found.with_model):
        assert one.reader > 0
        assert one.closest <= one.answers
