"""A teacher's decisions about prepared entries, over HTTP: they hold at once, everywhere, and for good."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.answer.book import english
from tests.answer.conftest import PAGES
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.answer.flow import AnswerFlow
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.keep.backup import backup, restore
from lutrin.messages import BOOK_FIRST, CAUTION, CODE_WITHHELD, YOUR_TEACHER
from lutrin.prepared import Entry
from lutrin.records import Passage
from lutrin.search.search import Searcher
from lutrin.search.sought import leads_of
from lutrin.serve.library import ShelfLibrary
from lutrin.settings import Settings, load_settings
from lutrin.study.edit import merge
from lutrin.study.prepared_answers import PreparedAnswers

from .conftest import House, Serve
from .test_teacher import TOKEN, sign_in

LOOP = {"file": "01-chapter-1-loops/01-the-loop.md", "heading": "What the loop is"}
BATTERY = {"file": "01-chapter-1-loops/01-the-loop.md", "heading": "Batteries"}
CYCLE = "The sensorimotor loop is the cycle of sensing, deciding and acting."
STORES = "The battery of Kestrel stores 480 watt hours."
DRAFTS = [
    {**LOOP, "kind": "term", "topic": "sensorimotor loop", "text": "Sense, decide, act.", "quotes": [CYCLE]},
    {**BATTERY, "kind": "question", "topic": "How much does the battery store?", "text": "480 watt hours.",
     "quotes": [STORES]},
    {**BATTERY, "kind": "quiz", "topic": "What is 480?", "text": "So it says.", "quotes": [STORES],
     "choices": ["Watt hours", "Grams"], "answer": 0},
    {**BATTERY, "kind": "keypoints", "topic": "Batteries", "text": ["It stores 480 watt hours."], "quotes": [STORES]},
]  # fmt: skip
ASKED = "How much does the battery store?"
LIST = "/teacher/companion/robots"


@dataclass
class School:
    """A server with a book and its companion, and a teacher who has signed in."""

    settings: Settings
    corpus: Path
    shelf: Shelf
    client: httpx.AsyncClient

    async def page(self, query: str = "") -> str:
        """The list of entries."""
        return (await self.client.get(f"{LIST}?{query}")).text

    async def entry(self, topic: str) -> str:
        """The id of an entry, by its heading on the page."""
        found = re.search(rf'<h2 id="t([0-9a-f]{{16}})">{re.escape(topic)}</h2>', await self.page())
        assert found, topic
        return found[1]

    async def key(self, path: str = LIST) -> str:
        """The key in forms."""
        found = re.search(r'name="key" value="([0-9a-f]{40})"', (await self.client.get(path)).text)
        assert found
        return found[1]

    async def press(self, topic: str, act: str, **fields: str) -> httpx.Response:
        """Press a button of an entry."""
        data = {"key": await self.key(), "act": act, **fields}
        return await self.client.post(f"{LIST}/{await self.entry(topic)}", data=data)

    async def fronts(self) -> list[str]:
        """The cards of the book."""
        return [card["front"] for card in (await self.client.get("/study/robots/deck.json")).json()]

    async def answer(self, question: str) -> dict[str, object]:
        """A reader's answer."""
        found: dict[str, object] = (await self.client.post("/api/query", json={"query": question})).json()
        return found

    async def read_again(self) -> None:
        """Ingest the corpus."""
        await ingest(self.corpus, self.settings, tools())
        await self.shelf.refresh()


async def published(shelf: Shelf) -> list[Entry]:
    """The entries of the book, as its teacher decided."""
    async with shelf.lease("robots") as generation:
        return [item.entry for item in generation.companion.entries]


def tools() -> IngestTools:
    """The fakes."""
    store = ExactStore()

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    return IngestTools(embedder=WordHashEmbedder(), store=store, verify=verify)


@pytest.fixture
async def school(house: House, serve: Serve, tmp_path: Path) -> AsyncIterator[School]:
    """The book with its companion behind a real server."""
    settings = load_settings(data_dir=house.data_dir, deadline_s=20.0)
    corpus = tmp_path / "corpus"
    for name, text in PAGES.items():
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_text(text, encoding="utf-8")
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text("".join(json.dumps(draft) + "\n" for draft in DRAFTS))
    assert merge(corpus, [drafts], author="m@2026-01-01").refused == ()
    companion = corpus / "companion.jsonl"
    companion.write_text(companion.read_text().replace('"state": "approved"', '"state": "proposed"'))
    await ingest(corpus, settings, tools())
    async with Shelf(settings.catalog_path, settings.books_dir, ExactStore()) as shelf:
        searcher = Searcher(WordHashEmbedder())
        house.real_library = ShelfLibrary(shelf, corpus)
        house.shelf = shelf
        house.flow = AnswerFlow(
            shelf=shelf, searcher=searcher, language=english(), settings=settings, prepared=PreparedAnswers(searcher)
        )
        async with serve(admin_token=TOKEN) as client:
            await sign_in(client)
            yield School(settings, corpus, shelf, client)


async def test_a_page_of_entries_is_approved_at_once(school: School) -> None:
    """What was hidden before stays hidden, and what is not on the page stays unread."""
    await school.press("What is 480?", "hide")
    page = await school.page("kind=question")
    assert "Approve the" not in page  # there is one: its own button is enough
    shown = await school.page("state=proposed")
    names = re.findall(r'name="entry" value="([0-9a-f]{16})"', shown)
    assert len(names) > 1
    assert f"Approve the {len(names)} on this page" in shown
    form = {"key": await school.key(), "entry": names, "back": "state=proposed"}
    reply = await school.client.post(LIST, data=form)
    assert reply.headers["location"] == f"{LIST}?state=proposed"
    assert "Nothing matches." in await school.page("state=proposed")
    assert await school.entry("What is 480?") in await school.page("state=hidden")
    assert (await school.client.post(LIST, data={**form, "key": "0" * 40})).status_code == 403


async def test_what_is_hidden_is_gone_from_answers_cards_leads_and_exports_at_once(school: School) -> None:
    """Also on another server of the same folder, which looks into the catalogue."""
    before = await school.answer(ASKED)
    assert (before["prepared_by"], before["explanation"]) == ("m@2026-01-01", "480 watt hours. [1]")
    async with Shelf(school.settings.catalog_path, school.settings.books_dir, ExactStore()) as other:
        assert (await school.press(ASKED, "hide")).status_code == 303
        assert (await school.answer(ASKED))["prepared_by"] == ""
        assert ASKED not in await school.fronts()
        assert ASKED not in (await school.client.get("/study/robots/deck.csv")).text
        await other.refresh()
        (generation,) = other.books()
        place = generation.companion.texts.index(ASKED)
        assert not generation.companion.owners[ASKED]
        assert leads_of(generation.companion, generation.companion.vectors[place]) != {}  # its neighbours still lead
        assert [entry.state for entry in await published(other) if entry.topic == ASKED] == ["hidden"]
    assert (await school.press(ASKED, "show")).status_code == 303
    assert ASKED in await school.fronts()


async def test_a_mended_text_is_the_teachers_own(school: School) -> None:
    """It answers and is on the card; "as it was" takes it back."""
    await school.press(ASKED, "mend", text="It stores 480 watt hours, enough for a lesson.")
    answer = await school.answer(ASKED)
    assert answer["explanation"] == "It stores 480 watt hours, enough for a lesson."
    assert (answer["prepared_by"], answer["kind"]) == (YOUR_TEACHER, "extractive")
    assert "enough for a lesson" in (await school.client.get("/study/robots/deck.csv")).text
    await school.press(ASKED, "undo")
    assert (await school.answer(ASKED))["explanation"] == "480 watt hours. [1]"


async def test_approving_says_that_a_person_stands_for_it(school: School) -> None:
    """The page lists unreviewed entries, and approval does not change an entry's author."""
    assert ASKED in await school.page("state=proposed")
    await school.press(ASKED, "approve")
    assert ASKED not in await school.page("state=proposed")
    (entry,) = [entry for entry in await published(school.shelf) if entry.topic == ASKED]
    assert (entry.state, entry.author) == ("approved", "m@2026-01-01")
    board = (await school.client.get("/teacher")).text
    assert "3 not read yet, 1 approved" in board


async def test_a_quiz_and_key_points_can_be_mended(school: School) -> None:
    """Choices and points come one a line; what cannot be kept is told, and nothing changes."""
    await school.press("What is 480?", "mend", text="Read it.", choices="Litres\nWatt hours\n", answer="2")
    (card,) = [card for card in (await school.client.get("/study/robots/deck.json")).json() if card["kind"] == "choice"]
    assert (card["choices"], card["answer"]) == (["Litres", "Watt hours"], 1)
    refused = await school.press("What is 480?", "mend", choices="One", answer="1")
    assert refused.status_code == 422
    assert "choices must be" in refused.text
    await school.press("Batteries", "mend", text="One.\n\nTwo.")
    assert "<li>Two.</li>" in (await school.client.get("/study/robots/guide")).text


async def test_decisions_outlive_an_ingest(school: School) -> None:
    """The book is read again after another page has changed, and they still hold; so they do in its own files."""
    await school.press(ASKED, "mend", text="It stores 480 watt hours, enough for a lesson.")
    await school.press("sensorimotor loop", "hide")
    (school.corpus / "02-chapter-2-driving" / "09-new.md").write_text("# New\n\nA cable carries power to the motor.\n")
    before = school.shelf.books()[0].name
    await school.read_again()
    assert school.shelf.books()[0].name != before
    assert "enough for a lesson" in str((await school.answer(ASKED))["explanation"])
    assert "Sense, decide, act." not in (await school.client.get("/study/robots/deck.csv")).text
    lines = (school.shelf.books()[0].directory / "companion.jsonl").read_text()
    assert "enough for a lesson" in lines


async def test_a_pinned_answer_is_given_for_its_question(school: School) -> None:
    """In the teacher's words, above the book's, before and after an ingest, for every form of the question."""
    question = "A full charge takes how many hours, with an example?"
    form = (await school.client.get("/teacher/answer", params={"question": question, "book": "robots"})).text
    assert "A full charge takes three hours." in form
    data = {
        "key": await school.key(),
        "book": "robots",
        "question": question,
        "text": "Three hours: a long film.",
        "listed": "true",
    }
    assert (await school.client.post("/teacher/answer", data=data)).status_code == 303
    for _ in range(2):
        answer = await school.answer(question)
        assert (answer["explanation"], answer["prepared_by"]) == ("Three hours: a long film.", YOUR_TEACHER)
        assert answer["kind"] == "extractive"
        assert answer["excerpts"]
        assert "Three hours: a long film." in (await school.client.get("/study/robots/deck.csv")).text
        await school.read_again()


async def test_a_pupils_question_is_told_to_nobody(school: School) -> None:
    """It is on no card, shelf or list of suggestions, but is answered; until the teacher offers it."""
    question = "A full charge takes how many hours lol?"
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "Three hours."}
    assert (await school.client.post("/teacher/answer", data=data)).status_code == 303
    assert (await school.answer(question))["prepared_by"] == YOUR_TEACHER
    public = ("/", "/read/robots", "/study/robots/deck.json", "/api/search?q=charge+lol", "/study/robots/worksheet")
    for path in public:
        assert "lol" not in (await school.client.get(path)).text, path
    assert "lol" not in json.dumps((await school.answer("What is a battery?"))["suggestions"])
    await school.press(question, "list")
    assert "lol" in (await school.client.get("/study/robots/deck.json")).text


async def test_wordings_are_added_and_cut(school: School) -> None:
    """What is added is answered; what is cut is not, though it was before; both are seen, and can be changed back."""
    question, other = "How many hours does a full charge take?", "When is the lamp full again?"
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "Three hours."}
    await school.client.post("/teacher/answer", data=data)
    assert (await school.answer(other))["prepared_by"] != YOUR_TEACHER
    for _ in range(2):
        await school.press(question, "add", text=other)
        assert (await school.answer(other))["prepared_by"] == YOUR_TEACHER
        assert f'{other} <span class="good">meets it</span>' in await school.page()
        await school.read_again()
        assert (await school.answer(other))["prepared_by"] == YOUR_TEACHER
        await school.press(question, "cut", text=other)
        assert (await school.answer(other))["prepared_by"] != YOUR_TEACHER
        assert f'{other} <span class="bad">does not</span>' in await school.page()
    assert (await school.press(question, "cut", text=question)).status_code == 422
    assert (await school.press(question, "add", text=" ")).status_code == 422


async def test_an_answer_is_written_to_what_the_book_did_not_answer(school: School, house: House) -> None:
    """From the inbox, above words of the book that the teacher chose; from then on it counts as answered."""
    question = "What is the best recipe for onion soup?"
    async with school.shelf.lease("robots") as generation:
        house.retrieve.passages = [Passage(chunk=chunk, score=0.1) for chunk in await generation.all_chunks()]
    refused = await school.client.post("/api/query", json={"query": question, "session_id": "e" * 32})
    assert refused.json()["kind"] == "refusal"
    assert re.search(r"<summary>Missed <span class=\"hint\">1</span>", (await school.client.get("/teacher")).text)
    form = (await school.client.get("/teacher/answer", params={"question": question, "book": "robots"})).text
    proof = re.search(r'name="proof" value="([^"]+)"', form)
    assert proof
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "Nobody.", "back": "inbox"}
    reply = await school.client.post("/teacher/answer", data={**data, "proof": proof[1]})
    assert (reply.status_code, reply.headers["location"]) == (303, "/teacher#inbox")
    answer = await school.answer(question)
    assert (answer["explanation"], answer["prepared_by"]) == ("Nobody.", YOUR_TEACHER)
    page = (await school.client.get("/teacher")).text
    assert re.search(r"<summary>Missed <span class=\"hint\">0</span>", page)
    assert "answered by you" in page


async def test_nothing_can_be_pinned_that_the_book_does_not_prove(school: School) -> None:
    """A question that the book does not answer gets no form, and a form sent all the same is refused."""
    question = "What is the best recipe for onion soup?"
    page = (await school.client.get("/teacher/answer", params={"question": question})).text
    assert "no answer can be pinned to it" in page
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "Onions."}
    assert (await school.client.post("/teacher/answer", data=data)).status_code == 422


async def test_what_is_pinned_may_come_with_a_plain_caution(school: School) -> None:
    """It holds also where readers are told to take care, and they are told so still."""
    steps = "# Changing cells\n\nTo change the cells of the lamp:\n\n1. Open the battery.\n2. Lift out the cells.\n"
    (school.corpus / "05-cells.md").write_text(steps, "utf-8")
    await school.read_again()
    question = "How do I change the cells of the lamp?"
    assert (await school.answer(question))["warnings"] == [CAUTION]
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "Ask me first."}
    assert (await school.client.post("/teacher/answer", data=data)).status_code == 303
    answer = await school.answer(question)
    assert (answer["prepared_by"], answer["warnings"]) == (YOUR_TEACHER, [CAUTION])


async def test_what_readers_are_warned_of_first_cannot_be_pinned(school: School) -> None:
    """The teacher is told so, and readers get the book's words as before."""
    question = "The command below moves the arm of which robot?"
    before = await school.answer(question)
    assert before["warnings"] == [CODE_WITHHELD]
    data = {"key": await school.key(), "book": "robots", "question": question, "text": "The one that ends in 0.1."}
    reply = await school.client.post("/teacher/answer", data=data)
    assert (reply.status_code, BOOK_FIRST in reply.text) == (422, True)
    assert (await school.answer(question))["answer"] == before["answer"]
    assert "ends in 0.1" not in await school.page("state=pinned")


async def test_decisions_travel_with_a_backup(school: School, tmp_path: Path) -> None:
    """What is decided after it is gone when it is put back, and what was decided before is there again."""
    await school.press(ASKED, "hide")
    school.settings.chats_path.unlink()  # its key is the test server's own, and it is not what is looked at
    backup(school.settings, tmp_path / "kept.lutrin", lambda: datetime.now(UTC))
    await school.press(ASKED, "show")
    await school.press("sensorimotor loop", "hide")
    restore(school.settings, tmp_path / "kept.lutrin", with_chats=False)
    await school.shelf.refresh()
    fronts = await school.fronts()
    assert ASKED not in fronts
    assert "sensorimotor loop" in fronts


async def test_only_a_signed_in_teachers_own_page_changes_anything(school: School) -> None:
    """A stranger is led to the door, a form without its key and an unknown button are refused."""
    name = await school.entry(ASKED)
    many = {"key": await school.key(), "act": "mend", "text": "480.", "answer": "9" * 5000}
    assert (await school.client.post(f"{LIST}/{name}", data=many)).status_code < 500
    forged = await school.client.post(f"{LIST}/{name}", data={"key": "0" * 40, "act": "hide"})
    assert forged.status_code == 403
    unknown = await school.client.post(f"{LIST}/{name}", data={"key": await school.key(), "act": "burn"})
    assert unknown.status_code == 422
    assert (
        await school.client.post(f"{LIST}/{'0' * 16}", data={"key": await school.key(), "act": "hide"})
    ).status_code == 404
    school.client.cookies.clear()
    for path in (LIST, "/teacher/answer?question=x"):
        led_away = await school.client.get(path)
        assert (led_away.status_code, led_away.headers["location"]) == (303, "/teacher")
    assert (await school.client.post(f"{LIST}/{name}", data={"act": "hide"})).status_code == 403
    assert ASKED in await school.fronts()


async def test_entries_are_found_by_kind_state_and_words(school: School) -> None:
    """A list of thousands is looked through by a form; the button's way back keeps the choice."""
    assert "What is 480?" not in await school.page("kind=term")
    assert "sensorimotor loop" in await school.page("kind=term&words=DECIDE")
    assert "Nothing matches." in await school.page("words=elephant")
    back = await school.press("sensorimotor loop", "pin", back="kind=term&page=1&evil=%0d%0aX")
    assert back.headers["location"].startswith(f"{LIST}?kind=term&page=1#e")
    assert "sensorimotor loop" in await school.page("state=pinned")
