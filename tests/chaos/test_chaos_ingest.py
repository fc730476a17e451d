"""The accidents of `bench/chaos_ingest.py`, each a few times; `just chaos-ingest` runs them by the hundred."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "chaos_ingest.py"


@pytest.mark.skipif(shutil.which("cc") is None, reason="the failing disk is compiled by cc")
@pytest.mark.parametrize(
    "trial",
    [
        ("--kills", "5"),
        ("--failures", "6"),
        ("--crowds", "1"),
        ("--re-ingests", "2"),
        ("--swaps", "4"),
    ],
    ids=lambda trial: trial[0].strip("-"),
)
def test_no_accident_hurts_the_index(trial: tuple[str, str]) -> None:
    """Kills, full and broken disks, crowds, re-ingests under questions, swaps: the index is the old or the new one."""
    others = ("--kills", "--failures", "--crowds", "--re-ingests", "--swaps")
    counts = [part for name in others for part in (trial if name == trial[0] else (name, "0"))]
    done = subprocess.run([sys.executable, SCRIPT, *counts], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["benchmark"] == "chaos_ingest"
