"""Which files are read."""

import os
from pathlib import Path

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest.formats import all_formats
from lutrin.ingest.scan import SourceFile, scan


def write(root: Path, *names: str) -> None:
    """Files with some text."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text", encoding="utf-8")


def test_files_are_found_in_natural_order(tmp_path: Path) -> None:
    """Numbers count as numbers, an index comes first, other kinds of files do not count."""
    write(
        tmp_path,
        "10-b/x.md",
        "2-a/02.mdx",
        "2-a/1.MD",
        "2-a/index.md",
        "notes & more/a b.pdf",
        "2-a/x.png",
        ".git/y.md",
    )
    names = [file.name for file in scan(tmp_path)]
    assert names == ["2-a/index.md", "2-a/1.MD", "2-a/02.mdx", "10-b/x.md", "notes & more/a b.pdf"]


def test_pages_about_the_project_are_told_from_pages_on_their_subject(tmp_path: Path) -> None:
    """They lie at the top, or shout; further down a page called security is on security."""
    write(tmp_path, "security.md", "code/SECURITY.md", "guide/security.md", "guide/support.md", "intro.md")
    assert {file.name for file in scan(tmp_path)} == {"guide/security.md", "guide/support.md", "intro.md"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Links to files or folders, inside or outside, are each reported."""
    book, outside = tmp_path / "book", tmp_path / "outside"
    write(book, "a.md")
    write(outside, "secret.md")
    (book / "link.md").symlink_to(outside / "secret.md")
    (book / "folder").symlink_to(outside)
    (book / "loop").symlink_to(book)
    skipped: list[str] = []
    files = scan(book, lambda name, _: skipped.append(name))
    assert [file.name for file in files] == ["a.md"]
    assert sorted(skipped) == ["folder", "link.md", "loop"]


def test_a_link_put_in_a_files_way_is_not_read(tmp_path: Path) -> None:
    """Even if it appears between the scan and the reading."""
    book = tmp_path / "book"
    write(book, "a.md", "sub/b.md")
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.md").write_text("secret", encoding="utf-8")
    files = scan(book)
    (book / "a.md").unlink()
    (book / "a.md").symlink_to(tmp_path / "secret.md")
    (book / "sub" / "b.md").unlink()
    (book / "sub").rmdir()
    (book / "sub").symlink_to(tmp_path / "elsewhere")
    for file in files:
        with pytest.raises(DocumentError, match=r"outside|cannot be read"):
            file.read()


@pytest.mark.parametrize("name", ["line\nbreak.md", "bell\a.md", os.fsdecode(b"bad\xff.md")])
def test_names_that_no_line_can_show_are_skipped(tmp_path: Path, name: str) -> None:
    """The reason is told on one printable line."""
    write(tmp_path, name)
    told: list[str] = []
    assert scan(tmp_path, lambda name, reason: told.append(f"{name}: {reason}")) == []
    assert len(told) == 1
    assert told[0].isprintable()


def test_pipes_and_devices_are_skipped(tmp_path: Path) -> None:
    """Reading a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe.md")
    told: list[str] = []
    assert scan(tmp_path, lambda name, _: told.append(name)) == []
    assert told == ["pipe.md"]
    with pytest.raises(DocumentError, match="not a regular file"):
        SourceFile("pipe.md", tmp_path, 0).read()


def test_large_files_are_refused(tmp_path: Path) -> None:
    """Before a byte of them is read."""
    with (tmp_path / "large.md").open("wb") as file:
        file.truncate(all_formats()[".md"].max_bytes + 1)
    with pytest.raises(DocumentError, match="larger than 20 MB"):
        scan(tmp_path)[0].read()


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    """SHA-256 of the bytes, computed when asked for."""
    write(tmp_path, "a.md")
    assert scan(tmp_path)[0].sha256 == "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"


def test_litter_of_other_programs_is_left_out(tmp_path: Path) -> None:
    """Lock files of Office, and what a browser saved beside a page; without the page such a folder is a book's."""
    write(tmp_path, "a.md", "~$a.docx", "_category_.json", "Kilns.html", "Kilns_files/x.html", "Vents_files/y.md")
    left_out: dict[str, str] = {}
    files = scan(tmp_path, left_out.__setitem__)
    assert [file.name for file in files] == ["Kilns.html", "Vents_files/y.md", "a.md"]
    assert left_out == {
        "~$a.docx": "is made by Office while it has the file open",
        "Kilns_files": "holds what a browser saved beside a page",
    }


DRAFT = "is a draft, which the built site does not show"
UNTIMELY = "is not published today, as its dates say"


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("---\ntitle: A\ndraft: true\n---\n", DRAFT),
        ("---\ndraft: 'true' # soon\n---\n", DRAFT),
        ("+++\ntitle = 'A'\ndraft = true\n+++\n", DRAFT),
        ("\ufeff---\r\npublished: false\r\n---\r\n", DRAFT),
        ('{\n  "title": "A",\n  "draft": true\n}\n', DRAFT),
        ('{"title": "A","draft":true}\n', DRAFT),
        ("+++\npublishDate = 2999-01-01T08:00:00Z\n+++\n", UNTIMELY),
        ("---\nexpiryDate: '2001-01-01'\n---\n", UNTIMELY),
        ('{\n"expiryDate": "2001-01-01"\n}\n', UNTIMELY),
        ("---\npublishDate: 2001-01-01\nexpiryDate: 2999-01-01\n---\n", ""),
        ('{\n  "title": "\\"draft\\": true"\n}\n', ""),
        ('{"title": "A"}\n\nSet `{"draft": true}`.\n', ""),
        ("---\ndraft: false\n---\n", ""),
        ("---\ntitle: 'draft: true'\npublished: 2020-01-01\n---\n", ""),
        ("---\ntitle: A\n---\n\ndraft: true\n", ""),
        ("draft: true\n", ""),
    ],
)
def test_a_page_that_is_not_published_is_none(tmp_path: Path, front: str, reason: str) -> None:
    """As the program that builds the site reads its front matter; it is named."""
    (tmp_path / "a.md").write_text(f"{front}\nText.\n", encoding="utf-8", newline="")
    told: list[str] = []
    assert len(scan(tmp_path, lambda name, reason: told.append(f"{name} {reason}"))) == (not reason)
    assert told == ([f"a.md {reason}"] if reason else [])
