"""Pages to practise with work without a script, and lead to the passages that cards come from."""

import httpx
import msgspec
import pytest

from lutrin.prepared import Card, GlossaryTerm, GuideChapter, GuideSection, Practice

from .conftest import House

CARD = Card(
    id="a1", kind="question", front="What is <b>?", back="A letter.", proof="b is a letter.",
    url="/read/physical-ai/01/01-start", section="Start", chapter="Chapter 1", author="the authors",
)  # fmt: skip
CHOICE = Card(
    id="a2", kind="choice", front="Which one?", back="", choices=("red", "green"), answer=1,
    url="/read/physical-ai/01/02-loop", section="Loop", chapter="Chapter 2", author="m@2026-01-01",
)  # fmt: skip
TERM = GlossaryTerm(term="loop", aka=("cycle",), text="It never ends.", url="/x", section="Loop", author="the authors")
POINTS = GuideSection(title="Start", url="/y", points=("One.", "Two."), author="the authors")


@pytest.fixture(autouse=True)
def filled(house: House) -> None:
    """Two cards in two chapters, a term and key points."""
    guide = (GuideChapter(title="Chapter 1", sections=(POINTS,)),)
    house.library.deck = Practice(cards=(CARD, CHOICE), glossary=(TERM,), guide=guide)


async def test_practice_begins_with_the_chapters(client: httpx.AsyncClient) -> None:
    """Each chapter leads to its cards and its worksheet, and the whole deck can be taken along."""
    page = (await client.get("/study/physical-ai")).text
    for link in ("/deck?chapter=2", "/worksheet?chapter=2", "/glossary", "/guide", "/deck.apkg", "/deck.csv"):
        assert f'href="/study/physical-ai{link}"' in page
    assert '"/study/physical-ai"' in (await client.get("/read/physical-ai")).text
    assert (await client.get("/study/none")).status_code == 404


async def test_a_card_opens_and_leads_to_its_passage(client: httpx.AsyncClient) -> None:
    """The answer is folded, with its proof, its place and who wrote it; nothing of it is markup."""
    page = (await client.get("/study/physical-ai/deck?chapter=1")).text
    assert "What is &lt;b&gt;?" in page
    assert page.index("<details>") < page.index("A letter.")
    assert 'href="/read/physical-ai/01/01-start" data-lutrin-quote="b is a letter."' in page
    assert "by the authors" in page
    assert "Which one?" not in page
    assert (await client.get("/study/physical-ai/deck?chapter=3")).status_code == 404
    assert (await client.get("/study/physical-ai/deck?chapter=x")).status_code == 422


async def test_a_page_has_its_own_cards(client: httpx.AsyncClient) -> None:
    """*Quiz me* leads to them; a page without cards leads on, and one that the book does not have is not found."""
    page = (await client.get("/study/physical-ai/deck?page=01/01-start.mdx")).text
    assert "What is &lt;b&gt;?" in page
    assert "Which one?" not in page
    assert 'href="/read/physical-ai/01/01-start"' in page
    assert "/study/physical-ai/deck?page=01/01-start.mdx" in (await client.get("/read/physical-ai/01/01-start")).text
    assert (await client.get("/study/physical-ai/deck?page=none.md")).status_code == 404


async def test_one_card_is_not_called_cards(client: httpx.AsyncClient) -> None:
    """A chapter with a single card says so."""
    page = (await client.get("/study/physical-ai")).text
    assert "1 card<" in page
    assert "1 cards" not in page


async def test_what_is_due_today_is_known_to_the_browser_alone(client: httpx.AsyncClient) -> None:
    """The server sends an empty list for a script, and says what to do without one."""
    page = (await client.get("/study/physical-ai/today")).text
    assert 'data-today="physical-ai"' in page
    assert "<noscript>" in page
    assert 'class="flash"' not in page


async def test_a_page_tells_where_its_exercises_are(client: httpx.AsyncClient) -> None:
    """There hints are offered."""
    assert (
        "the-sensorimotor-loop"
        in (await client.get("/read/physical-ai/01/02-loop")).text.partition("data-exercises=")[2][:40]
    )
    assert "data-exercises" not in (await client.get("/read/physical-ai/01/01-start")).text


async def test_cards_come_in_sittings_of_ten(client: httpx.AsyncClient, house: House) -> None:
    """Each sitting says how far one is, ends with what to read again, and leads to the next."""
    cards = tuple(msgspec.structs.replace(CARD, id=f"c{n}", front=f"Front {n:02}.") for n in range(25))
    house.library.deck = Practice(cards=cards)
    pages = [(await client.get(f"/study/physical-ai/deck?chapter=1&sitting={n}")).text for n in (1, 2, 3)]
    assert [page.count('class="flash"') for page in pages] == [9, 8, 8]
    assert all(sum(f"Front {n:02}." in page for page in pages) == 1 for n in range(25))
    assert "Sitting 1 of 3" in pages[0]
    assert "deck?chapter=1&amp;sitting=2" in pages[0]
    assert "That was the last sitting" in pages[2]
    assert all('<a href="/read/physical-ai/01/01-start">Start</a>' in page for page in pages)


async def test_choices_are_tapped(client: httpx.AsyncClient) -> None:
    """Each is a button of its own card; the page says of the one that is tapped whether it is right."""
    page = (await client.get("/study/physical-ai/deck?chapter=2")).text
    assert page.count('<input type="radio" name="a2">') == 2
    assert '<label class="is-right"><input type="radio" name="a2"> green</label>' in page


async def test_a_worksheet_has_its_answers_last(client: httpx.AsyncClient) -> None:
    """Choices stand with their letters, the right one only behind all questions."""
    page = (await client.get("/study/physical-ai/worksheet?chapter=2")).text
    questions, _, answers = page.partition('class="answers"')
    assert "<li>green</li>" in questions
    assert "B: green" in answers
    assert "B: green" not in questions


async def test_glossary_and_guide_lead_back_to_the_book(client: httpx.AsyncClient) -> None:
    """Terms under their letters with their other names; key points under their chapters."""
    glossary = (await client.get("/study/physical-ai/glossary")).text
    assert 'id="letter-L"' in glossary
    assert "(cycle)" in glossary
    guide = (await client.get("/study/physical-ai/guide")).text
    assert '<a href="/y">Start</a>' in guide
    assert "<li>Two.</li>" in guide


async def test_decks_come_as_data(client: httpx.AsyncClient) -> None:
    """JSON for programs, a table for spreadsheets, a package for Anki; terms for the page that shows them."""
    cards = (await client.get("/study/physical-ai/deck.json")).json()
    assert [card["id"] for card in cards] == ["a1", "a2"]
    assert (await client.get("/study/physical-ai/glossary.json")).json()[0]["term"] == "loop"
    table = await client.get("/study/physical-ai/deck.csv?chapter=2")
    assert 'filename="physical-ai-2.csv"' in table.headers["content-disposition"]
    assert "green" in table.text
    package = await client.get("/study/physical-ai/deck.apkg")
    assert package.content[:2] == b"PK"


async def test_a_book_with_nothing_to_practise_says_so(client: httpx.AsyncClient, house: House) -> None:
    """No page of it fails."""
    house.library.deck = Practice()
    for page in ("", "/deck", "/worksheet", "/glossary", "/guide"):
        assert (await client.get(f"/study/physical-ai{page}")).status_code == 200
    assert "nothing to practise with" in (await client.get("/study/physical-ai")).text
