"""Show how one file of a book is understood, for `lutrin ingest --explain`."""

from pathlib import Path

from lutrin.errors import EmptyCorpus
from lutrin.ingest.books import open_book
from lutrin.ingest.chunk import chunk_document, chunk_notices
from lutrin.ingest.documents import read_document
from lutrin.ingest.formats import suffixes_in_words
from lutrin.ingest.placing import with_places
from lutrin.ingest.scan import scan
from lutrin.ingest.sites import is_site
from lutrin.ingest.understood import explain
from lutrin.runtime.profile import open_embedder
from lutrin.settings import Settings


def explain_file(settings: Settings, path: Path, *, password: str = "") -> str:
    """Describe in words the headings, units and chunks of a file; nothing is indexed.

    Raises:
        DocumentError: The file cannot be read.
        EmptyCorpus: Lutrin does not read files of this kind.
    """
    root = next((folder for folder in path.resolve().parents if is_site(folder)), path.resolve().parent)
    book = open_book(root)
    name = path.resolve().relative_to(root).as_posix()
    file = next((item for item in scan(root, rules=book.rules) if item.name == name), None)
    if file is None:
        raise EmptyCorpus(f"{path} is not a file that Lutrin reads.", remedy=f"Give a {suffixes_in_words()} file.")
    document = read_document(file, book, password=password, lenient=True)
    embedder = open_embedder(settings)
    target = settings.chunk_tokens
    chunks = chunk_document(document, book.info, embedder.token_offsets, target, settings.chunk_overlap_tokens)
    chunks = with_places(document, chunks)
    return explain(document, chunks, chunk_notices(document, chunks, target))
