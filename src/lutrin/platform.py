"""Functions that only some systems support (Linux all of them, macOS the POSIX ones), and modes of the data folder.

Each function documents its result on a system that cannot answer, so no caller has to check which system it runs on.
The data folder is readable by its owner and group, not by other users. The conversations and their key are the owner's
alone (0600), which `lutrin.chats` sees to.
"""

import ctypes
import fcntl
import gc
import math
import os
import resource
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

LOWEST = 19
"""Niceness at which a reader's question weighs some seventy times as much; an idle machine loses nothing."""
BEHIND_READERS = 10
"""Niceness of an ingest: a question weighs nine times as much, and beside busy programs a tenth of a core is left."""
PROC = Path("/proc")
SYS = Path("/sys")
INTERFACE_ADDRESS = 0x8915
"""`SIOCGIFADDR` of Linux's `bits/ioctls.h`."""
ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's `malloc.h`."""
SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux's `linux/prctl.h`."""


def usable_cpus() -> set[int]:
    """Numbers of the processors that this process may use; all of them if the system does not say (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def physical_cores(system: Path = SYS) -> int:
    """Physical cores that this process may use, at most its container's quota; without /sys, each processor counts."""
    usable = usable_cpus()
    siblings = set()
    for cpu in usable:
        try:
            siblings.add((system / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text("ascii"))
        except OSError:
            siblings.add(f"alone {cpu}")
    return max(1, min(len(siblings), cpu_share(system)))


def cpu_share(system: Path = SYS) -> int:
    """Return the container's processor quota, rounded up; without a quota, more than any machine has.

    Source: the kernel's documentation of control groups, version 2, `cpu.max`: quota and period in microseconds.
    """
    with suppress(OSError, ValueError):
        quota, period = (system / "fs/cgroup/cpu.max").read_text("ascii").split()
        return math.ceil(int(quota) / int(period))
    return 1 << 16


def processor_description() -> str:
    """Linux's description of the processor and its instructions; empty elsewhere."""
    with suppress(OSError):
        return (PROC / "cpuinfo").read_text("utf-8", "replace")
    return ""


def resident_bytes(pid: int | None = None) -> int:
    """Memory of this process with the files it has mapped, or of another without; 0 if unknown (proc(5), `statm`)."""
    with suppress(OSError, ValueError, IndexError):
        fields = (PROC / str(pid or "self") / "statm").read_text("ascii").split()
        pages = int(fields[1]) - (int(fields[2]) if pid else 0)
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def available_bytes(system: Path = SYS, processes: Path = PROC) -> int:
    """Memory that programs could still take, at most what the container's limit leaves; 0 if the system does not say.

    Sources: proc(5), `meminfo`, and the kernel's documentation of control groups, version 2, `memory.max`.
    """
    available = 0
    with suppress(OSError, ValueError, StopIteration):
        lines = (processes / "meminfo").read_text("ascii").splitlines()
        available = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) << 10
        most, used = ((system / f"fs/cgroup/memory.{name}").read_text("ascii") for name in ("max", "current"))
        available = min(available, max(0, int(most) - int(used)))
    return available


def processor_seconds(pid: int) -> float:
    """Processor time of all threads of a process; 0 if the system does not say (proc(5), `stat`, Linux)."""
    with suppress(OSError, ValueError, IndexError):
        fields = _state_of(pid)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def is_stopped(pid: int) -> bool:
    """Whether a process stands still by a signal (SIGSTOP); False if the system does not say (proc(5), `stat`)."""
    with suppress(OSError, IndexError):
        return _state_of(pid)[0] == "T"
    return False


def _state_of(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the program's name, which is in brackets and may contain spaces."""
    return (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def stand_back(niceness: int = BEHIND_READERS) -> None:
    """Lower the priority of this process, and of all that it starts, for good.

    If Linux groups processes by session (`CONFIG_SCHED_AUTOGROUP`), niceness counts only within a session, and
    sessions share evenly. A process that leads its session therefore makes its session nice too (sched(7)).
    """
    with suppress(OSError):  # a container may forbid it: then readers wait a little longer
        own = os.nice(niceness)
        if os.getsid(0) == os.getpid():
            (PROC / "self" / "autogroup").write_text(str(own), "ascii")


def stand_back_alone() -> None:
    """Lower the priority of the calling thread for good, and of no other (Linux; elsewhere nothing happens)."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST)


class SessionWeight:
    """The weight of a process's session among all, if Linux groups processes by session and it leads its own.

    Unlike niceness, it can be raised again without any right, ten times a second at most (sched(7), autogroup). A
    process of the lowest weight hardly runs on a busy machine, so another one has to raise it.
    """

    def __init__(self, pid: int) -> None:
        self._path = PROC / str(pid) / "autogroup"
        self._is_lowest = False

    def set(self, *, lowest: bool) -> bool:
        """Give way to all, or to none; False if it was changed a moment ago: try again."""
        if lowest == self._is_lowest:
            return True
        try:
            self._path.write_text(str(LOWEST if lowest else 0), "ascii")
        except BlockingIOError:
            return False
        except OSError:  # no such groups, a container that forbids it, or the process has ended
            return True
        self._is_lowest = lowest
        return True


def idle_on_one_cpu() -> None:
    """Give this process the lowest priority and one processor, as far as the system allows (sched(7), Linux).

    All that it starts from then on inherits both.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST)
    if not hasattr(os, "sched_setscheduler"):
        return
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        os.sched_setaffinity(0, sorted(usable_cpus())[-1:])


def on_battery(system: Path = SYS) -> bool:
    """Whether the machine runs on its battery; False if the system does not say.

    Source: the kernel's `Documentation/ABI/testing/sysfs-class-power`: mains are `online` 1 while they give power.
    """
    mains = []
    for kind in (system / "class/power_supply").glob("*/type"):
        with suppress(OSError):
            if kind.read_text("ascii").strip() in {"Mains", "USB"}:
                mains.append((kind.parent / "online").read_text("ascii").strip() != "0")
    return bool(mains) and not any(mains)


def network_addresses(system: Path = SYS) -> list[str]:
    """IPv4 addresses of this machine in its networks, real interfaces before virtual ones; sends nothing.

    Source: netdevice(7), `SIOCGIFADDR`. Without it, the addresses of the machine's own name.
    """
    addresses: list[tuple[bool, str]] = []
    if sys.platform == "linux":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            for _, name in socket.if_nameindex():
                with suppress(OSError):  # an interface without an address
                    reply = fcntl.ioctl(probe, INTERFACE_ADDRESS, struct.pack("256s", name.encode()[:15]))
                    real = (system / "class/net" / name / "device").exists()
                    addresses.append((not real, socket.inet_ntoa(reply[20:24])))
    else:
        with suppress(OSError):
            addresses = [(False, item) for item in socket.gethostbyname_ex(socket.gethostname())[2]]
    return [item for _, item in sorted(addresses, key=itemgetter(0)) if not item.startswith("127.")]


def use_one_arena() -> None:
    """Let all threads of this process allocate from one arena (mallopt(3); does nothing without glibc).

    Otherwise each thread has its own arena, and the others cannot use what it has freed: 50 MB of an ingest. Call it
    before threads start.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").mallopt(ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory to the system, which the C library would keep (malloc_trim(3); does nothing without glibc).

    Loading the embedding model frees 60 MB of what reading its file took.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def bound(memory_bytes: int, processor_s: int) -> None:
    """Limit the memory and processor time of this process for good; on macOS only the time limit works.

    A process that takes too long gets SIGXCPU, so that its parent knows why, and a second later SIGKILL.
    """
    times = (processor_s, processor_s + 1)
    for limit, most in ((resource.RLIMIT_AS, (memory_bytes,) * 2), (resource.RLIMIT_CPU, times)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, most)
    keep_memory_off_disk()


def keep_memory_off_disk() -> None:
    """Write no memory of this process, or of those that it starts, to the disk when it crashes: it holds a key."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Let this process be killed as soon as the thread that forked it ends (prctl(2), Linux; elsewhere it lives on)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def widen_pipe(descriptor: int, size_bytes: int) -> None:
    """Let a pipe hold more before its writer has to wait (fcntl(2), Linux); elsewhere it keeps its size."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size_bytes)


OTHERS = 0o027
"""The umask: no writing by the group, nothing for others."""


def restrict_new_files() -> None:
    """Let this process, and those that it starts, make files with 0640 and folders with 0750, or less."""
    os.umask(os.umask(OTHERS) | OTHERS)


def open_to_others(data_dir: Path) -> list[Path]:
    """List what other users can read in the data folder, from earlier versions or copies."""
    return [path for path in sorted(data_dir.glob("*")) if not path.is_symlink() and path.stat().st_mode & 0o007]


def close_to_others(data_dir: Path) -> None:
    """Close it; what belongs to another user stays as it is, and `lutrin doctor` names it."""
    for path in open_to_others(data_dir):
        with suppress(PermissionError):
            path.chmod(path.stat().st_mode & ~OTHERS & 0o7777)


if __name__ == "__main__":  # python -m lutrin.platform COMMAND...: that command, in the background
    idle_on_one_cpu()
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - the command is the caller's, word for word
