"""The port Support: whatever reads claims and evidence keeps these promises."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.fakes import WordSupport
from tests.fakes_generator import ScriptedGenerator

from lutrin.adapters.support_generated import Asking, GeneratedSupport
from lutrin.ports import Support

ASKING = Asking("You check sentences.", "Evidence:\n{evidence}\n\nSentence: {claim}\n\nYES or NO?")
EVIDENCE = "A brood box needs a queen. Smoke calms the bees before the hive is opened."


@pytest.fixture(params=["words", "asked"])
def support(request: pytest.FixtureRequest) -> Support:
    """Each implementation that can run without a download."""
    return (
        WordSupport()
        if request.param == "words"
        else GeneratedSupport(ScriptedGenerator(judge), asking=ASKING, patience_s=5.0)
    )


async def test_a_claim_that_is_stated_is_more_probable(support: Support) -> None:
    """Probabilities are float32 between 0 and 1, in the order of the pairs."""
    found = await support.probabilities(
        [("Smoke calms the bees.", EVIDENCE), ("Engines burn diesel in winter.", EVIDENCE)]
    )
    assert found.dtype == np.float32
    assert found.shape == (2,)
    assert 0 <= found[1] < support.threshold <= found[0] <= 1


async def test_no_pairs_give_no_probabilities(support: Support) -> None:
    """An answer without claims is no special case for the caller."""
    assert (await support.probabilities([])).shape == (0,)


async def test_nothing_follows_from_no_evidence(support: Support) -> None:
    """A claim beside an empty text is not stated there."""
    (found,) = await support.probabilities([("Smoke calms the bees.", "")])
    assert found < support.threshold


async def test_the_company_of_other_pairs_changes_nothing(support: Support) -> None:
    """A pair is judged alike alone and in a batch with longer ones."""
    pair = ("Smoke calms the bees.", EVIDENCE)
    (alone,) = await support.probabilities([pair])
    among = await support.probabilities([("What?", EVIDENCE * 20), pair, ("A queen lays eggs.", "")])
    assert among[1] == pytest.approx(alone, abs=0.02)


def judge(texts: Sequence[str]) -> str:
    """A model that says yes where all words of the sentence stand in the evidence."""
    evidence, _, rest = texts[-1].partition("\n\nSentence: ")
    said = rest.partition("\n\n")[0].strip(".").lower().split()
    return "Yes." if all(word in evidence.lower() for word in said) else "NO"


async def test_a_judge_that_is_away_states_nothing() -> None:
    """What nobody has checked is not shown."""
    generator = ScriptedGenerator(judge)
    assert (
        await GeneratedSupport(generator, asking=ASKING, patience_s=5.0).probabilities(
            [("Smoke calms the bees.", EVIDENCE)]
        )
    ).tolist() == pytest.approx([1.0], abs=0.01)
    generator.away = True
    assert (
        await GeneratedSupport(generator, asking=ASKING, patience_s=5.0).probabilities(
            [("Smoke calms the bees.", EVIDENCE)]
        )
    ).tolist() == pytest.approx([0.0], abs=0.01)


@pytest.mark.parametrize("said", ["Probably yes.", "", "It depends.", "NO, yes"])
async def test_a_judge_who_hesitates_says_no(said: str) -> None:
    """Only a plain yes counts."""
    support = GeneratedSupport(ScriptedGenerator(lambda _: said), asking=ASKING, patience_s=5.0)
    assert (await support.probabilities([("Smoke calms the bees.", EVIDENCE)])).tolist() == pytest.approx(
        [0.0], abs=0.01
    )
