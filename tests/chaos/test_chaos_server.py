"""The accidents of `bench/chaos_server.py`, each a few times; `just chaos` runs them by the thousand."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "chaos_server.py"


def test_no_accident_loses_or_shows_a_message() -> None:
    """Kills, crowds and guesses: nothing acknowledged is lost, exactly ten are admitted, nothing foreign is shown."""
    command = [sys.executable, str(SCRIPT), "--kills", "8", "--crowds", "2", "--guesses", "600"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["kills"]["acknowledged"] > 0
    assert report["guesses"]["leaks"] == 0
