"""Stands on PYTHONPATH of the offline tests: every Python that starts there ends when it reaches out.

Python imports this module by its name before anything else, in spawned children too. An audit hook, which cannot be
taken off again, sees connections, datagrams and name lookups of Python code.
"""

import ipaddress
import os
import sys
from typing import Any

EXIT_CODE = 97
VARIABLE = "LUTRIN_TEST_NETWORK_LOG"
TO_ADDRESS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
OF_NAME = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


def note(line: str) -> None:
    """Append a line to the log, in one write."""
    descriptor = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def is_here(host: object) -> bool:
    """Whether a host is this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name == "localhost":
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """End the process at once when it leaves the machine."""
    if event in TO_ADDRESS:
        address = arguments[1]
        if not isinstance(address, tuple) or is_here(address[0]):  # others are sockets in the file system
            return
    elif event not in OF_NAME or is_here(arguments[0]):
        return
    note(f"refused {event} {arguments[1:] if event in TO_ADDRESS else arguments[:2]} in {' '.join(sys.orig_argv)}")
    os._exit(EXIT_CODE)


if VARIABLE in os.environ:
    note(f"guarded {' '.join(sys.orig_argv)}")
    sys.addaudithook(watch)
