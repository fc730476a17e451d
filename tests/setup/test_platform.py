"""Features of Linux alone are used in one module, and their absence fails no start."""

import ast
import fcntl
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lutrin import platform

SOURCE = Path(platform.__file__).parent
ONLY_SOMEWHERE = {
    "sched_getaffinity", "sched_setaffinity", "F_SETPIPE_SZ", "RLIMIT_AS", "posix_fadvise", "posix_fallocate",
    "pidfd_open", "fdatasync", "memfd_create", "eventfd", "copy_file_range", "splice", "epoll",
}  # fmt: skip
"""Names of the standard library that macOS or other systems lack, or where they do something else."""


def test_what_only_some_systems_have_is_named_in_one_module() -> None:
    """No other module asks for it, nor reads `/proc` or `/sys`; the bundle's installer stands alone."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if path.name not in {"platform.py", "bundle_install.py"}
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in ONLY_SOMEWHERE)
        or (isinstance(node, ast.Constant) and str(node.value).startswith(("/proc/", "/sys/")))
    ]
    assert found == []


def test_without_affinity_all_processors_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """MacOS tells neither which processors a process may use nor which share a core: each counts."""
    monkeypatch.delattr(os, "sched_getaffinity")
    assert platform.usable_cpus() == set(range(os.cpu_count() or 1))
    assert platform.physical_cores(tmp_path) == os.cpu_count()


def test_threads_of_a_core_count_once_within_a_containers_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Eight processors on four cores are four; a quota of two and a half processors makes three of them."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for cpu in range(8):
        topology = tmp_path / f"devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n", "ascii")
    assert platform.physical_cores(tmp_path) == 4
    group = tmp_path / "fs" / "cgroup"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("max 100000\n", "ascii")
    assert platform.physical_cores(tmp_path) == 4
    (group / "cpu.max").write_text("250000 100000\n", "ascii")
    assert platform.physical_cores(tmp_path) == 3


def test_without_proc_nothing_is_known_and_nothing_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Memory reads as 0 and the processor as unknown."""
    monkeypatch.setattr(platform, "PROC", tmp_path)
    assert platform.resident_bytes() == platform.resident_bytes(os.getpid()) == 0
    assert platform.processor_description() == ""


def test_a_battery_is_used_when_no_mains_give_power(tmp_path: Path) -> None:
    """A desktop has neither; of a laptop the plug decides."""
    assert not platform.on_battery(tmp_path)
    for name, kind, online in (("BAT0", "Battery", ""), ("AC", "Mains", "1"), ("usb", "USB", "0")):
        supply = tmp_path / "class/power_supply" / name
        supply.mkdir(parents=True)
        (supply / "type").write_text(f"{kind}\n", "ascii")
        if online:
            (supply / "online").write_text(f"{online}\n", "ascii")
    assert not platform.on_battery(tmp_path)
    (tmp_path / "class/power_supply/AC/online").write_text("0\n", "ascii")
    assert platform.on_battery(tmp_path)


def test_a_pipe_that_cannot_be_widened_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Linux has that call."""
    monkeypatch.delattr(fcntl, "F_SETPIPE_SZ", raising=False)
    reading, writing = os.pipe()
    platform.widen_pipe(writing, 1 << 20)
    os.write(writing, b"whole")
    assert os.read(reading, 5) == b"whole"
    os.close(reading)
    os.close(writing)


def test_a_system_that_bounds_no_memory_still_bounds_the_time() -> None:
    """MacOS refuses to set RLIMIT_AS; the reader of a file starts all the same, with its seconds counted."""
    code = (
        "import resource\n"
        "real = resource.setrlimit\n"
        "def refuse(limit, values):\n"
        "    if limit == resource.RLIMIT_AS:\n"
        "        raise ValueError('current limit exceeds maximum limit')\n"
        "    real(limit, values)\n"
        "resource.setrlimit = refuse\n"
        "from lutrin.platform import bound\n"
        "bound(1 << 30, 7)\n"
        "print(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["7"]
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] != 7


def test_an_ordinary_user_raises_the_weight_of_a_session_again() -> None:
    """From another process, right after it was lowered: one with the lowest weight hardly runs on a busy machine."""
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("this system does not group processes by session")
    code = """
import codecs, ctypes, os, pathlib, time
from lutrin.platform import SessionWeight
codecs.lookup("ascii")  # before the files of this Python can no longer be read
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: its files in /proc are the user's
pid = os.fork()
if pid == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    time.sleep(30)
    os._exit(0)
time.sleep(0.2)
group, weight = pathlib.Path(f"/proc/{pid}/autogroup"), SessionWeight(pid)
weight.set(lowest=True)
low = group.read_text().split()[-1]
while not weight.set(lowest=False):
    time.sleep(0.01)
print(low, group.read_text().split()[-1])
os.kill(pid, 9)
"""
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, start_new_session=True, capture_output=True, text=True, check=True, timeout=20)
    assert told.stdout.split() == ["19", "0"]
