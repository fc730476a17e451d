"""Documents that are zip archives: limits their unpacked size before a library unpacks them."""

import zipfile
from io import BytesIO

from lutrin.errors import DocumentError

MAX_UNPACKED_BYTES = 400 * 1024 * 1024
"""Pictures, most of a presentation, are not unpacked; the text of the largest takes a few megabytes."""
MAX_PART_BYTES = 100 * 1024 * 1024
MAX_PARTS = 20_000


def require_small(data: bytes, filename: str, kind: str) -> None:
    """Refuse an archive that would unpack to too much.

    Raises:
        DocumentError: It would, or it is not an archive.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise DocumentError(
            filename, f"is damaged, or no {kind}; open it in the program that made it and save it again"
        ) from error
    texts = [part.file_size for part in parts if part.filename.endswith((".xml", ".rels"))]
    if len(parts) > MAX_PARTS or max(texts, default=0) > MAX_PART_BYTES or sum(texts) > MAX_UNPACKED_BYTES:
        raise DocumentError(filename, f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB")
