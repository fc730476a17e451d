"""Types, beside the other tests: the checker takes one worker's first half minute rather than everybody's."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow("the checker reads the whole repository, and all of its packages where it has no cache")
def test_every_annotation_holds() -> None:
    """The program, its tests and its load tests have no type error, as `just check` says too."""
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
