"""Which books are found in a stranger's folder, and what is left out."""

from pathlib import Path

import pytest
from tests.ingest.strangers import STRANGERS, Stranger, page
from tests.ingest.test_shelf_roles import shelf as real_books

from lutrin.errors import InvalidInput
from lutrin.ingest.discover import discover, find_books
from lutrin.ingest.documents import read_document


def write(path: Path, text: str = "# A page\n\nText.\n") -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", STRANGERS)
def test_a_folder_of_any_make_is_one_book(tmp_path: Path, name: str) -> None:
    """With the title and the order of pages that its own files give, whether it or its parent is named."""
    stranger = STRANGERS[name]
    root = stranger.write(tmp_path / "corpus" / name)
    for path, shelf in ((root, False), (tmp_path / "corpus", True)):
        ((book, files),) = discover(path, shelf=shelf).books
        documents = {file.name: read_document(file, book) for file in files}
        assert (book.info.slug, book.info.title) == (name, stranger.title)
        ordered = sorted(documents, key=lambda item: book.reading_key(item, documents[item].position))
        assert tuple(ordered) == stranger.pages
        assert {item: documents[item].chapter for item in stranger.chapters} == stranger.chapters
        assert {item: documents[item].module for item in stranger.modules} == stranger.modules


@pytest.mark.parametrize(("name", "stranger"), STRANGERS.items())
def test_every_file_of_it_is_a_page_or_is_left_out_with_a_reason(tmp_path: Path, name: str, stranger: Stranger) -> None:
    """Nothing is ignored in silence."""
    found = discover(stranger.write(tmp_path / name))
    assert {item.filename for item in found.left_out} == stranger.left_out
    assert all(item.reason and item.book == name for item in found.left_out)
    pages = {file.name for _, files in found.books for file in files}
    missing = {
        file
        for file in stranger.files
        if file not in pages and not any(file == item or file.startswith(f"{item}/") for item in stranger.left_out)
    }
    assert missing == set()


def test_books_of_many_makes_stand_beside_each_other(tmp_path: Path) -> None:
    """One shelf with all of them, loose files, an empty folder and a link."""
    for name, stranger in STRANGERS.items():
        stranger.write(tmp_path / "corpus" / name)
    write(tmp_path / "corpus" / "Tea & Coffee.md", page("Tea and coffee", "Green tea steeps at seventy degrees."))
    write(tmp_path / "corpus" / "README.md")
    write(tmp_path / "corpus" / "data" / "figures.csv", "1,2\n")
    (tmp_path / "corpus" / "elsewhere").symlink_to(tmp_path)
    found = discover(tmp_path / "corpus", shelf=True)
    titles = {book.info.slug: book.info.title for book, _ in found.books}
    assert titles == {**{name: s.title for name, s in STRANGERS.items()}, "tea-coffee": "Tea and coffee"}
    beside = {item.filename: item.reason for item in found.left_out if not item.book}
    assert beside == {
        "README.md": "is about the folder, not a book",
        "data/": "holds no file that Lutrin reads",
        "elsewhere": "is a symbolic link and was not followed",
    }


def test_real_books_are_found_as_their_authors_lay_them_out() -> None:
    """Each of the shelf is one book with all its pages, and what is no page has a reason."""
    books = real_books()
    if books is None:
        pytest.skip("The shelf of real books (shared/shelf) is not beside this checkout.")
    found = discover(books, shelf=True)
    assert {book.info.slug: (book.info.title, len(files)) for book, files in found.books} == {
        "gazebo": ("Gazebo", 30),
        "iot": ("IoT", 121),
        "rust": ("The Rust Programming Language", 111),
        "shell": ("Shell", 11),
        "transformers": ("Transformers", 104),
        "vision-notes": ("Vision Notes", 65),
    }
    known = {(book.info.slug, file.name) for book, files in found.books for file in files}
    known |= {(item.book, item.filename) for item in found.left_out if item.reason}
    for root in (book.root for book, _ in found.books):
        assert all(
            (root.name, path.relative_to(root).as_posix()) in known for path in root.rglob("*") if path.is_file()
        )


def test_a_shelf_may_hold_shelves(tmp_path: Path) -> None:
    """A folder whose folders describe themselves is a shelf within the shelf."""
    write(tmp_path / "physics" / "waves" / "book.toml", 'title = "Waves"')
    write(tmp_path / "physics" / "waves" / "a.md")
    write(tmp_path / "physics" / "heat" / "a.md")
    write(tmp_path / "history" / "part-1" / "a.md")
    write(tmp_path / "history" / "part-2" / "a.md")
    assert [book.info.title for book in find_books(tmp_path, shelf=True)] == ["History", "Heat", "Waves"]


def test_folders_with_names_of_their_own_are_books_and_numbered_ones_are_chapters(tmp_path: Path) -> None:
    """If no file says which they are."""
    write(tmp_path / "a" / "robots" / "x.md")
    write(tmp_path / "a" / "bees" / "x.md")
    write(tmp_path / "b" / "01-robots" / "x.md")
    write(tmp_path / "b" / "02-bees" / "x.md")
    assert [book.info.slug for book in find_books(tmp_path / "a")] == ["bees", "robots"]
    assert [book.info.slug for book in find_books(tmp_path / "b")] == ["b"]


def test_loose_files_are_books_and_a_numbered_series_is_one(tmp_path: Path) -> None:
    """Each file is named after itself, the series after its folder."""
    for name in ("01-intro.md", "02-more.md", "tides.md", "stars.txt.bak"):
        write(tmp_path / "corpus" / name, "Text.\n")
    found = discover(tmp_path / "corpus", shelf=True)
    assert [(book.info.slug, [file.name for file in files]) for book, files in found.books] == [
        ("corpus", ["01-intro.md", "02-more.md"]),
        ("tides", ["tides.md"]),
    ]
    assert [item.filename for item in found.left_out] == ["stars.txt.bak"]


def test_one_file_is_a_book(tmp_path: Path) -> None:
    """And nothing beside it is read or told."""
    write(tmp_path / "tides.md", page("The tides"))
    write(tmp_path / "other.md")
    found = discover(tmp_path / "tides.md")
    assert [(book.info.title, [file.name for file in files]) for book, files in found.books] == [
        ("The tides", ["tides.md"])
    ]
    assert found.left_out == []


def test_books_with_folders_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    """By a number, unless their authors gave both the same slug."""
    for shelf in ("a", "b"):
        write(tmp_path / shelf / "docs-of-it" / "mkdocs.yml", f"site_name: {shelf}")
        write(tmp_path / shelf / "docs-of-it" / "x.md")
    assert [book.info.slug for book in find_books(tmp_path, shelf=True)] == ["docs-of-it", "docs-of-it-2"]
    for shelf in ("a", "b"):
        write(tmp_path / shelf / "docs-of-it" / "book.toml", 'slug = "same"')
    found = discover(tmp_path, shelf=True)
    assert (found.books, len(found.broken)) == ([], 2)


def test_options_name_one_book(tmp_path: Path) -> None:
    """A folder is one book if its operator says so; a shelf of several is an error that says what to do."""
    write(tmp_path / "robots" / "x.md")
    write(tmp_path / "bees" / "x.md")
    (book,) = find_books(tmp_path, title="Robots and Bees")
    assert (book.info.title, book.root) == ("Robots and Bees", tmp_path)
    with pytest.raises(InvalidInput, match="Give its folder"):
        find_books(tmp_path, shelf=True, title="Robots and Bees")


def test_an_ignore_file_leaves_out_what_it_names(tmp_path: Path) -> None:
    """Its patterns, or the whole folder if it is empty."""
    write(tmp_path / "book" / "a.md")
    write(tmp_path / "book" / "drafts" / "b.md")
    write(tmp_path / "book" / "c.tmp.md")
    write(tmp_path / "book" / ".lutrinignore", "# not yet\ndrafts/\n*.tmp.md\n")
    write(tmp_path / "sources" / "a.md")
    write(tmp_path / "sources" / ".lutrinignore", "")
    found = discover(tmp_path, shelf=True)
    assert [[file.name for file in files] for _, files in found.books] == [["a.md"]]
    assert {item.filename for item in found.left_out} == {"drafts", "c.tmp.md", "sources/"}


@pytest.mark.parametrize("text", ["{", "[[[[", "null", "- - - :", "\x00", "a: &x [*x]", "<<: *y"])
def test_configurations_that_cannot_be_read_say_nothing(tmp_path: Path, text: str) -> None:
    """The names serve then, and nothing fails."""
    names = ("mkdocs.yml", "_toc.yml", "myst.yml", "_config.yml", "config.yaml", "_quarto.yml", "hugo.toml")
    for name in (*names, "docusaurus.config.js", "sidebars.js", "docs.json", "_toctree.yml", "SUMMARY.md"):
        write(tmp_path / "tea" / name, text)
    write(tmp_path / "tea" / "2.md")
    write(tmp_path / "tea" / "1.md")
    ((book, files),) = discover(tmp_path, shelf=True).books
    assert (book.info.title, [file.name for file in files if file.name != "SUMMARY.md"]) == ("Tea", ["1.md", "2.md"])


def test_a_contents_that_names_places_outside_leads_nowhere(tmp_path: Path) -> None:
    """A configuration cannot make a folder elsewhere part of a book."""
    write(tmp_path / "secret" / "x.md", page("Secret"))
    write(
        tmp_path / "book" / "mkdocs.yml", "site_name: B\ndocs_dir: ../secret\nnav: [../secret/x.md, ../../etc/passwd]"
    )
    write(tmp_path / "book" / "docs" / "a.md")
    ((book, files),) = discover(tmp_path / "book").books
    assert [file.name for file in files] == ["docs/a.md"]
    assert book.place("docs/a.md", "A page") == ("", "A page")


def test_pages_in_html_are_read_in_the_order_of_their_first_page(tmp_path: Path) -> None:
    """As DocBook writes them: with a title, a language in each name, and pages called as files about a project."""
    head = '<html><head><title>{title}</title></head><body><div class="navheader"><a href="x.html">Prev</a></div>'
    shown = f"{head}{{body}}</body></html>"
    links = "".join(f'<dt><a href="{name}.en.html">{name}</a></dt>' for name in ("wax", "bees", "support"))
    pages = {
        "index": ("The Beekeeper's FAQ", f'<p>On bees.</p><div class="toc"><dl>{links}</dl></div>'),
        "wax": ("Wax", "<h1>Wax</h1><p>Wax melts at 64 degrees.</p>"),
        "bees": ("Bees", "<h1>Bees</h1><p>Bees fly.</p>"),
        "support": ("Help", "<h1>Help</h1><p>Ask the neighbour.</p>"),
    }
    for name, (title, body) in pages.items():
        (tmp_path / f"{name}.en.html").write_text(shown.format(title=title, body=body))
    (tmp_path / "LICENSE.md").write_text("# Licence\n\nFree.")
    (tmp_path / "old.html").write_text('<meta http-equiv="Refresh" content="0; url=wax.en.html"><p>It is at Wax.</p>')
    (opened, files), *others = discover(tmp_path).books
    assert not others
    assert opened.info.title == "The Beekeeper's FAQ"
    names = sorted((file.name for file in files), key=lambda name: opened.reading_key(name, None))
    assert names == ["index.en.html", "wax.en.html", "bees.en.html", "support.en.html"]
    index = read_document(next(file for file in files if file.name == names[0]), opened)
    assert [unit.text for section in index.sections for unit in section.units] == ["On bees."]
