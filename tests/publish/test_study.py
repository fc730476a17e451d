"""The model's questions are kept only where the round trip holds, and a run goes on where it was broken off."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from tests.fakes import CREDULOUS, word_grader
from tests.fakes_generator import ScriptedGenerator
from tests.publish.conftest import Press

from lutrin.answer.grade import Grader
from lutrin.answer.prompt import Ability
from lutrin.answer.traffic import Traffic
from lutrin.index.catalog import Catalog
from lutrin.index.decisions import StoredDecision, StudiedEntry, add_studied, decide
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.index.statements import STUDIED
from lutrin.prepared import Decision, Entry, id_of
from lutrin.runtime.study_room import StudyRoom
from lutrin.runtime.wiring import study_while_idle
from lutrin.search.search import Searcher
from lutrin.study.literal import literal_problem
from lutrin.study.workbook import Publish, Workbook
from lutrin_teacher.study_job import study_all, study_once
from lutrin_teacher.write import ELSEWHERE, MAX_TOKENS, TASKS, Student, StudyReport, progress_of, quiz_of

PAGE = (
    "# Lidar\n\n## Range\n\nA lidar measures distance with laser light. The lidar of Wren sees 12 metres. "
    "Black surfaces and glass return little of the light, so that the lidar does not see them well. "
    "The beam turns ten times in a second, and each turn gives seven hundred and twenty points of the room.\n"
)
WRITTEN = """Q: How far does the lidar of Wren see?
A: The lidar of Wren sees 12 metres.
Q: How far does the lidar of Wren see in fog?
A: The lidar of Wren sees 40 metres.
Q: How far does the lidar of Wren see?
A: It sees 12 metres.
Q: Tell me of lidars
A: They are good.
Q: With what does a lidar measure distance?
A: A lidar measures distance with laser light:
Q: What does a lidar of the passage measure?
A: A lidar measures distance with laser light.
"""


def workbook(
    press: Press, generation: OpenGeneration, grader: Grader | None = None, publish: Publish = lambda _fresh: None
) -> Workbook:
    """The book, open for a study."""
    path = press.settings.studied_path("robots")
    return Workbook(generation, Searcher(press.embedder), grader or word_grader(), path, publish)


async def study(press: Press, calls: list[int]) -> list[StudyReport]:
    """One run over the book."""

    def write(_: object) -> str:
        calls.append(1)
        return WRITTEN

    generation = await press.open()
    student = Student(ScriptedGenerator(write), workbook(press, generation), "m@2026-01-01")
    found = [told async for told in student.work_through()]
    await generation.close()
    return found


async def test_what_holds_is_kept_and_published_by_the_next_ingest(press: Press) -> None:
    """What the passage states is kept as a proposal; the rest, also what only announces more, goes, with a reason."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    calls: list[int] = []
    (told,) = await study(press, calls)
    (entry,) = [msgspec.json.decode(line, type=Entry) for line in path.read_bytes().splitlines()]
    assert (entry.topic, entry.author, entry.state) == (
        "How far does the lidar of Wren see?", "m@2026-01-01", "proposed",
    )  # fmt: skip
    assert told.kept == 1
    assert told.dropped.total() == 6 * len(TASKS) - 1  # this model writes the same each time
    assert "said already" in told.line()
    assert (await press.ingest()).prepared == 1


async def test_what_is_kept_serves_readers_at_once_and_is_the_teachers_to_judge(press: Press) -> None:
    """Every server has it before the next ingest, and finds it by its question; hidden, it stays so when published."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    asked = "How far does the lidar of Wren see?"
    catalog_path = press.settings.catalog_path
    written = datetime.now(UTC) - timedelta(minutes=1)
    async with Shelf(catalog_path, press.settings.books_dir, press.store, poll_s=60) as shelf:
        async with shelf.lease() as generation:
            state = generation.state
            publish = partial(add_studied, catalog_path, "robots", when=written)
            book = workbook(press, generation, publish=publish)
            student = Student(ScriptedGenerator(lambda _: WRITTEN), book, "m@2026-01-01")
            assert [told.kept async for told in student.work_through()] == [1]
            await shelf.refresh()
            (item,) = generation.companion.visible("question")
            assert (item.entry.topic, item.entry.state) == (asked, "proposed")
            ((place, cosine),) = generation.companion.nearest(await vector_of(press, asked), 1)
            assert (generation.companion.texts[place], round(cosine, 3)) == (asked, 1.0)
            assert generation.state != state  # no answer from before is given from the cache
        hidden = Decision(item=msgspec.structs.replace(item, entry=msgspec.structs.replace(item.entry, state="hidden")))
        with Catalog(catalog_path) as catalog:
            decide(catalog, "robots", id_of(item.entry), StoredDecision(hidden), when="2026-01-02")
        await shelf.refresh()
        assert not list(generation.companion.visible("question"))
        assert (await press.ingest()).prepared == 1
        await shelf.refresh()
        async with shelf.lease() as published:
            assert [one.entry.state for one in published.companion.entries] == ["hidden"]
    with Catalog(catalog_path) as catalog:
        assert not catalog.connection.execute(STUDIED, {"slug": "robots"}).fetchall()


async def vector_of(press: Press, text: str) -> npt.NDArray[np.float32]:
    """A question as the embedder sees it."""
    (encoding,) = await press.embedder.encode([text])
    return encoding.pooled


async def test_what_an_ingest_would_set_aside_is_not_kept(press: Press) -> None:
    """A sum passes the grader, and its result is not in the book: neither the file nor a reader gets it."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    fresh: list[StudiedEntry] = []
    written = "Q: How far does the lidar of Wren see?\nA: The lidar of Wren sees 12 + 12 = 24 metres.\n"
    generation = await press.open()
    book = workbook(press, generation, grader=word_grader(CREDULOUS), publish=fresh.extend)
    student = Student(ScriptedGenerator(lambda _: written), book, "m@2026-01-01")
    told = [told async for told in student.work_through()][-1]
    await generation.close()
    assert (path.read_bytes(), fresh, told.kept) == (b"", [], 0)
    assert told.dropped[ELSEWHERE] == 1


@pytest.mark.parametrize(
    ("clear", "answered", "reason"),
    [("glass", "sees", "not clear by itself"), ("lidar", "glass", "not what was asked"), ("lidar", "sees", "")],
)
async def test_a_card_is_judged_beside_its_truth(press: Press, clear: str, answered: str, reason: str) -> None:
    """The model that wrote it reads the question, then the answer with it; either may be objected to."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    seen: list[str] = []

    def write(texts: Sequence[str]) -> str:
        passage, _, card = texts[-1].removesuffix("\n\nYES or NO?").rpartition("\n\n")
        if not passage.startswith("Passage:\nLidar"):
            return WRITTEN
        seen.append(card)
        return "Yes." if (answered if "\nAnswer: " in card else clear) in card else "NO"

    generation = await press.open()
    writer = ScriptedGenerator(write)
    student = Student(writer, workbook(press, generation), "m", kinds={"question"}, judges=True)
    told = [told async for told in student.work_through()][-1]
    await generation.close()
    asked = "Question: How far does the lidar of Wren see?"
    card = f"{asked}\nAnswer: The lidar of Wren sees 12 metres."
    assert seen[:2] == ([asked, asked] if reason == "not clear by itself" else [asked, card])
    assert (told.kept, told.dropped[reason] > 0) == ((0, True) if reason else (1, False))


async def test_a_passage_is_studied_once(press: Press) -> None:
    """A second run asks the model nothing, until the text changes."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    calls: list[int] = []
    await study(press, calls)
    assert await study(press, calls) == []
    assert len(calls) == len(TASKS)


TERMS = """T: lidar of Wren
D: The lidar of Wren sees 12 metres.
E: A lidar measures distance with laser light.
L: It is like a bat that hears 99 metres.
L: It is like a bat that calls and listens.
T: periscope
D: A periscope is not in the passage.
"""
POINTS = "K: A lidar measures distance with laser light.\nK: A lidar is cheap and made in Spain.\n"
EXERCISE = "## Exercises\n\n1. How far does the lidar of Wren see?\n"


async def test_terms_examples_analogies_and_key_points_are_kept_where_they_hold(press: Press) -> None:
    """What is stated is kept, an analogy with a number of its own is not, nor what belongs to a term that is not."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE + EXERCISE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    written = {task: text for (_, task), text in zip(TASKS, (WRITTEN, POINTS, TERMS), strict=True)}

    def write(passages: Sequence[str]) -> str:
        return next(text for task, text in written.items() if passages[-1].endswith(task))

    generation = await press.open()
    student = Student(ScriptedGenerator(write), workbook(press, generation), "m@2026-01-01")
    found = [told async for told in student.work_through()]
    await generation.close()
    entries = [msgspec.json.decode(line, type=Entry) for line in path.read_bytes().splitlines()]
    assert [(entry.kind, entry.points) for entry in entries] == [
        ("term", ("The lidar of Wren sees 12 metres.",)),
        ("example", ("A lidar measures distance with laser light.",)),
        ("analogy", ("It is like a bat that calls and listens.",)),
        ("keypoints", ("A lidar measures distance with laser light.",)),
    ]
    dropped = found[-1].dropped
    assert dropped["an exercise of the book"] == 2
    assert dropped["not stated by the passage"] == 2
    assert dropped["an analogy that may not be"] == 1
    assert "1 of 1 passages studied. Last by m@2026-01-01: 1 of 1 passages, 4 of" in progress_of(path)


async def test_a_model_is_asked_only_for_what_it_writes_well(press: Press) -> None:
    """Kinds that its tier may not write are neither asked for nor kept."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    calls: list[int] = []

    def write(_: object) -> str:
        calls.append(1)
        return TERMS + POINTS

    generation = await press.open()
    book = workbook(press, generation)
    student = Student(ScriptedGenerator(write), book, "m@2026-01-01", kinds=("term", "example"))
    assert [told.kept async for told in student.work_through()] == [2]
    await generation.close()
    assert len(calls) == 1


async def test_what_the_limit_of_tokens_cuts_off_is_no_draft(press: Press) -> None:
    """A line that was not written to its end is dropped unread; those before it count."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    point = "K: A lidar measures distance with laser light."
    generation = await press.open()
    writer = ScriptedGenerator(lambda _: f"{point}\nK: A lidar measures distance with {'laser ' * MAX_TOKENS}light.")
    student = Student(writer, workbook(press, generation), "m@2026-01-01")
    found = [told async for told in student.work_through()]
    await generation.close()
    (entry,) = [msgspec.json.decode(line, type=Entry) for line in path.read_bytes().splitlines()]
    assert entry.points == (point.removeprefix("K: "),)
    assert not found[-1].dropped


async def test_a_teacher_may_let_exercises_be_answered(press: Press) -> None:
    """Then the question of an exercise is kept like any other."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE + EXERCISE})
    await press.ingest()
    generation = await press.open()
    writer = ScriptedGenerator(lambda _: WRITTEN)
    student = Student(writer, workbook(press, generation), "m@2026-01-01", exercises=True)
    found = [told async for told in student.work_through()]
    await generation.close()
    assert found[-1].by_kind["question"] == 1
    assert "an exercise of the book" not in found[-1].dropped


async def test_what_nobody_stands_for_is_held_against_the_book_again(press: Press) -> None:
    """A proposed entry that was edited to say another number is set aside and named; an approved one is a person's."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    await study(press, [])
    kept = path.read_text()
    assert (await press.ingest(holds=literal_problem)).prepared == 1
    path.write_text(kept.replace("sees 12 metres", "sees 13 metres", 1))
    summary = await press.ingest(holds=literal_problem)
    assert (summary.prepared, summary.set_aside) == (0, 1)
    assert "13 metres" in summary.notices[0].message
    path.write_text(kept.replace("sees 12 metres", "sees 13 metres", 1).replace('"proposed"', '"approved"'))
    assert (await press.ingest(holds=literal_problem)).set_aside == 0


def test_a_quiz_asks_for_a_term_among_its_siblings() -> None:
    """The meaning without the term's own name; too few siblings make no quiz."""
    term = Entry(kind="term", file="a.md", heading="A", topic="lidar", text="A lidar sees.", quotes=("A lidar sees.",))
    quiz = quiz_of(term, ["lidar", "radar", "sonar", "camera", "lidars"])
    assert quiz is not None
    assert (quiz.topic, quiz.choices[quiz.answer or 0]) == ("Which term is meant? A … sees.", "lidar")
    assert sorted(quiz.choices) == ["camera", "lidar", "radar", "sonar"]
    assert quiz_of(term, ["radar", "sonar"]) is None


class Housed(ScriptedGenerator):
    """A scripted model in a house of its own."""

    identity, computed_by, load = "", "", (0, 0)

    async def start(self) -> bool:
        """It is there already."""
        return True


async def test_books_are_studied_while_nobody_asks(press: Press) -> None:
    """What readers open comes first, and what is kept is theirs before the next ingest; no model, no study."""
    other = PAGE.replace("Lidar", "Radar").replace("lidar", "radar")
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE, "01-chapter-1-sensors/02-radar.md": other})
    await press.ingest()
    traffic, asked = Traffic(), "How far does the lidar of Wren see?"
    traffic.opens("robots", "01-chapter-1-sensors/02-radar.md")

    def write(texts: Sequence[str]) -> str:
        return "YES" if texts[-1].endswith("YES or NO?") else WRITTEN

    async with Shelf(press.settings.catalog_path, press.settings.books_dir, press.store, poll_s=60) as shelf:

        def room(generator: Housed | None) -> StudyRoom:
            ability = Ability(study=frozenset({"question"}))
            searcher = Searcher(press.embedder)
            return StudyRoom(
                press.settings, shelf, searcher, generator=generator, ability=ability, traffic=traffic, chats=None
            )

        await study_all(room(None))
        assert not press.settings.studied_path("robots").exists()
        model = Housed(write)
        await study_all(room(model))
        assert model.requests[0].messages[-1].content.startswith("Passage (Radar > Range)")
        await shelf.refresh()
        async with shelf.lease() as generation:
            assert [item.entry.topic for item in generation.companion.visible("question")] == [asked]
        told = await study_once(nullcontext(room(None)), "robots", 0, lambda _: None)
        assert told.startswith("No language model (LUTRIN_MODEL). By itself, Robots has ")


async def endless(begun: asyncio.Event, ended: asyncio.Event) -> None:
    """A study that goes on until it is broken off."""
    begun.set()
    try:
        await asyncio.sleep(60)
    finally:
        ended.set()


async def test_study_waits_while_the_machine_must_save_its_battery() -> None:
    """It begins when the plug is in, and is broken off when it is pulled."""
    begun, ended, saves = asyncio.Event(), asyncio.Event(), [True]
    work = partial(endless, begun, ended)

    idle = asyncio.create_task(study_while_idle(work, Traffic(), 0.1, waits=lambda: saves[0]))
    await asyncio.sleep(0.4)
    assert not begun.is_set()
    saves[0] = False
    await asyncio.wait_for(begun.wait(), 5)
    saves[0] = True
    await asyncio.wait_for(ended.wait(), 5)
    idle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await idle


async def test_study_waits_for_quiet_and_stops_when_a_reader_comes() -> None:
    """It begins after a quiet time, is broken off at once, and begins again when the reader has gone."""
    traffic, begun, ended = Traffic(), asyncio.Event(), asyncio.Event()
    work = partial(endless, begun, ended)

    with traffic.searching():
        idle = asyncio.create_task(study_while_idle(work, traffic, 0.3))
        await asyncio.sleep(0.6)
        assert not begun.is_set()
    await asyncio.wait_for(begun.wait(), 5)
    begun.clear()
    with traffic.searching():
        await asyncio.wait_for(ended.wait(), 5)
        await asyncio.sleep(0.5)
        assert not begun.is_set()
    await asyncio.wait_for(begun.wait(), 5)
    idle.cancel()
    with pytest.raises(asyncio.CancelledError):
        await idle
