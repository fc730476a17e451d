"""A storm of readers for half a minute always, for five in endurance; `just chaos-readers` makes it an hour."""

import pytest
from tests.endured import Endured

from .accidents import LONG_S, report_of


@pytest.mark.slow("half a minute of readers who come and go, and the time until nothing of them is left")
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(
    ("minutes", "readers"),
    [
        pytest.param("0.5", 30, id="short"),
        pytest.param("5", 100, id="long", marks=[pytest.mark.endurance, pytest.mark.nightly]),
    ],
)
def test_after_a_storm_nothing_is_stuck_and_nothing_left(minutes: str, readers: int, endured: Endured) -> None:
    """Every turn, lease, task and file is accounted for, memory is level, and a question is answered in a second."""
    report = report_of("chaos_readers", {"minutes": minutes, "readers": readers, "seed": 53}, LONG_S)
    assert report["well"]
    assert report["stuck"] == []
    endured("chaos_readers", {"acts": sum(report["acts"].values()), "faults": sum(report["faults"].values())})
