"""Accidents that an ingest must survive: kills, full and failing disks, crowds.

    python bench/chaos_ingest.py [--kills 500] [--failures 300] [--crowds 50] [--re-ingests 50] [--swaps 200]

A small book changes all the time and is ingested by forked processes: real SQLite, real Chroma, an embedder that hashes
words. A library that is preloaded (`chaos/failing_disk.c`, compiled on the spot) counts the calls that change files and
kills the process or reports an error at the chosen one. The last line is JSON.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PRELOADED = "LUTRIN_CHAOS_DISK"


def preloaded() -> ctypes.CDLL:
    """The failing disk; if it is not in this process yet, compile it and start this program again with it."""
    if PRELOADED not in os.environ:
        library = Path(tempfile.mkdtemp()) / "failing_disk.so"
        source = HERE / "chaos" / "failing_disk.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), PRELOADED: str(library)}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - this program, again
    disk = ctypes.CDLL(os.environ[PRELOADED])
    disk.disk_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    disk.disk_calls.restype = ctypes.c_long
    return disk


def main() -> int:
    """Run the trials that are asked for; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--failures", type=int, default=300)
    parser.add_argument("--crowds", type=int, default=50)
    parser.add_argument("--re-ingests", type=int, default=50)
    parser.add_argument("--swaps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    disk = preloaded()

    import chromadb  # noqa: F401, PLC0415 - once here rather than in each of a thousand children

    from chaos import rounds  # noqa: PLC0415 - only after the library is preloaded

    seed = arguments.seed
    trials: dict[str, tuple[int, Callable[[Path], dict[str, Any]]]] = {
        "kills": (arguments.kills, lambda root: rounds.kills(root, arguments.kills, disk, seed)),
        "failures": (arguments.failures, lambda root: rounds.failures(root, arguments.failures, disk, seed)),
        "full_disk": (arguments.failures, lambda root: rounds.full_disk(root, seed)),
        "crowds": (arguments.crowds, lambda root: rounds.crowds(root, arguments.crowds, seed)),
        "load": (arguments.re_ingests, lambda root: rounds.under_load(root, arguments.re_ingests, seed)),
        "swaps": (arguments.swaps, lambda root: rounds.swaps(root, arguments.swaps, seed)),
    }
    results: dict[str, Any] = {"benchmark": "chaos_ingest"}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, (count, trial) in trials.items():
            if count:
                started = time.monotonic()
                try:
                    results[name] = trial(Path(folder) / name)
                except AssertionError as error:
                    results[name], failed = {"FAILED": str(error)}, True
                print(f"{name:10} {time.monotonic() - started:7.1f} s  {results[name]}", flush=True)
    print(json.dumps(results))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
