"""Small honest stand-ins for the stages behind the server: what they answer is written down before they are asked."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lutrin.errors import NotFound
from lutrin.index.typeahead import TypedWord
from lutrin.messages import NOTHING_HERE
from lutrin.prepared import Practice
from lutrin.records import (
    Answer,
    AnswerEvent,
    Chunk,
    Citation,
    DoneEvent,
    Excerpt,
    ExcerptEvent,
    PageEntry,
    Passage,
    Question,
    QueuedEvent,
    SentenceEvent,
    ShelvedBook,
    SourcesEvent,
)
from lutrin.serve.finding import Suggestion, section_lines
from lutrin.serve.library import ShelfLibrary, candidates
from lutrin.serve.notes import Notes, Term, TermPlace

LOOP = Citation(
    n=1,
    chunk_id="c1",
    book="physical-ai",
    chapter="Chapter 1: Embodied Intelligence",
    section="02-loop",
    section_title="The sensorimotor loop",
    filename="01/02-loop.mdx",
    page=None,
    url="/read/physical-ai/01/02-loop#the-sensorimotor-loop",
    quote="The sensorimotor loop joins sensing and acting.",
    relevance_score=0.91,
)
EXCERPT = Excerpt(
    n=1,
    text=LOOP.quote,
    marks=((4, 21), (28, 46)),
    cut_before=False,
    cut_after=True,
    heading_path=("The loop", "The sensorimotor loop"),
    url=LOOP.url,
    chunk_id=LOOP.chunk_id,
)
ANSWER = Answer(
    answer=f"The loop joins what is sensed and what is done. [1] It never stops. [1]\n\n{LOOP.quote} [1]",
    sources=(LOOP,),
    mode="book",
    kind="generated",
    refusal=None,
    suggestions=("What does the loop never do?",),
    warnings=("This is about a simulation.",),
    model_used="scripted",
    latency_ms=12,
    generation="g1",
    explanation="The loop joins what is sensed and what is done. [1] It never stops. [1]",
    excerpts=(EXCERPT,),
    prepared_by="the authors",
)
EVENTS: tuple[AnswerEvent, ...] = (
    QueuedEvent(position=1, eta_s=0.1),
    SourcesEvent(citations=(LOOP,)),
    ExcerptEvent(EXCERPT),
    SentenceEvent(text="The loop joins what is sensed and what is done.", citations=(1,)),
    SentenceEvent(text="It never stops.", citations=(1,)),
    DoneEvent(answer=ANSWER),
)
CHUNK = Chunk(
    chunk_id="c1",
    text=LOOP.quote,
    book="physical-ai",
    book_title="Physical AI",
    edition="First",
    module="Part 1",
    chapter=LOOP.chapter,
    section=LOOP.section,
    section_title=LOOP.section_title,
    heading_path=("The loop", "The sensorimotor loop"),
    filename=LOOP.filename,
    page=None,
    page_label="",
    anchor="the-sensorimotor-loop",
    chunk_index=0,
    char_start=0,
    char_end=len(LOOP.quote),
    token_count=12,
    content_type="text",
    is_simulation=None,
    content_hash="0" * 64,
    units=(),
)


def as_sent(record: msgspec.Struct) -> Any:
    """A record as a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(record))


@dataclass
class ScriptedAnswers:
    """Plays the same events for every question; can wait before one of them, or fail.

    Args:
        events: What is played.
        pause_before: Position of the event before which it waits for `go_on`.
        failure: Raised after the events, if there is one.
        lingers_s: Seconds that it takes to end once it is cancelled.
    """

    events: Sequence[AnswerEvent] = EVENTS
    pause_before: int | None = None
    failure: Exception | None = None
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[Question] = field(default_factory=list)
    running: int = 0
    cancelled: int = 0
    lingers_s: float = 0.0

    async def explains(self, question: Question) -> bool:
        """Only one passage is explained."""
        return question.selected_text == LOOP.quote

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Play the events."""
        self.asked.append(question)
        self.running += 1
        try:
            for position, event in enumerate(self.events):
                if position == self.pause_before:
                    await self.go_on.wait()
                await asyncio.sleep(0)
                yield event
            if self.failure is not None:
                raise self.failure
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(self.lingers_s)
            raise
        finally:
            self.running -= 1


@dataclass
class ScriptedRetrieval:
    """Finds the one passage, unless the question has nothing to do with it."""

    failure: Exception | None = None
    passages: Sequence[Passage] = ()
    """Suggestion whatever is asked, if there are any."""
    asked: list[Question] = field(default_factory=list)

    async def __call__(self, question: Question) -> Sequence[Passage]:
        """Search."""
        self.asked.append(question)
        if self.failure is not None:
            raise self.failure
        if self.passages:
            return self.passages
        return [Passage(chunk=CHUNK, score=0.9, cosine=0.8)] if "loop" in question.text + question.selected_text else []


@dataclass
class ScriptedLibrary(ShelfLibrary):
    """One book of two pages."""

    sources: dict[str, str] = field(
        default_factory=lambda: {
            "01/01-start.mdx": "# Start\n\nHow to begin.\n",
            "01/02-loop.mdx": f"# The loop\n\n## The sensorimotor loop\n\n{LOOP.quote}\n",
        }
    )
    pictures: dict[str, bytes] = field(default_factory=dict)
    prepared: dict[str, Notes] = field(default_factory=dict)
    deck: Practice = field(default_factory=Practice)
    generation: str = "g1"
    failure: Exception | None = None

    async def trial_questions(self, most: int, slug: str) -> Sequence[str]:
        """One question."""
        return [f"What is the loop of {slug}?"][:most]

    async def refresh(self) -> None:
        """Nothing in the catalogue concerns this book."""

    async def books(self) -> Sequence[ShelvedBook]:
        """All books."""
        if self.failure is not None:
            raise self.failure
        return [
            ShelvedBook(
                "physical-ai", "Physical AI & Humanoid Robotics", "First Edition", self.generation, chapters=1, pages=2
            )
        ]

    async def book(self, slug: str) -> ShelvedBook:
        """The book."""
        for book in await self.books():
            if book.slug == slug:
                return book
        raise NotFound(NOTHING_HERE)

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """The pages of a book."""
        if slug != "physical-ai":
            raise NotFound(NOTHING_HERE)
        titles = {name: text.splitlines()[0].removeprefix("# ") for name, text in self.sources.items()}
        chapter = "Chapter 1: Embodied Intelligence"
        return [PageEntry(name, title, "Part 1: Foundations", chapter) for name, title in titles.items()]

    async def chapters(self, slug: str) -> Sequence[str]:
        """The one chapter."""
        return list(dict.fromkeys(page.chapter for page in await self.contents(slug)))

    async def source(self, slug: str, filename: str) -> str:
        """The text of a page."""
        if slug != "physical-ai" or filename not in self.sources:
            raise NotFound(NOTHING_HERE)
        return self.sources[filename]

    async def page_labels(self, slug: str, filename: str) -> Mapping[int, str]:
        """The numbers printed on the pages of a PDF."""
        return {2: "iv"} if (slug, filename) == ("physical-ai", "leaflet.pdf") else {}

    async def notes(self, slug: str, filename: str) -> Mapping[str, Notes]:
        """The prepared entries of a page."""
        return self.prepared if (slug, filename) == ("physical-ai", LOOP.filename) else {}

    async def glossary(self, slug: str, filename: str = "") -> Sequence[Term]:
        """One term."""
        if slug != "physical-ai":
            raise NotFound(NOTHING_HERE)
        places = (TermPlace("Loop", "Loop the rope."),) if filename else ()
        return [Term("loop", "A cycle.", LOOP.url, LOOP.section_title, LOOP.quote, places)]

    async def starters(self, most: int, slug: str = "", filename: str = "") -> Sequence[str]:  # noqa: ARG002 - one for all pages
        """One question."""
        if slug not in {"", "physical-ai"}:
            raise NotFound(NOTHING_HERE)
        return ["What is the sensorimotor loop?"][:most]

    async def find(self, typed: str, slug: str, most: int) -> Sequence[Suggestion]:
        """The one section, if a word of its title begins as the last one typed."""
        if slug not in {"", "physical-ai"}:
            raise NotFound(NOTHING_HERE)
        begun = typed.rsplit(maxsplit=1)[-1].lower()
        words = [TypedWord(word, (word,)) for word in LOOP.section_title.lower().split() if word.startswith(begun)]
        return [line for _, _, line in section_lines(words, [(CHUNK, 1.0)] if words else [], most)]

    async def practice(self, slug: str) -> Practice:
        """The entries that the test wrote."""
        return self.deck if slug == "physical-ai" else Practice()

    async def exercises(self, slug: str, filename: str) -> Sequence[str]:
        """The loop's section, as if it were an exercise."""
        return ("the-sensorimotor-loop",) if (slug, filename) == ("physical-ai", LOOP.filename) else ()

    async def find_pictures(self, slug: str, filename: str, addresses: Sequence[str]) -> Sequence[str]:
        """The pictures that there are."""
        there = self.pictures if slug == "physical-ai" else {}
        return [next((name for name in candidates(filename, address) if name in there), "") for address in addresses]

    async def picture(self, slug: str, name: str) -> bytes:
        """The content of a picture."""
        if slug != "physical-ai":
            raise NotFound(NOTHING_HERE)
        return self.pictures[name]


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now_s
