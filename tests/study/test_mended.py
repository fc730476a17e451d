"""A pinned answer is given for other wordings of its question, and for no similar question; with the shipped reader."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.fakes import ExactStore

from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.messages import YOUR_TEACHER
from lutrin.query.frames import frame_of
from lutrin.query.understand import alone
from lutrin.records import Question
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.settings import load_settings
from lutrin.study.desk import CompanionDesk
from lutrin.study.prepared_answers import PreparedAnswers
from lutrin_teacher.teach import Editor

PAGE = """# Gardens

## Humus

Humus is the dark, sticky substance that is left when dead plants have rotted. It glues grains into crumbs.

## Autumn

Leaves fall in autumn because a layer of cork closes their stalks, which saves water.

## Turgor

Turgor is the pressure of sap on the wall of a cell.
"""
MENDED = {
    "Give me an analogy for humus": (
        "Humus is dark, sticky",
        (
            "can you give me an analogy for humus please",
            "an analogy for humus?",
            "I need an analogy for humus",
            "what is a good analogy for humus",
            "explain humus with an analogy",
            "could you explain humus using an analogy, please",
            "humus: give me an analogy",
            "compare humus to something I know, as an analogy",
            "help me with an analogy about humus",
            "analogy of humus pls",
        ),
        (
            "give me an analogy for turgor",
            "give me an analogy for cork",
            "what is humus",
            "give me an example of humus",
            "explain humus in simpler words",
            "how is humus made",
            "an analogy for the cell wall",
            "give me an analogy for compost",
            "why is humus dark",
            "summarise humus",
        ),
    ),
    "Why do leaves fall in autumn?": (
        "Leaves fall in autumn",
        (
            "why do leaves fall off in autumn",
            "why do trees lose their leaves in autumn?",
            "What makes leaves fall in autumn?",
            "how come leaves fall in the autumn",
            "why are leaves falling in autumn",
            "can you tell me why leaves fall in autumn",
            "leaves fall in autumn, why?",
            "What is the reason that leaves fall in autumn?",
            "Why does a tree drop its leaves in autumn?",
            "please explain why leaves fall in autumn",
        ),
        (
            "Why do leaves change colour in autumn?",
            "Why do leaves grow in spring?",
            "When do leaves fall in autumn?",
            "Why do leaves not fall in summer?",
            "Why do fruits fall in autumn?",
            "Why do some trees keep their leaves in autumn?",
            "What happens to leaves after they fall?",
            "How do leaves make sugar?",
            "Why do leaves wilt?",
            "Why do roots grow in autumn?",
        ),
    ),
}


@pytest.mark.parametrize("question", MENDED)
async def test_a_mended_answer_is_met_in_other_wordings(tmp_path: Path, question: str) -> None:
    """In five of ten at least, and in none of ten near ones."""
    quote, wordings, near = MENDED[question]
    settings = load_settings(data_dir=tmp_path / "data")
    (tmp_path / "corpus/gardens").mkdir(parents=True)
    (tmp_path / "corpus/gardens/page.md").write_text(PAGE, "utf-8")
    embedder, store = open_embedder(settings, threads=1), ExactStore()
    tools = IngestTools(embedder, store, partial(verify_generation, store=store))
    await ingest(tmp_path / "corpus", settings, tools)
    async with Shelf(settings.catalog_path, settings.books_dir, store) as shelf:
        editor = Editor(CompanionDesk(shelf, settings.catalog_path, embedder))
        async with shelf.lease("gardens") as book:
            proof = next(chunk for chunk in await book.all_chunks() if quote.split()[0] in chunk.text)
        await editor.pin_answer("gardens", question, "In my words.", [(proof.chunk_id, "")])
        prepared = PreparedAnswers(Searcher(embedder))

        async def is_met(text: str) -> bool:
            query = replace(alone(Question(text=text)), frame=frame_of(text)[0])
            plan = await prepared.plan(query, shelf.books())
            return plan is not None and plan.prepared_by == YOUR_TEACHER

        assert await is_met(question)
        assert sum([await is_met(text) for text in wordings]) >= 5
        assert [text for text in near if await is_met(text)] == []
    embedder.close()
