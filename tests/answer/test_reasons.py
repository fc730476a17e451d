"""Reasons, which stand behind the sentence that has the question's words."""

from collections.abc import Sequence

from tests.answer.book import chunk, unit

from lutrin.answer.extract import choose
from lutrin.answer.reasons import BEFORE, PARAGRAPH, PASSAGE, out_of_place
from lutrin.answer.wanted import wanted
from lutrin.records import Chunk
from lutrin.retrieve.evidence import Evidence

BOGIE = chunk(
    unit("Long wagons have bogies."),
    unit("A rigid frame cannot follow a tight curve.", start=30),
    unit("Most wagons are brown with a white roof.", start=80, block=1),
    unit("Some of them carry coal and some carry stone.", start=130, block=1),
)


def found(page: Chunk, own: Sequence[float], *, score: float = 0.6, passage: float = 0.5) -> list[Evidence]:
    """Units that match as much in all, their headings and passages included, but not by their own words."""
    return [Evidence(page, place, score, own=value, passage=passage) for place, value in enumerate(own)]


def test_what_stands_behind_the_best_match_in_its_paragraph_loses_nothing() -> None:
    """In the other paragraph a unit loses what its paragraph and the one before it match worse."""
    lost = out_of_place(found(BOGIE, (0.9, 0.2, 0.3, 0.1)))
    assert lost["c1", 1] == 0
    assert abs(lost["c1", 0] - BEFORE * 0.9) < 1e-6
    assert abs(lost["c1", 2] - (BEFORE * 0.7 + PARAGRAPH * 0.6)) < 1e-6
    assert abs(lost["c1", 3] - (BEFORE * 0.6 + PARAGRAPH * 0.6)) < 1e-6


def test_of_two_passages_the_nearer_one_has_the_better_place() -> None:
    """By its cosine."""
    other = chunk(unit("Rails are steel."), chunk_id="c2")
    lost = out_of_place([*found(chunk(unit("Rails bend.")), (0.5,), passage=0.7), *found(other, (0.5,), passage=0.3)])
    assert lost["c1", 0] == 0
    assert abs(lost["c2", 0] - PASSAGE * 0.4) < 1e-6


def test_where_nothing_is_known_but_the_score_nothing_is_lost() -> None:
    """Nor where nothing was found."""
    assert set(out_of_place([Evidence(BOGIE, place, 0.5) for place in range(4)]).values()) == {0.0}
    assert out_of_place([]) == {}


def test_a_reason_is_quoted_for_its_place() -> None:
    """It has none of the question's words; who asks for no reason gets what matches as before."""
    evidence = found(BOGIE, (0.9, 0.2, 0.3, 0.1))
    evidence[0] = Evidence(BOGIE, 0, 0.7, own=0.9, passage=0.5)
    evidence[1] = Evidence(BOGIE, 1, 0.5, own=0.2, passage=0.5)

    def quoted(question: str) -> str:
        return " ".join(q.text for q in choose(wanted(question), evidence, budget_words=14, widened=0))

    assert "cannot follow" in quoted("Why do long wagons have bogies?")
    assert "cannot follow" not in quoted("Do long wagons have bogies?")
