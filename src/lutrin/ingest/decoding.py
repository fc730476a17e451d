"""From the bytes of a text file to its characters."""

from charset_normalizer import from_bytes

from lutrin.errors import DocumentError
from lutrin.records import Notice

_LEAST_ZEROS = 0.3
"""In UTF-16 without its mark so many of every second byte of a text in Latin letters are zero."""
_MOST_DAMAGE = 0.01
"""A file of UTF-8 with a few damaged bytes is UTF-8 still."""
_LOOKED_AT = 65_536


def decode(data: bytes, filename: str) -> tuple[str, tuple[Notice, ...]]:
    """The text of a file in whatever encoding it is; one that is not UTF-8 is reported, with its line.

    Raises:
        DocumentError: The file is no text.
    """
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", errors="replace"), ()
    if b"\0" in data[:8192]:
        return data.decode(_wide(data, filename), errors="replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        name = _legacy(data)
        if name:
            message = f"is in the encoding {name}, not UTF-8; it was read so"
            return data.decode(name, errors="replace"), (Notice(filename=filename, message=message, line=line),)
        message = "is not valid UTF-8; the bytes that are not were replaced"
        return data.decode("utf-8", errors="replace"), (Notice(filename=filename, message=message, line=line),)


def _wide(data: bytes, filename: str) -> str:
    """Which UTF-16 a file without its mark is in.

    Raises:
        DocumentError: It has zeros for another reason.
    """
    start = data[:8192]
    for name, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        others = start[::2] if name == "utf-16-le" else start[1::2]
        if zeros.count(0) >= _LEAST_ZEROS * max(1, len(zeros)) and not others.count(0):
            return name
    raise DocumentError(filename, "is not a text file")


def _legacy(data: bytes) -> str:
    """The encoding that a text without valid UTF-8 is in; empty: UTF-8 that was damaged."""
    lossy = data.decode("utf-8", errors="replace")
    wide = sum(c > "\x7f" and c != "\ufffd" for c in lossy)
    if wide and lossy.count("\ufffd") <= max(1, _MOST_DAMAGE * wide):
        return ""
    # The lines that are not plain ASCII tell; thousands of others would only cost time.
    telling = b"\n".join(line for line in data.split(b"\n") if not line.isascii())[:_LOOKED_AT]
    best = from_bytes(telling).best()
    if best is None or best.encoding.startswith("utf"):
        return "cp1252"
    return str(best.encoding)
