"""A question that means a prepared one gets its explanation, with who prepared it and the book's words below."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from tests.answer.book import english
from tests.answer.conftest import PAGES
from tests.fakes import ExactStore, WordHashEmbedder, word_grader
from tests.fakes_generator import ScriptedGenerator

from evaluation.memory_chat import MemoryChatStore
from lutrin import messages
from lutrin.answer.flow import AnswerFlow
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.prepared import BY_THE_BOOK, Entry, PreparedEntry
from lutrin.query.frames import frame_of
from lutrin.records import Answer, BookAnswerEvent, ChatMessage, DoneEvent, Question
from lutrin.search.search import Searcher
from lutrin.settings import Settings, load_settings
from lutrin.study.edit import merge
from lutrin.study.prepared_answers import PreparedAnswers

LOOP = {"file": "01-chapter-1-loops/01-the-loop.md", "heading": "What the loop is"}
CYCLE = "The sensorimotor loop is the cycle of sensing, deciding and acting."
CHARGE = {"file": LOOP["file"], "heading": "Batteries"}
CAPACITY = "The battery of Kestrel stores 480 watt hours."
DRIVING = {"file": "02-chapter-2-driving/01-driving.md", "heading": "Driving Wren"}
WHEELS = {"file": "02-chapter-2-driving/03-simulated.md", "heading": "Wheels in simulation"}
DRAFTS = [
    {
        **LOOP,
        "kind": "term",
        "topic": "sensorimotor loop",
        "aka": ["SML"],
        "text": "Sense, decide, act. Repeat.",
        "quotes": [CYCLE],
    },
    {**LOOP, "kind": "analogy", "topic": "sensorimotor loop", "text": "It is like catching a ball.", "quotes": [CYCLE]},
    {**LOOP, "kind": "simpler", "topic": "sensorimotor loop", "text": "Look, think, move.", "quotes": [CYCLE]},
    {
        **LOOP,
        "kind": "question",
        "topic": "How fast is the loop of Kestrel?",
        "aka": ["What is a command-line loop?"],
        "text": "Kestrel goes through it 500 times in a second.",
        "quotes": ["It runs 500 times a second on Kestrel."],
    },
    {**CHARGE, "kind": "keypoints", "topic": "Batteries", "text": ["Enough for an evening."], "quotes": [CAPACITY]},
    {
        **DRIVING,
        "kind": "question",
        "topic": "Which command below drives Wren forward?",
        "text": "You publish a speed.",
        "quotes": ["The command below drives Wren forward."],
    },
    {**DRIVING, "kind": "keypoints", "topic": "Driving", "text": ["One command drives."],
     "quotes": ["The command below drives Wren forward."]},
    {**WHEELS, "kind": "keypoints", "topic": "Wheels", "text": ["Simulated wheels hold."],
     "quotes": ["The wheels of Wren never slip in the simulator."]},
]  # fmt: skip


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose data folder holds the book and its companion once `flow` is used."""
    return load_settings(data_dir=tmp_path_factory.mktemp("prepared"), deadline_s=20.0)


@pytest.fixture
async def shelf(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shelf]:
    """The book with its companion, ingested once and open."""
    store = ExactStore()
    if not settings.catalog_path.exists():
        corpus = tmp_path_factory.mktemp("corpus")
        for name, text in PAGES.items():
            (corpus / name).parent.mkdir(parents=True, exist_ok=True)
            (corpus / name).write_text(text, encoding="utf-8")
        drafts = tmp_path_factory.mktemp("drafts") / "drafts.jsonl"
        drafts.write_text("".join(json.dumps(draft) + "\n" for draft in DRAFTS))
        assert merge(corpus, [drafts]).refused == ()

        async def verify(directory: Path) -> None:
            await verify_generation(directory, store)

        await ingest(corpus, settings, IngestTools(embedder=WordHashEmbedder(), store=store, verify=verify))
    async with Shelf(settings.catalog_path, settings.books_dir, store) as opened:
        yield opened


@pytest.fixture
def flow(shelf: Shelf, settings: Settings) -> AnswerFlow:
    """Answers from that book, with a model that would say something else."""
    return flow_of(shelf, settings, generator=ScriptedGenerator(lambda _: "Something else. [1]"))


def flow_of(
    shelf: Shelf,
    settings: Settings,
    *,
    generator: ScriptedGenerator | None = None,
    chats: MemoryChatStore | None = None,
) -> AnswerFlow:
    """Answers from the book and from what was prepared of it."""
    searcher = Searcher(WordHashEmbedder())
    return AnswerFlow(
        shelf=shelf,
        searcher=searcher,
        language=english(),
        settings=settings,
        generator=generator,
        prepared=PreparedAnswers(searcher, own_words=settings.own_words),
        grader=word_grader(),
        chats=chats,
    )


class Torn(WordHashEmbedder):
    """Its tokenizer puts one word together, as a trained one does with what is misspelt."""

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """As before, that word in two pieces."""
        spans = [
            [(start, start + 3), (start + 3, end)] if text[start:end] == "sensorimotr" else [(start, end)]
            for start, end in super().token_offsets(text)
        ]
        return [span for found in spans for span in found]


async def answer_to(flow: AnswerFlow, text: str, **fields: str) -> Answer:
    """The last event's answer."""
    events = [event async for event in flow.answer(Question(text=text, **fields))]  # type: ignore[arg-type] # a mode is a text
    last = events[-1]
    assert isinstance(last, DoneEvent)
    return last.answer


async def test_a_prepared_question_is_explained_with_its_proof(flow: AnswerFlow) -> None:
    """The explanation, who prepared it, and the book's words that prove it; no model is asked."""
    events = [event async for event in flow.answer(Question(text="how fast is the loop of kestrel"))]
    last = events[-1]
    assert isinstance(last, DoneEvent)
    answer = last.answer
    assert answer.explanation == "Kestrel goes through it 500 times in a second. [1]"
    assert (answer.prepared_by, answer.model_used, answer.kind) == ("the authors", "", "extractive")
    assert answer.sentences == (), "or the book's own sentence would stand in its place"
    assert "It runs 500 times a second on Kestrel." in answer.excerpts[0].text
    assert [event.answer.explanation for event in events if isinstance(event, BookAnswerEvent)] == [answer.explanation]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What does sensorimotor loop mean?", "Sense, decide, act."),
        ("Explain sensorimotor loop", "Sense, decide, act."),
        ("What does SML mean?", "**sensorimotor loop**: Sense, decide, act."),
        ("Explain sensorimotor loop like I'm 12", "Look, think, move."),
        ("Explain sensorimotor loop with an everyday analogy", "It is like catching a ball."),
    ],
)
async def test_what_is_wanted_of_a_term_decides(flow: AnswerFlow, asked: str, told: str) -> None:
    """A definition, simpler words and an analogy are three entries of one term."""
    assert told in (await answer_to(flow, asked)).explanation


async def test_a_slip_is_put_right_and_told(shelf: Shelf, settings: Settings) -> None:
    """The reader sees for which word the prepared answer stands."""
    searcher = Searcher(Torn())
    flow = AnswerFlow(
        shelf=shelf, searcher=searcher, language=english(), settings=settings, prepared=PreparedAnswers(searcher)
    )
    answer = await answer_to(flow, "What does sensorimotr loop mean?")
    assert "Sense, decide, act." in answer.explanation
    assert answer.warnings == (messages.RESPELLED.format(word="sensorimotr", other="sensorimotor"),)


async def test_an_analogy_is_marked_as_not_the_books(flow: AnswerFlow) -> None:
    """It is under a heading of its own."""
    answer = await answer_to(flow, "Explain sensorimotor loop with an everyday analogy")
    assert answer.explanation.startswith(messages.PREPARED_IN_OTHER_WORDS.format(author="the authors"))


async def test_a_question_of_the_same_words_is_met_in_any_form(flow: AnswerFlow) -> None:
    """Even one that seems to ask for code: its author knew what it asks."""
    assert frame_of("What is a command-line loop?")[0] == "code"
    assert (await answer_to(flow, "what is a command-line loop")).explanation.startswith("Kestrel goes through it")


async def test_another_question_is_not_taken_for_it(flow: AnswerFlow) -> None:
    """A question on the same subject is answered from the book and by the model."""
    answer = await answer_to(flow, "How fast is the loop of Wren?")
    assert answer.prepared_by == ""


async def test_a_question_that_hangs_on_a_selection_is_not_prepared(flow: AnswerFlow) -> None:
    """The selection alone is the source where that is wished for."""
    answer = await answer_to(flow, "How fast is the loop of Kestrel?", selected_text=CYCLE, mode="selection")
    assert answer.prepared_by == ""


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ("Explain this passage.", "**sensorimotor loop**: Sense, decide, act."),
        ("Explain this passage in simpler words.", "**sensorimotor loop**: Look, think, move."),
        ("Give me an analogy.", "**sensorimotor loop**: It is like catching a ball."),
        ("explain this concept with an analogy", "**sensorimotor loop**: It is like catching a ball."),
    ],
)
async def test_a_marked_sentence_gets_the_entry_that_it_proves(flow: AnswerFlow, wish: str, told: str) -> None:
    """What is wanted of the sentence decides which of the entries, whose proof it is."""
    answer = await answer_to(flow, wish, selected_text=CYCLE)
    assert told in answer.explanation
    assert CYCLE in answer.excerpts[0].text


async def test_an_explanation_is_offered_where_an_entry_or_a_model_serves(
    flow: AnswerFlow, shelf: Shelf, settings: Settings
) -> None:
    """A passage on which nothing was prepared has none without a model."""
    alone = flow_of(shelf, settings)
    for mark, explained in ((CYCLE, True), ("Words that no page of this book has.", False)):
        question = Question(text="Explain this passage.", selected_text=mark, mode="selection_boosted")
        assert await alone.explains(question) is explained
        assert await flow.explains(question)


async def test_a_mark_within_a_sentence_is_found_on_the_page(flow: AnswerFlow) -> None:
    """The proof lies in the sentence of which three words are marked."""
    answer = await answer_to(flow, "Explain this", selected_text="500 times a", page=LOOP["file"])
    assert answer.explanation.startswith("**How fast is the loop of Kestrel?** Kestrel goes through it")


async def test_a_longer_mark_gets_an_entry_for_each_part(flow: AnswerFlow) -> None:
    """Each of two sentences proves another entry; both are told, in the order of the book."""
    marked = f"{CYCLE} It runs 500 times a second on Kestrel."
    told = (await answer_to(flow, "Explain this passage.", selected_text=marked)).explanation
    assert 0 <= told.index("Sense, decide, act.") < told.index("How fast is the loop of Kestrel?")


async def test_where_no_entry_is_proved_the_section_is_told_in_short(flow: AnswerFlow) -> None:
    """The key points of a section are true of any part of it; an example of it is not there, and none is made up."""
    marked = "A full charge takes three hours."
    answer = await answer_to(flow, "Explain this passage.", selected_text=marked)
    assert answer.explanation.startswith("**Batteries**, in short:\n\n- Enough for an evening.")
    assert (await answer_to(flow, "Give me an example.", selected_text=marked)).prepared_by == ""


async def test_a_selected_term_is_explained_by_its_entry(flow: AnswerFlow) -> None:
    """A few selected words and no other are what is asked about."""
    answer = await answer_to(flow, "Explain this", selected_text="sensorimotor loop")
    assert "Sense, decide, act" in answer.explanation


async def test_where_the_book_must_warn_it_speaks_first(flow: AnswerFlow) -> None:
    """Code that moves a robot gets the book's warning; no prepared sentence is before it."""
    answer = await answer_to(flow, "Which command below drives Wren forward?")
    assert answer.prepared_by == ""
    assert "Keep two metres away" in answer.excerpts[0].text


async def test_a_chapter_without_the_entry_does_not_give_it(flow: AnswerFlow) -> None:
    """The filter of a question holds for prepared answers."""
    answer = await answer_to(flow, "How fast is the loop of Kestrel?", chapter="Chapter 2")
    assert answer.prepared_by == ""


async def test_the_nearest_prepared_questions_of_a_page_may_be_asked_next(flow: AnswerFlow) -> None:
    """A question that is worded too differently to match is offered there; never the question itself."""
    kestrel = "How fast is the loop of Kestrel?"
    assert (await answer_to(flow, "How fast is the loop of Wren?")).suggestions == (kestrel,)
    assert (await answer_to(flow, "What is sensorimotor loop?")).suggestions == (kestrel,)
    assert (await answer_to(flow, kestrel)).suggestions == (), "the question of another page leads elsewhere"


async def test_what_is_marked_is_asked_about_further(flow: AnswerFlow) -> None:
    """A question on a selection says little by itself; what was prepared on its section is offered."""
    answer = await answer_to(flow, "Explain this", selected_text=CYCLE)
    assert answer.suggestions == ("How fast is the loop of Kestrel?",)


async def talk(shelf: Shelf, settings: Settings, *texts: str) -> list[Answer]:
    """The answers of a conversation, turn by turn."""
    chats = MemoryChatStore()
    flow = flow_of(shelf, settings, chats=chats)
    answers = []
    for text in texts:
        answers.append(answer := await answer_to(flow, text, session_id="s"))
        said = ChatMessage(
            id=f"a{len(answers)}", session_id="s", role="assistant", text=answer.answer, created="",
            chunk_ids=tuple(one.chunk_id for one in answer.sources), citations=answer.sources,
        )  # fmt: skip
        await chats.append(
            "s", [ChatMessage(id=f"q{len(answers)}", session_id="s", role="user", text=text, created=""), said]
        )
    return answers


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ("Simpler please", "**sensorimotor loop**: Look, think, move. [1]"),
        ("I don't get it", "**sensorimotor loop**: Look, think, move. [1]"),
        ("Give me an analogy", "**sensorimotor loop**: It is like catching a ball. [1]"),
        ("Tell me more", "**How fast is the loop of Kestrel?** Kestrel goes through it 500 times in a second. [1]"),
        ("Are you sure?", f"{messages.STANDS_IN_BOOK.format(section='What the loop is')} [1]"),
    ],
)
async def test_a_follow_up_gets_what_was_prepared_on_the_answer_before(
    shelf: Shelf, settings: Settings, wish: str, told: str
) -> None:
    """In any words: on the term of the previous question, else on its section, or the book's proof."""
    _, answer = await talk(shelf, settings, "What is sensorimotor loop?", wish)
    assert told in answer.explanation
    assert CYCLE in answer.excerpts[0].text or "500 times" in answer.excerpts[0].text


async def test_no_follow_up_gets_the_same_again(shelf: Shelf, settings: Settings) -> None:
    """Where every entry has been told, the book goes on."""
    answers = await talk(shelf, settings, "What is sensorimotor loop?", *["Tell me more"] * 3, *["Simpler please"] * 3)
    told = [answer.answer for answer in answers if answer.answer != messages.NOTHING_MORE]
    assert len(set(told)) == len(told) > 3


async def test_analogies_can_be_switched_off(shelf: Shelf, settings: Settings) -> None:
    """Without own words of anybody an analogy is not given, and the term itself still is."""
    flow = flow_of(shelf, settings.model_copy(update={"own_words": False}))
    asked = "Explain sensorimotor loop with an everyday analogy"
    assert "catching a ball" not in (await answer_to(flow, asked)).answer
    assert "catching a ball" in (await answer_to(flow_of(shelf, settings), asked)).answer
    assert "Sense, decide, act." in (await answer_to(flow, "What is sensorimotor loop?")).answer


async def test_a_chapter_is_summed_up_by_its_key_points(flow: AnswerFlow) -> None:
    """A chapter named by its number, with the passages that prove them."""
    for question in ("Summarise chapter 1", "Explain chapter 1 in simple words"):
        answer = await answer_to(flow, question)
        assert answer.explanation == "**Chapter 1: Loops**, in short:\n\n- Enough for an evening.\n\n[1]"
        assert {source.chapter for source in answer.sources} == {"Chapter 1: Loops"}


async def test_a_key_point_that_needs_a_warning_leaves_the_chapter_the_others(flow: AnswerFlow) -> None:
    """The first that needs none is the proof."""
    answer = await answer_to(flow, "Summarise chapter 2")
    assert answer.explanation == "**Chapter 2: Driving**, in short:\n\n- Simulated wheels hold.\n\n[1]"


async def test_a_chapter_is_practised_with_its_questions(flow: AnswerFlow) -> None:
    """Without those of another chapter; one tap asks."""
    answer = await answer_to(flow, "Quiz me on the first chapter")
    assert "1. How fast is the loop of Kestrel?" in answer.explanation
    assert "Wren" not in answer.explanation
    assert answer.suggestions == ("How fast is the loop of Kestrel?",)
    assert (answer.excerpts, answer.sources) == ((), ()), "they would give the answers away"


async def test_what_the_book_says_itself_leads_the_answer(shelf: Shelf, settings: Settings) -> None:
    """A question that the ingest prepared begins with the sentence that it found, and a model goes on."""
    question = "What about the battery of Kestrel?"
    async with shelf.lease("") as generation:
        (home,) = [one for one in await generation.all_chunks() if one.section_title == "Batteries"]
        said = next(unit for unit in home.units if unit.text.startswith("A full charge"))
        entry = Entry(
            kind="question",
            file=CHARGE["file"],
            heading=CHARGE["heading"],
            topic=question,
            text=said.text,
            author=BY_THE_BOOK,
        )
        places = ((home.chunk_id, said.char_start, said.char_end),)
        own = PreparedEntry(entry=entry, chunk_id=home.chunk_id, places=places, asked=(question,))
        before = await answer_to(flow_of(shelf, settings), question)
        generation.companion = generation.companion.with_decisions((), studied=[own])
        told = await answer_to(flow_of(shelf, settings), question)
        model = ScriptedGenerator(lambda _: "The battery of Kestrel stores 480 watt hours. [1]")
        spoken = await answer_to(flow_of(shelf, settings, generator=model), question)
    assert not before.answer.startswith(said.text)
    assert told.answer.startswith(said.text)
    assert CAPACITY in told.answer
    assert (told.prepared_by, told.meant) == ("", "")
    assert spoken.model_used == "scripted"
