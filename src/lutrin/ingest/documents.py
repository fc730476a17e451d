"""Reads a source file of any kind into a document with its place in the book."""

import os

import msgspec

from lutrin.errors import DocumentError
from lutrin.ingest.books import Book
from lutrin.ingest.formats import format_of
from lutrin.ingest.sandbox import read_in_sandbox, read_plainly
from lutrin.ingest.scan import SourceFile
from lutrin.ingest.strict import refusal
from lutrin.records import Document


def read_document(
    file: SourceFile, book: Book, *, password: str = "", lenient: bool = False, ocr: bool = False
) -> Document:
    """Read a file of a book; most formats, and large files, are read in a separate process with limits.

    Raises:
        DocumentError: The file cannot be read within the limits, or contains no text.
    """
    kind = format_of(file.name)
    with file.open() as opened:
        if kind is None or os.fstat(opened.fileno()).st_size > kind.trusted_bytes:
            recognize = ocr and kind is not None and kind.recognizer != ""
            document = read_in_sandbox(opened, file.name, password, recognize=recognize)
        else:
            document = read_plainly(opened, file.name, password)
    fault = refusal(document.source) if file.suffix == ".mdx" and not lenient else None
    if fault is not None:
        line, reason = fault
        raise DocumentError(file.name, f"line {line}: {reason}; MDX refuses the page (--lenient reads it anyway)")
    module, chapter = book.place(file.name, document.title)
    is_simulation = document.is_simulation if document.is_simulation is not None else book.is_simulation(file.name)
    return msgspec.structs.replace(document, module=module, chapter=chapter, is_simulation=is_simulation)
