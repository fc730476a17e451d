"""A teacher's actions on whole books: add several, rename, hide, order, remove, restore, delete, and try one."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import msgspec
import pytest

from lutrin.errors import IngestInProgress
from lutrin.index.catalog import Catalog, FileState, PublishedBook
from lutrin.index.manifest import MANIFEST, Manifest
from lutrin.messages import PAGE_EXPIRED
from lutrin.records import BookInfo, LeftOut

from .conftest import House, Serve
from .scripted import ANSWER
from .test_teacher import PAGE, TOKEN, key_of, press, sign_in


class Ingest:
    """An ingestion that waits for the test, and counts."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.runs = 0
        self.others = 0
        """How often another program is found reading first."""

    async def __call__(self, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        """Ingest."""
        note("Processing page... 1 chunk created")
        self.runs += 1
        if self.others:
            self.others -= 1
            raise IngestInProgress
        await self.go_on.wait()
        return {"processed": 1}


def publish(house: House, corpus: Path, slug: str, *, loose: bool = False) -> Path:
    """A book as an ingest leaves it; returns its folder, or its file if it is a loose one."""
    root = corpus if loose else corpus / slug
    root.mkdir(parents=True, exist_ok=True)
    file = root / f"{slug}.md"
    file.write_text(f"# {slug}\n", "utf-8")
    info = BookInfo(slug=slug, title=slug.title())
    name = f"000001-{slug}"
    manifest = Manifest(
        name=name, book=info, created="2026-11-22T08:30:00+00:00", collection="c", embedder="e", dimension=2,
        recipe="r", files=1, chunks=1, windows=1, tokens=1, hashes={},
    )  # fmt: skip
    folder = house.data_dir / "books" / slug / name
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    book = PublishedBook(
        info=info, corpus=str(corpus), recipe="r", current=name, previous=None, manifest_sha256="0",
        root=str(root.resolve()),
    )  # fmt: skip
    state = FileState(filename=file.name, size=9, changed_ns=1, sha256="0" * 64)
    with Catalog(house.data_dir / "catalog.db") as catalog:
        catalog.publish(book, published=manifest.created, files=[state])
    return file if loose else root


async def rename(client: httpx.AsyncClient, slug: str, title: str, line: str = "") -> httpx.Response:
    """Fill in the form of a book."""
    fields = {"key": await key_of(client), "title": title, "line": line}
    return await client.post(f"{PAGE}/books/{slug}/rename", data=fields)


def titles(house: House) -> list[str]:
    """The titles on the shelf, in order."""
    with Catalog(house.data_dir / "catalog.db") as catalog:
        return [book.title for book in catalog.books() if not book.choice.is_off]


async def test_a_book_is_renamed_hidden_and_moved(serve: Serve, house: House, tmp_path: Path) -> None:
    """Each holds at once, and nothing of it is in the book's files."""
    corpus = tmp_path / "corpus"
    for slug in ("algebra", "optics", "botany"):
        publish(house, corpus, slug)
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        assert (await rename(client, "optics", "  Light and\nlenses ", "About light.")).status_code == 303
        assert titles(house) == ["Algebra", "Light and lenses", "Botany"]
        await press(client, "books/optics/up")
        assert titles(house) == ["Light and lenses", "Algebra", "Botany"]
        await press(client, "books/algebra/down")
        assert titles(house) == ["Light and lenses", "Botany", "Algebra"]
        await press(client, "books/botany/hide")
        assert titles(house) == ["Light and lenses", "Algebra"]
        assert "<strong>Hidden.</strong>" in (await client.get(PAGE)).text
        await press(client, "books/botany/show")
        assert titles(house) == ["Light and lenses", "Botany", "Algebra"]
        await rename(client, "optics", "Optics")
        assert titles(house)[0] == "Optics"
        assert (await rename(client, "optics", "x" * 121)).status_code == 422
        assert (await press(client, "books/nothing/hide")).status_code == 404
        assert (await press(client, "books/optics/burn")).status_code == 422


async def test_a_removed_book_comes_back_as_it_was(serve: Serve, house: House, tmp_path: Path) -> None:
    """Its files and its index stay until it is deleted for good; a new title outlives the removal."""
    corpus = tmp_path / "corpus"
    folder = publish(house, corpus, "optics")
    house.ingest = ingest = Ingest()
    ingest.go_on.set()
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        await rename(client, "optics", "Light")
        assert (await press(client, "books/optics/delete")).status_code == 404
        assert (await press(client, "books/optics/remove")).headers["location"] == "/teacher#books"
        page = (await client.get(PAGE)).text
        assert titles(house) == []
        assert "Bring it back: Light" in page
        assert folder.is_dir()
        await press(client, "books/optics/restore")
        assert titles(house) == ["Light"]


@pytest.mark.parametrize("loose", [False, True])
async def test_a_book_is_deleted_for_good(serve: Serve, house: House, tmp_path: Path, *, loose: bool) -> None:
    """Its own files go, whether they have a folder or lie beside other books, and nothing else."""
    corpus = tmp_path / "corpus"
    mine = publish(house, corpus, "optics", loose=loose)
    other = publish(house, corpus, "algebra", loose=loose)
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        await press(client, "books/optics/remove")
        assert (await press(client, "books/optics/delete")).status_code == 303
        assert titles(house) == ["Algebra"]
        assert not mine.exists()
        assert other.exists()
        assert "optics" not in (await client.get(PAGE)).text.lower()


async def test_files_elsewhere_are_never_deleted(serve: Serve, house: House, tmp_path: Path) -> None:
    """A book that was made from another folder leaves the shelf; its folder is not this server's."""
    folder = publish(house, tmp_path / "elsewhere", "optics")
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        await sign_in(client)
        await press(client, "books/optics/remove")
        await press(client, "books/optics/delete")
        assert titles(house) == []
        assert folder.is_dir()


async def send(client: httpx.AsyncClient, *names: str, **fields: str) -> httpx.Response:
    """Send files as the page's script does."""
    files = [("files", (name, b"# Page\n\nText.\n")) for name in names]
    data = {"key": await key_of(client), **fields}
    return await client.post(f"{PAGE}/books", files=files, data=data, headers={"Accept": "application/json"})


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that the server does."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the server sends no event
            await asyncio.sleep(0.01)


async def test_an_upload_waits_for_the_one_that_is_read(serve: Serve, house: House, tmp_path: Path) -> None:
    """Nothing is refused; all that wait are read together, once, when the running one has ended."""
    house.ingest = ingest = Ingest()
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        await sign_in(client)
        states = [(await send(client, f"{name}.md")).json()["job"]["state"] for name in "abc"]
        assert states == ["running", "waiting", "waiting"]
        await until(lambda: ingest.runs == 1)
        assert "2 uploads wait and will be read next." in (await client.get(f"{PAGE}/progress")).json()["job_text"]
        ingest.go_on.set()
        await until(lambda: ingest.runs == 2)
        news = (await client.get(f"{PAGE}/progress")).json()
        assert (news["job"], news["job_text"]) == ("done", "The books have been read. 1 file read.")
        assert sorted(path.name for path in (tmp_path / "corpus").iterdir()) == ["a", "b", "c"]


async def test_an_upload_waits_for_another_program(
    serve: Serve, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator who ingests in a terminal meanwhile costs some seconds, not the upload."""
    monkeypatch.setattr("lutrin.serve.routes.ingest.LOOK_AGAIN_S", 0.01)
    house.ingest = ingest = Ingest()
    ingest.others = 3
    ingest.go_on.set()
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        await sign_in(client)
        await send(client, "a.md")
        await until(lambda: ingest.runs == 4)
        assert (await client.get(f"{PAGE}/progress")).json()["job"] == "done"


async def test_each_file_may_be_a_book(serve: Serve, house: House, tmp_path: Path) -> None:
    """Slides, a Word file and a PDF that are sent at once are side by side on the shelf."""
    house.ingest = Ingest()
    corpus = tmp_path / "corpus"
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        reply = (await send(client, "Light.md", "Sound.md", each="true")).json()
        assert (reply["books"], reply["stored"]) == (["light", "sound"], 2)
        assert sorted(path.name for path in corpus.glob("*/*")) == ["Light.md", "Sound.md"]
        again = await send(client, "Light.md")
        assert again.status_code == 409


async def test_a_removed_book_gives_its_name_up(serve: Serve, house: House, tmp_path: Path) -> None:
    """What is sent under the name of a removed book takes its place, on the shelf as well."""
    corpus = tmp_path / "corpus"
    folder = publish(house, corpus, "optics")
    house.ingest = Ingest()
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        await press(client, "books/optics/remove")
        assert (await send(client, "new.md", book="optics")).status_code == 202
        assert [path.name for path in folder.iterdir()] == ["new.md"]
        assert titles(house) == ["Optics"]


async def test_the_report_is_in_plain_words(serve: Serve, house: House, tmp_path: Path) -> None:
    """What is in a book, and what was left out and why, by book; a removed one is not called left out."""
    corpus = tmp_path / "corpus"
    publish(house, corpus, "physical-ai")
    with Catalog(house.data_dir / "catalog.db") as catalog:
        catalog.keep_left_out(
            str(corpus),
            [
                LeftOut(filename="a.docx", reason="is damaged", book="physical-ai"),
                LeftOut(filename="b.docx", reason="is damaged", book="physical-ai"),
                LeftOut(filename="stray.exe", reason="is a .exe file, not text to read"),
            ],
        )
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        home = (await client.get(PAGE)).text
        assert "2 files left out." in home
        assert "stray.exe" in home
        page = (await client.get(f"{PAGE}/books/physical-ai")).text
        assert "2 pages" in page
        assert "<strong>a.docx</strong>, <strong>b.docx</strong>" in page
        assert "is damaged" in page
        for words in ("chunk", "--", "lutrin "):
            assert words not in page.split("<main")[1]


async def test_a_trial_shows_what_pupils_get(serve: Serve) -> None:
    """Questions of the book, and some from elsewhere, each with what is told on it; nothing is stored."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        page = (await client.get(f"{PAGE}/books/physical-ai/trial")).text
        assert "Questions that it should not answer" in page
        assert "How do I bake bread at home?" in page
        assert "<mark>sensorimotor loop</mark>" in page
        assert ANSWER.kind == "generated"
        assert "Nobody has asked anything yet." in (await client.get(PAGE)).text


async def test_books_are_closed_without_signing_in(serve: Serve, house: House, tmp_path: Path) -> None:
    """Pages lead to the form; buttons do nothing."""
    publish(house, tmp_path / "corpus", "optics")
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        for path in ("books/optics", "books/optics/trial"):
            assert (await client.get(f"{PAGE}/{path}")).headers["location"] == PAGE
        reply = await client.post(f"{PAGE}/books/optics/remove", data={"key": ""})
        assert (reply.status_code, reply.json()["detail"]) == (403, PAGE_EXPIRED)
        assert titles(house) == ["Optics"]


async def test_a_teacher_chooses_hints_for_a_book(serve: Serve, house: House, tmp_path: Path) -> None:
    """The choice is kept with the book's others; what is no choice is refused and changes nothing."""
    publish(house, tmp_path / "corpus", "robots")
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        await sign_in(client)
        for hints, status in (("first", 303), ("always", 422)):
            fields = {"key": await key_of(client), "hints": hints}
            assert (await client.post(f"{PAGE}/books/robots/hints", data=fields)).status_code == status
            with Catalog(house.data_dir / "catalog.db") as catalog:
                assert [book.choice.hints for book in catalog.books()] == ["first"]
        page = (await client.get(f"{PAGE}/books/robots")).text
        assert '<option value="first" selected>' in page
