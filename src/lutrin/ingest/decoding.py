"""Decodes the bytes of a text file."""

import codecs
import contextlib
import unicodedata
from zipfile import ZipInfo

from charset_normalizer import from_bytes

from lutrin.errors import DocumentError
from lutrin.records import Notice

_LEAST_ZEROS = 0.3
"""Share of zeros among every second byte of a text of Latin letters in UTF-16 without a byte order mark."""
_MOST_DAMAGE = 0.01
"""A UTF-8 file with a few damaged bytes still counts as UTF-8."""
_LOOKED_AT = 65_536  # bytes that tell the encoding
_UTF8_NAME = 0x800
"""The flag of a zip member whose name is UTF-8 (APPNOTE.TXT, 4.4.4)."""


def decode(data: bytes, filename: str) -> tuple[str, tuple[Notice, ...]]:
    """Decode a file in any encoding; report one that is not UTF-8, with its line.

    Raises:
        DocumentError: The file is not text.
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
    """The byte order of a UTF-16 file without a byte order mark."""
    start = data[:8192]
    for name, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        others = start[::2] if name == "utf-16-le" else start[1::2]
        if zeros.count(0) >= _LEAST_ZEROS * max(1, len(zeros)) and not others.count(0):
            return name
    raise DocumentError(filename, "is not a text file")


def _legacy(data: bytes) -> str:
    """The encoding of a text that is not valid UTF-8; empty if it is damaged UTF-8."""
    lossy = data.decode("utf-8", errors="replace")
    wide = sum(c > "\x7f" and c != "\ufffd" for c in lossy)
    if wide and lossy.count("\ufffd") <= max(1, _MOST_DAMAGE * wide):
        return ""
    # Only lines with non-ASCII bytes matter; thousands of others would only cost time.
    telling = b"\n".join(line for line in data.split(b"\n") if not line.isascii())[:_LOOKED_AT]
    best = from_bytes(telling).best()
    if best is None or best.encoding.startswith("utf"):
        return "cp1252"
    return codec_of(codecs.lookup(best.encoding).name) or str(best.encoding)


def codec_of(label: str) -> str:
    """The codec with which browsers read an encoding's label (WHATWG); empty for an unknown label.

    >>> codec_of("iso-8859-1"), codec_of("gb2312"), codec_of("hz-gb-2312")
    ('cp1252', 'gbk', '')
    """
    import webencodings  # noqa: PLC0415 - as good as every file is UTF-8

    encoding = webencodings.lookup(label)
    name = encoding.codec_info.name if encoding is not None else ""
    return "" if name == "replacement" else name


def true_name(member: ZipInfo) -> str:
    """Restore a name in a zip archive as typed by its author.

    macOS writes UTF-8 without the flag for it, with accents separate from their letters.
    """
    name = member.filename
    if not member.flag_bits & _UTF8_NAME and not name.isascii():
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)
