"""The catalogue: publishing is one step, and what it replaced can be had back."""

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.catalog import Catalog, FileState, PublishedBook
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.tokens import project, restore
from lutrin.records import BookChoice, BookInfo

STATE = FileState(filename="a.md", size=3, changed_ns=9, sha256="f" * 64)


def release(name: str, slug: str = "robots") -> PublishedBook:
    """A generation to publish."""
    info = BookInfo(slug=slug, title=slug.title())
    return PublishedBook(info=info, corpus="/c", recipe="r", current=name, previous=None, manifest_sha256="0" * 64)


def publish(catalog: Catalog, name: str, slug: str = "robots") -> None:
    """Publish a generation made of one file."""
    catalog.publish(release(name, slug), published="2026-01-01T00:00:00Z", files=[STATE])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of the catalogue."""
    return tmp_path / "data" / "catalog.db"


def test_publishing_replaces_and_remembers(path: Path) -> None:
    """The newest generation is current, the one before previous, older ones are retired."""
    with Catalog(path) as catalog:
        assert catalog.books() == []
        assert catalog.next_number() == 1
        for name in ("g1", "g2", "g3"):
            publish(catalog, name)
    with Catalog(path) as catalog:
        (book,) = catalog.books()
        assert (book.current, book.previous, book.info.title) == ("g3", "g2", "Robots")
        assert catalog.retired_generations() == [("robots", "g1")]
        assert catalog.live() == {"g2": "robots", "g3": "robots"}
        assert catalog.files("robots") == {"a.md": STATE}
        catalog.forget(["g1", "g2"])
        assert catalog.retired_generations() == []
        assert set(catalog.live()) == {"g2", "g3"}
        assert catalog.next_number() == 4


def test_books_keep_their_order(path: Path) -> None:
    """A book that is published anew stays where it was on the shelf."""
    with Catalog(path) as catalog:
        publish(catalog, "g1", "b")
        publish(catalog, "g2", "a")
        publish(catalog, "g3", "b")
        assert [book.info.slug for book in catalog.books()] == ["b", "a"]


def test_a_failed_publication_changes_nothing(path: Path) -> None:
    """If any part of it fails, the old generation is still the current one."""
    with Catalog(path) as catalog:
        publish(catalog, "g1")
        with pytest.raises(sqlite.DatabaseError):
            catalog.publish(release("g2"), published="now", files=[STATE, STATE])
        (book,) = catalog.books()
        assert book.current == "g1"
        assert catalog.files("robots") == {"a.md": STATE}
        assert catalog.live() == {"g1": "robots"}


def test_rolling_back_makes_the_previous_current(path: Path) -> None:
    """The earlier generation serves again, and the next ingest looks at every file."""
    with Catalog(path) as catalog:
        publish(catalog, "g1")
        with pytest.raises(NotFound):
            catalog.roll_back("robots")
        publish(catalog, "g2")
        assert catalog.roll_back("robots") == "g1"
        (book,) = catalog.books()
        assert (book.current, book.previous, book.recipe) == ("g1", None, "")
        assert catalog.files("robots") == {}
        assert catalog.retired_generations() == [("robots", "g2")]


def test_a_withdrawn_book_is_gone(path: Path) -> None:
    """Its generations may be deleted, its files are forgotten, other books stay."""
    with Catalog(path) as catalog:
        publish(catalog, "g1", "a")
        publish(catalog, "g2", "b")
        catalog.withdraw("a")
        assert [book.info.slug for book in catalog.books()] == ["b"]
        assert catalog.files("a") == {}
        assert catalog.retired_generations() == [("a", "g1")]


def test_touched_files_keep_their_hash(path: Path) -> None:
    """New times of a file with the same content are remembered."""
    with Catalog(path) as catalog:
        publish(catalog, "g1")
        touched = FileState(filename="a.md", size=3, changed_ns=77, sha256="f" * 64)
        catalog.touch("robots", [touched])
        assert catalog.files("robots") == {"a.md": touched}


def test_many_may_open_a_new_catalogue_at_once(path: Path) -> None:
    """Servers and an ingest that start together make the tables once."""
    problems: list[Exception] = []

    def opened() -> None:
        try:
            with Catalog(path) as catalog:
                catalog.books()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test names it
            problems.append(error)

    threads = [threading.Thread(target=opened) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_what_is_no_catalogue_is_refused(path: Path) -> None:
    """A file of noise and a catalogue of a later version are named, not overwritten."""
    path.parent.mkdir()
    path.write_bytes(b"noise" * 1000)
    with pytest.raises(IndexUnavailable, match=r"catalog\.db"):
        Catalog(path)
    assert path.read_bytes() == b"noise" * 1000
    path.unlink()
    Catalog(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(IndexUnavailable, match="version 99"):
        Catalog(path)


async def test_embeddings_are_kept_by_text_and_model(path: Path) -> None:
    """What was put in comes out, token vectors rounded; another embedder's are other entries."""
    embedder = WordHashEmbedder()
    (encoding,) = await embedder.encode(["the robot walks"])
    with Catalog(path) as catalog:
        cache = EmbeddingCache(catalog, embedder.name, embedder.dimension)
        assert cache.missing(["h1", "h2", "h1"]) == ["h1", "h2"]
        cache.put([("h1", encoding)])
    with Catalog(path) as catalog:
        cache = EmbeddingCache(catalog, embedder.name, embedder.dimension)
        assert cache.missing(["h1", "h2"]) == ["h2"]
        windows, tokens, offsets = cache.get("h1")
        np.testing.assert_array_equal(windows, encoding.windows)
        assert np.abs(restore(tokens) - np.asarray(encoding.token_vectors)).max() < 0.03
        np.testing.assert_array_equal(offsets, encoding.token_offsets)
        assert EmbeddingCache(catalog, "another", embedder.dimension).missing(["h1"]) == ["h1"]
        with pytest.raises(KeyError):
            cache.get("h2")


async def test_token_vectors_are_kept_as_they_are_compared(path: Path) -> None:
    """Behind the projection that was learned with an embedder; another projection's are other entries."""
    embedder = WordHashEmbedder()
    (encoding,) = await embedder.encode(["the robot walks"])
    learned = np.eye(embedder.dimension, 32, dtype=np.float32)
    with Catalog(path) as catalog:
        cache = EmbeddingCache(catalog, embedder.name, embedder.dimension, learned)
        cache.put([("h1", encoding)])
        windows, tokens, _ = cache.get("h1")
        np.testing.assert_array_equal(windows, encoding.windows)
        assert tokens.shape == (3, 32)
        assert np.abs(restore(tokens) - project(np.asarray(encoding.token_vectors), learned)).max() < 0.03
        for other in (None, learned[:, ::-1]):
            assert EmbeddingCache(catalog, embedder.name, embedder.dimension, other).missing(["h1"]) == ["h1"]


async def test_only_living_texts_keep_their_embeddings(path: Path) -> None:
    """What no current or previous generation holds is deleted, and told."""
    embedder = WordHashEmbedder()
    encodings = await embedder.encode(["one", "two", "three"])
    with Catalog(path) as catalog:
        cache = EmbeddingCache(catalog, embedder.name, embedder.dimension)
        cache.put(list(zip(("h1", "h2", "h3"), encodings, strict=True)))
        assert cache.prune(["h2", "h9"]) == 2
        assert cache.missing(["h1", "h2", "h3"]) == ["h1", "h3"]
        assert cache.prune(["h2"]) == 0


def test_choices_outlive_what_they_were_made_for(path: Path) -> None:
    """Title, line, place and removal stay when a book is published anew or withdrawn, until they are forgotten."""
    with Catalog(path) as catalog:
        for name, slug in (("g1", "a"), ("g2", "b"), ("g3", "c")):
            publish(catalog, name, slug)
        catalog.arrange(["c", "a"])
        catalog.choose("a", BookChoice(title="First", removed="2026-01-01", called="A"))
        publish(catalog, "g4", "a")
        assert [(book.info.slug, book.title, book.choice.is_off) for book in catalog.books()] == [
            ("c", "C", False),
            ("a", "First", True),
            ("b", "B", False),
        ]
        catalog.withdraw("a")
        assert catalog.choices()["a"].title == "First"
        catalog.forget_choice("a")
        publish(catalog, "g5", "a")
        assert [book.title for book in catalog.books()] == ["C", "B", "A"]
