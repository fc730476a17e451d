"""Runs a script of `bench/` that lets accidents happen, and reads what it reports."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHORT_S = 240
LONG_S = 1500


def report_of(
    script: str, options: Mapping[str, int | str | Path], within_s: float = SHORT_S, **variables: str
) -> dict[str, Any]:
    """The report of `bench/SCRIPT.py` on that many accidents of each kind; its output is shown if it fails."""
    command = [sys.executable, str(ROOT / "bench" / f"{script}.py")]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=within_s)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    report.pop("machine", None)
    return report
