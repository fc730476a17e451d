"""One source file, whatever its kind, read into a document that knows its place in the book."""

import msgspec

from lutrin.errors import DocumentError
from lutrin.ingest.books import Book
from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.pdf_child import read_pdf
from lutrin.ingest.scan import SourceFile
from lutrin.records import Document, Notice


def read_document(file: SourceFile, book: Book, *, password: str = "") -> Document:
    """Read a file of a book; a PDF is read in a limited process of its own.

    Args:
        file: As the scan found it.
        book: The book that it belongs to: gives module and chapter.
        password: Of encrypted PDFs.

    Raises:
        DocumentError: The file cannot be read, or holds no text.
    """
    data = file.read()
    notices: tuple[Notice, ...] = ()
    if file.suffix == ".pdf":
        document = read_pdf(data, file.name, password)
    else:
        source, notices = decode(data, file.name)
        document = parse_markdown(source, file.name)
    module, chapter = book.place(file.name, document.title)
    return msgspec.structs.replace(document, module=module, chapter=chapter, notices=(*notices, *document.notices))


def decode(data: bytes, filename: str) -> tuple[str, tuple[Notice, ...]]:
    """The text of a file, every character in its place; bytes that are no UTF-8 are replaced and reported.

    Raises:
        DocumentError: The file is no text.
    """
    try:
        text, notices = data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return decode(data.decode("utf-16", errors="replace").encode(), filename)
        line = data.count(b"\n", 0, error.start) + 1
        message = "is not valid UTF-8; the bytes that are not were replaced"
        text = data.decode("utf-8", errors="replace")
        return text, (Notice(filename=filename, message=message, line=line),)
    if "\0" in text[:8192]:
        raise DocumentError(filename, "is not a text file")
    return text, notices
