"""Generated and hostile requests, a few hundred; `just chaos-http` sends them by the thousand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "chaos_http.py"


@pytest.mark.model
def test_no_request_upsets_the_server() -> None:
    """No 5xx, no status that the schema does not name, nothing unforeseen in the log, and a server that goes on."""
    command = [sys.executable, str(SCRIPT), "--cases", "600", "--hostile", "150"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["schema"]["requests"] >= 600
    assert report["hostile"]["requests"] >= 150
    assert report["well"]
