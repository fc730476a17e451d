"""Reads untrusted files beside a book: configurations in YAML, TOML and JSON, lists of names, companions.

Each has limits of size and depth and, if parsing may be slow, of memory and time. YAML has no aliases. Links, pipes,
devices and sparse files are refused. An unreadable configuration counts as empty, unless its author must be told.
"""

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from lutrin.platform import bound

MAX_BYTES = 262_144
MAX_DEPTH = 64
AT_ONCE_CHARS = 4096
"""Larger files are parsed in a separate process: 250 KB of dots in a TOML key take gigabytes, 4 KB take nothing."""
MEMORY_BYTES = 256 * 1024 * 1024
TIME_S = 5
_PATIENCE = 4
"""Wall-clock seconds for each second of processor time."""
_BLOCK_BYTES = 512
"""Unit of `st_blocks` (stat(2))."""
_HOLE_BYTES = 1 << 20
"""Smaller files may look sparse: some file systems store small files in the directory entry."""

Kind = Literal["yaml", "toml", "json"]


class _ParserReply(msgspec.Struct, frozen=True):
    """The reply of the process."""

    value: Any = None
    error: str = ""


class PlainLoader(yaml.SafeLoader):
    """YAML without aliases: pages need none, and a few of them can expand to gigabytes."""

    def compose_node(self, parent: Any, index: int) -> Any:  # noqa: ANN401 - as PyYAML declares it
        """Refuse an alias, and report its place."""
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
            raise yaml.MarkedYAMLError(problem="an alias (*name) is not allowed here", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


# Dates and times stay the strings that their author wrote.
PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _TolerantLoader(PlainLoader):
    """YAML in which another program's tag (`!!python/name:...`, `!ENV`) counts as empty."""


_TolerantLoader.add_multi_constructor("", lambda _loader, _suffix, _node: None)


def read_plain(path: Path, most_bytes: int) -> bytes:
    """The content of a plain file.

    Raises:
        OSError: It is missing, a link, a pipe, a device, sparse, larger than that, or unreadable.
    """
    # Do not block, in case it is a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        fault = fault_of(os.fstat(descriptor), most_bytes)
        if fault:
            raise OSError(0, fault, str(path))
        return file.read(most_bytes)


def fault_of(status: os.stat_result, most_bytes: int) -> str:
    """Why a file is refused, by its size and kind; empty if it is not."""
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size > most_bytes:
        return f"is larger than {most_bytes // 1024:,} KB"
    # A compressing file system stores text in a tenth; a file stored in a hundredth has nothing to read.
    has_holes = status.st_size > _HOLE_BYTES and status.st_blocks * _BLOCK_BYTES < status.st_size // 100
    return "has holes, and no text in them" if has_holes else ""


def is_small_file(path: Path, most_bytes: int = MAX_BYTES) -> bool:
    """Whether a path is a plain file that is small enough."""
    try:
        return not fault_of(path.lstat(), most_bytes)
    except OSError:
        return False


def read_small(path: Path) -> str:
    """The text of a configuration; empty if there is no readable one."""
    try:
        return read_plain(path, MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def read_values(path: Path) -> Any:  # noqa: ANN401 - any value of a data file
    """The value of a TOML, JSON or YAML file, by its suffix; None if it has none or is unreadable."""
    kinds: dict[str, Kind] = {".toml": "toml", ".json": "json"}
    try:
        return parse(read_small(path), kinds.get(path.suffix, "yaml"))
    except ValueError:
        return None


def parse(text: str, kind: Kind) -> Any:  # noqa: ANN401 - any value of a data file
    """The value of a configuration; None if it is empty.

    Raises:
        ValueError: It is malformed, nested too deeply, or takes more memory or time than a configuration may.
    """
    if not text.strip():
        return None
    if kind == "json" or len(text) <= AT_ONCE_CHARS:
        return _parse(text, kind)
    command = [sys.executable, "-m", "lutrin.ingest.configuration", kind]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=text.encode(), capture_output=True, timeout=_PATIENCE * TIME_S, check=False
        )
        parsed = msgspec.msgpack.decode(done.stdout, type=_ParserReply)
    except (subprocess.TimeoutExpired, msgspec.MsgspecError):
        raise ValueError("takes too much memory or time") from None
    if parsed.error:
        raise ValueError(parsed.error)
    return parsed.value


def _parse(text: str, kind: Kind) -> Any:  # noqa: ANN401 - any value of a data file
    try:
        match kind:
            case "yaml":
                value = yaml.load(text, Loader=_TolerantLoader)  # noqa: S506 - a subclass of SafeLoader
            case "toml":
                value = tomllib.loads(text)
            case "json":
                value = json.loads(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _is_deep(value):
        raise ValueError("is nested too deeply")
    return value


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        tables = [item for holder in level if isinstance(holder, dict) for item in holder.values()]
        level = tables + [item for holder in level if isinstance(holder, list) for item in holder]
    return bool(level)


def main() -> None:
    """Parse one text from standard input, within the limits."""
    bound(MEMORY_BYTES, TIME_S)
    kind: Kind = "toml" if sys.argv[1] == "toml" else "yaml"
    try:
        parsed = _ParserReply(_parse(sys.stdin.buffer.read().decode(), kind))
        body = msgspec.msgpack.encode(parsed)
    except (ValueError, TypeError, OverflowError) as error:  # also what has no form in MessagePack, as a date
        body = msgspec.msgpack.encode(_ParserReply(error=str(error) or "cannot be read"))
    sys.stdout.buffer.write(body)


if __name__ == "__main__":
    main()
