"""Verification, measured on labelled pairs that are made from the sample book."""

import pytest
from tests.answer.pairs import MUTATIONS, Pair, pairs
from tests.answer.paraphrases import RULES, paraphrases

from lutrin.answer.ground import support


def verdicts(made: list[Pair]) -> list[tuple[Pair, bool]]:
    """Each pair with what verification says of it."""
    return [(pair, support(pair.sentence, [pair.passage]) is not None) for pair in made]


def test_there_are_200_pairs_of_every_kind() -> None:
    """Half of them true, a quarter for each mutation."""
    made = pairs()
    assert len(made) == 200
    assert sum(pair.true for pair in made) == 100
    assert {pair.kind for pair in made} == set(MUTATIONS)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_no_false_sentence_passes(seed: int) -> None:
    """Precision first: a wrong number, name, denial or side never leaves; 200 false sentences with each seed."""
    found = verdicts(pairs(seed, each=50))
    assert [pair.sentence for pair, passed in found if passed and not pair.true] == []


def test_every_sentence_of_the_book_passes() -> None:
    """What the book says word for word is supported."""
    assert [pair.sentence for pair, passed in verdicts(pairs()) if pair.true and not passed] == []


def test_most_true_sentences_in_other_words_pass() -> None:
    """Synonyms, passives, clauses in another place, remarks left out: a verifier that drops them all is of no use."""
    found = verdicts(paraphrases())
    assert {pair.kind for pair, _ in found} == set(RULES)
    assert sum(passed for _, passed in found) / len(found) >= 0.95
