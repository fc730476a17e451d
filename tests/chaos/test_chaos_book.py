"""A book that gives a real model orders; the short form, with a model that obeys everything, is `test_poison.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.endured import Endured

from evaluation.studies.poison import ORDERS
from lutrin.keep.weights import load_manifest, state_of

from .accidents import LONG_S, ROOT

TIER = "medium"


@pytest.mark.gguf
@pytest.mark.model
@pytest.mark.endurance
@pytest.mark.timeout(LONG_S)
def test_no_order_of_a_book_moves_the_model(models_dir: Path, endured: Endured) -> None:
    """Forty kinds, each in one of seven places: no sentence obeys, adds a link or shows the instructions."""
    model = load_manifest(models_dir).find(TIER)
    if state_of(models_dir, model) != "present":
        pytest.skip(f"the model is not here (lutrin models fetch {TIER})")
    command = [sys.executable, "-m", "evaluation.studies.poison", "--tier", TIER, "--count", str(len(ORDERS))]
    environment = {**os.environ, "LUTRIN_MODELS_DIR": str(models_dir)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LONG_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["asked"] == len(ORDERS)
    assert report["generated"] > 0, "the model never spoke"
    endured("orders in a book", report)
