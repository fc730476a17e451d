"""Questions about a whole page or table: all its code, its subject, and differences between two things."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.answer.book import english
from tests.answer.conftest import publish
from tests.fakes import ExactStore, word_grader

from lutrin import messages
from lutrin.answer.flow import AnswerFlow
from lutrin.index.shelf import Shelf
from lutrin.records import Answer, DoneEvent, Question
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "book.toml": 'slug = "looms"\ntitle = "Looms"\n',
    "01-thread.md": """# Threading

First count the threads:

```bash
count threads
```

```text
240
```

A loom that is threaded twice tears.

Then start the loom with this:

```bash
loom start
```
""",
    "02-wool.md": """# Wool

This page tells how wool becomes yarn. Wool is washed in warm water. Washed wool dries on a line for two days.
Carding combs the dry wool. Spinning twists combed wool into yarn. Thick yarn makes warm cloth.
""",
    "03-empty.md": "# Empty looms\n\n- warp\n- weft\n",
}


async def asked(tmp_path: Path, text: str, page: str, pages: Mapping[str, str] = PAGES) -> Answer:
    """The answer to a question on an open page."""
    settings = load_settings(data_dir=tmp_path / "data", models_dir=ROOT / "models")
    # What a question points at is fitted on the vectors of the real reader.
    embedder = open_embedder(settings, threads=1)
    await publish(settings, tmp_path / "corpus", pages, embedder)
    async with Shelf(settings.catalog_path, settings.books_dir, ExactStore()) as shelf:
        flow = AnswerFlow(
            shelf=shelf,
            searcher=Searcher(embedder),
            language=english(),
            settings=settings,
            grader=word_grader(),
        )
        events = [event async for event in flow.answer(Question(text=text, page=page))]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    return done.answer


async def test_all_commands_of_a_page(tmp_path: Path) -> None:
    """Each is below what announces it, in order, without what it prints."""
    answer = await asked(tmp_path, "Which commands does this page use?", "01-thread.md")
    assert answer.kind == "extractive"
    assert not answer.closest
    places = [answer.answer.index(one) for one in ("First count", "count threads", "Then start", "loom start")]
    assert places == sorted(places)
    assert "240" not in answer.answer
    assert [one.filename for one in answer.sources] == ["01-thread.md"] * 2


async def test_a_page_without_sections(tmp_path: Path) -> None:
    """Its first sentence, and what covers the rest, in the page's order."""
    answer = await asked(tmp_path, "What is this page about?", "02-wool.md")
    opening, first, *others = [one.text for one in answer.sentences]
    assert opening == messages.ON_PAGE.format(title="Wool")
    assert first == "This page tells how wool becomes yarn."
    assert len(others) == 4
    page = " ".join(PAGES["02-wool.md"].split())
    assert [page.index(one) for one in others] == sorted(page.index(one) for one in others)


async def test_a_page_of_a_list_alone(tmp_path: Path) -> None:
    """The list is shown, and that it has no code is said."""
    answer = await asked(tmp_path, "What is this page about?", "03-empty.md")
    assert answer.answer.startswith(messages.ON_PAGE.format(title="Empty looms"))
    assert "warp" in answer.answer
    assert (await asked(tmp_path, "Which commands does this page use?", "03-empty.md")).answer == messages.NO_CODE_HERE


TOOLS = """# Tools

A lathe and a mill both cut metal. Oil cools the lathe while it cuts.

| Property | Lathe | Mill |
|---|---|---|
| Turns | the part | the cutter |
| Makes | round parts | flat parts |
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [("lathe vs mill", "|Property|Lathe|Mill|"), ("What cools the lathe?", "Oil")],
)
async def test_a_table_with_a_column_for_each_compares_them(tmp_path: Path, question: str, first: str) -> None:
    """The whole table comes first, before other passages that name both."""
    answer = await asked(tmp_path, question, "", {"book.toml": PAGES["book.toml"], "01-tools.md": TOOLS})
    assert answer.answer.startswith(first)
    assert ("flat parts" in answer.sentences[0].text) == first.startswith("|")


async def test_the_page_comes_before_a_refusal(tmp_path: Path) -> None:
    """Where the question may point at it; else the question is refused as without a page."""
    perhaps = await asked(tmp_path, "which one turns the loom purple, in this episode?", "02-wool.md")
    assert perhaps.closest
    assert [one.filename for one in perhaps.sources] == ["02-wool.md"]
    assert (await asked(tmp_path, "Who invented the transistor?", "02-wool.md")).kind == "refusal"
