"""A book that is wrong is repeated word for word: Lutrin does not review what it quotes."""

from pathlib import Path

from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.answer.flow import AnswerFlow
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.records import DoneEvent, Question
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

from .book import english

WRONG = "The battery of Kestrel is safe to open while it is charged."


async def test_an_error_in_a_book_is_quoted(tmp_path: Path) -> None:
    """The dangerous sentence is the answer, with its source and without a doubt of our own."""
    page = tmp_path / "book" / "01-battery.md"
    page.parent.mkdir()
    page.write_text(f"# The battery\n\n## Opening the battery\n\n{WRONG}\n", "utf-8")
    settings, store = load_settings(data_dir=tmp_path / "data"), ExactStore()

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    await ingest(tmp_path / "book", settings, IngestTools(WordHashEmbedder(), store, verify))
    async with Shelf(settings.catalog_path, settings.books_dir, store) as shelf:
        flow = AnswerFlow(
            shelf=shelf, searcher=Searcher(WordHashEmbedder()), language=english(), settings=settings, generator=None
        )
        events = [event async for event in flow.answer(Question(text="Is the battery of Kestrel safe to open?"))]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert WRONG in done.answer.answer
    assert done.answer.warnings == ()
