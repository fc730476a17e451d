"""Reading a file in a process of its own, with bounded memory and time: a hostile file costs one error line.

PDFs are read so, because their parsers can be made to eat both, and large Markdown files, because a few megabytes of
brackets take minutes. The child gets the open file, or its content on standard input, and answers on its standard
output, as MessagePack.
"""

import contextlib
import logging
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from typing import BinaryIO

import msgspec

from lutrin.errors import DocumentError
from lutrin.ingest import formats
from lutrin.platform import bound
from lutrin.records import Document

TIME_LIMIT_S = 30.0
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024
_OUT_OF_MEMORY = 3  # exit code of the child
_PATIENCE = 4
"""Seconds of the clock for each second of processor time: the child shares the processor with what else runs."""
_DESCRIPTOR = 3
"""Of the file that the parent has opened: its place among the arguments."""


class _Job(msgspec.Struct, frozen=True):
    filename: str
    password: str
    data: bytes
    recognize: bool = False


class _Reply(msgspec.Struct, frozen=True):
    document: Document | None = None
    error: str = ""


def read_plainly(data: bytes | BinaryIO, filename: str, password: str = "", *, recognize: bool = False) -> Document:
    """Read a file of any kind in this process, without limits.

    Raises:
        DocumentError: The file cannot be read, or holds no text.
    """
    kind = formats.format_of(filename)
    if kind is None:
        raise DocumentError(filename, f"is not a {formats.suffixes_in_words()} file")
    return kind.parse(BytesIO(data) if isinstance(data, bytes) else data, filename, password, recognize=recognize)


def read_limited(
    data: bytes | BinaryIO,
    filename: str,
    password: str = "",
    *,
    time_limit_s: float | None = None,
    memory_limit_bytes: int | None = None,
    recognize: bool = False,
) -> Document:
    """Read a file of any kind in a limited child process.

    Args:
        time_limit_s: Seconds of processor time after which the child is killed, and of the clock some times as many,
            for the machine may have other work; None: what its format may take.
        memory_limit_bytes: Address space that the child may use; None: likewise.

    Raises:
        DocumentError: The file cannot be read, or not within the limits.
    """
    kind = formats.format_of(filename)
    if recognize:
        time_limit_s = time_limit_s or formats.RECOGNITION_TIME_LIMIT_S
        memory_limit_bytes = memory_limit_bytes or formats.RECOGNITION_MEMORY_LIMIT_BYTES
    time_limit_s = time_limit_s or (kind.time_limit_s if kind else TIME_LIMIT_S)
    memory_limit_bytes = memory_limit_bytes or (kind.memory_limit_bytes if kind else MEMORY_LIMIT_BYTES)
    shared = [] if isinstance(data, bytes) else [data.fileno()]
    command: Sequence[str] = (
        sys.executable, "-m", "lutrin.ingest.limited", str(memory_limit_bytes), str(math.ceil(time_limit_s)),
        *map(str, shared),
    )  # fmt: skip
    job = msgspec.msgpack.encode(_Job(filename, password, data if isinstance(data, bytes) else b"", recognize))
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command, input=job, capture_output=True, timeout=_PATIENCE * time_limit_s, check=False, pass_fds=shared
        )
        in_time = done.returncode != -signal.SIGXCPU
    except subprocess.TimeoutExpired:
        in_time = False
    if not in_time:
        raise DocumentError(filename, f"could not be read within {time_limit_s:g} s")
    if done.returncode == 0:
        reply = msgspec.msgpack.decode(done.stdout, type=_Reply)
        if reply.document is not None:
            return reply.document
        raise DocumentError(filename, reply.error)
    if done.returncode == _OUT_OF_MEMORY:
        raise DocumentError(filename, f"needs more than {memory_limit_bytes // 1024 // 1024} MB of memory to be read")
    raise DocumentError(filename, f"crashed the parser (exit code {done.returncode})")


def _read(job: _Job) -> Document:
    """Read what the parent has opened, or else what it has sent."""
    if len(sys.argv) <= _DESCRIPTOR:
        return read_plainly(job.data, job.filename, job.password, recognize=job.recognize)
    with os.fdopen(int(sys.argv[_DESCRIPTOR]), "rb") as file:
        file.seek(0)
        return read_plainly(file, job.filename, job.password, recognize=job.recognize)


def main() -> int:
    """Serve one job; the exit code tells the parent what went wrong if nothing could be written."""
    bound(int(sys.argv[1]), int(sys.argv[2]))
    logging.disable(logging.CRITICAL)  # warnings of pypdf and pdfminer about a file's faults
    try:
        job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=_Job)
        try:
            reply = _Reply(document=_read(job))
        except DocumentError as error:
            reply = _Reply(error=error.detail.removeprefix(f"{job.filename}: "))
        sys.stdout.buffer.write(msgspec.msgpack.encode(reply))
        sys.stdout.buffer.flush()
    except MemoryError:
        return _OUT_OF_MEMORY
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # the parent has given up
        sys.exit(main())
