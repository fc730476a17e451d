"""Fixtures of the conformance tests: both books of the corpus, one server over them, and a growing book.

A test that takes one of these, or the profile, runs once under each profile.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.embeddings import Lenders
from tests.end_to_end.conftest import Servers, pytest_runtest_makereport
from tests.end_to_end.processes import Done, environment, wait_until
from tests.end_to_end.warm import LOADED, REMOTE, Warm
from tests.remote.fixtures import postgres
from tests.remote.school import INGEST_S
from tests.tiers import end_with_group

from . import profiles
from .asking import Reader, Replies, new_session, newest, out_of_book
from .profiles import Profile

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
PART_1 = CORPUS / "physical-ai" / "01-part-1-foundations"
SLUG = "physical-ai-textbook"
TITLE = "Physical AI & Humanoid Robotics"
HANDBOOK = "robot-lab-safety-handbook"
FOLDERS = {SLUG: CORPUS / "physical-ai"}
TOKEN = "conformance-administrator"
OUTSIDE = ("far", "near", "nonenglish", "vague", "injection")
"""Kinds of questions that the books do not answer."""

__all__ = ["postgres", "pytest_runtest_makereport"]


def pytest_configure(config: pytest.Config) -> None:
    """Make known the mark that ties a test to rows of the specifications."""
    config.addinivalue_line("markers", "row(*identifiers): shows that these rows of tests/conformance/rows are met")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test comes first waits for the ingest of the corpus, which gives way to all that runs beside it."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(INGEST_S + 300))


@dataclass(frozen=True)
class House:
    """Both books of the corpus, ingested by the command, and a server over them without a language model."""

    data_dir: Path
    ingested: Done
    reader: Reader
    log: Path


@dataclass(frozen=True)
class Growth:
    """A book in its own data folder, ingested four times; its server was started after the first."""

    reader: Reader
    first: Done
    """Two chapters."""
    grown: Done
    """A third chapter came, one file of the first changed."""
    again: Done
    """Nothing changed."""
    broken: Done
    """A file that is no text came."""
    before: list[str]
    """Ids of the passages about chapter 1, before it grew."""
    counts: list[int]
    """Chunks in the index after each ingest."""


@pytest.fixture(scope="session", params=profiles.chosen(os.environ.get(profiles.VARIABLE, "")))
def profile(request: pytest.FixtureRequest) -> Iterator[Profile]:
    """Each profile in turn."""
    if request.param == "local":
        yield profiles.local()
        return
    with profiles.remote(request.getfixturevalue("postgres")) as made:
        yield made


@pytest.fixture(scope="session")
def bare_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without `.env`, in which all processes run."""
    return tmp_path_factory.mktemp("bare")


@pytest.fixture(scope="session")
def warm(profile: Profile, models_dir: Path, bare_folder: Path) -> Iterator[Warm]:
    """A process that has loaded what commands load under the profile."""
    loaded = REMOTE if profile.name == "remote" else LOADED
    made = Warm(environment(models_dir, bare_folder / "data"), bare_folder, loaded)
    yield made
    made.close()


@pytest.fixture(scope="session")
def house(
    profile: Profile,
    warm: Warm,
    lenders: Lenders,
    *,
    tmp_path_factory: pytest.TempPathFactory,
    models_dir: Path,
    bare_folder: Path,
    pytestconfig: pytest.Config,
) -> House:
    """One ingest of the whole corpus and one server, for all tests that change nothing."""
    place = tmp_path_factory.mktemp("house")
    data = place / "data"
    known = environment(models_dir, data, **profile.variables(data))
    with lenders.lending(data):
        done = warm.run(known, "ingest", CORPUS, within_s=INGEST_S)
    servers = Servers(models_dir, bare_folder, place, warm, profile.variables)
    end_with_group(pytestconfig, servers.close)
    server = servers(data, LUTRIN_CORPUS_DIR=str(CORPUS), LUTRIN_ADMIN_TOKEN=TOKEN)
    return House(data, done, Reader(server.client), server.log)


@pytest.fixture(scope="session")
def reader(house: House) -> Reader:
    """A reader of the server over the corpus."""
    return house.reader


@pytest.fixture(scope="session")
def outside(reader: Reader) -> Replies:
    """The replies of `/chat` to all questions of the collection that the books do not answer, by kind and question."""
    return {kind: {text: reader.chat(new_session(), text) for text in out_of_book(kind)} for kind in OUTSIDE}


@pytest.fixture(scope="session")
def growth(
    profile: Profile,
    warm: Warm,
    lenders: Lenders,
    *,
    tmp_path_factory: pytest.TempPathFactory,
    models_dir: Path,
    bare_folder: Path,
    pytestconfig: pytest.Config,
) -> Growth:
    """A book of two chapters that gets a third one, a change, and a broken file; its server limits questions."""
    place = tmp_path_factory.mktemp("growth")
    book, data = place / "book", place / "data"
    for chapter in ("01-chapter-1-embodied-intelligence", "02-chapter-2-sensors"):
        shutil.copytree(PART_1 / chapter, book / chapter)
    sizes = {"LUTRIN_CHUNK_TOKENS": "700", "LUTRIN_CHUNK_OVERLAP_TOKENS": "100"}
    known = environment(models_dir, data, **profile.variables(data), **sizes)
    limits: dict[str, Any] = {"LUTRIN_RATE_SESSION_PER_MIN": "10", **sizes}

    counts: list[int] = []

    def ingest() -> Done:
        done = warm.run(known, "ingest", book, within_s=INGEST_S)
        counts.append(newest(data, "book")["chunks"])
        return done

    servers = Servers(models_dir, bare_folder, place, warm, profile.variables)
    end_with_group(pytestconfig, servers.close)
    with lenders.lending(data):
        first = ingest()
    reader = Reader(servers(data, **limits).client)
    before = [found["metadata"]["id"] for found in reader.passages("What is the sensorimotor loop?")]
    added = book / "03-chapter-3-architecture"
    added.mkdir()
    (added / "_category_.json").write_text('{"label": "Chapter 3: Physical AI Architecture"}', "utf-8")
    (added / "01-three-tier-architecture.mdx").write_text(NEW_PAGE, "utf-8")
    exercise = book / "01-chapter-1-embodied-intelligence" / "01-digital-vs-physical-ai.mdx"
    exercise.write_text(exercise.read_text("utf-8") + EXERCISE, "utf-8")
    grown = ingest()
    again = ingest()
    (added / "02-broken.mdx").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    broken = ingest()

    def is_read() -> bool:
        books = reader.client.get("/ready").json()["books"]
        return [book["generation"] for book in books] == [newest(data, "book")["name"]]

    wait_until(is_read, INGEST_S, "the server reads what was ingested")
    return Growth(reader, first, grown, again, broken, before, counts)


NEW_PAGE = """---
title: Three Tiers
---

## The harbour tier {#harbour}

The harbour tier of the architecture keeps nine spare brains in a refrigerated cupboard. A spare brain weighs 41 grams.

```python
def wake(brain: int) -> str:
    return f"brain {brain} leaves the cupboard"
```
"""
EXERCISE = """
## Exercise with a marmalade robot

The marmalade robot spreads 17 grams of marmalade on each slice and counts the crumbs with a lidar.

## Exercises

1. Build a marble run for your robot. The lab record for the marble run is 14 seconds.
2. How could a robot be faster?
"""
