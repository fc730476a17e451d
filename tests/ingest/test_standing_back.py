"""An ingest gives way to processes that answer readers, and takes little memory."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lutrin.platform import BEHIND_READERS, LOWEST


def test_the_process_and_what_it_starts_have_a_low_priority() -> None:
    """Reading, embedding and verifying wait for questions, but not for every program of the machine."""
    code = (
        "import os, subprocess, sys; from lutrin.platform import stand_back; stand_back();"
        "print(os.nice(0), flush=True); subprocess.run([sys.executable, '-c', 'import os; print(os.nice(0))'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(min(LOWEST, os.nice(0) + BEHIND_READERS))] * 2


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not group by session")
@pytest.mark.parametrize(("alone", "group"), [(True, 7), (False, 0)], ids=["its own session", "somebody's session"])
def test_a_session_of_its_own_stands_back_as_a_whole(alone: bool, group: int) -> None:
    """Linux shares evenly among sessions, so the model's session steps back; a terminal's session stays as it was."""
    code = (
        "import os; from lutrin.platform import stand_back; from pathlib import Path;"
        f"{'' if alone else 'os.fork() and os.wait() and os._exit(0);'} stand_back(7);"
        "print(Path('/proc/self/autogroup').read_text().split()[-1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, start_new_session=True
    )
    assert int(done.stdout) == group


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_allocate_from_one_place() -> None:
    """Memory freed by one thread is available to the others; otherwise each thread would have an arena of its own."""
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
