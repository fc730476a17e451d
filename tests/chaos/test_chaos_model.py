"""The accidents of `bench/chaos_model.py`, each a few times; `just chaos` runs them by the hundred."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "chaos_model.py"


@pytest.mark.gguf
@pytest.mark.model
def test_no_accident_of_the_model_costs_a_reader_the_answer(models_dir: Path) -> None:
    """Killed or stopped in the middle of answers: every reader gets one in time, and the model comes back."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "4", "--hangs", "3", "--floods", "0", "--disconnects", "0"],
        env={**os.environ, "LUTRIN_MODELS_DIR": str(models_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    found = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    assert done.returncode == 0, done.stdout + done.stderr
    assert (found["kills"]["answers"], found["hangs"]["answers"]) == (12, 9)
