"""An ingest stands back behind whoever answers readers, and takes little memory."""

import platform
import subprocess
import sys

import pytest


def test_the_process_and_what_it_starts_have_the_lowest_priority() -> None:
    """Reading, embedding and verifying wait for questions, and a second call changes nothing."""
    code = (
        "import os, subprocess, sys; from lutrin.ingest.niceness import stand_back; stand_back(); stand_back();"
        "print(os.nice(0), flush=True); subprocess.run([sys.executable, '-c', 'import os; print(os.nice(0))'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["19", "19"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_allocate_from_one_place() -> None:
    """What one of them has freed the others can use; without that each of these threads has an arena of its own."""
    code = (
        "import ctypes, sys, threading; from lutrin.platform import use_one_arena; "
        "len(sys.argv) > 1 and use_one_arena();"
        "gate = threading.Barrier(5); work = lambda: (ctypes.CDLL(None).malloc(4096), gate.wait());"
        "threads = [threading.Thread(target=work) for _ in range(4)]; [t.start() for t in threads]; gate.wait();"
        "libc = ctypes.CDLL(None); libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, 'stdout')); libc.fflush(None)"
    )
    arenas = [
        subprocess.run([sys.executable, "-c", code, *extra], capture_output=True, text=True, check=True).stdout.count(
            "<heap nr="
        )
        for extra in ((), ("one",))
    ]
    assert arenas[0] > 1
    assert arenas[1] == 1
