"""One source file, whatever its kind, read into a document that knows its place in the book."""

import msgspec

from lutrin.ingest.books import Book
from lutrin.ingest.limited import read_limited, read_plainly
from lutrin.ingest.scan import SourceFile
from lutrin.records import Document

# A page of a book has a tenth of this; the worst that so many bytes can do takes a few seconds.
_TRUSTED_BYTES = 262_144


def read_document(file: SourceFile, book: Book, *, password: str = "") -> Document:
    """Read a file of a book; PDFs and large files are read in a limited process of their own.

    Args:
        file: As the scan found it.
        book: The book that it belongs to: gives module and chapter.
        password: Of encrypted PDFs.

    Raises:
        DocumentError: The file cannot be read within the limits, or holds no text.
    """
    data = file.read()
    limited = file.suffix == ".pdf" or len(data) > _TRUSTED_BYTES
    document = (read_limited if limited else read_plainly)(data, file.name, password)
    module, chapter = book.place(file.name, document.title)
    return msgspec.structs.replace(document, module=module, chapter=chapter)
