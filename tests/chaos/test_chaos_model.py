"""The accidents of `bench/chaos_model.py`: a few always, dozens in endurance; `just chaos` goes on by the hundred."""

from pathlib import Path

import pytest
from tests.endured import Endured

from .accidents import LONG_S, report_of

READERS = 3
"""Who ask while an accident happens."""


@pytest.mark.gguf
@pytest.mark.model
@pytest.mark.slow("a model that is loaded again after every accident")
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(
    ("kills", "hangs"), [pytest.param(2, 1, id="short"), pytest.param(15, 10, id="long", marks=pytest.mark.endurance)]
)
def test_no_accident_of_the_model_costs_a_reader_the_answer(
    kills: int, hangs: int, models_dir: Path, endured: Endured
) -> None:
    """Killed or stopped in the middle of answers: every reader gets one in time, and the model comes back."""
    counts = {"kills": kills, "hangs": hangs, "floods": 0, "disconnects": 0}
    report = report_of("chaos_model", counts, LONG_S, LUTRIN_MODELS_DIR=str(models_dir))
    assert (report["kills"]["answers"], report["hangs"]["answers"]) == (READERS * kills, READERS * hangs)
    endured("chaos_model", {kind: report[kind] for kind in ("kills", "hangs")})
