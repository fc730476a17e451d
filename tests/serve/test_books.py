"""Books are sent over HTTP: with the token only, checked, stored, and read by a job."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.ingest.made import zipped

from lutrin.messages import INGEST_OFF, MALFORMED_FORM, PAGE_EXPIRED, UPLOAD_TOO_LARGE, WRONG_TOKEN
from lutrin.serve import guards

from .conftest import House, Serve
from .test_teacher import key_of, sign_in

TOKEN = {"Authorization": "Bearer correct-horse-battery"}
FILES = [("files", ("a.md", b"# A\n\nText of a.\n")), ("files", ("run.py", b"x"))]


class Reading:
    """An ingestion that is done at once."""

    def __init__(self) -> None:
        self.done = asyncio.Event()

    async def __call__(self, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        """Ingest."""
        note("Found 1 book:")
        self.done.set()
        return {"processed": 1}


async def test_several_books_sent_at_once_wait_their_turn(serve: Serve, house: House, tmp_path: Path) -> None:
    """Each is taken, none is stored twice, and all of them are read."""
    end, rounds = asyncio.Event(), 0

    async def ingest(_note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        nonlocal rounds
        await end.wait()
        rounds += 1
        return {"processed": 1}

    house.ingest = ingest
    corpus = tmp_path / "corpus"
    async with serve(admin_token="correct-horse-battery", corpus_dir=corpus) as client:
        sent = [client.post("/books", headers=TOKEN, files=FILES, data={"book": f"book-{n}"}) for n in range(8)]
        replies = await asyncio.gather(*sent)
        assert [reply.status_code for reply in replies] == [202] * 8
        end.set()
        async with asyncio.timeout(20):
            while rounds == 0 or len([*corpus.glob("book-*")]) < 8:  # noqa: ASYNC110 - the server does it meanwhile
                await asyncio.sleep(0.02)
    assert sorted(path.name for path in corpus.iterdir()) == [f"book-{n}" for n in range(8)]


async def test_an_upload_that_breaks_off_is_called_so(serve: Serve, house: House, tmp_path: Path) -> None:
    """It is no JSON that somebody wrote wrongly; nothing is stored."""
    house.ingest = Reading()
    half = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n# A'
    headers = {**TOKEN, "Content-Type": "multipart/form-data; boundary=x"}
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        reply = await client.post("/books", headers=headers, content=half)
    assert (reply.status_code, reply.json()["detail"]) == (400, MALFORMED_FORM)
    assert not (tmp_path / "corpus").exists()


async def test_a_book_is_sent_and_read(serve: Serve, house: House, tmp_path: Path) -> None:
    """The reply says what was stored and left out; the job's lines say it again, then how the reading went."""
    house.ingest = Reading()
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        reply = await client.post("/books", headers=TOKEN, files=FILES, data={"book": "robots"})
        assert reply.status_code == 202
        body = reply.json()
        assert (body["book"], body["stored"]) == ("robots", 1)
        assert body["left_out"] == [
            {"book": "robots", "filename": "run.py", "reason": "is a .py file, not text to read"}
        ]
        await house.ingest.done.wait()
        job = (await client.get(reply.headers["location"], headers=TOKEN)).json()
        assert job["progress"][:2] == [
            "Stored 1 file in robots/.",
            "Left out robots/run.py: is a .py file, not text to read",
        ]
    assert (tmp_path / "corpus" / "robots" / "a.md").read_text() == "# A\n\nText of a.\n"


async def test_only_who_knows_the_token_may_send(serve: Serve, house: House, tmp_path: Path) -> None:
    """Nothing is stored otherwise, nor where no token is set."""
    house.ingest = Reading()
    async with serve(corpus_dir=tmp_path / "corpus") as client:
        reply = await client.post("/books", headers=TOKEN, files=FILES)
        assert (reply.status_code, reply.json()["detail"]) == (403, INGEST_OFF)
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        reply = await client.post("/books", files=FILES)
        assert (reply.status_code, reply.json()["detail"]) == (403, WRONG_TOKEN)
    assert not (tmp_path / "corpus").exists()


async def test_what_cannot_be_stored_is_a_problem(serve: Serve, house: House, tmp_path: Path) -> None:
    """No files: 422; a zip that is none: 422; a name that is taken: 409; too much: 413."""
    house.ingest = Reading()
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        for files in ([("other", ("a.md", b"x"))], [("files", ("a.zip", b"x"))], [("files", ("a.exe", b"x"))]):
            reply = await client.post("/books", headers=TOKEN, files=files)
            assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")
        assert (await client.post("/books", headers=TOKEN, json={"files": []})).status_code == 422
        (tmp_path / "corpus" / "a").mkdir(parents=True)
        assert (await client.post("/books", headers=TOKEN, files=FILES)).status_code == 409


async def test_an_upload_has_a_largest_size(
    serve: Serve, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused while it arrives."""
    monkeypatch.setattr(guards, "MAX_UPLOAD_BYTES", 1 << 20)
    house.ingest = Reading()
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        large = await client.post("/books", headers=TOKEN, files=[("files", ("a.md", bytes(3 << 20)))])
        assert (large.status_code, large.json()["detail"]) == (413, UPLOAD_TOO_LARGE)
        fits = await client.post("/books", headers=TOKEN, files=[("files", ("a.md", b"x" * (100 << 10)))])
        assert fits.status_code == 202


async def test_the_teachers_by_formends_a_zip(serve: Serve, house: House, tmp_path: Path) -> None:
    """By its form, with the key of the page; without it nothing is stored."""
    house.ingest = Reading()
    async with serve(admin_token="correct-horse-battery", corpus_dir=tmp_path / "corpus") as client:
        files = [("files", ("robots.zip", zipped({"robots/a.md": "# A\n\nText.\n"})))]
        assert (await client.post("/teacher/books", files=files, data={"key": "x"})).status_code == 403
        await sign_in(client)
        refused = await client.post("/teacher/books", files=files, data={"key": "0" * 40})
        assert (refused.status_code, PAGE_EXPIRED in refused.text) == (403, True)
        assert not (tmp_path / "corpus").exists()
        page = await client.get("/teacher")
        assert 'action="/teacher/books" enctype="multipart/form-data"' in page.text
        by_form, key = {"Accept": "text/html"}, {"key": await key_of(client)}
        sent = await client.post("/teacher/books", files=files, data=key, headers=by_form)
        assert sent.status_code == 303
        await house.ingest.done.wait()
    assert (tmp_path / "corpus" / "robots" / "a.md").is_file()
