"""A small published book with every kind of passage that a search must tell apart."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.catalog import Catalog
from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.readback import verify_generation
from lutrin.ingest.run import IngestTools, ingest
from lutrin.language.gate import LanguageGate
from lutrin.query.understand import Query, understand
from lutrin.records import ChatMessage, Question
from lutrin.search.result import SearchResult
from lutrin.search.search import Searcher
from lutrin.settings import Settings, load_settings

SAME = "The queen lays two thousand eggs a day in the warm middle of the hive, and the workers feed her day and night."
PAGES = {
    "book.toml": 'slug = "bees"\ntitle = "Bees"\n',
    "01-chapter-1-hive/01-queen.md": f"# The queen\n\n{SAME}\n\n## Her age\n\nA queen lives for five years.\n",
    "01-chapter-1-hive/02-again.md": f"# In short\n\n{SAME}\n",
    "01-chapter-1-hive/03-tasks.md": (
        "# Tasks\n\n## Exercises\n\n1. How many eggs does the queen lay in a day?\n2. What do workers eat?\n"
    ),
    "01-chapter-1-hive/04-quiz.md": (
        "# Test\n\n## Quiz\n\n1. How old may a queen become, five years or six?\n2. Who flies?\n"
    ),
    "01-chapter-1-hive/05-record.md": (
        "# Runs\n\n## Exercises\n\n1. Roll a marble down a comb. The record for the marble run is nine seconds.\n"
    ),
    "02-chapter-2-summer/01-frame.md": "# Stores\n\nHoney needs wax. Bees need flowers. Summer needs rain.\n",
    "02-chapter-2-summer/02-crate.md": "# Stores\n\nSummer needs rain. Bees need flowers. Honey needs wax.\n",
    "02-chapter-2-summer/03-smoke.md": (
        "# Smoke\n\nSmoke calms the bees. It makes them eat honey.\n\n## Smokers\n\nA smoker burns dry wood.\n"
    ),
}
PAGES["02-chapter-2-summer/04-scales.mdx"] = """# Scales

<Tabs>
<TabItem label="Python">

Tare the scales with `scales.tare()` before the hive stands on them.

</TabItem>
<TabItem label="Rust">

The type `Scales` has a method: tare the scales with it while the stand is empty, and zero grams are shown.

</TabItem>
</Tabs>
"""
PAGES["02-chapter-2-summer/05-yield.md"] = """# Yield

Rain helps (Table 4).

Table 4. Honey of a year

| Year | Honey (kg) |
|---|---|
| dry | 12 |
| wet | 20 |
| mild | 16 |

![Curve](yield.png)

*Figure 2.1: Honey over the summer*

Listing 6-3: Reading the scales

```python
grams()
```
"""
Search = Callable[..., Awaitable[SearchResult]]


@pytest.fixture(scope="session")
def search_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose data folder holds the book once `generation` is used."""
    return load_settings(data_dir=tmp_path_factory.mktemp("search"))


@pytest.fixture
async def generation(
    search_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[OpenGeneration]:
    """The book, ingested once and open."""
    store = ExactStore()
    if not search_settings.catalog_path.exists():
        corpus = tmp_path_factory.mktemp("bees")
        for name, text in PAGES.items():
            (corpus / name).parent.mkdir(parents=True, exist_ok=True)
            (corpus / name).write_text(text, encoding="utf-8")
        tools = IngestTools(WordHashEmbedder(), store, partial(verify_generation, store=store))
        await ingest(corpus, search_settings, tools)
    with Catalog(search_settings.catalog_path) as catalog:
        (book,) = catalog.books()
    opened = await open_generation(search_settings.books_dir / "bees" / Path(book.current), store)
    yield opened
    await opened.close()


def asked(text: str, *history: ChatMessage, **fields: object) -> Query:
    """A question, understood."""
    question = Question(text=text, **fields)  # type: ignore[arg-type]  # fields of Question
    return understand(question, history=history, language=LanguageGate(["en"]), embedder=WordHashEmbedder())


@pytest.fixture
def search(generation: OpenGeneration) -> Search:
    """Searches the book for what is asked."""
    searcher = Searcher(WordHashEmbedder())

    async def found(text: str, *history: ChatMessage, k: int = 10, **fields: object) -> SearchResult:
        return await searcher.search([generation], asked(text, *history, **fields), k=k)

    return found


def files(found: SearchResult) -> list[str]:
    """The pages of the passages, best first, without folders and suffixes."""
    return [Path(passage.chunk.filename).stem for passage in found.passages]
