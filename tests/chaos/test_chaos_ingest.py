"""The accidents of `bench/chaos_ingest.py`, each once or more always; endurance repeats them."""

import shutil

import pytest
from tests.endured import Endured

from .accidents import LONG_S, report_of

KINDS = ("kills", "failures", "crowds", "re-ingests", "swaps")
SHORT = {"kills": 2, "failures": 3, "crowds": 1, "swaps": 4}
LONG = {"kills": 25, "failures": 30, "crowds": 5, "re-ingests": 3, "swaps": 200}
"""The memory of a reader settles within fifty swaps; fewer than two hundred would measure its warming up."""


@pytest.mark.skipif(shutil.which("cc") is None, reason="the failing disk is compiled by cc")
@pytest.mark.slow("an ingest for every accident, and another to see what it left")
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(SHORT, id="short"),
        *(pytest.param({kind: count}, id=f"{kind}-long", marks=pytest.mark.endurance) for kind, count in LONG.items()),
    ],
)
def test_no_accident_hurts_the_index(counts: dict[str, int], endured: Endured) -> None:
    """Kills, full and broken disks, crowds, re-ingests under questions, swaps: the index is the old or the new one."""
    report = report_of("chaos_ingest", dict.fromkeys(KINDS, 0) | counts, LONG_S)
    assert report.pop("benchmark") == "chaos_ingest"
    endured(f"chaos_ingest {' '.join(counts)}", report)
