"""`lutrin citations` lists every address that an answer may link to, for sites that publish the book themselves."""

from urllib.parse import unquote

import pytest

from lutrin.ingest.page import page_html

from . import books
from .conftest import FOUNDATIONS_SLUG, Library, Lutrin

pytestmark = pytest.mark.model


def test_every_place_is_on_the_page_that_it_names(lutrin: Lutrin, library: Library) -> None:
    """Each heading that may be cited stands, with its anchor, on the reader's page of that file."""
    found = lutrin("citations").json()
    assert {place["book"] for place in found} == {books.SLUG, FOUNDATIONS_SLUG}
    for place in found:
        path, _, anchor = place["url"].partition("#")
        stem = place["filename"].rpartition(".")[0]
        assert unquote(path) == f"/read/{place['book']}/{stem}"
        source = (library.folders[place["book"]] / place["filename"]).read_text("utf-8")
        assert not anchor or f'id="{unquote(anchor)}"' in page_html(source, place["filename"]), place


def test_what_an_answer_cites_is_among_them(lutrin: Lutrin) -> None:
    """The sources of an answer lead to places of this list, and no place is named twice."""
    urls = [place["url"] for place in lutrin("citations", "--book", books.SLUG).json()]
    assert len(urls) == len(set(urls))
    sources = lutrin("ask", books.QUESTION, "--book", books.SLUG, "--json", LUTRIN_MODEL="none").json()["sources"]
    assert sources
    assert {source["url"] for source in sources} <= set(urls)


def test_a_book_that_is_not_there_is_named(lutrin: Lutrin) -> None:
    """Exit 1, and the books that there are."""
    done = lutrin("citations", "--book", "atlantis")
    assert (done.code, done.out) == (1, "")
    assert "atlantis" in done.err
    assert books.SLUG in done.err
