"""An answer that was given can be made again: what was stored of it, the old index, the difference in words."""

from pathlib import Path

import msgspec
import pytest
from tests.answer.book import english
from tests.answer.test_flow import BATTERY, MakeFlow, make_flow
from tests.fakes import ExactStore, WordHashEmbedder
from tests.fakes_generator import ScriptedGenerator

from lutrin.answer.flow import AnswerFlow
from lutrin.chats.store import SqlChatStore
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.shelf import PinnedShelf
from lutrin.records import Answer, ChatMessage, DoneEvent, KeptMessage, Made, Question
from lutrin.runtime.differences import Replayed, difference
from lutrin.search.search import Searcher
from lutrin.settings import Settings

__all__ = ["make_flow"]
KEY = "ab" * 32


async def done_of(flow: AnswerFlow, question: Question) -> tuple[Answer, Made]:
    """The answer and how it was made."""
    (done,) = [event async for event in flow.answer(question) if isinstance(event, DoneEvent)]
    assert done.made is not None
    return done.answer, done.made


def stored_as(answer: Answer, made: Made) -> KeptMessage:
    """An answer as its conversation keeps it."""
    return KeptMessage(
        id="m2", session_id="s", role="assistant", text=answer.answer, created="2026-01-01T00:00:00Z",
        kind=answer.kind, citations=answer.sources, made=made,
    )  # fmt: skip


async def test_an_answer_says_how_it_was_made(make_flow: MakeFlow) -> None:
    """Question, index generation, prompt and settings; the reader's session is not among them."""
    flow = make_flow(ScriptedGenerator(lambda _: "The battery of Kestrel stores 480 watt hours."))
    answer, made = await done_of(flow, Question(text=BATTERY, session_id="secret"))
    assert (made.question.text, made.question.session_id) == (BATTERY, "")
    assert made.generation == answer.generation
    assert "480 watt hours" in made.prompt[-1].content
    assert made.settings["answer_tokens"] == "400"


async def test_the_conversation_keeps_it_sealed(make_flow: MakeFlow, tmp_path: Path) -> None:
    """It comes back with the messages before it, and no word of it stands in the file."""
    answer, made = await done_of(make_flow(), Question(text=BATTERY))
    chats = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    asked = ChatMessage(id="m1", session_id="s", role="user", text=BATTERY, created="2026-01-01T00:00:00Z")
    later = msgspec.structs.replace(asked, id="m3")
    try:
        await chats.append("s", [asked, stored_as(answer, made), later])
        assert [message.id for message in await chats.conversation_of("m2")] == ["m1", "m2"]
        assert (await chats.conversation_of("m2"))[-1].made == made
        assert not any(hasattr(message, "made") for message in await chats.history("s")), "readers do not get it"
        with pytest.raises(NotFound):
            await chats.conversation_of("m9")
    finally:
        await chats.close()
    assert b"watt hours" not in (tmp_path / "chats.db").read_bytes()


async def test_the_old_index_answers_as_it_did(make_flow: MakeFlow, flow_settings: Settings) -> None:
    """A pinned shelf holds one generation, whatever the catalogue says; one that is gone is said to be."""
    answer, made = await done_of(make_flow(), Question(text=BATTERY))
    folder = flow_settings.books_dir / "robots" / made.generation
    async with PinnedShelf(folder, flow_settings.catalog_path, ExactStore()) as pinned:
        flow = AnswerFlow(
            shelf=pinned,
            searcher=Searcher(WordHashEmbedder()),
            language=english(),
            settings=flow_settings,
        )
        again, _ = await done_of(flow, Question(text=BATTERY))
    assert again.answer == answer.answer
    with pytest.raises(IndexUnavailable):
        await PinnedShelf(folder.with_name("gone"), flow_settings.catalog_path, ExactStore()).start()


async def test_the_difference_is_told_in_words(make_flow: MakeFlow) -> None:
    """What is the same takes a line; what is not is shown, and that the old index is gone is said."""
    answer, made = await done_of(make_flow(), Question(text=BATTERY))
    same = Replayed(stored=stored_as(answer, made), then=made, now=answer, made=made, is_same_index=True)
    assert "Answer: the same" in difference(same)
    assert "gone" not in difference(same)
    changed = msgspec.structs.replace(
        same,
        now=msgspec.structs.replace(answer, answer="The battery is new."),
        made=msgspec.structs.replace(made, generation="000002-beef"),
        is_same_index=False,
    )
    told = difference(changed)
    assert f"The index generation {made.generation} is gone; 000002-beef answered instead." in told
    assert "+The battery is new." in told
