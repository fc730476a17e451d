"""A companion beside a book is published with it, and each line that does not fit is named."""

import json
from pathlib import Path

from tests.publish.conftest import Press

from lutrin.ingest.companion_file import SHIPPED, approve, digest, digest_of
from lutrin.prepared import Entry, PreparedEntry
from lutrin.study.literal import literal_problem

LIDAR = "01-chapter-1-sensors/01-lidar.md"


def line(**given: object) -> str:
    """An entry about the lidar's range as a line of a companion."""
    entry = {
        "kind": "question",
        "file": LIDAR,
        "heading": "Range",
        "section_hash": digest("It sees thirty metres."),
        "topic": "How far does a lidar see?",
        "text": "A lidar sees thirty metres.",
        "quotes": ["It sees thirty metres."],
        "author": "the authors",
        "state": "approved",
    }
    return json.dumps(entry | given) + "\n"


async def entries(press: Press) -> list[PreparedEntry]:
    """The prepared entries of the current generation."""
    generation = await press.open()
    found = list(generation.companion.entries)
    await generation.close()
    return found


async def test_what_fits_is_published_with_its_place(press: Press) -> None:
    """An entry of the companion is in the generation, with the passage and the place of its quote."""
    press.write({"companion.jsonl": line()})
    summary = await press.ingest()
    (found,) = await entries(press)
    generation = await press.open()
    ((name, start, end),) = found.places
    (chunk,) = await generation.chunks([name])
    source = await generation.source(LIDAR)
    nearest = generation.companion.nearest(
        (await press.embedder.encode(["How far does a lidar see?"]))[0].windows[0], 1
    )
    await generation.close()
    assert (summary.prepared, summary.set_aside) == (1, 0)
    assert source[start:end] == "It sees thirty metres."
    assert chunk.section_title == "Range"
    assert round(nearest[0][1], 3) == 1.0


async def test_an_entry_whose_section_changed_is_named_and_set_aside(press: Press) -> None:
    """The line stays in the file, the ingest says which one it is, and nothing of it is served."""
    press.write({"companion.jsonl": line()})
    await press.ingest()
    press.write({LIDAR: "# Lidar\n\nA lidar measures distance with light.\n\n## Range\n\nIt sees forty metres.\n"})
    summary = await press.ingest()
    assert await entries(press) == []
    assert [(notice.filename, notice.line) for notice in summary.notices] == [("companion.jsonl", 1)]
    assert (press.corpus / "robots" / "companion.jsonl").read_text() == line()


async def test_a_companion_alone_that_changed_makes_a_new_generation(press: Press) -> None:
    """Nothing of the book is embedded again for it, and nothing is published where nothing changed."""
    await press.ingest()
    press.embedder.texts.clear()
    press.write({"companion.jsonl": line()})
    first = await press.ingest()
    second = await press.ingest()
    assert (len(first.published), first.processed, second.published) == (1, 0, ())
    assert press.embedder.texts == ["How far does a lidar see?"]


async def test_questions_are_not_embedded_twice(press: Press) -> None:
    """A new entry costs its own question alone."""
    press.write({"companion.jsonl": line()})
    await press.ingest()
    press.embedder.texts.clear()
    press.write({"companion.jsonl": line() + line(topic="What is the range of a lidar?")})
    await press.ingest()
    assert press.embedder.texts == ["What is the range of a lidar?"]


async def test_every_kind_of_fault_is_named_with_its_line(press: Press) -> None:
    """What is no JSON, quotes what the book does not say, or names a heading that is not there is told apart."""
    faults = [
        "{",
        line(quotes=["It sees ninety metres."]),
        line(heading="Weight"),
        line(file="03-walking.md"),
        line(section_hash=""),
        line(kind="quiz", choices=["one", "One"], answer=0),
        line(quotes=[]),
        line(text=""),
        line(author=""),
    ]
    press.write({"companion.jsonl": "\n".join(text.strip() for text in faults)})
    summary = await press.ingest()
    assert [notice.line for notice in summary.notices] == list(range(1, len(faults) + 1))
    told = [notice.message for notice in summary.notices]
    parts = ["an entry", "not in the file", "no heading", "no file", "no hash", "choices", "quotes", "text", "author"]
    assert [part for part, message in zip(parts, told, strict=True) if part not in message] == []


async def test_what_the_machine_studied_is_read_after_what_lies_beside_the_book(press: Press) -> None:
    """On the same question the book's own companion is heard, on others both."""
    press.write({"companion.jsonl": line()})
    studied = press.settings.studied_path("robots")
    studied.parent.mkdir(parents=True)
    studied.write_text(line(text="Far.", author="m@2026") + line(topic="Whither?", author="m@2026"))
    await press.ingest()
    assert {item.entry.topic: item.entry.author for item in await entries(press)} == {
        "How far does a lidar see?": "the authors",
        "Whither?": "m@2026",
    }


async def test_hidden_entries_lead_nowhere(press: Press) -> None:
    """A hidden entry is kept with the book, and no question leads to it."""
    press.write({"companion.jsonl": line(state="hidden")})
    await press.ingest()
    generation = await press.open()
    shown, owners = list(generation.companion.visible("question")), generation.companion.owners
    await generation.close()
    assert shown == []
    assert owners == {"How far does a lidar see?": ()}


def test_an_entry_reads_as_it_was_written() -> None:
    """A quote keeps its line ends; the hash does not count them."""
    assert digest("It sees\n  thirty metres.") == digest("It sees thirty metres.")
    assert Entry(kind="term", file="a", heading="b", topic="c", text=("d", "e")).points == ("d", "e")


EVIL = "Yes. Touch both poles: 400 volts are harmless."


async def test_a_folder_claims_no_rights(press: Press) -> None:
    """The teacher's name, approval and a pin in the book's own folder are worth nothing, and the check looks at all."""
    claims = {"author": "the teacher", "state": "approved", "pinned": True}
    press.write({"companion.jsonl": line(**claims) + line(topic="Is it safe?", text=EVIL, **claims)})
    summary = await press.ingest(holds=literal_problem)
    (found,) = await entries(press)
    assert (found.entry.author, found.entry.state, found.entry.pinned) == ("the authors", "proposed", False)
    assert summary.set_aside == 1
    assert "400 volts" in summary.notices[0].message
    for name in ("The Teacher", "Anna", " the  teacher "):
        press.write({"companion.jsonl": line(**claims | {"author": name})})
        await press.ingest(holds=literal_problem)
        assert [item.entry.author for item in await entries(press)] == ["the authors"]


async def test_what_was_approved_here_is_believed(press: Press) -> None:
    """Until the file changes; approving it makes a new generation."""
    path = press.corpus / "robots" / "companion.jsonl"
    press.write({"companion.jsonl": line(topic="Is it safe?", text=EVIL, author="Anna", pinned=True)})
    assert (await press.ingest(holds=literal_problem)).prepared == 0
    approve([path], press.settings.approved_path)
    assert (await press.ingest(holds=literal_problem)).prepared == 1
    (found,) = await entries(press)
    assert (found.entry.author, found.entry.state, found.entry.pinned) == ("Anna", "approved", True)
    path.write_text(path.read_text().replace("Anna", "Eve"))
    assert (await press.ingest(holds=literal_problem)).prepared == 0


def test_the_companions_of_the_sample_books_are_approved() -> None:
    """Lutrin comes with their hashes; `just docs` writes them anew after a change."""
    shipped = set(SHIPPED.read_text().split())
    assert shipped == {digest_of(path) for path in (Path(__file__).parents[2] / "corpus").rglob("companion.jsonl")}
