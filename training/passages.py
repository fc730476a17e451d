"""Cut a folder into passages as an ingest does, without embedding them.

One JSON object a line: `file`, `head` (the heading path), `text` (what is embedded: heading path, line break, passage),
and `units`, each `[start, end, kind, block, char_start, char_end]`; the first two count characters of `text`, the last
two characters of the source file.
"""

import json
import sys
from pathlib import Path

from lutrin.errors import DocumentError
from lutrin.ingest.books import open_book
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import scan
from lutrin.records import Chunk, Document
from lutrin.runtime.profile import open_embedder
from lutrin.settings import load_settings
from training import sources


def spans(chunk: Chunk) -> list[tuple[int, int, str, int, int, int]]:
    """Span of each unit of a chunk in its embedded text, without units that are not found."""
    return [
        (start, end, unit.kind, unit.block, unit.char_start, unit.char_end)
        for unit, (start, end) in zip(chunk.units, chunk.unit_spans(), strict=True)
        if end > start
    ]


def extract(folder: Path) -> None:
    """Write the texts of a book's PDFs and EPUBs, in whose letters and digits questions have their places."""
    book = open_book(folder)
    for source in scan(folder, rules=book.rules):
        if Path(source.name).suffix in sources.EXTRACTED:
            keep(folder, read_document(source, book, password=""))


def keep(folder: Path, document: Document) -> None:
    """Write the text of a PDF or EPUB beside it."""
    path = sources.text_path(folder, document.filename)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document.source.encode("utf-8"))


def cut(folder: Path, out: Path, part: str = "") -> None:
    """Write the passages of one book.

    Args:
        folder: The book, with the files that describe it.
        out: A file of JSON lines; it gets its name once it is whole.
        part: Only pages in this folder of the book; empty: all.
    """
    settings = load_settings()
    embedder = open_embedder(settings)
    book = open_book(folder)
    partial = out.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for source in scan(folder, rules=book.rules):
            if part and not source.name.startswith(f"{part}/"):
                continue
            try:
                document = read_document(source, book, password="")
            except DocumentError as error:
                print(error.detail, file=sys.stderr)
                continue
            if Path(source.name).suffix in sources.EXTRACTED:
                keep(folder, document)
            for chunk in chunk_document(
                document, book.info, embedder.token_offsets, settings.chunk_tokens, settings.chunk_overlap_tokens
            ):
                row = {
                    "file": chunk.filename,
                    "head": " > ".join(chunk.heading_path),
                    "text": chunk.embedded_text(),
                    "units": spans(chunk),
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    partial.rename(out)
