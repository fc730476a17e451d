"""Uploads are stored in one folder of the corpus, whole or not at all, and nowhere else."""

import stat
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from tests.ingest.made import zipped

from lutrin.errors import AlreadyThere, InvalidInput
from lutrin.ingest import upload
from lutrin.ingest.discover import discover
from lutrin.ingest.upload import finish_replacements, store

PAGE = "# Robots\n\nA robot moves.\n"


def sent(**files: str | bytes) -> list[tuple[str, BytesIO]]:
    """Files as a form brings them."""
    return [
        (name.replace("__", "."), BytesIO(text.encode() if isinstance(text, str) else text))
        for name, text in files.items()
    ]


def archive(files: dict[str, str | bytes], name: str = "robots.zip") -> list[tuple[str, BytesIO]]:
    """A zip as a form brings it."""
    return [(name, BytesIO(zipped(files)))]


def test_files_become_a_book(tmp_path: Path) -> None:
    """Named by the sender, else after the first file; found by the next ingest."""
    corpus = tmp_path / "corpus"
    assert store(corpus, sent(a__md=PAGE, b__txt="Text of b."), book="My Robots!").book == "my-robots"
    assert store(corpus, sent(Tides__md=PAGE)).book == "tides"
    found = discover(corpus, shelf=True)
    assert [(book.info.slug, [f.name for f in files]) for book, files in found.books] == [
        ("my-robots", ["a.md", "b.txt"]),
        ("tides", ["Tides.md"]),
    ]
    assert sorted(path.name for path in corpus.iterdir()) == ["my-robots", "tides"]


def test_a_zip_is_unpacked_with_its_folders(tmp_path: Path) -> None:
    """The one folder in it is the book's; pictures, configurations and companion come along, the rest is named."""
    stored = store(
        tmp_path,
        archive(
            {
                "course/docs/a.md": PAGE,
                "course/docs/img/x.png": b"x",
                "course/mkdocs.yml": "site_name: A Course\n",
                "course/companion.jsonl": "{}\n",
                "course/run.sh": "rm -rf /",
                "course/.git/config": "x",
                "course/LICENSE": "x",
            }
        ),
    )
    assert (stored.book, stored.files) == ("course", ["companion.jsonl", "docs/a.md", "docs/img/x.png", "mkdocs.yml"])
    assert {item.filename for item in stored.left_out} == {"run.sh", ".git/config", "LICENSE"}
    ((book, _),) = discover(tmp_path, shelf=True).books
    assert book.info.title == "A Course"


@pytest.mark.parametrize(
    "name",
    [
        "../evil.md",
        "/etc/evil.md",
        "a/../../evil.md",
        "..\\evil.md",
        "C:\\evil.md",
        "a//b.md",
        "con.md",
        "x\n.md",
        "a/ b.md",
    ],
)
def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path, name: str) -> None:
    """Whether they are in an archive or in a form."""
    corpus = tmp_path / "deep" / "corpus"
    for files in (archive({"good.md": PAGE, name: PAGE}), [("good.md", BytesIO(PAGE.encode())), (name, BytesIO(b"x"))]):
        stored = store(corpus, files, book="b", replace=True)
        assert stored.files == ["good.md"]
        assert len(stored.left_out) == 1
    assert [path.name for path in tmp_path.rglob("*.md")] == ["good.md"]


def test_links_in_an_archive_are_left_out(tmp_path: Path) -> None:
    """They could lead to any file of the server."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("a.md", PAGE)
        link = zipfile.ZipInfo("secret.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    stored = store(tmp_path, [("b.zip", BytesIO(out.getvalue()))])
    assert [(item.filename, "symbolic link" in item.reason) for item in stored.left_out] == [("secret.md", True)]


def test_bombs_are_refused_and_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By how far they shrink, by what comes out of them, by their number of files."""
    stored = store(tmp_path, archive({"a.md": PAGE, "bomb.md": bytes(8 << 20)}))
    assert [item.filename for item in stored.left_out] == ["bomb.md"]
    monkeypatch.setattr(upload, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        store(tmp_path, archive({f"{number}.md": PAGE * 9 for number in range(9)}, "many.zip"))
    monkeypatch.setattr(upload, "MAX_UNPACKED_BYTES", 1 << 30)
    monkeypatch.setattr(upload, "MAX_FILES", 5)
    with pytest.raises(InvalidInput, match="more than 5 files"):
        store(tmp_path, archive({f"{number}.md": PAGE for number in range(9)}, "many.zip"))
    assert [path.name for path in tmp_path.iterdir()] == ["robots"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "The upload holds no"),
        (archive({"a.py": "x"}), "The upload holds no .*a.py: is a .py file"),
        ([("a.zip", BytesIO(b"PK\x03\x04 broken"))], "not a complete zip"),
        ([("a.zip", BytesIO(b""))], "not a complete zip"),
    ],
)
def test_what_cannot_be_a_book_is_an_error_that_says_why(
    tmp_path: Path, files: list[tuple[str, BytesIO]], message: str
) -> None:
    """And nothing is left behind."""
    with pytest.raises(InvalidInput, match=message):
        store(tmp_path, files)
    assert list(tmp_path.iterdir()) == []


def test_a_book_is_replaced_only_if_that_is_said(tmp_path: Path) -> None:
    """The old one stays otherwise, whole."""
    store(tmp_path, sent(a__md=PAGE, old__md=PAGE), book="robots")
    with pytest.raises(AlreadyThere, match="robots"):
        store(tmp_path, sent(a__md="new"), book="robots")
    assert (tmp_path / "robots" / "old.md").is_file()
    store(tmp_path, sent(a__md="new text"), book="robots", replace=True)
    assert [path.name for path in (tmp_path / "robots").iterdir()] == ["a.md"]


def test_a_corpus_that_is_a_book_takes_no_other(tmp_path: Path) -> None:
    """Files put into it would become chapters of that one."""
    (tmp_path / "book.toml").write_text('title = "One"')
    with pytest.raises(InvalidInput, match="itself one book"):
        store(tmp_path, sent(a__md=PAGE))


def test_names_of_an_archive_made_on_a_mac_are_what_its_author_typed(tmp_path: Path) -> None:
    """UTF-8 without the flag that says so, accents apart from their letters: a page finds its picture."""
    made = bytearray(zipped({"course/01-\u00dcbung.md": PAGE, "course/Kurve-a\u0308.png": b"x"}))
    for signature, flags in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        place = made.find(signature)
        while place >= 0:
            made[place + flags] &= ~0x08
            place = made.find(signature, place + 4)
    store(tmp_path, [("course.zip", BytesIO(bytes(made)))])
    assert {path.name for path in tmp_path.rglob("*.*")} == {"01-\u00dcbung.md", "Kurve-\u00e4.png"}


def test_a_list_of_a_million_links_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """The list of files and the list of files left out are both bounded."""
    sent = BytesIO()
    with zipfile.ZipFile(sent, "w") as archive:
        for number in range(11_000):
            link = zipfile.ZipInfo(f"{number}.md")
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, "page.md")
    with pytest.raises(InvalidInput, match="more than 10,000"):
        store(tmp_path, [("links.zip", sent)])
    end = bytearray(sent.getvalue()[-22:])
    end[12:16] = (100 << 20).to_bytes(4, "little")
    with pytest.raises(InvalidInput, match="more than 10,000"):
        store(tmp_path, [("list.zip", BytesIO(bytes(end)))])


def test_a_replacement_that_was_killed_is_undone_or_finished(tmp_path: Path) -> None:
    """Between the two renames the old book comes back; after them what is left of it goes."""
    for name, book in ((".upload-01-old-lost", "lost"), (".upload-02-old-there", "there"), (".upload-03", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# Old {book}\n")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "page.md").write_text("# New\n")
    finish_replacements(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lost", "there"]
    assert (tmp_path / "lost" / "page.md").read_text() == "# Old lost\n"
    assert (tmp_path / "there" / "page.md").read_text() == "# New\n"
