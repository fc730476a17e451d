"""The model's questions are kept only where the round trip holds, and a run goes on where it was broken off."""

from pathlib import Path

import msgspec
from tests.publish.conftest import Press

from lutrin.adapters.fakes import WordSupport
from lutrin.adapters.fakes_generator import ScriptedGenerator
from lutrin.answer.verify import Verifier
from lutrin.index.companion import Entry
from lutrin.search.search import Searcher
from lutrin.study.write import Student, Yield

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
"""


async def study(press: Press, path: Path, calls: list[int]) -> list[Yield]:
    """One run over the book."""

    def write(_: object) -> str:
        calls.append(1)
        return WRITTEN

    generation = await press.open()
    student = Student(ScriptedGenerator(write), Searcher(press.embedder), Verifier(WordSupport()), "m@2026-01-01", path)
    found = [told async for told in student.work_through(generation)]
    await generation.close()
    return found


async def test_what_holds_is_kept_and_published_by_the_next_ingest(press: Press) -> None:
    """What the passage states is kept as the model's proposal; the rest is dropped, each with a reason."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    calls: list[int] = []
    (told,) = await study(press, path, calls)
    (entry,) = [msgspec.json.decode(line, type=Entry) for line in path.read_bytes().splitlines()]
    assert (entry.topic, entry.author, entry.state) == (
        "How far does the lidar of Wren see?", "m@2026-01-01", "proposed",
    )  # fmt: skip
    assert told.kept == 1
    assert told.dropped.total() == 3
    assert "said already" in told.line()
    assert (await press.ingest()).prepared == 1


async def test_a_passage_is_studied_once(press: Press) -> None:
    """A second run asks the model nothing, until the text changes."""
    press.write({"01-chapter-1-sensors/01-lidar.md": PAGE})
    await press.ingest()
    path = press.settings.studied_path("robots")
    calls: list[int] = []
    await study(press, path, calls)
    assert await study(press, path, calls) == []
    assert len(calls) == 1
