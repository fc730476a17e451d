"""Pictures of a book: shown where a page shows them, from the book's folder alone, able to do nothing."""

from pathlib import Path

import httpx
import pytest

from lutrin.errors import NotFound
from lutrin.index.shelf import Shelf
from lutrin.serve.library import ShelfLibrary, book_root, candidates

from .conftest import House

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


class OneCorpus(Shelf):
    """A shelf whose only book came from a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def corpus(self, slug: str) -> Path:
        """The folder."""
        assert slug == "lab"
        return self._folder

    def root(self, slug: str) -> None:
        """The book's own folder, which an older index does not name."""
        assert slug == "lab"


async def test_the_page_looks_whether_a_picture_of_pixels_is_a_drawing(client: httpx.AsyncClient, house: House) -> None:
    """A PNG may be one, a JPEG is none."""
    house.library.sources["01/02-loop.mdx"] = "# T\n\n![A chart](chart.png)\n\n![A robot](robot.jpg)\n"
    house.library.pictures.update({"01/chart.png": b"", "01/robot.jpg": b""})
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    assert '<img data-look src="/picture/0/' in page
    assert '<img src="/picture/1/' in page


async def test_a_picture_stands_where_the_page_has_it(client: httpx.AsyncClient, house: House) -> None:
    """With its description; sent so that nothing in it can run; asked for by page and number alone."""
    house.library.sources["01/02-loop.mdx"] = '# T\n\n![A "loop"](./img/loop.svg)\n\n![Gone](gone.png)\n'
    house.library.pictures["01/img/loop.svg"] = SVG
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    drawn = '<img class="drawing" src="/picture/0/physical-ai/01/02-loop" alt="A &quot;loop&quot;" loading="lazy"'
    assert drawn in page
    assert '<span class="missing-image">Gone</span>' in page
    picture = await client.get("/picture/0/physical-ai/01/02-loop")
    assert (picture.status_code, picture.content) == (200, SVG)
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.headers["x-content-type-options"] == "nosniff"
    policy = picture.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script-src" not in policy


@pytest.mark.parametrize(
    "path", ["/picture/1/physical-ai/01/02-loop", "/picture/9/physical-ai/01/02-loop", "/picture/0/no-book/x"]
)
async def test_pictures_that_are_not_there(client: httpx.AsyncClient, house: House, path: str) -> None:
    """404, also for a number that the page does not have."""
    house.library.sources["01/02-loop.mdx"] = "# T\n\n![A](a.png)\n\n![Gone](gone.png)\n"
    house.library.pictures["01/a.png"] = b"png"
    assert (await client.get(path)).status_code == 404


def test_which_file_an_address_means() -> None:
    """Relative to the page or the site's root; nothing outside, hidden, or of another kind."""
    for address, found in (
        ("./img/x.svg", ["01/img/x.svg"]),
        ("../img/x%20y.png?width=3", ["img/x y.png"]),
        ("/img/x.png", ["img/x.png", "static/img/x.png"]),
        ("@site/static/img/x.JPG", ["img/x.JPG", "static/img/x.JPG"]),
        ("../../etc/x.png", []),
        ("/../../etc/x.png", []),
        ("%2e%2e/%2e%2e/x.png", []),
        ("..%2f..%2fx.png", []),
        ("../.git/x.png", []),
        ("x.mdx", []),
        ("x.png/../../../book.toml", []),
        ("x.png\x00.svg", []),
        ("", []),
    ):
        assert candidates("01/02-loop.mdx", address) == found


async def test_only_files_of_the_books_folder_are_read(tmp_path: Path) -> None:
    """A link that leads out of it is not followed; a folder that is gone has no pictures."""
    book = tmp_path / "corpus" / "lab"
    book.mkdir(parents=True)
    (book / "book.toml").write_text('slug = "lab"\ntitle = "Lab"\n')
    (book / "in.png").write_bytes(b"inside")
    (tmp_path / "out.png").write_bytes(b"outside")
    (book / "link.png").symlink_to(tmp_path / "out.png")
    library = ShelfLibrary(OneCorpus(tmp_path / "corpus"))
    assert book_root(tmp_path / "corpus", "lab") == book
    assert await library.find_pictures("lab", "page.md", ["in.png"]) == ["in.png"]
    assert await library.picture("lab", "in.png") == b"inside"
    with pytest.raises(NotFound):
        await library.picture("lab", "link.png")
    gone = ShelfLibrary(OneCorpus(tmp_path / "gone"))
    assert await gone.find_pictures("lab", "page.md", ["in.png"]) == [""]
    with pytest.raises(NotFound):
        await gone.picture("lab", "in.png")
