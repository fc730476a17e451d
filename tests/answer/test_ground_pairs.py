"""Verification, measured on 200 labelled pairs that are made from the sample book."""

from tests.answer.pairs import MUTATIONS, Pair, pairs

from lutrin.answer.ground import support


def verdicts() -> list[tuple[Pair, bool]]:
    """Each pair with what verification says of it."""
    return [(pair, support(pair.sentence, [pair.passage]) is not None) for pair in pairs()]


def test_there_are_200_pairs_of_every_kind() -> None:
    """Half of them true, a quarter for each mutation."""
    made = pairs()
    assert len(made) == 200
    assert sum(pair.true for pair in made) == 100
    assert {pair.kind for pair in made} == set(MUTATIONS)


def test_no_false_sentence_passes() -> None:
    """Precision first: a wrong number, name, denial or side never leaves."""
    assert [pair.sentence for pair, passed in verdicts() if passed and not pair.true] == []


def test_nearly_every_true_sentence_passes() -> None:
    """What the book says word for word is supported."""
    true = [passed for pair, passed in verdicts() if pair.true]
    assert sum(true) / len(true) >= 0.98
