"""The port Support: whatever reads claims and evidence keeps these promises."""

import numpy as np
import pytest

from lutrin.adapters.fakes import WordSupport
from lutrin.ports import Support

EVIDENCE = "A brood box needs a queen. Smoke calms the bees before the hive is opened."


@pytest.fixture
def support() -> Support:
    """Each implementation that can run without a download."""
    return WordSupport()


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
