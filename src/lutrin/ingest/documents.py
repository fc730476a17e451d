"""One source file, whatever its kind, read into a document that knows its place in the book."""

import msgspec

from lutrin.ingest.books import Book
from lutrin.ingest.formats import format_of
from lutrin.ingest.limited import read_limited, read_plainly
from lutrin.ingest.scan import SourceFile
from lutrin.records import Document


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
    kind = format_of(file.name)
    limited = kind is None or len(data) > kind.trusted_bytes
    document = (read_limited if limited else read_plainly)(data, file.name, password)
    module, chapter = book.place(file.name, document.title)
    return msgspec.structs.replace(document, module=module, chapter=chapter)
