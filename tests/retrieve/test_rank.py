"""How the units of a passage are scored."""

import numpy as np
from tests.answer.book import chunk, unit

from lutrin.answer.quote import with_leaning
from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.rank import Ranked

MATCHES = np.array([[0.9, 0.8], [0.1, 0.2], [0.1, 0.2]], dtype=np.float32)


def found(page: Chunk) -> list[Evidence]:
    """Three units, the first of which matches a question of two tokens."""
    share = np.array([0.5, 0.5], dtype=np.float32)
    late = MaxSim(
        passages=MATCHES.max(axis=0, keepdims=True) @ share,
        passage_best=MATCHES.max(axis=0, keepdims=True),
        units=MATCHES @ share,
        unit_best=MATCHES,
        unit_own=MATCHES,
        unit_starts=np.array([0, 3]),
        unit_numbers=np.arange(3, dtype=np.int32),
    )
    ranked = Ranked(
        text="Why is it deep?",
        chunks=[page],
        late=late,
        fused=np.zeros(1, np.float32),
        cosines=np.array([0.25], np.float32),
        lexical={},
        weights=share,
    )
    return ranked.evidence(0)


def scores(page: Chunk) -> list[float]:
    """Of these units."""
    return [item.score for item in found(page)]


def test_evidence_knows_how_well_a_unit_matches_by_itself_and_its_passage_as_a_whole() -> None:
    """Which tells where a reason stands."""
    items = found(chunk(unit("It is deep."), unit("It is steep."), unit("It is old.")))
    assert [round(item.own, 2) for item in items] == [0.85, 0.15, 0.15]
    assert {item.passage for item in items} == {0.25}


def test_evidence_knows_how_well_a_list_matches_as_a_whole() -> None:
    """Each token by whichever item has it; what is no item of a list has no whole."""
    items = [unit(text, kind="list_item", block=1) for text in ("It is deep.", "It is steep.")]
    first, second, other = found(chunk(*items, unit("It is old.")))
    assert first.whole == second.whole
    assert round(first.whole - first.score, 6) == 0.0
    assert first.score > second.score
    assert other.whole == 0.0


def test_what_replies_to_a_question_of_the_book_has_its_words() -> None:
    """What was asked is in the question, and the reply lacks it: "Why must the door face north? So that no sun ..."."""
    reply, more = "So that drops of rain stay where they have fallen.", "A rim that is sharp cuts each of them in two."
    asked = chunk(unit("Why is the bowl so very deep and steep?"), unit(reply), unit(more))
    said = chunk(unit("The bowl is so very deep and so steep."), unit(reply), unit(more))
    apart = chunk(unit("Why is the bowl so very deep and steep?"), unit(reply, block=1), unit(more, block=1))
    question, answer, rest = scores(asked)
    assert answer > question
    assert answer > rest + 0.2
    assert abs(scores(said)[1] - scores(said)[2]) < 0.1
    assert abs(scores(apart)[1] - scores(apart)[2]) < 0.1


def test_a_reply_is_quoted_with_its_question() -> None:
    """Alone it would say nothing."""
    page = chunk(unit("The walls are steep."), unit("Why so deep?"), unit("To hold snow."), unit("It melts."))
    assert [place for place, _ in with_leaning(page.units, 2)] == [1, 2]
    # What follows leans on the reply, and that on the question.
    assert [place for place, _ in with_leaning(page.units, 3)] == [1, 2, 3]
