"""A data folder that Lutrin 0.2 wrote: one ingest brings its books up to date, and no conversation is lost."""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes import WordHashEmbedder

from lutrin import sqlite
from lutrin.chats.key import chat_key
from lutrin.errors import IndexUnavailable
from lutrin.index.catalog import Catalog
from lutrin.index.disk import file_hashes
from lutrin.serve.book_choices import change_book

from .conftest import House, now

SQL = Path(__file__).with_name("of_0_2.sql")
TEXT = "A robot stops when its button is pressed."
PAGE = f"# Robots\n\n{TEXT}\n"
FIRST = "000001-3e3dfc8c"


@pytest.fixture
def old(house: House) -> House:
    """A data folder of 0.2 with one book and one conversation, and the book's files."""
    page = house.corpus / "robots" / "page.md"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE, "utf-8")
    data = house.settings.data_dir
    folder = house.settings.books_dir / "robots" / FIRST
    folder.mkdir(parents=True)
    values = {
        "corpus": str(house.corpus), "root": str(page.parent), "size": len(PAGE), "source": PAGE,
        "changed_ns": page.stat().st_ctime_ns, "sha256": hashlib.sha256(PAGE.encode()).hexdigest(),
    }  # fmt: skip
    parts = dict(re.findall(r"^-- (\w+\.db)\n(.+?)(?=\n-- |\Z)", SQL.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    write(folder / "passages.db", parts["passages.db"], values)
    manifest = {
        "format_version": 5, "name": FIRST, "created": "2026-11-25T09:00:00+00:00", "collection": "robots-v1",
        "book": {"slug": "robots", "title": "Robots"}, "embedder": "lutrin-reader-9e6aad1e/w256o32/i8",
        "dimension": 384, "recipe": "3e3dfc8c", "files": 1, "chunks": 0, "windows": 0, "tokens": 0, "companion": "",
        "hashes": file_hashes(folder, without="manifest.json"),
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest), "ascii")
    digest = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    write(data / "catalog.db", parts["catalog.db"], values | {"manifest": digest})
    write(data / "chats.db", parts["chats.db"], {}, key="ab" * 32)
    house.settings.chat_key_path.write_text("ab" * 32, "ascii")
    house.settings.chat_key_path.chmod(0o600)
    return house


def write(path: Path, script: str, values: Mapping[str, object], *, key: str = "") -> None:
    """Make a database, encrypted if there is a key."""
    with closing(sqlite.connect(path, key=key) if key else sqlite.connect(path)) as database:
        for statement in script.split(";\n"):
            wanted = set(re.findall(r":([a-z]\w+)", statement)) & set(values)
            database.execute(statement, {name: values[name] for name in wanted})


async def test_an_old_index_is_not_read_and_the_remedy_is_said(old: House) -> None:
    """A server of now does not guess at an older format: it says what to run."""
    async with old.shelf() as shelf:
        with pytest.raises(IndexUnavailable) as refused:
            async with shelf.lease("robots"):
                pass
    assert "lutrin ingest" in refused.value.remedy


async def test_one_ingest_brings_the_book_up_to_date(old: House) -> None:
    """No file has changed, and yet the book is read anew, into a generation of the next number."""
    name = await old.publish(TEXT)
    assert name.startswith("000002-")
    assert TEXT in await old.text()
    async with old.shelf() as shelf, shelf.lease("robots") as generation:
        assert generation.manifest.embedder == WordHashEmbedder().name
    assert name == await old.publish(TEXT), "the next ingest finds nothing to do"


async def test_nobody_goes_back_to_what_cannot_be_read(old: House) -> None:
    """The teacher's button for the index before this one refuses, and the new one goes on answering."""
    name = await old.publish(TEXT)
    with pytest.raises(IndexUnavailable):
        change_book(old.settings, "robots", "previous", now())
    with Catalog(old.settings.catalog_path) as catalog:
        assert catalog.books()[0].current == name
    assert TEXT in await old.text()


async def test_conversations_go_on(old: House) -> None:
    """Their messages, excerpts and judgements are there; new ones follow; the file from before is kept, encrypted."""
    store = await old.chats()
    question, answer = await store.history("s1")
    assert (question.text, answer.text) == ("When does a robot stop?", f"{TEXT} [1]")
    assert [excerpt.text for excerpt in answer.excerpts] == [TEXT]
    assert answer.citations[0].quote == TEXT
    assert answer.suggestions == ("What is a gripper?",)
    asked = await store.recent_questions(10)
    assert [(one.text, one.thumb, one.comment) for one in asked] == [(question.text, "up", "clear")]
    await store.assignments.add("abcdefg", "{}")
    await store.close()
    await old.say("What is a gripper?")
    assert await old.said() == [question.text, answer.text, "What is a gripper?"]
    (before,) = old.settings.data_dir.glob("chats.db.before-*")
    with closing(sqlite.connect(before, key=chat_key(old.settings))) as kept:
        assert kept.execute("SELECT count(*) FROM message").fetchone() == (2,)
    assert b"robot" not in before.read_bytes()
