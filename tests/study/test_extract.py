"""A book is prepared from its own words: terms with their definitions, and the questions that its headings ask."""

import json
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.generation import OpenGeneration
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest import companion_file
from lutrin.ingest.run import IngestTools, Options, ingest
from lutrin.ports import Judgement, Ranking, Reranker, View
from lutrin.prepared import Entry
from lutrin.search.search import Searcher
from lutrin.settings import Settings, load_settings
from lutrin.study.edit import merge
from lutrin.study.extract import Extractor, Usage, weights

PAGE = """# Machines

## Watchdogs

A **sleepy motor watchdog** is a timer that halts what is left alone. Each of them has a name. Press **Start** twice.

Two examples of a sleepy motor watchdog are here. More than one sleepy motor watchdog is rare.

## How often are brakes tested?

All brakes are tested once a week by the teacher of the class.

## What is a gantry?

Above each of the robots hangs a gantry that holds it.

## Drills

The **grumpy drill** Club is a club of all who have been halted. Two of the grumpy drill are
here. One grumpy drill is lost.

## Lists

A lab that is rented by the hour has drawbacks for the class:

- Blunt chisel: it is sold again every week.

## Drawers

In the evening the monitors of the class count every blunt chisel that lies in the two long drawers.

In the morning somebody else from the class puts one blunt chisel upon each of the seven tables.
"""
WATCHDOG = "A sleepy motor watchdog is a timer that halts what is left alone."


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a corpus of one page."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "machines.md").write_text(PAGE, encoding="utf-8")
    return load_settings(data_dir=tmp_path / "data", corpus_dir=tmp_path / "corpus")


async def prepared(
    settings: Settings, *, rebuild: bool = False, least: int = 0, ranker: Reranker | None = None
) -> list[Entry]:
    """Ingest the corpus, and list what is prepared of it, of texts of at least so many characters."""
    store, embedder = ExactStore(), WordHashEmbedder()

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    async def extract(generation: OpenGeneration, changed: Collection[str] | None) -> AsyncIterator[Entry]:
        async for entry in Extractor(Searcher(embedder), ranker).entries(generation, changed):
            if len(entry.text) >= least:
                yield entry

    tools = IngestTools(embedder=embedder, store=store, verify=verify, extract=extract)
    await ingest(settings.corpus_dir, settings, tools, Options(rebuild=rebuild))
    async with Shelf(settings.catalog_path, settings.books_dir, store) as shelf, shelf.lease("machines") as generation:
        return [item.entry for item in generation.companion.entries]


async def test_a_term_is_kept_with_the_sentence_that_defines_it(settings: Settings) -> None:
    """Bold text alone makes no term."""
    terms = {entry.topic: entry.text for entry in await prepared(settings) if entry.kind == "term"}
    assert terms == {"sleepy motor watchdog": WATCHDOG}


@pytest.mark.parametrize(
    ("behind", "text"),
    [
        ("A sleepy motor watchdog is a timer that halts what is left alone.", WATCHDOG),
        ("As seen, a timer halts it.", None),
    ],
)
async def test_the_label_of_a_paragraph_is_no_definition(settings: Settings, behind: str, text: str | None) -> None:
    """The text after it is one, if it begins with the name, too."""
    page = PAGE.replace(WATCHDOG.replace("sleepy motor watchdog", "**sleepy motor watchdog**"), "%")
    (settings.corpus_dir / "machines.md").write_text(page.replace("%", f"**Sleepy motor watchdog**: {behind}"))
    terms = {entry.topic.casefold(): entry.text for entry in await prepared(settings) if entry.kind == "term"}
    assert terms.get("sleepy motor watchdog") == text


@pytest.mark.parametrize(
    "glossary",
    [
        "- **wobble plate**: The slanted disc of a pump.\n- **spare**: See [wobble plate](#x).\n",
        "wobble plate\n:   The slanted disc of a pump.\n\nspare\n:   See wobble plate.\n",
        "| Term | Meaning |\n|---|---|\n| wobble plate | The slanted disc of a pump. |\n| spare | See other. |\n",
    ],
)
async def test_what_a_glossary_explains_is_a_term(settings: Settings, glossary: str) -> None:
    """Even a rare term, and whatever a search ranks first; a cross-reference explains nothing."""
    page = settings.corpus_dir / "machines.md"
    page.write_text(f"{PAGE}\nA wobble plate is what most people break.\n\n## Glossary\n\n{glossary}")
    entries = [entry for entry in await prepared(settings) if entry.heading == "Glossary"]
    assert [(entry.topic, entry.text) for entry in entries] == [("wobble plate", "The slanted disc of a pump.")]


async def test_an_item_that_is_announced_is_no_term(settings: Settings) -> None:
    """It makes sense only below its introduction; without one, the item is a term."""
    page = settings.corpus_dir / "machines.md"
    assert "Blunt chisel" not in {entry.topic for entry in await prepared(settings)}
    page.write_text(PAGE.replace("A lab that is rented by the hour has drawbacks for the class:\n\n", ""))
    assert "Blunt chisel" in {entry.topic for entry in await prepared(settings)}


async def test_a_heading_that_asks_is_answered_by_its_section(settings: Settings) -> None:
    """The question is the heading; the answer is the sentence that a search for it finds there.

    A heading that asks what a thing is needs a sentence on that thing.
    """
    (question,) = [entry for entry in await prepared(settings) if entry.kind == "question"]
    assert (question.topic, question.author) == ("How often are brakes tested?", "the book")
    assert question.text == "All brakes are tested once a week by the teacher of the class."


async def test_a_section_with_entries_of_somebody_is_left_alone(settings: Settings) -> None:
    """Nothing is put beside what people wrote."""
    draft = {"kind": "term", "file": "machines.md", "heading": "Watchdogs", "topic": "dog", "text": "A timer."}
    drafts = settings.corpus_dir.parent / "drafts.jsonl"
    drafts.write_text(json.dumps({**draft, "quotes": ["Each of them has a name."]}), encoding="utf-8")
    merge(settings.corpus_dir, [drafts])
    assert {(entry.topic, entry.author) for entry in await prepared(settings) if entry.heading == "Watchdogs"} == {
        ("dog", "the authors")
    }


LISTS = """# Machines

## Watchdogs

A watchdog needs three things:

- a timer
- a reset
- a safe state
"""


def lists_of(entries: list[Entry]) -> list[tuple[str, str]]:
    """The sentences before lists, with their items."""
    return [(entry.topic, entry.text) for entry in entries if entry.kind == "list" and isinstance(entry.text, str)]


async def test_a_list_is_kept_with_the_sentence_before_it(settings: Settings) -> None:
    """It names the parts of what the sentence announces."""
    (settings.corpus_dir / "machines.md").write_text(LISTS)
    items = "- a timer\n- a reset\n- a safe state"
    assert lists_of(await prepared(settings)) == [("A watchdog needs three things:", items)]


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ("- a timer\n- a reset\n- a safe state", "1. a timer\n2. a reset\n3. a safe state"),
        ("- a reset", "- 2 x 50 ms = 100 ms"),
        ("A watchdog needs three things:", "1. Open the box.\n2. Connect the timer.\n\nA watchdog needs:"),
        ("A watchdog needs three things:", "It needs these three things:"),
    ],
)
async def test_what_is_done_or_calculated_is_no_list_to_learn_by_heart(
    settings: Settings, words: str, others: str
) -> None:
    """Steps, their tools, calculations and cross-references make no card."""
    (settings.corpus_dir / "machines.md").write_text(LISTS.replace(words, others))
    assert lists_of(await prepared(settings)) == []


class Strict:
    """A ranker that finds an answer only in texts with certain words."""

    ranking = Ranking()

    def __init__(self, words: str) -> None:
        fit = weights()
        assert fit is not None
        self.name = fit.ranker
        self._words = words

    async def judge(self, _question: str, passages: Sequence[View]) -> list[Judgement]:
        """Sure, or not at all."""
        nothing = np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.float32)
        return [Judgement(99.0 if self._words in view.text else -99.0, *nothing) for view in passages]

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(("told", "kept"), [("a timer", 2), ("a reset", 1), ("a brake", 0)])
async def test_what_does_not_tell_what_is_asked_by_itself_is_left_out(settings: Settings, told: str, kept: int) -> None:
    """The ranker sees the words of the card alone, as the pupil will."""
    page = PAGE[: PAGE.index("## How")] + LISTS.partition("## Watchdogs")[2]
    (settings.corpus_dir / "machines.md").write_text(page)
    entries = await prepared(settings, ranker=Strict(told))
    assert len([entry for entry in entries if entry.kind in {"term", "list"}]) == kept


async def test_what_a_page_no_longer_says_is_prepared_no_longer(settings: Settings) -> None:
    """Entries of unchanged files stay as they are; those of a changed section are made anew."""
    before = await prepared(settings)
    (settings.corpus_dir / "machines.md").write_text(PAGE.replace("halts what", "stops what"))
    after = await prepared(settings)
    assert {entry.topic for entry in before} == {entry.topic for entry in after}
    assert WATCHDOG.replace("halts what", "stops what") in {entry.text for entry in after}


async def test_what_is_read_anew_is_prepared_anew(settings: Settings) -> None:
    """With a release that prepares less, or more."""
    before = await prepared(settings)
    longest = max(len(entry.text) for entry in before)
    after = await prepared(settings, rebuild=True, least=longest)
    assert [entry.text for entry in after] == [entry.text for entry in before if len(entry.text) == longest]
    assert len(after) < len(before)


async def test_another_way_of_preparing_prepares_everything_anew(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries of unchanged files, too; before, they stay."""
    before = await prepared(settings)
    longest = max(len(entry.text) for entry in before)
    assert await prepared(settings, least=longest) == before
    monkeypatch.setattr(companion_file, "EXTRACTED", "otherwise")
    assert len(await prepared(settings, least=longest)) < len(before)


def test_a_name_is_taken_with_the_nouns_that_go_on_with_it() -> None:
    """Which words are nouns the book tells: they are behind articles. A verb before its object is none."""
    usage = Usage()
    usage.count(["the", "controls", "of", "the", "type", "are", "here"])
    assert usage.name_in("gripper", "The gripper controls the arm.") == "gripper"
    assert usage.name_in("scalar", "A scalar type represents a value.") == "scalar type"
