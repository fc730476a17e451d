"""The accidents of `bench/chaos_server.py`: a few always, dozens in endurance; `just chaos` goes on by the thousand."""

import pytest
from tests.endured import Endured

from .accidents import LONG_S, report_of


@pytest.mark.slow("a server that is started again after every kill")
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param({"kills": 2, "crowds": 1, "guesses": 200}, id="short"),
        pytest.param({"kills": 40, "crowds": 5, "guesses": 5000}, id="long", marks=pytest.mark.endurance),
    ],
)
def test_no_accident_loses_or_shows_a_message(counts: dict[str, int], endured: Endured) -> None:
    """Kills, crowds and guesses: nothing acknowledged is lost, exactly ten are admitted, nothing foreign is shown."""
    report = report_of("chaos_server", counts, LONG_S)
    assert report["kills"]["acknowledged"] > 0
    assert report["guesses"]["leaks"] == 0
    endured("chaos_server", {kind: report[kind] for kind in counts})
