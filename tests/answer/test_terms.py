"""What the terms of a passage mean, for those who want it explained."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.answer.book import english

from lutrin.adapters.fakes import ExactStore, WordHashEmbedder
from lutrin.answer.flow import AnswerFlow
from lutrin.index.shelf import Shelf
from lutrin.index.verify import verify_generation
from lutrin.ingest.run import IngestTools, ingest
from lutrin.records import Answer, DoneEvent, Mode, Question
from lutrin.retrieve.search import Searcher
from lutrin.settings import Settings, load_settings

PAGES = {
    "book.toml": 'slug = "robots"\ntitle = "Robots"\n',
    "01-maps.md": """# Maps

## Costmaps

A **costmap** is a grid that gives each cell a cost. The planner of Wren reads the costmap ten times a second.

## Planning

A planner is a program that looks for a trajectory.
""",
    "02-sensors.md": """# Sensors

## Lidar

A lidar is a sensor that measures distance with light. The lidar of Wren turns ten times a second.

## Paths

A trajectory is a path with a time for each pose.
""",
}
SELECTED = "The planner of Wren reads the costmap ten times a second."
COSTMAP, PLANNER, TRAJECTORY, LIDAR = (
    "A costmap is a grid that gives each cell a cost.",
    "A planner is a program that looks for a trajectory.",
    "A trajectory is a path with a time for each pose.",
    "A lidar is a sensor that measures distance with light.",
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose data folder will hold the book."""
    corpus = tmp_path_factory.mktemp("corpus")
    for name, text in PAGES.items():
        (corpus / name).write_text(text, encoding="utf-8")
    return load_settings(data_dir=tmp_path_factory.mktemp("terms"), corpus_dir=corpus)


@pytest.fixture
async def flow(book: Settings) -> AsyncIterator[AnswerFlow]:
    """Answers from the book in its own words."""
    store = ExactStore()

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    await ingest(book.corpus_dir, book, IngestTools(embedder=WordHashEmbedder(), store=store, verify=verify))
    async with Shelf(book.catalog_path, book.books_dir, store) as shelf:
        yield AnswerFlow(shelf=shelf, searcher=Searcher(WordHashEmbedder()), language=english(), settings=book)


async def answer_to(flow: AnswerFlow, text: str, selected_text: str = "", mode: Mode | None = None) -> Answer:
    """The last event's answer."""
    question = Question(text=text, selected_text=selected_text, mode=mode)
    events = [event async for event in flow.answer(question)]
    assert isinstance(events[-1], DoneEvent)
    return events[-1].answer


@pytest.mark.parametrize("wish", ["Explain this passage.", "Explain this passage in simpler words.", "What is this?"])
async def test_the_terms_of_a_selection_are_explained(flow: AnswerFlow, wish: str) -> None:
    """By the sentences that define them, cited, in the order of the selection; what was selected is not repeated."""
    answer = await answer_to(flow, wish, SELECTED)
    assert answer.answer.startswith(f"{PLANNER} [1]\n\n{COSTMAP} [2]")
    assert SELECTED not in answer.answer
    assert answer.sources[0].url.endswith("#planning")


async def test_an_answer_in_simpler_words_explains_its_own(flow: AnswerFlow) -> None:
    """What is asked about comes first, and is not explained a second time."""
    answer = await answer_to(flow, "What is a planner? Explain it like I'm five.")
    assert answer.answer.count(PLANNER) == 1
    assert answer.answer == f"{PLANNER} [1]\n\n{TRAJECTORY} [2]"
    plain = await answer_to(flow, "What is a planner?")
    assert TRAJECTORY not in plain.answer


async def test_where_only_the_selection_counts_nothing_else_is_quoted(flow: AnswerFlow) -> None:
    """The rest of the book does not exist there."""
    answer = await answer_to(flow, "Explain this passage.", SELECTED, "selection")
    assert COSTMAP not in answer.answer
    assert PLANNER not in answer.answer


async def test_a_question_about_a_selection_is_answered_not_explained(flow: AnswerFlow) -> None:
    """Who asks for something gets that."""
    answer = await answer_to(flow, "How often does the lidar of Wren turn in a second?", SELECTED)
    assert "The lidar of Wren turns ten times a second." in answer.answer
    assert COSTMAP not in answer.answer


async def test_what_uses_no_term_of_the_book_is_answered_as_before(flow: AnswerFlow) -> None:
    """A lidar's own definition uses none."""
    answer = await answer_to(flow, "Explain the lidar sensor that measures distance with light in simple words.")
    assert answer.answer.startswith(LIDAR)
    assert COSTMAP not in answer.answer
