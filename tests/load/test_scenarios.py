"""A minute of the scenarios of loadtests/, each on a server of its own with the smallest model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.embeddings import Lenders
from tests.endured import Endured

from loadtests.server import ingest, settings

ROOT = Path(__file__).parents[2]
PART = ROOT / "corpus" / "physical-ai" / "01-part-1-foundations"


@pytest.fixture(scope="module")
def known(lenders: Lenders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that knows the part of the book that is asked about."""
    data = tmp_path_factory.mktemp("known") / "data"
    lenders.lend_to(data)
    ingest(PART, settings(data, "none"))
    return data


def minute(command: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """One run of a scenario."""
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)


@pytest.mark.model
@pytest.mark.gguf
@pytest.mark.parametrize("scenario", ["ten", "class"])
def test_every_reader_is_answered_and_none_waits_twice_as_long(
    scenario: str, known: Path, tmp_path: Path, endured: Endured
) -> None:
    """No request fails and no session waits over twice as long as another, for the first words or for the model.

    The same bars as those of `just loadtest`, which judges the seconds too. Waits that lie apart are held against the
    server unless one of twenty random dealings parts them as far, so one minute of twenty says no of a fair server:
    then another minute decides. A request that failed is not asked again.
    """
    command = [sys.executable, "-m", "loadtests.run", scenario, "--seconds", "60", "--gently"]
    command += ["--corpus", str(PART), "--data", str(known), "--out", str(tmp_path)]
    environment = {**os.environ, "LUTRIN_MODEL": "tiny"}
    done = minute(command, environment)
    if done.returncode and done.stdout and json.loads(done.stdout.splitlines()[-1])["failed"] == 0:
        done = minute(command, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert (report["loadtest"], report["failed"]) == (scenario, 0)
    assert report["answers"] >= report["sessions"] >= 10
    assert {path.name for path in tmp_path.iterdir()} == {f"{scenario}.md", f"{scenario}.svg"}
    endured(f"loadtest {scenario}", {name: report[name] for name in ("answers", "failed", "sessions")})
