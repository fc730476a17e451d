"""A meaning is shown only where the page uses the word in that sense."""

import json
from pathlib import Path

from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.generation import OpenGeneration
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.ports import Embedder
from lutrin.runtime.profile import open_embedder
from lutrin.settings import load_settings
from lutrin.study.edit import merge
from lutrin.study.senses import SIGNALS, senses_of, weights

ACTIONS = (
    "# Actions\n\nA client sends a goal to the server of an action. The server sends feedback while the robot drives. "
    "The result is what the server of an action sends to its client at the end. "
    "A rate limiter holds back what comes too often.\n"
)
PAGES = {
    "book.toml": 'slug = "lab"\ntitle = "The Lab"\n',
    "01-chapter-1-robots/01-actions.md": ACTIONS,
    "01-chapter-1-robots/02-calls.md": (
        "# Calling an action\n\nThe client of the action waits for the server, sends its goal, reads the feedback "
        "while the robot drives, and asks the server for the result at the end. Each rate limiter is set in a file.\n"
    ),
    "02-chapter-2-kitchen/01-soup.md": (
        "# Soup\n\nStir the soup slowly over a small flame, and taste it. As a result the cream does not curdle, and a "
        "map of the kitchen shows where the mAP of the spoons hangs.\n"
    ),
}
TERMS = {
    "result": "The result is what the server of an action sends to its client at the end.",
    "rate limiter": "A rate limiter holds back what comes too often.",
    "mAP": "A rate limiter holds back what comes too often.",
}


async def uses(tmp_path: Path, embedder: Embedder) -> dict[str, dict[str, list[str]]]:
    """For each page, the words that show a definition, by the names of their terms."""
    settings = load_settings(data_dir=tmp_path / "data", corpus_dir=tmp_path / "corpus")
    for name, text in PAGES.items():
        path = settings.corpus_dir / "lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    drafts = tmp_path / "drafts.jsonl"
    draft = {"kind": "term", "file": "01-chapter-1-robots/01-actions.md", "heading": "Actions"}
    lines = (json.dumps({**draft, "topic": topic, "text": text, "quotes": [text]}) for topic, text in TERMS.items())
    drafts.write_text("\n".join(lines), encoding="utf-8")
    merge(settings.corpus_dir, [drafts])
    store = ExactStore()

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    async def on_page(generation: OpenGeneration, name: str) -> dict[str, list[str]]:
        passages = await generation.places([chunk.chunk_id for chunk in await generation.chunks_of(name)])
        found = (await senses_of(generation)).on_page(passages)
        return {use.name: [word for word, _ in use.places] for use in found}

    await ingest(settings.corpus_dir, settings, IngestTools(embedder=embedder, store=store, verify=verify))
    async with Shelf(settings.catalog_path, settings.books_dir, store) as shelf, shelf.lease() as generation:
        return {name: await on_page(generation, name) for name in PAGES if name.endswith(".md")}


async def test_an_everyday_word_is_a_term_only_among_its_like(tmp_path: Path) -> None:
    """The result of an action is one, "as a result" is none, and a map is no `mAP`; a term's own page shows nothing."""
    embedder = open_embedder(load_settings(), threads=1)
    known = weights()
    assert known is not None
    assert (known.embedder, known.signals) == (embedder.name, SIGNALS), "run `python -m training senses`"
    try:
        found = await uses(tmp_path, embedder)
    finally:
        embedder.close()
    assert found["01-chapter-1-robots/01-actions.md"] == {}
    assert found["01-chapter-1-robots/02-calls.md"] == {"result": ["result"], "rate limiter": ["rate limiter"]}
    assert "result" not in found["02-chapter-2-kitchen/01-soup.md"]
    assert found["02-chapter-2-kitchen/01-soup.md"].get("mAP", ["mAP"]) == ["mAP"]


async def test_with_another_embedder_only_names_of_several_words_are_shown(tmp_path: Path) -> None:
    """Its vectors say nothing that was fitted, and a single word may mean anything."""
    found = await uses(tmp_path, WordHashEmbedder())
    assert list(found["01-chapter-1-robots/02-calls.md"]) == ["rate limiter"]
    assert found["02-chapter-2-kitchen/01-soup.md"] == {}


def test_what_was_read_is_right_as_often_as_is_wanted() -> None:
    """Counted over the links that the fit shows, each judged without its own term."""
    known = weights()
    assert known is not None
    assert known.shown_right / known.shown >= 0.97
    assert known.shown >= 0.4 * known.links
