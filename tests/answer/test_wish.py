"""The form of a question is recognised by its similarity to example questions, with the reader's own vectors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.language.gate import LanguageGate
from lutrin.query.understand import understand, with_wish
from lutrin.records import Question
from lutrin.search.search import Searcher


@pytest.fixture(scope="module")
def searcher(models_dir: Path) -> Iterator[Searcher]:
    """With the real reader."""
    local = FastembedEmbedder(models_dir / "reader", threads=2)
    yield Searcher(local)
    local.close()


FOR_ITS_WORDS = {
    "What does PC stand for?": True,
    "What is the full form of PC?": True,
    "What is PC short for?": True,
    "What is PC an abbreviation of?": True,
    "Expand PC": True,
    "PC in full?": True,
    "Spell out PC.": True,
    "What do the letters PC mean?": True,
    "Full name of PC": True,
    "What is a PC?": False,
    "Expand a PC file with xacro": False,
    "What are the parts of a PC?": False,
    "How long is the PC?": False,
    "What does the PC cost?": False,
    "What does the PC measure?": False,
    "Who makes the PC?": False,
    "What is the unit of PC?": False,
    "What does the PC of the GPU stand for?": False,
}


async def test_the_words_behind_an_abbreviation_are_asked_for_alike(searcher: Searcher) -> None:
    """In any wording. Other questions about it, or about two abbreviations, stay as they are."""
    read = {}
    for question in FOR_ITS_WORDS:
        asked = Question(text=question)
        query = understand(asked, history=(), language=LanguageGate(["en"]), embedder=searcher.embedder)
        found = await with_wish(query, searcher.encode)
        read[question] = found.parts == ("What does PC mean?",)
        assert found.typed == question
    assert read == FOR_ITS_WORDS
