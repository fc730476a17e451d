"""Books, and where a file is in them."""

import json
from pathlib import Path

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest.books import open_book
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import scan
from lutrin.records import BookHazards


def write(path: Path, text: str = "Text.") -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_folder_with_a_description_is_a_book(tmp_path: Path) -> None:
    """Slug, title, edition, version and language come from `book.toml`."""
    write(tmp_path / "book.toml", 'slug = "robots"\ntitle = "Robots"\nedition = "2nd"\nversion = 3\nlanguage = "de"\n')
    info = find_books(tmp_path)[0].info
    assert (info.slug, info.title, info.edition, info.version, info.language) == ("robots", "Robots", "2nd", "3", "de")


def test_each_child_with_a_description_is_a_book(tmp_path: Path) -> None:
    """A folder may hold several books, and also a folder without a description."""
    write(tmp_path / "b" / "book.toml", 'title = "B"')
    write(tmp_path / "a" / "book.toml", 'title = "A"')
    write(tmp_path / "questions" / "x.md")
    assert [(book.info.slug, book.info.title) for book in find_books(tmp_path)] == [
        ("a", "A"),
        ("b", "B"),
        ("questions", "Questions"),
    ]


def test_a_plain_folder_is_a_book_named_by_itself(tmp_path: Path) -> None:
    """And options of the command line override what is known."""
    root = tmp_path / "My Notes & Co"
    write(root / "a.md")
    assert (find_books(root)[0].info.slug, find_books(root)[0].info.title) == ("my-notes-co", "My Notes & Co")
    given = find_books(root, slug_="notes", title="Notes", edition="1st")[0].info
    assert (given.slug, given.title, given.edition) == ("notes", "Notes", "1st")


@pytest.mark.parametrize("text", ["slug = ", 'slug = "../x"', "a = " + "[" * 5000])
def test_a_broken_description_is_named(tmp_path: Path, text: str) -> None:
    """Rather than guessing a book's name."""
    write(tmp_path / "book.toml", text)
    with pytest.raises(DocumentError, match=r"book\.toml"):
        open_book(tmp_path)


def test_a_book_names_what_is_hazardous_in_it(tmp_path: Path) -> None:
    """Its table `[hazards]` comes with the book, in small letters, also where the rest is mdBook's own."""
    text = '[hazards]\ncode = ["My_Arm.go"]\nwords = ["Centrifuge"]\n'
    for name, before in (("ours", 'title = "Labs"\n'), ("mdbook", '[book]\ntitle = "Labs"\nsrc = "src"\n')):
        write(tmp_path / name / "book.toml", before + text)
        write(tmp_path / name / "plain" / "a.md")
        assert open_book(tmp_path / name).info.hazards == BookHazards(code=("my_arm.go",), words=("centrifuge",))
    assert open_book(tmp_path / "ours" / "plain").info.hazards == BookHazards()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hazards = 3", "may contain only `code` and `words`"),
        ('[hazards]\nverbs = ["go"]', "may contain only `code` and `words`"),
        ('[hazards]\ncode = "arm.go"', "code of .hazards. must be a list of strings"),
        ("[hazards]\nwords = [3]", "words of .hazards. must be a list of strings"),
        ('[hazards]\nwords = ["hot plate"]', "'hot plate' is not one word"),
        ('[hazards]\ncode = [""]', "'' is not a piece of one line"),
        (f"[hazards]\nwords = {['saw'] * 101}", "100 strings at most"),
    ],
)
def test_hazards_that_cannot_be_understood_are_named(tmp_path: Path, text: str, said: str) -> None:
    """A warning that a reader does not get is worse than a book that is not read."""
    write(tmp_path / "book.toml", text)
    with pytest.raises(DocumentError, match=said):
        open_book(tmp_path)


def test_folders_give_module_and_chapter(tmp_path: Path) -> None:
    """Labels of the site generator first, else the index page's title, else the folder's name."""
    part, labelled = tmp_path / "01-part-1-basics", "01-chapter-1-sensing"
    write(part / "_category_.json", json.dumps({"label": "Part 1: Basics", "position": 1}))
    write(part / labelled / "_category_.json", json.dumps({"label": "Sensing", "position": 1}))
    write(part / labelled / "01-light.md")
    write(part / "02-chapter-2-moving" / "index.md", "# Chapter 2: Moving about\n")
    write(part / "03-chapter-3-architecture" / "01-layers.md")
    book = find_books(tmp_path)[0]
    places = {file.name.split("/")[1]: book.place(file.name, "T") for file in scan(tmp_path)}
    assert places == {
        labelled: ("Part 1: Basics", "Chapter 1: Sensing"),
        "02-chapter-2-moving": ("Part 1: Basics", "Chapter 2: Moving about"),
        "03-chapter-3-architecture": ("Part 1: Basics", "Chapter 3: Architecture"),
    }


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("intro.md", ("", "Title")),
        ("01-basics/a.md", ("", "Basics")),
        ("module-1-ros/chapter-2.md", ("Module 1: Ros", "Title")),
        ("guides/robots/arms.md", ("Guides", "Robots")),
        ("book/part-2/chapter-5/deep/er.md", ("Part 2", "Chapter 5")),
    ],
)
def test_unlabelled_trees_still_have_chapters(tmp_path: Path, filename: str, expected: tuple[str, str]) -> None:
    """A file of the book's own folder, or of a module without chapters, is a chapter itself."""
    write(tmp_path / filename)
    assert find_books(tmp_path)[0].place(filename, "Title") == expected


def test_readers_leaf_by_positions(tmp_path: Path) -> None:
    """`sidebar_position` and the folders' positions order the pages, names the rest."""
    write(tmp_path / "z" / "_category_.json", json.dumps({"position": 1}))
    write(tmp_path / "z" / "b.md", "---\nsidebar_position: 2\n---\n")
    write(tmp_path / "z" / "a.md", "---\nsidebar_position: 3\n---\n")
    write(tmp_path / "2-y" / "index.md")
    write(tmp_path / "2-y" / "1.md")
    book = find_books(tmp_path)[0]
    documents = [read_document(file, book) for file in scan(tmp_path)]
    ordered = sorted(documents, key=lambda document: book.reading_key(document.filename, document.position))
    assert [document.filename for document in ordered] == ["z/b.md", "z/a.md", "2-y/index.md", "2-y/1.md"]


CONTENTS = {
    "docs.json": '{"navigation": {"tabs": [{"tab": "T", "groups": [{"group": "G", "pages": ["/z & y/b", "1-a", '
    '{"group": "H", "pages": ["z & y/c"]}]}]}]}, "logo": "pages"}',
    "mint.json": '{"navigation": [{"group": "G", "pages": ["z & y/b", "1-a", "z & y/c"]}]}',
    "myst.yml": "project:\n  toc:\n  - file: z & y/b.md\n  - file: 1-a.md\n    children:\n    - file: z & y/c.md\n",
    "_toc.yml": "root: z & y/b\nparts:\n  - caption: P\n    chapters:\n      - file: 1-a\n      - file: z & y/c\n",
    "SUMMARY.md": "# Summary\n\n[B](./z%20y.txt)\n- [B](<z & y/b.md>)\n  - [A](1-a.md)\n- [C](z%20&%20y/c.md#top)\n",
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_sites_own_contents_give_the_reading_order(tmp_path: Path, name: str) -> None:
    """Before positions and names; a page that they leave out comes behind."""
    for page in ("0-left-out.md", "1-a.md", "z & y/b.md", "z & y/c.md"):
        write(tmp_path / page, "---\nsidebar_position: 1\n---\nText.\n")
    (tmp_path / name).write_text(CONTENTS[name], encoding="utf-8")
    book = find_books(tmp_path)[0]
    names = [file.name for file in scan(tmp_path) if file.name != "SUMMARY.md"]
    ordered = sorted(names, key=lambda item: book.reading_key(item, 1.0))
    assert ordered == ["z & y/b.md", "1-a.md", "z & y/c.md", "0-left-out.md"]


SIDEBARS = (
    "module.exports = {guide: ['intro', {type: 'category', label: 'Part I: Basics', items: [{type: 'category', label: "
    "'Motion', items: ['basics/legs-page', 'basics/wheels']}]}, {type: 'category', label: 'Sensing', items: "
    "['sensing/lidar', {type: 'autogenerated', dirName: 'sensing/cameras'}]}, "
    "{type: 'autogenerated', dirName: 'more'}, 'last']};"
)


def test_pages_stand_where_a_sites_sidebar_puts_them(tmp_path: Path) -> None:
    """Named by the `id` that they give themselves, or by the folder that holds them; its own folders are chapters."""
    (tmp_path / "docusaurus.config.js").write_text("module.exports = {title: 'Field Guide'};")
    (tmp_path / "sidebars.js").write_text(SIDEBARS)
    pages = {
        "intro": ("", "Intro"),
        "basics/03-legs": ("Part I: Basics", "Motion"),
        "basics/wheels": ("Part I: Basics", "Motion"),
        "sensing/lidar": ("", "Sensing"),
        "sensing/cameras/pinhole": ("", "Sensing"),
        "sensing/cameras/stereo/depth": ("Sensing", "Stereo"),
        "more/tools": ("", "More"),
        "last": ("", "Last"),
    }
    for name in pages:
        write(tmp_path / "docs" / f"{name}.md", "---\nid: legs-page\n---\n# Legs\n" if "legs" in name else "Text.\n")
    book = find_books(tmp_path)[0]
    names = [f"docs/{name}.md" for name in pages]
    assert sorted(names, key=lambda name: book.reading_key(name, None)) == names
    titles = {name: name.rpartition("/")[2].title() for name in pages}
    assert {name: book.place(f"docs/{name}.md", titles[name]) for name in pages} == pages


@pytest.mark.parametrize("text", ["{", "[[[[", "null", '{"navigation": 3}', "\x00"])
def test_contents_that_cannot_be_read_give_no_order(tmp_path: Path, text: str) -> None:
    """The names serve then, and nothing fails."""
    write(tmp_path / "2.md")
    write(tmp_path / "1.md")
    for name in CONTENTS:
        (tmp_path / name).write_text(text, encoding="utf-8")
    book = find_books(tmp_path)[0]
    assert sorted(["2.md", "1.md"], key=lambda item: book.reading_key(item, None)) == ["1.md", "2.md"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("Text\n\n# A *heading*\n", "A heading"),
        ("Text only.\n", "Digital AI"),
    ],
)
def test_titles_come_from_front_matter_then_heading_then_name(tmp_path: Path, source: str, expected: str) -> None:
    """In this order."""
    write(tmp_path / "01-digital-AI.md", source)
    assert read_document(scan(tmp_path)[0], find_books(tmp_path)[0]).title == expected


def test_bad_utf8_is_read_and_told(tmp_path: Path) -> None:
    """With replacement characters, and the line of the first bad byte."""
    (tmp_path / "a.md").write_bytes("# Über\n\nbad ".encode() + b"\xff byte\n")
    document = read_document(scan(tmp_path)[0], find_books(tmp_path)[0])
    assert document.sections[0].units[0].text == "bad \ufffd byte"
    assert [(notice.line, "UTF-8" in notice.message) for notice in document.notices] == [(3, True)]


def test_binary_files_are_refused(tmp_path: Path) -> None:
    """A picture that is called Markdown is no text."""
    (tmp_path / "a.md").write_bytes(b"PNG\0\0\0")
    with pytest.raises(DocumentError, match="not a text file"):
        read_document(scan(tmp_path)[0], find_books(tmp_path)[0])
