"""Half a minute of `just soak`, with an accident every few seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.endured import Endured

ROOT = Path(__file__).parents[2]
PART = ROOT / "corpus" / "physical-ai" / "01-part-1-foundations"


@pytest.mark.model
@pytest.mark.gguf
def test_readers_notice_no_accident(endured: Endured) -> None:
    """The model is killed, hung, and the book ingested again: every question is answered."""
    command = [sys.executable, str(ROOT / "bench" / "soak.py"), "--hours", str(40 / 3600), "--every-s", "8"]
    environment = {**os.environ, "LUTRIN_MODEL": "tiny"}
    done = subprocess.run(
        [*command, "--corpus", str(PART), "--readers", "10"],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["failed"] == 0, done.stdout + done.stderr
    assert report["answers"] >= 10
    assert report["accidents"]["killed"] >= 1
    endured("soak", {name: report[name] for name in ("answers", "failed", "accidents")})
