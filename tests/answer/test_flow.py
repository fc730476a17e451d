"""From a question to an answer: the whole flow over a small book, with the fakes."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from itertools import count

import msgspec
import pytest
from tests.answer.book import english
from tests.fakes import WordHashEmbedder, word_grader
from tests.fakes_generator import ScriptedGenerator
from tests.interleaving import cancel_at

from evaluation.memory_chat import MemoryChatStore
from lutrin import messages, stages
from lutrin.answer.flow import MAX_OPENED, AnswerFlow
from lutrin.answer.prompt import STEP_TASK, Ability
from lutrin.chats.store import AbsentChats
from lutrin.errors import ChatStoreError, IndexUnavailable, InvalidQuestion, NotFound
from lutrin.index.shelf import Shelf
from lutrin.ports import ChatStore
from lutrin.records import (
    Answer,
    AnswerEvent,
    BookAnswerEvent,
    ChatMessage,
    DoneEvent,
    ExcerptEvent,
    Message,
    Question,
    Role,
    SentenceEvent,
    SourcesEvent,
)
from lutrin.runtime.wiring import Runtime, open_joiner
from lutrin.search.search import Searcher
from lutrin.settings import Settings

MakeFlow = Callable[..., AnswerFlow]
LOOP = "What is the sensorimotor loop of sensing, deciding and acting?"
DRAG = "What is the drag of the kite?"
BATTERY = "How many watt hours does the battery of Kestrel store?"


@pytest.fixture
def make_flow(shelf: Shelf, flow_settings: Settings) -> MakeFlow:
    """Makes a flow with this generator and these conversations."""

    def make(
        generator: ScriptedGenerator | None = None,
        chats: ChatStore | None = None,
        ability: Ability | None = None,
        clock: Callable[[], float] = time.monotonic,
        **settings: float,
    ) -> AnswerFlow:
        return AnswerFlow(
            shelf=shelf,
            searcher=Searcher(WordHashEmbedder()),
            language=english(),
            settings=flow_settings.model_copy(update={"deadline_s": 1.0, "explain_s": 2.0, **settings}),
            generator=generator,
            ability=ability,
            grader=word_grader(),
            chats=chats,
            clock=clock,
        )

    return make


async def events_of(flow: AnswerFlow, question: Question) -> list[AnswerEvent]:
    """Everything that a reader is sent."""
    return [event async for event in flow.answer(question)]


async def answer_to(flow: AnswerFlow, text: str, **fields: object) -> Answer:
    """The last event's answer."""
    last = (await events_of(flow, Question(text=text, **fields)))[-1]  # type: ignore[arg-type]  # fields of Question
    assert isinstance(last, DoneEvent)
    return last.answer


async def test_searches_take_turns_address_by_address(
    make_flow: MakeFlow, shelf: Shelf, flow_settings: Settings
) -> None:
    """Searches without an answer do not delay readers of another address."""
    flow, served, searcher = make_flow(), [], Searcher(WordHashEmbedder())
    runtime = Runtime(flow_settings, shelf, searcher, open_joiner(flow_settings, searcher.embedder), None, flow, None)

    async def retrieve(name: str) -> None:
        await runtime.retrieve(Question(text=LOOP, peer="crowd"))
        served.append(name)

    async def ask() -> None:
        await answer_to(flow, BATTERY, peer="reader")
        served.append("answer")

    async with flow.search_turn(Question(text=LOOP, peer="somebody")):
        crowd = [asyncio.create_task(retrieve(f"passages {number}")) for number in range(3)]
        reader = asyncio.create_task(ask())
        await asyncio.sleep(0.05)
    await asyncio.gather(*crowd, reader)
    assert served == ["passages 0", "answer", "passages 1", "passages 2"]


async def test_without_a_model_the_book_answers_in_its_own_words(make_flow: MakeFlow) -> None:
    """Sources, then quotes, then the answer; each quote is in its file."""
    events = await events_of(make_flow(), Question(text=LOOP))
    assert [type(event) for event in events[:2]] == [SourcesEvent, ExcerptEvent]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert done.answer.kind == "extractive"
    assert "The sensorimotor loop is the cycle of sensing, deciding and acting." in done.answer.answer
    assert "[1]" in done.answer.answer
    assert done.answer.sources[0].url == "/read/robots/01-chapter-1-loops/01-the-loop#what-the-loop-is"


async def test_a_supported_sentence_of_the_model_is_sent_and_cited(make_flow: MakeFlow) -> None:
    """It is generated, and its citation is the excerpt that supports it."""
    flow = make_flow(ScriptedGenerator(lambda _: "The sensorimotor loop is a cycle of sensing, deciding and acting."))
    events = await events_of(flow, Question(text=LOOP))
    assert [event.text for event in events if isinstance(event, SentenceEvent)] == [
        "The sensorimotor loop is a cycle of sensing, deciding and acting."
    ]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert done.answer.kind == "generated"
    assert done.answer.model_used == "scripted"


async def test_an_invented_sentence_never_leaves(make_flow: MakeFlow) -> None:
    """A wrong number is dropped; what is left of the answer is the book's."""
    flow = make_flow(ScriptedGenerator(lambda _: "The battery of Kestrel stores 900 watt hours."))
    answer = await answer_to(flow, BATTERY)
    assert "900" not in answer.answer
    assert "480 watt hours" in answer.answer
    assert answer.kind == "extractive"


async def test_the_book_begins_where_the_model_s_first_sentence_is_not_shown(make_flow: MakeFlow) -> None:
    """The later sentences would begin in the middle."""
    said = "Kestrel's battery stores 999 watt hours. A full charge of the battery takes three hours."
    answer = await answer_to(make_flow(ScriptedGenerator(lambda _: said)), BATTERY)
    assert [one.text for one in answer.sentences] == [
        "The battery of Kestrel stores 480 watt hours.",
        "A full charge of the battery takes three hours.",
    ]
    assert {number for one in answer.sentences for number in one.citations} == {one.n for one in answer.sources}


async def test_markers_that_the_model_makes_up_are_removed(make_flow: MakeFlow) -> None:
    """Citations are assigned by us."""
    flow = make_flow(ScriptedGenerator(lambda _: "Kestrel's battery stores 480 watt hours [7]."))
    answer = await answer_to(flow, BATTERY)
    assert "[7]" not in answer.answer
    assert answer.answer.startswith("Kestrel's battery stores 480 watt hours. [1]")


async def test_a_chapter_is_summed_up_by_its_sections(make_flow: MakeFlow) -> None:
    """In the book's words one sentence of each, in its order; a model reads one after the other."""
    answer = await answer_to(make_flow(), "Summarise chapter 1")
    intro, *sentences = [one.text for one in answer.sentences]
    assert intro == messages.NO_SUCH_FORM["summary"]
    assert sentences[0].startswith("The sensorimotor loop is")
    assert [one.citations for one in answer.sentences[1:]] == [(n,) for n in range(1, len(sentences) + 1)]
    titles = [one.section_title for one in answer.sources]
    assert list(dict.fromkeys(titles)) == ["What the loop is", "Batteries", "Kites"]
    said = {
        "sensorimotor": "The loop senses, decides and acts.",
        "480": "The battery of Kestrel stores 480 watt hours.",
    }
    generator = ScriptedGenerator(lambda texts: next((one for key, one in said.items() if key in texts[-1]), "So."))
    modelled = await answer_to(make_flow(generator), "Summarise chapter 1")
    assert len(generator.requests) == len(set(titles))
    assert all(STEP_TASK in request.messages[-1].content for request in generator.requests)
    assert [one.text for one in modelled.sentences][-1] == said["480"]


def markers(text: str) -> list[int]:
    """The numbers in an answer, each once, in the order of use."""
    return list(dict.fromkeys(int(number) for number in re.findall(r"\[(\d+)\]", text)))


@pytest.mark.parametrize("said", ["Kestrel's battery stores 480 watt hours. [1]", "It rains cats and dogs today."])
async def test_numbers_are_given_once(make_flow: MakeFlow, said: str) -> None:
    """The excerpts have the numbers of their sources, in the order in which they stand; the model changes none."""
    asked = "What is the drag factor of the kite, and how many watt hours does the battery of Kestrel store?"
    events = await events_of(make_flow(ScriptedGenerator(lambda _: said)), Question(text=asked))
    done = events[-1]
    assert isinstance(done, DoneEvent)
    answer = done.answer
    (sources,) = [event.citations for event in events if isinstance(event, SourcesEvent)]
    excerpts = [event.excerpt for event in events if isinstance(event, ExcerptEvent)]
    sentences = [event for event in events if isinstance(event, SentenceEvent)]
    assert [excerpt.n for excerpt in excerpts] == [source.n for source in sources] == [1, 2]
    assert [source.n for source in answer.sources] == [excerpt.n for excerpt in answer.excerpts] == [1, 2]
    assert all(one.text == source.quote for one, source in zip(answer.excerpts, answer.sources, strict=True))
    assert markers(answer.answer.removeprefix(answer.explanation)) == [1, 2]
    assert [event.citations for event in sentences] == ([(2,)] if "battery" in said else [])
    assert [one.citations for one in answer.sentences] == ([(2,)] if "battery" in said else [(1,), (2,)])


SLOW = "Kestrel's battery stores 480 watt hours whenever it is full. A full charge of the battery takes three hours."


def shape(events: list[AnswerEvent]) -> list[str]:
    """Names of events in their order, without repeats."""
    names = [str(event.__struct_config__.tag) for event in events]
    return [name for place, name in enumerate(names) if names[place - 1 : place] != [name]]


async def test_the_book_s_answer_is_final_before_the_model_speaks(make_flow: MakeFlow) -> None:
    """The model's sentences follow below it and change nothing."""
    flow = make_flow(ScriptedGenerator(lambda _: SLOW, first_s=5.0))
    events = await events_of(flow, Question(text=BATTERY))
    assert shape(events) == ["sources", "excerpt", "answer", "working", "sentence", "done"]
    (book,) = [event.answer for event in events if isinstance(event, BookAnswerEvent)]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    alone = await answer_to(make_flow(), BATTERY)
    assert (book.answer, book.sentences, book.excerpts) == (alone.answer, alone.sentences, alone.excerpts)
    assert done.answer.sentences == book.sentences
    assert done.answer.excerpts == book.excerpts
    assert done.answer.sources[: len(book.sources)] == book.sources
    assert done.answer.answer.startswith(book.answer)
    assert [one.text for one in done.answer.plain_words] == [
        "Kestrel's battery stores 480 watt hours whenever it is full.",
        "A full charge of the battery takes three hours.",
    ]
    assert f"\n\n{messages.IN_PLAIN_WORDS}\n\nKestrel's battery" in done.answer.answer
    assert (book.kind, done.answer.kind) == ("extractive", "generated")


async def test_an_explanation_that_would_be_late_is_offered(make_flow: MakeFlow) -> None:
    """With an estimate, and nothing is begun until the reader asks for it."""
    generator = ScriptedGenerator(lambda _: SLOW, first_s=40.0)
    flow = make_flow(generator, live_s=15.0)
    answer = await answer_to(flow, BATTERY)
    assert (answer.explainable, answer.eta_s, answer.plain_words) == (True, 40.0, ())
    assert generator.requests == []
    asked = await answer_to(flow, BATTERY, explain=True)
    assert (asked.explainable, asked.eta_s, len(asked.plain_words)) == (False, None, 2)


class Stages:
    """Hears which stages an answer goes through."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def add_time(self, stage: str, seconds: float) -> None:  # noqa: ARG002 - the listener's
        """Note a stage."""
        self.names.append(stage)

    def add_fact(self, fact: str, value: str) -> None:
        """Facts are not wanted."""


@pytest.mark.parametrize(("session", "searches"), [("mine", 0), ("another", 1)])
async def test_whoever_takes_an_offered_explanation_is_not_searched_for_again(
    make_flow: MakeFlow, session: str, searches: int
) -> None:
    """Another reader is: how long it takes must not tell what somebody else has asked."""
    flow = make_flow(ScriptedGenerator(lambda _: SLOW, first_s=40.0), live_s=15.0)
    offered = await answer_to(flow, BATTERY, session_id="mine")
    heard = Stages()
    with stages.listening(heard):
        asked = await answer_to(flow, BATTERY, session_id=session, explain=True)
    assert heard.names.count("search") == searches
    assert asked.excerpts == offered.excerpts
    assert asked.plain_words


async def test_a_program_gets_the_book_s_answer_at_once_and_waits_if_it_says_so(make_flow: MakeFlow) -> None:
    """A slow model does not start for a program that does not wait for it."""
    generator = ScriptedGenerator(lambda _: SLOW, first_s=5.0)
    flow = make_flow(generator)
    at_once = await answer_to(flow, BATTERY, wait_s=0.0)
    assert (generator.requests, at_once.explainable, at_once.plain_words) == ([], True, ())
    assert len((await answer_to(flow, BATTERY, wait_s=2.0)).plain_words) == 2


async def test_after_two_late_explanations_none_begins_unasked(make_flow: MakeFlow) -> None:
    """Until the model would be much faster than when it was late."""
    generator = ScriptedGenerator(lambda _: SLOW, first_s=2.0)
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 10.0
        return now

    flow = make_flow(generator, live_s=600.0, explain_s=600.0, clock=clock)
    for question in (BATTERY, LOOP):
        await answer_to(flow, question)
    assert flow.is_paused
    assert (await answer_to(flow, DRAG)).explainable
    generator.first_s = 1.2
    assert not flow.is_paused


async def test_a_late_no_takes_nothing_away(make_flow: MakeFlow) -> None:
    """The book's answer stands; only the model's sentences are not shown."""
    flow = make_flow(ScriptedGenerator(lambda _: SLOW, answers=-60.0, first_s=5.0))
    answer = await answer_to(flow, BATTERY)
    assert (answer.kind, answer.plain_words, "480 watt hours" in answer.answer) == ("extractive", (), True)


async def test_a_model_that_is_waited_for_has_its_say_where_nothing_is_shown_yet(make_flow: MakeFlow) -> None:
    """A slow one's no refuses then, and is not waited for further; what was answered before stays."""
    generator = ScriptedGenerator(lambda _: SLOW, answers=-60.0, first_s=5.0)
    flow = make_flow(generator)
    refused = await answer_to(flow, BATTERY, whole=True, wait_s=2.0)
    assert (refused.refusal, refused.plain_words, generator.requests) == ("not_in_book", (), [])
    for fields in ({"wait_s": 2.0}, {"whole": True, "wait_s": 0.0}, {"whole": True, "wait_s": 2.0, "explain": True}):
        answer = await answer_to(make_flow(generator), BATTERY, **fields)
        assert (answer.refusal, "480 watt hours" in answer.answer) == (None, True), fields


async def test_a_model_that_passes_its_time_leaves_the_book_s_answer(make_flow: MakeFlow) -> None:
    """A program that waits is told, and may ask again."""
    flow = make_flow(ScriptedGenerator(lambda _: "word " * 200, pause_s=0.05, first_s=5.0))
    async with asyncio.timeout(1.5):
        answer = await answer_to(flow, BATTERY, wait_s=0.6)
    assert answer.kind == "extractive"
    assert messages.PAST_DEADLINE in answer.warnings
    assert answer.explainable


async def test_no_clock_ends_what_a_reader_waits_for(make_flow: MakeFlow) -> None:
    """The passage may take longer to read than any setting says, as long as the reader of the stream is there."""
    flow = make_flow(ScriptedGenerator(lambda _: SLOW, pause_s=0.02, first_s=5.0), explain_s=0.1)
    answer = await answer_to(flow, BATTERY, explain=True)
    assert (len(answer.plain_words), answer.warnings) == (2, ())


async def test_a_model_that_is_away_is_replaced_by_quotes(make_flow: MakeFlow) -> None:
    """200 with the book's own sentences, not an error."""
    generator = ScriptedGenerator()
    generator.away = True
    answer = await answer_to(make_flow(generator), BATTERY)
    assert "480 watt hours" in answer.answer
    assert messages.MODEL_AWAY in answer.warnings


async def test_a_full_queue_is_replaced_by_quotes(make_flow: MakeFlow) -> None:
    """Too many readers do not mean no answer."""
    answer = await answer_to(make_flow(ScriptedGenerator(readers=0)), BATTERY)
    assert (answer.kind, "480 watt hours" in answer.answer) == ("extractive", True)


async def test_leaving_frees_the_model(make_flow: MakeFlow) -> None:
    """Closing the stream cancels the generation."""
    generator = ScriptedGenerator(lambda _: "Kestrel's battery stores 480 watt hours. " * 100, pause_s=0.01)
    async with aclosing(make_flow(generator).answer(Question(text=BATTERY))) as events:
        async for event in events:
            if isinstance(event, SentenceEvent):
                break
        assert generator.active == 1
    assert generator.active == 0


@pytest.mark.parametrize(
    ("surface", "text"),
    [
        ("query", messages.NOT_COVERED.format(title="Robots")),
        ("chat", messages.NOT_FOUND_CHAT),
        ("tutor", messages.OUT_OF_SCOPE_TUTOR.format(title="Robots")),
    ],
)
async def test_what_the_book_does_not_say_is_refused_in_the_surface_s_words(
    make_flow: MakeFlow, surface: str, text: str
) -> None:
    """In its own text; no sources; topics that are covered."""
    answer = await answer_to(make_flow(), "Which cheese belongs on a pizza from Naples?", surface=surface)
    assert (answer.answer, answer.kind, answer.sources) == (text, "refusal", ())


@pytest.mark.parametrize(("page", "title"), [("01-hive.md", "Bees"), ("02-chapter-2-driving/02-arms.md", "Robots")])
async def test_a_refusal_names_the_book_that_is_open(
    two_books: Shelf, flow_settings: Settings, page: str, title: str
) -> None:
    """Whichever of the books came nearest."""
    flow = AnswerFlow(
        shelf=two_books, searcher=Searcher(WordHashEmbedder()), language=english(), settings=flow_settings
    )
    answer = await answer_to(flow, "Who won the football world cup?", page=page)
    assert answer.answer == messages.NOT_COVERED.format(title=title)


async def test_who_asks_much_delays_no_other_peer(make_flow: MakeFlow) -> None:
    """However many sessions one address opens, a new reader is answered next but one."""
    flow, answered = make_flow(), []

    async def ask(text: str, peer: str, session_id: str = "") -> None:
        await answer_to(flow, text, peer=peer, session_id=session_id)
        answered.append(peer)

    crowd = [ask(f"Does Kestrel fly to moon {number}?", "crowd", str(number)) for number in range(8)]
    await asyncio.gather(*crowd, ask(BATTERY, "reader"))
    assert answered.index("reader") <= 2


async def test_a_vague_question_without_conversation_asks_for_more(make_flow: MakeFlow) -> None:
    """There is nothing to search for."""
    answer = await answer_to(make_flow(), "Tell me more")
    assert (answer.answer, answer.refusal) == (messages.NEEDS_CONTEXT, "vague")


async def test_a_vague_question_is_completed_from_its_conversation(make_flow: MakeFlow) -> None:
    """The topic of the last question is searched again."""
    chats = MemoryChatStore()
    asked = ChatMessage(id="1", session_id="s", role="user", text=BATTERY, created="2026-01-01T00:00:00Z")
    await chats.append("s", [asked])
    answer = await answer_to(make_flow(chats=chats), "Tell me more", session_id="s")
    assert "480 watt hours" in answer.answer


async def test_a_conversation_that_cannot_be_read_counts_as_empty(make_flow: MakeFlow) -> None:
    """The question is answered all the same."""
    chats = AbsentChats(ChatStoreError("The file is damaged."))
    answer = await answer_to(make_flow(chats=chats), BATTERY, session_id="s")
    assert "480 watt hours" in answer.answer


async def test_more_is_not_the_same_again(make_flow: MakeFlow) -> None:
    """Sentences of the previous answer are not repeated as long as the book has others."""
    chats = MemoryChatStore()
    flow = make_flow(chats=chats)
    first = await answer_to(flow, BATTERY, session_id="s")
    turns = (("user", BATTERY), ("assistant", first.answer))
    await chats.append(
        "s",
        [
            ChatMessage(id=str(number), session_id="s", role=role, text=text, created="2026-01-01T00:00:00Z")  # type: ignore[arg-type]  # of two roles
            for number, (role, text) in enumerate(turns)
        ],
    )
    more = await answer_to(flow, "Tell me more", session_id="s")
    assert more.excerpts
    assert not {item.text for item in more.excerpts} & {item.text for item in first.excerpts}


def _told(*said: str) -> list[ChatMessage]:
    """Questions and answers in turn, as they are stored."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        ChatMessage(id=f"m{place}", session_id="s", role=roles[place % 2], text=text, created="2026-01-01T00:00:00Z")
        for place, text in enumerate(said)
    ]


async def test_what_was_told_in_another_order_is_not_told_again(make_flow: MakeFlow) -> None:
    """The sentences of an answer are compared one by one."""
    chats = MemoryChatStore()
    question = "What about a full charge of the battery of Kestrel?"
    first = await answer_to(make_flow(), question)
    assert first.sentences[0].text == "The battery of Kestrel stores 480 watt hours. A full charge takes three hours."
    said = "A full charge takes three hours. [1]\n\nThe battery of Kestrel stores 480 watt hours."
    await chats.append("s", _told(question, said))
    answer = await answer_to(make_flow(chats=chats), "Give me an example", session_id="s")
    assert "480 watt hours" not in answer.answer


@pytest.mark.parametrize(
    "fields", [{"kept_as": ("m2", "m3")}, {"explain": True}], ids=["cut and resumed", "asked again to be explained"]
)
async def test_a_question_does_not_follow_itself(make_flow: MakeFlow, fields: dict[str, object]) -> None:
    """Taken up again, it is understood as the first time and has the same excerpts."""
    chats = MemoryChatStore()
    before = await answer_to(make_flow(), BATTERY)
    await chats.append("s", _told(BATTERY, before.answer))
    first = await answer_to(make_flow(chats=chats), "Tell me more", session_id="s")
    await chats.append("s", _told(BATTERY, before.answer, "Tell me more", first.answer)[2:])
    again = await answer_to(make_flow(chats=chats), "Tell me more", session_id="s", **fields)
    assert first.excerpts
    assert again.excerpts == first.excerpts


async def test_another_language_is_refused(make_flow: MakeFlow) -> None:
    """With the contract's words."""
    answer = await answer_to(make_flow(), "Wie viele Wattstunden speichert die Batterie des Roboters?")
    assert (answer.answer, answer.refusal) == (messages.NOT_ENGLISH, "not_english")


async def test_an_empty_question_is_an_error(make_flow: MakeFlow) -> None:
    """Not an answer with nothing in it."""
    with pytest.raises(InvalidQuestion, match=re.escape(messages.EMPTY_QUESTION)):
        await answer_to(make_flow(), "  ")


async def test_the_selection_alone_answers_in_its_mode(make_flow: MakeFlow) -> None:
    """Facts from the rest of the book are not used."""
    selected = "The sensorimotor loop is the cycle of sensing, deciding and acting."
    flow = make_flow()
    inside = await answer_to(flow, LOOP, selected_text=selected, mode="selection")
    assert "cycle of sensing" in inside.answer
    assert inside.sources[0].quote in selected
    outside = await answer_to(flow, BATTERY, selected_text=selected, mode="selection")
    assert (outside.answer, outside.refusal) == (messages.NOT_IN_SELECTION, "not_in_selection")


@pytest.mark.parametrize("mode", ["selection", None])
@pytest.mark.parametrize(
    "text", ["Explain this passage.", "Explain this passage in simpler words.", "What does this mean?"]
)
async def test_a_selection_can_be_explained(make_flow: MakeFlow, text: str, mode: str | None) -> None:
    """A request about the selection itself is about all of it."""
    selected = "The battery of Kestrel stores 480 watt hours. A full charge takes three hours."
    answer = await answer_to(make_flow(), text, selected_text=selected, mode=mode)
    assert "480 watt hours" in answer.answer


async def test_an_empty_selection_means_the_whole_book_with_a_warning(make_flow: MakeFlow) -> None:
    """Specification C, edge case 5."""
    answer = await answer_to(make_flow(), BATTERY, selected_text=" \n", mode="selection")
    assert "480 watt hours" in answer.answer
    assert messages.EMPTY_SELECTION in answer.warnings


async def test_code_that_moves_hardware_follows_the_book_s_warning(make_flow: MakeFlow) -> None:
    """Verbatim, before the first code block."""
    answer = await answer_to(make_flow(), "Which command drives Wren forward?")
    warning = answer.answer.index("Keep two metres away from Wren while its motors have power.")
    assert warning < answer.answer.index("ros2 topic pub /cmd_vel")


async def test_code_without_a_warning_in_the_book_is_withheld(make_flow: MakeFlow) -> None:
    """And that is said."""
    answer = await answer_to(make_flow(), "Which command moves the arm of Kestrel?")
    assert "joint_trajectory" not in answer.answer
    assert messages.CODE_WITHHELD in answer.warnings


async def test_simulated_and_real_are_told_apart(make_flow: MakeFlow) -> None:
    """When both are in one answer."""
    answer = await answer_to(
        make_flow(), "Do the wheels of Wren slip on a wet floor, and do the wheels of Wren slip in the simulator?"
    )
    assert any("simulation" in warning and "real hardware" in warning for warning in answer.warnings)


async def test_the_same_question_gets_the_same_bytes_without_the_model(make_flow: MakeFlow) -> None:
    """A repeat does not ask the model again."""
    generator = ScriptedGenerator(lambda _: "The battery of Kestrel stores 480 watt hours.")
    flow = make_flow(generator)
    first, second = await answer_to(flow, BATTERY), await answer_to(flow, BATTERY)
    assert first.answer == second.answer
    assert len(generator.requests) == 1


async def test_a_repeat_in_other_letters_gets_the_same_bytes(make_flow: MakeFlow) -> None:
    """Except for the duration; the book's answer does not depend on who asked first."""
    texts = [BATTERY, f"  {BATTERY.upper()[:-1]} ", BATTERY.lower().replace("?", " ?!")]

    def encoded(answer: Answer) -> bytes:
        return msgspec.json.encode(msgspec.structs.replace(answer, latency_ms=0))

    generator = ScriptedGenerator(lambda _: "The battery of Kestrel stores 480 watt hours.")
    flow = make_flow(generator)
    repeats = {encoded(await answer_to(flow, text, session_id=str(n))) for n, text in enumerate(texts)}
    assert len(generator.requests) == 1
    fresh = {(await answer_to(make_flow(), text)).answer for text in texts}
    assert len(repeats) == len(fresh) == 1


async def test_what_decides_about_an_answer_makes_another_one(make_flow: MakeFlow) -> None:
    """The same words, but another chapter, selection, mode, number of passages or surface, or cut after 500 words."""
    generator = ScriptedGenerator(lambda _: "Zip.")
    flow = make_flow(generator)
    selected = "The battery of Kestrel stores 480 watt hours. A full charge takes three hours."
    others: list[dict[str, object]] = [
        {}, {"chapter": "chapter 1"}, {"selected_text": selected}, {"selected_text": selected, "mode": "selection"},
        {"selected_text": selected.upper()}, {"top_k": 3}, {"surface": "chat"},
        {"selected_text": " ", "mode": "selection"},
    ]  # fmt: skip
    for number, fields in enumerate(others, 1):
        await answer_to(flow, BATTERY, **fields)
        assert len(generator.requests) == number, fields
    for fields in others:
        await answer_to(flow, BATTERY, **fields)
    assert len(generator.requests) == len(others)


async def test_an_answer_with_a_note_is_remembered(make_flow: MakeFlow) -> None:
    """Simulated and real differ the next time, too; the model, of which nothing held, is not asked again."""
    generator = ScriptedGenerator(lambda _: "Zip.")
    flow = make_flow(generator)
    asked = "Do the wheels of Wren slip on a wet floor, and do the wheels of Wren slip in the simulator?"
    first, second = await answer_to(flow, asked), await answer_to(flow, asked)
    assert first.kind == "extractive"
    assert first.warnings == second.warnings != ()
    assert len(generator.requests) == 1


async def test_a_fallback_is_not_remembered(make_flow: MakeFlow) -> None:
    """When the model is back, the next reader gets it."""
    generator = ScriptedGenerator(lambda _: "Kestrel's battery stores 480 watt hours.")
    flow = make_flow(generator)
    generator.away = True
    assert (await answer_to(flow, BATTERY)).kind == "extractive"
    generator.away = False
    assert (await answer_to(flow, BATTERY)).kind == "generated"


async def test_a_chapter_narrows_the_search(make_flow: MakeFlow) -> None:
    """Its short name is enough; an unknown one is answered with the list."""
    answer = await answer_to(make_flow(), "Which command drives Wren forward?", chapter="chapter 2")
    assert {source.chapter for source in answer.sources} == {"Chapter 2: Driving"}
    with pytest.raises(InvalidQuestion, match="Chapter 1: Loops"):
        await answer_to(make_flow(), LOOP, chapter="Chapter 9")


async def test_an_unknown_book_is_named(make_flow: MakeFlow) -> None:
    """With those that are there."""
    with pytest.raises(NotFound, match="robots"):
        await answer_to(make_flow(), LOOP, book="cooking")


async def test_the_model_reads_the_section_that_answers_and_the_question_last(make_flow: MakeFlow) -> None:
    """The section is shared by all who ask about it; the question is not."""
    generator = ScriptedGenerator(lambda _: SAID)
    await answer_to(make_flow(generator), BATTERY)
    (request,) = generator.requests
    user = request.messages[-1].content
    assert user[: request.stable_chars] == (
        "Passage: The loop > Batteries\nThe battery of Kestrel stores 480 watt hours. A full charge takes three hours."
    )
    assert user[request.stable_chars :] == f"\n\nQuestion: {BATTERY}"


async def test_the_model_reads_the_marked_name_in_the_question(make_flow: MakeFlow) -> None:
    """Also in a conversation, of which a question about what is marked takes nothing."""
    generator = ScriptedGenerator(lambda _: SAID)
    earlier = (Message(role="user", content=LOOP), Message(role="assistant", content="A cycle."))
    question = "Does this store 480 watt hours?"
    await answer_to(make_flow(generator), question, selected_text="Kestrel battery", earlier=earlier)
    (request,) = generator.requests
    assert request.messages[-1].content.endswith("Question: Does Kestrel battery store 480 watt hours?")
    assert not any("A cycle." in message.content for message in request.messages)


@pytest.mark.parametrize(("answers", "refusal"), [(60.0, None), (-60.0, "not_in_book")])
async def test_after_a_refusal_the_model_may_look_again(
    make_flow: MakeFlow, answers: float, refusal: str | None
) -> None:
    """Its yes brings the passage, and its no leaves the refusal as it is."""
    metre, said = "What is a metre?", "The sensorimotor loop runs exactly 500 times a second on Kestrel."
    generator = ScriptedGenerator(lambda _: said, answers=answers, first_s=5.0)
    flow = make_flow(generator)
    offered = await answer_to(flow, metre)
    assert (offered.refusal, offered.explainable, generator.requests) == ("not_in_book", True, [])
    answer = await answer_to(flow, metre, explain=True)
    assert answer.refusal == refusal
    assert bool(answer.excerpts) == bool(answer.plain_words) == (refusal is None)


async def test_no_second_look_is_offered_that_could_not_help(make_flow: MakeFlow) -> None:
    """If the reader is sure enough that the book does not answer, the model's verdict does not count."""
    answer = await answer_to(make_flow(ScriptedGenerator(first_s=5.0)), "What does the wing of Kestrel weigh?")
    assert (answer.refusal, answer.explainable) == ("not_in_book", False)


@pytest.mark.parametrize(("answers", "confirmed"), [(60.0, True), (-60.0, False)])
async def test_a_late_yes_confirms_the_closest_passage(make_flow: MakeFlow, answers: float, confirmed: bool) -> None:
    """A late no leaves it as it is."""
    said = "The battery of Kestrel stores exactly 480 watt hours whenever it is full."
    generator = ScriptedGenerator(lambda _: said, answers=answers, first_s=5.0)
    answer = await answer_to(make_flow(generator), "Which colour has the battery of Kestrel?")
    assert (answer.closest, answer.confirmed) == (True, confirmed)
    assert bool(answer.plain_words) == confirmed
    assert (messages.PASSAGE_ANSWERS in answer.answer) == confirmed


async def test_the_model_is_held_until_all_who_ask_at_once_have_their_quotes(make_flow: MakeFlow) -> None:
    """Its work would delay them."""
    generator = ScriptedGenerator()
    flow = make_flow(generator)
    quoted: list[list[int]] = []

    async def read(text: str) -> None:
        sent = flow.answer(Question(text=text))
        quoted.extend([list(generator.held) async for event in sent if isinstance(event, ExcerptEvent)])

    await asyncio.gather(read(BATTERY), read(LOOP), read(DRAG))
    assert all(held == [1] for held in quoted)
    assert generator.held == [1, 0]
    assert len(generator.requests) == 3


async def test_the_model_does_not_wait_for_a_search_that_hangs(make_flow: MakeFlow) -> None:
    """A reader who has quotes gets the model's sentences, even if another reader's search never ends."""
    generator = ScriptedGenerator()
    flow = make_flow(generator, deadline_s=0.3)
    with flow.traffic.without_excerpts():
        async with asyncio.timeout(1.5):
            await answer_to(flow, BATTERY)
    assert len(generator.requests) == 1


async def test_a_question_in_the_other_spelling_of_english_is_answered(make_flow: MakeFlow) -> None:
    """The book has metres; that is no slip, so nothing is said about it."""
    answer = await answer_to(make_flow(), "How many meters must I keep away from Wren while its motors have power?")
    assert "two metres" in answer.answer
    assert not answer.warnings


SAID = "Kestrel's battery stores 480 watt hours. [1]"


async def test_every_question_goes_to_the_model(make_flow: MakeFlow) -> None:
    """Questions of every form, and models of every size."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator, ability=Ability(tier="medium"))
    for text in (BATTERY, "battery kestrel watt hours", "Explain simply how many watt hours Kestrel's battery stores."):
        assert (await answer_to(flow, text)).kind == "generated", text
    marked = await answer_to(flow, BATTERY, selected_text="The battery of Kestrel stores 480 watt hours.")
    assert marked.kind == "generated"


async def test_where_the_model_says_no_the_book_does_not_answer(make_flow: MakeFlow) -> None:
    """None of the model's sentences is shown."""
    flow = make_flow(ScriptedGenerator(lambda _: SAID, answers=-60.0))
    answer = await answer_to(flow, BATTERY)
    assert (answer.kind, answer.refusal, answer.sentences) == ("refusal", "not_in_book", ())


async def test_the_head_of_a_model_counts_beside_its_yes(make_flow: MakeFlow) -> None:
    """A sure no of the head refuses, even if the model says yes; both are stored for the teacher."""
    flow = make_flow(ScriptedGenerator(lambda _: SAID, answers=1.0, head=-60.0))
    events = [event async for event in flow.answer(Question(text=BATTERY))]
    (done,) = (event for event in events if isinstance(event, DoneEvent))
    assert done.answer.refusal == "not_in_book"
    assert done.made is not None
    assert (done.made.yes, done.made.head) == (1.0, -60.0)


async def test_a_sentence_that_is_not_word_for_word_in_the_book_is_marked(make_flow: MakeFlow) -> None:
    """It is shown, with the section to compare; clients of plain text get a note."""
    said = "The battery of Kestrel stores exactly 480 watt hours whenever full."
    answer = await answer_to(make_flow(ScriptedGenerator(lambda _: said)), BATTERY)
    assert [(one.support, one.citations) for one in answer.sentences] == [("likely", (1,))]
    assert answer.explanation == f"{said} [1] {messages.LIKELY_MARK}\n\n{messages.LIKELY_NOTE}"


async def test_without_a_model_the_book_s_own_sentence_stands_alone_and_first(make_flow: MakeFlow) -> None:
    """It is not printed again below."""
    answer = await answer_to(make_flow(), BATTERY)
    assert [one.text for one in answer.sentences] == ["The battery of Kestrel stores 480 watt hours."]
    assert answer.explanation == "The battery of Kestrel stores 480 watt hours. [1]"
    assert answer.answer.startswith(answer.explanation)
    assert answer.answer.count("480 watt hours") == 1


async def test_a_model_that_arrives_is_asked_from_then_on(make_flow: MakeFlow) -> None:
    """Cached answers without it are not reused."""
    flow = make_flow()
    assert (await answer_to(flow, BATTERY)).kind == "extractive"
    flow.take_model(ScriptedGenerator(lambda _: SAID), Ability(tier="medium"))
    assert (await answer_to(flow, BATTERY)).kind == "generated"


async def test_nothing_is_offered_where_the_model_had_its_say(make_flow: MakeFlow) -> None:
    """It would say the same again."""
    answer = await answer_to(make_flow(ScriptedGenerator(lambda _: "It flies to the moon at night.")), BATTERY)
    assert (answer.kind, answer.explainable) == ("extractive", False)


async def test_the_book_s_warning_stands_before_what_the_model_says_of_code(make_flow: MakeFlow) -> None:
    """Word for word, and with its number."""
    said = "With the command below Wren drives forward. [2]"
    flow = make_flow(ScriptedGenerator(lambda _: said))
    answer = await answer_to(flow, "Which command drives Wren forward?")
    assert answer.kind == "generated"
    warning = "Keep two metres away from Wren while its motors have power."
    assert answer.explanation.startswith(f"{warning} [")
    assert answer.explanation.index(warning) < answer.explanation.index("With the command")


async def test_an_analogy_stands_below_its_own_heading(make_flow: MakeFlow) -> None:
    """Behind what the book supports."""
    said = f"{SAID}\nIn other words:\nIt is like a full water tank. It lasts until it is empty."
    events = await events_of(
        make_flow(ScriptedGenerator(lambda _: said)), Question(text=f"Explain with an analogy: {BATTERY}")
    )
    assert [event.support for event in events if isinstance(event, SentenceEvent)] == ["stated", "own", "own"]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert done.answer.explanation == (
        "Kestrel's battery stores 480 watt hours. [1]\n\n"
        f"{messages.IN_OTHER_WORDS}\n\nIt is like a full water tank. It lasts until it is empty."
    )


async def test_a_conversation_that_the_reader_s_program_keeps_completes_a_question(make_flow: MakeFlow) -> None:
    """As one that is stored does; the model is shown its last messages."""
    generator = ScriptedGenerator(lambda _: SAID)
    earlier = (Message(role="user", content=BATTERY), Message(role="assistant", content="480 watt hours. [1]"))
    answer = await answer_to(make_flow(generator), "Tell me more", earlier=earlier)
    assert "480 watt hours" in answer.answer
    assert f"Pupil: {BATTERY}" in generator.requests[0].messages[-1].content


async def test_two_conversations_do_not_share_an_answer(make_flow: MakeFlow) -> None:
    """The conversation is part of the cache key."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator)
    for said in ("480 watt hours. [1]", "Many. [1]"):
        earlier = (Message(role="user", content=BATTERY), Message(role="assistant", content=said))
        await answer_to(flow, "Tell me more", earlier=earlier)
    assert len(generator.requests) == 2


async def read_ahead(flow: AnswerFlow) -> None:
    """Have the pages read that have been opened."""
    reading = asyncio.create_task(flow.read_ahead())
    async with asyncio.timeout(5):
        while not (flow._opened.empty() and not flow._shelf._leases["robots"].leases):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    reading.cancel()


async def test_the_page_that_answered_is_read_ahead(make_flow: MakeFlow) -> None:
    """A class is on one page: the next questions are about its other sections."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator)
    await answer_to(flow, BATTERY)
    await read_ahead(flow)
    beginnings = {one.messages[-1].content[: one.stable_chars] for one in generator.warmed}
    assert any("sensorimotor loop" in text for text in beginnings)


async def test_the_chapter_that_is_opened_most_is_read_ahead(make_flow: MakeFlow) -> None:
    """The model reads all of its pages while no question waits."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator)
    await flow.warm_chapters()
    assert generator.warmed == []
    flow.traffic.opens("robots", "01-chapter-1-loops/01-the-loop.md")
    flow.traffic.opens("nowhere", "nowhere.md")
    await flow.warm_chapters()
    read = "\n".join(one.messages[-1].content for one in generator.warmed)
    assert "sensorimotor loop" in read
    await make_flow().warm_chapters()


async def test_an_opened_page_is_read_ahead(make_flow: MakeFlow) -> None:
    """As questions about it will cut it, so that only their own words are left to read."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator)
    flow.warm_page("robots", "nowhere.md")
    flow.warm_page("nowhere", "nowhere.md")
    flow.warm_page("robots", "01-chapter-1-loops/01-the-loop.md")
    await read_ahead(flow)
    await answer_to(flow, BATTERY)
    (asked,) = generator.requests
    stable = asked.messages[-1].content[: asked.stable_chars]
    assert stable in {one.messages[-1].content[: one.stable_chars] for one in generator.warmed}
    without = make_flow()
    for number in range(2 * MAX_OPENED):
        without.warm_page("robots", f"{number}.md")
    await read_ahead(without)


async def test_reading_ahead_that_is_cancelled_at_any_wait_holds_nothing(make_flow: MakeFlow) -> None:
    """No book stays leased, and the page that is opened next is read."""
    generator = ScriptedGenerator(lambda _: SAID)
    flow = make_flow(generator)
    for wait in count():
        flow.warm_page("robots", "01-chapter-1-loops/01-the-loop.md")
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await cancel_at(wait, flow.read_ahead())
                assert sum(one.leases for one in flow._shelf._leases.values()) == 0
                generator.warmed.clear()
                flow.warm_page("robots", "01-chapter-1-loops/01-the-loop.md")
                await read_ahead(flow)
                assert generator.warmed
                continue
        assert wait > 1
        return


async def test_a_search_that_does_not_end_leaves_its_turn(make_flow: MakeFlow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reader is told that the books are away; the next one is answered, and each search is charged."""
    monkeypatch.setattr("lutrin.answer.flow.TURN_S", 0.05)
    flow, charged = make_flow(), list[float]()
    flow.charge = charged.append
    with pytest.raises(IndexUnavailable):
        async with flow.search_turn(Question(text=LOOP)):
            await asyncio.sleep(60)
    monkeypatch.undo()
    async with asyncio.timeout(20):
        answer = await answer_to(flow, LOOP)
    assert (answer.kind, bool(answer.sources), len(charged)) == ("extractive", True, 2)
