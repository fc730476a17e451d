"""Near-duplicate pages and lists of titles don't crowd out the chapter."""

import pytest

from lutrin.query.understand import alone
from lutrin.records import Question
from lutrin.search.search import Searcher

from .conftest import Press

SHARED = (
    "A humanoid robot walks on two legs and keeps its balance with ankles and hips. "
    "Its sensors measure the ground forces a thousand times a second. "
    "The controller plans each footstep before the swing leg touches the ground. "
    "When a push comes from the side the robot takes a step to catch itself."
)
PAGES = {
    "book.toml": 'slug = "walking"\ntitle = "Walking"\n',
    "index.mdx": f"# Walking robots\n\n{SHARED} The first such robot was shown in Osaka.\n",
    "01-chapter-1-walking/00-intro.mdx": f"# Introduction\n\n{SHARED} Its battery lasts seven hours.\n",
    "01-chapter-1-walking/01-push.mdx": "# Push recovery\n\nA push from the side moves the centre of mass.\n",
    "01-chapter-1-walking/02-steps.mdx": "# Footstep planning\n\nA footstep is planned from the balance.\n",
    "01-chapter-1-walking/03-forces.mdx": "# Ground forces\n\nThe ground forces under a robot tell of its balance.\n",
    "contents.mdx": "# Contents\n\n- Push recovery\n- Footstep planning\n- Ground forces\n- Introduction\n",
}


async def sources(press: Press, question: str, k: int = 3) -> list[str]:
    """The files of the passages that a reader gets."""
    generation = await press.open("walking")
    found = await Searcher(press.embedder).search([generation], alone(Question(text=question)), k=k)
    await generation.close()
    return [passage.chunk.filename for passage in found.passages]


@pytest.fixture
async def walking(press: Press) -> Press:
    """A book whose start page repeats its introduction, ingested."""
    press.write(dict(PAGES), book="walking")
    await press.ingest()
    return press


async def test_of_two_versions_of_a_page_one_is_shown(walking: Press) -> None:
    """What both say takes one place of three, and the chapter's own pages have the others."""
    found = await sources(walking, "How does a robot keep its balance after a push from the side?")
    assert len({"index.mdx", "01-chapter-1-walking/00-intro.mdx"} & set(found)) == 1
    assert len(found) == 3


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("Where was the first such robot shown, in Osaka?", "index.mdx"),
        ("How many hours does the battery last?", "01-chapter-1-walking/00-intro.mdx"),
    ],
)
async def test_what_one_version_alone_says_is_found(walking: Press, question: str, file: str) -> None:
    """Both versions are in the index, each with its own sentence."""
    assert (await sources(walking, question))[0] == file


async def test_a_list_of_titles_is_no_answer(walking: Press) -> None:
    """It has the words of every question; the page itself is found."""
    found = await sources(walking, "What is footstep planning?", k=6)
    assert found[0] == "01-chapter-1-walking/02-steps.mdx"
    assert "contents.mdx" not in found


async def test_everything_else_comes_where_there_is_room(walking: Press) -> None:
    """But of two versions one."""
    found = await sources(walking, "How does a robot walk?", k=6)
    assert len(found) == len(set(found)) == len(PAGES) - 3
