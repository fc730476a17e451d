"""From the bytes of a text file to its characters."""

from lutrin.errors import DocumentError
from lutrin.records import Notice


def decode(data: bytes, filename: str) -> tuple[str, tuple[Notice, ...]]:
    """The text of a file, every character in its place; bytes that are no UTF-8 are replaced and reported.

    Raises:
        DocumentError: The file is no text.
    """
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", errors="replace"), ()
    if b"\0" in data[:8192]:
        raise DocumentError(filename, "is not a text file")
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = "is not valid UTF-8; the bytes that are not were replaced"
        return data.decode("utf-8", errors="replace"), (Notice(filename=filename, message=message, line=line),)
