"""What only some systems can do, in one place: Linux gives everything, macOS the rest of POSIX.

Each function says what it gives where the system does not answer, so that no caller asks for the system's name.
"""

import ctypes
import fcntl
import gc
import math
import os
import resource
import socket
import struct
import sys
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

LOWEST = 19
"""Niceness: a reader's question weighs some seventy times as much; on an idle machine nothing is lost."""
PROC = Path("/proc")
SYS = Path("/sys")
INTERFACE_ADDRESS = 0x8915
"""`SIOCGIFADDR` of Linux's `bits/ioctls.h`."""
ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's `malloc.h`."""


def usable_cpus() -> set[int]:
    """Numbers of the processors that this process may use; all of them where the system does not tell (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def physical_cores(system: Path = SYS) -> int:
    """Cores that compute, hardware threads counted once, within the share that a container was given.

    Args:
        system: The folder `/sys` of Linux; where it says nothing, each processor counts.
    """
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
    """What Linux says of the processor and its instructions; empty elsewhere."""
    with suppress(OSError):
        return (PROC / "cpuinfo").read_text("utf-8", "replace")
    return ""


def resident_bytes(pid: int | None = None) -> int:
    """Memory that a process holds; 0 where the system does not say (proc(5), `statm`, Linux).

    Args:
        pid: Of another process: then without files that it has mapped. None: this one, with them.
    """
    with suppress(OSError, ValueError, IndexError):
        fields = (PROC / str(pid or "self") / "statm").read_text("ascii").split()
        pages = int(fields[1]) - (int(fields[2]) if pid else 0)
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def processor_seconds(pid: int) -> float:
    """Processor time that all threads of a process have used; 0 where the system does not say (proc(5), `stat`, Linux).

    Args:
        pid: Of the process.
    """
    with suppress(OSError, ValueError, IndexError):
        # The name of the program, in brackets, may hold spaces.
        fields = (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def stand_back(niceness: int = LOWEST) -> None:
    """Let others have the processor first, for good: this process and all that it starts.

    Where Linux groups processes by session (`CONFIG_SCHED_AUTOGROUP`) niceness counts only among those of one session,
    and sessions share evenly; a process that leads its session therefore makes its session nice too (sched(7)).

    Args:
        niceness: Added to that of the process; 19 at most counts.
    """
    with suppress(OSError):  # a container may forbid it: then readers wait a little longer
        own = os.nice(niceness)
        if os.getsid(0) == os.getpid():
            (PROC / "self" / "autogroup").write_text(str(own), "ascii")


def on_battery(system: Path = SYS) -> bool:
    """Whether the machine runs on its battery; False where the system does not say.

    Source: the kernel's `Documentation/ABI/testing/sysfs-class-power`: mains are `online` 1 while they give power.

    Args:
        system: The folder `/sys` of Linux.
    """
    mains = []
    for kind in (system / "class/power_supply").glob("*/type"):
        with suppress(OSError):
            if kind.read_text("ascii").strip() in {"Mains", "USB"}:
                mains.append((kind.parent / "online").read_text("ascii").strip() != "0")
    return bool(mains) and not any(mains)


def network_addresses(system: Path = SYS) -> list[str]:
    """IPv4 addresses of this machine in its networks, real interfaces before virtual ones; nothing is sent.

    Source: netdevice(7), `SIOCGIFADDR`. Where that is not known, the addresses of the machine's own name.

    Args:
        system: The folder `/sys` of Linux, which tells real interfaces from bridges.
    """
    found: list[tuple[bool, str]] = []
    if sys.platform == "linux":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            for _, name in socket.if_nameindex():
                with suppress(OSError):  # an interface without an address
                    reply = fcntl.ioctl(asked, INTERFACE_ADDRESS, struct.pack("256s", name.encode()[:15]))
                    real = (system / "class/net" / name / "device").exists()
                    found.append((not real, socket.inet_ntoa(reply[20:24])))
    else:
        with suppress(OSError):
            found = [(False, item) for item in socket.gethostbyname_ex(socket.gethostname())[2]]
    return [item for _, item in sorted(found, key=itemgetter(0)) if not item.startswith("127.")]


def use_one_arena() -> None:
    """Let all threads of this process allocate from one place (mallopt(3); elsewhere than on glibc nothing happens).

    Each thread has an arena of its own otherwise, and what one of them has freed the others cannot use: 50 MB of an
    ingest. Call it before threads start.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").mallopt(ARENA_MAX, 1)


def give_back() -> None:
    """Return what is free; the C library keeps it otherwise (malloc_trim(3); elsewhere than on glibc nothing happens).

    Loading the embedding model frees 60 MB of what reading its file took.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def bound(memory_bytes: int, processor_s: int) -> None:
    """Bound what this process takes, for good; macOS does not bound memory so, and the time alone holds there.

    What takes too long gets SIGXCPU, which says so to whoever waits for it, and a second later SIGKILL.
    """
    times = (processor_s, processor_s + 1)
    for limit, most in ((resource.RLIMIT_AS, (memory_bytes,) * 2), (resource.RLIMIT_CPU, times)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, most)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def widen_pipe(descriptor: int, size_bytes: int) -> None:
    """Let a pipe hold more before its writer waits (fcntl(2), Linux); elsewhere it keeps its size."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size_bytes)
