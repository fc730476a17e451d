"""The accidents of `bench/chaos_model.py` by the dozen; `just chaos` goes on by the hundred.

One kill and one hang are always tried, in `tests/end_to_end/test_faults.py`.
"""

from pathlib import Path

import pytest
from tests.endured import Endured

from .accidents import LONG_S, report_of

KILLS, HANGS = 15, 10
READERS = 3
"""Who ask while an accident happens."""


@pytest.mark.gguf
@pytest.mark.model
@pytest.mark.endurance
@pytest.mark.timeout(LONG_S)
def test_no_accident_of_the_model_costs_a_reader_the_answer(models_dir: Path, endured: Endured) -> None:
    """Killed or stopped in the middle of answers: every reader gets one in time, and the model comes back."""
    counts = {"kills": KILLS, "hangs": HANGS, "floods": 0, "disconnects": 0}
    report = report_of("chaos_model", counts, LONG_S, LUTRIN_MODELS_DIR=str(models_dir))
    assert (report["kills"]["answers"], report["hangs"]["answers"]) == (READERS * KILLS, READERS * HANGS)
    endured("chaos_model", {kind: report[kind] for kind in ("kills", "hangs")})
