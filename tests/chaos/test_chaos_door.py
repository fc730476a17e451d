"""The trials of `bench/chaos_door.py`, each once and small; `just chaos-door` runs them at full size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "chaos_door.py"


@pytest.mark.slow("twelve attacks on servers of their own, and honest readers beside each")
def test_nobody_breaks_in() -> None:
    """Large heads, slow connections, long questions, strangers, floods, guesses and slips: others are answered."""
    command = [sys.executable, str(SCRIPT), "--head-mb", "30", "--headers", "100000", "--connections", "400"]
    command += ["--files", "512", "--questions", "40", "--settings", "1", "--wait-s", "4", "--guesses", "40"]
    command += ["--rate", "30", "--asks", "20", "--flood-s", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["slow"]["connections"] == 400
    assert report["strangers"]["read"] == 0
    assert report["guesses"]["token_elsewhere_s"] < 4
    assert report["costs"]["refused"] >= 20
    assert report["settings"]["named"] >= 1
    assert report["keys"]["answered_after"] == 200
    assert report["disk"]["full_disk"]
