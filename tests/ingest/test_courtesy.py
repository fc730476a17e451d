"""An ingest stands back behind whoever answers readers."""

import subprocess
import sys


def test_the_process_and_what_it_starts_have_the_lowest_priority() -> None:
    """Reading, embedding and verifying wait for questions, and a second call changes nothing."""
    code = (
        "import os, subprocess, sys; from lutrin.ingest.courtesy import stand_back; stand_back(); stand_back();"
        "print(os.nice(0), flush=True); subprocess.run([sys.executable, '-c', 'import os; print(os.nice(0))'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["19", "19"]
