"""Pages for people: the shelf, the book, the interface, and the files that they load."""

import re
from typing import Any

import httpx
import msgspec
import pytest

from lutrin.errors import IndexUnavailable
from lutrin.index.typeahead import TypedWord
from lutrin.ingest.makers import BOXES
from lutrin.messages import IN_CODE
from lutrin.prepared import Entry
from lutrin.records import PageEntry, ShelvedBook, Unit, UnitKind
from lutrin.serve.finding import section_lines
from lutrin.serve.html import outline, shelf, with_page_labels
from lutrin.serve.library import subjects
from lutrin.serve.notes import Notes
from lutrin.serve.rendering import render_page, sanitise
from lutrin.serve.templating import environment

from .conftest import House
from .scripted import CHUNK, LOOP


def contents(pages: list[PageEntry], current: PageEntry | None = None, *sections: tuple[str, str]) -> str:
    """The list of a book's pages, as its cover and its pages show it."""
    macros: Any = environment().get_template("parts.html").module
    return str(macros.contents("lab", outline(pages), current, sections))


async def test_the_shelf_lists_every_page(client: httpx.AsyncClient, house: House) -> None:
    """Title, edition, part, chapter and pages, each link leading somewhere."""
    page = await client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for text in ("Physical AI &amp; Humanoid Robotics", "First Edition", "Part 1: Foundations", "2 pages"):
        assert text in page.text
    links = re.findall(r'href="(/read/[^"]+)"', page.text.partition('class="whole"')[2])
    assert links == ["/read/physical-ai/01/01-start", "/read/physical-ai/01/02-loop"]
    for link in links:
        assert (await client.get(link)).status_code == 200
    house.library.failure = IndexUnavailable("gone")
    assert (await client.get("/")).status_code == 503


def test_a_page_that_is_named_as_its_chapter_is_led_to_by_the_heading() -> None:
    """Its title is once in the contents, the sections of the page below it."""
    pages = [PageEntry("01/index.md", "Chapter 1", "", "Chapter 1"), PageEntry("01/02.md", "Loops", "", "Chapter 1")]
    listed = contents(pages, pages[0], ("why", "Why"))
    assert listed.count("Chapter 1") == 1
    assert '<h2 class="chapter"><a href="/read/lab/01/index" aria-current="page">Chapter 1</a></h2><ul' in listed
    assert listed.index('href="#why"') < listed.index('href="/read/lab/01/02"')
    assert "<ul></ul>" not in contents(pages[:1])


def test_a_page_that_is_named_as_its_part_is_led_to_by_the_parts_heading() -> None:
    """It is no chapter of its own before the part; what belongs to no part does not seem to be in the one before."""
    pages = [
        PageEntry("01/index.md", "Getting started", "", "Getting started"),
        PageEntry("01/about.md", "About", "", "Getting started"),
        PageEntry("01/02.md", "Loops", "Getting started", "Loops"),
        PageEntry("end.md", "Credits", "", "Credits"),
    ]
    part, rest = outline(pages)
    assert (part.opening, [chapter.title for chapter in part.chapters]) == (pages[0], ["", "Loops"])
    assert (rest.module, [chapter.title for chapter in rest.chapters]) == ("", ["Credits"])
    listed = contents(pages, pages[0], ("why", "Why"))
    assert listed.count("Getting started") == 1
    assert '<h2 class="module"><a href="/read/lab/01/index" aria-current="page">Getting started</a></h2><ul' in listed
    assert listed.index("Loops") < listed.index("<hr>") < listed.index("Credits")


def test_the_contents_of_a_pdf_are_its_chapters() -> None:
    """Not one link to the whole file; on its own page they are the sections that the page has."""
    pages = [PageEntry("guide.pdf", "Guide", chapters=(("page=3", "1 Begin"), ("page=9", "2 Go on")))]
    listed = contents(pages)
    assert re.findall(r'<a href="([^"]+)">([^<]+)</a>', listed) == [
        ("/read/lab/guide.pdf", "Guide"),
        ("/read/lab/guide.pdf#page=3", "1 Begin"),
        ("/read/lab/guide.pdf#page=9", "2 Go on"),
    ]
    assert "#page=9" not in contents(pages, pages[0], ("begin", "1 Begin"))


async def test_a_book_has_a_page_that_leads_to_all_of_its_pages(client: httpx.AsyncClient) -> None:
    """What several books are on the shelf have instead of their contents there."""
    page = await client.get("/read/physical-ai")
    assert page.status_code == 200
    assert re.findall(r'href="(/read/[^"]+)"', page.text) == [
        "/read/physical-ai/01/01-start",
        "/read/physical-ai/01/02-loop",
    ]
    assert (await client.get("/read/nothing")).status_code == 404


def test_a_book_is_about_its_chapters_not_about_its_own_title() -> None:
    """Its title is already above the line."""
    assert (
        subjects([["The Lab Book", "1. Nodes", "2. Topics", "Charging"]], "The Lab Book") == "Nodes · Topics · Charging"
    )


def test_of_several_books_each_has_a_card_that_leads_to_its_own_page() -> None:
    """With its first words and how long it is; no contents make the second one hard to find."""
    pages = [PageEntry("01/01.md", "Loops", "", "Chapter 1"), PageEntry("01/02.md", "Plans", "", "Chapter 1")]
    books = [ShelvedBook(slug, title, "", "g1", "It begins.") for slug, title in (("a", "First"), ("b", "Second"))]
    page = shelf([(book, pages) for book in books], ["What is a loop?"])
    assert re.findall(r'<h2><a href="([^"]+)">([^<]+)</a></h2>', page) == [("/read/a", "First"), ("/read/b", "Second")]
    assert page.count("It begins.") == page.count("2 pages") == 2
    assert "/read/a/01" not in page
    assert 'href="/search?q=What%20is%20a%20loop%3F" data-ask="What is a loop?"' in page


def test_what_a_book_says_is_escaped_wherever_a_template_shows_it() -> None:
    """Titles, lines and questions are text."""
    bad = "<b onclick=x>&"
    page = shelf([(ShelvedBook("a", bad, bad, "g1", bad), [PageEntry("1.md", bad, bad, bad)])], [bad])
    assert "<b " not in page
    assert page.count("&lt;b onclick=x&gt;&amp;") >= 6


async def test_what_is_typed_is_listed_as_it_is_typed(client: httpx.AsyncClient) -> None:
    """Sections with the words that were meant, for the script."""
    reply = await client.get("/api/search", params={"q": "sensorim"})
    assert reply.headers["cache-control"] == "no-store"
    (found,) = reply.json()["found"]
    assert (found["title"], found["url"]) == (LOOP.section_title, LOOP.url)
    assert [found["title"][slice(*mark)] for mark in found["title_marks"]] == ["sensorimotor"]
    assert (await client.get("/api/search", params={"q": " "})).json() == {"found": []}
    assert (await client.get("/api/search")).status_code == 422
    assert (await client.get("/api/search", params={"q": "x" * 501})).status_code == 422
    assert (await client.get("/api/search", params={"q": "loop", "book": "nothing"})).status_code == 404


def test_what_is_listed_reads_as_words_and_never_as_code() -> None:
    """A comment or what introduces the code, the cells of a row, the sentence; the page's mark is the code itself."""
    for typed, shown in (
        ("quaternion", "The base uses a quaternion"),
        ("neutral", "Read the state of the robot:"),
        ("battery", "Battery · 48 V"),
        ("wheels", "The wheels turn."),
        ("sensorimotor", "The wheels turn."),
    ):
        code = "q = pin.neutral(model)  # The base uses a quaternion\n"
        pieces: list[tuple[UnitKind, str, str, str]] = [
            ("caption", "Listing 1", "", ""),
            ("sentence", "The wheels turn.", "", ""),
            ("code", code, "python", "Read the state of the robot:"),
            ("table_row", "Battery | 48 V", "", "Part | Voltage"),
        ]
        units = tuple(
            Unit(kind=kind, text=text, language=language, lead=lead, char_start=0, char_end=len(text))
            for kind, text, language, lead in pieces
        )
        chunk = msgspec.structs.replace(CHUNK, units=units)
        ((_, _, line),) = section_lines([TypedWord(typed, (typed,))], [(chunk, 1.0)], 3)
        assert line.text == shown
        assert line.quote in {unit.text for unit in units}
        assert (line.quote == code) == (typed in code)


def test_code_that_no_word_introduces_is_listed_as_code() -> None:
    """Its place is told by its titles, above."""
    unit = Unit(kind="code", text="rclcpp::spin(node);", language="cpp", char_start=0, char_end=19)
    ((_, _, line),) = section_lines(
        [TypedWord("spin", ("spin",))], [(msgspec.structs.replace(CHUNK, units=(unit,)), 1.0)], 3
    )
    assert (line.text, line.text_marks, line.quote) == (IN_CODE, (), unit.text)


async def test_a_page_can_ask_for_the_terms_of_its_book(client: httpx.AsyncClient) -> None:
    """Each name with its definition and the place that defines it."""
    (term,) = (await client.get("/api/terms", params={"book": "physical-ai"})).json()["terms"]
    place = {"url": LOOP.url, "heading": LOOP.section_title, "quote": LOOP.quote}
    assert term == {"name": "loop", "definition": "A cycle.", **place}
    (used,) = (await client.get("/api/terms", params={"book": "physical-ai", "page": "a.md"})).json()["terms"]
    assert used == term | {"places": [{"word": "Loop", "text": "Loop the rope."}]}
    assert (await client.get("/api/terms", params={"book": "nothing"})).status_code == 404


async def test_without_a_script_the_search_is_a_page(client: httpx.AsyncClient) -> None:
    """Its form asks for what its address says, and its list leads to the sections."""
    page = (await client.get("/search", params={"q": "sensorim", "book": "physical-ai"})).text
    assert f'href="{LOOP.url}"' in page
    assert "<mark>sensorimotor</mark>" in page
    assert '<input type="search" name="q" value="sensorim"' in page
    assert "is near that" in (await client.get("/search", params={"q": "onions"})).text
    assert (await client.get("/search")).status_code == 200
    hostile = (await client.get("/search", params={"q": '"><script>alert(1)</script>'})).text
    assert "<script>alert" not in hostile


async def test_a_citation_lands_on_its_heading(client: httpx.AsyncClient) -> None:
    """The page at a citation's url has its anchor, and the quoted words below it."""
    path, anchor = LOOP.url.split("#")
    page = (await client.get(path)).text
    assert f'id="{anchor}"' in page
    assert LOOP.quote in page.partition(f'id="{anchor}"')[2]
    assert "<title>The loop · Physical AI &amp; Humanoid Robotics</title>" in page


@pytest.mark.parametrize("path", ["01/02-loop", "01/02-loop.mdx", "01/02-loop/"])
async def test_pages_answer_with_and_without_suffix(client: httpx.AsyncClient, path: str) -> None:
    """Links inside the book name files, citations name pages."""
    assert (await client.get(f"/read/physical-ai/{path}")).status_code == 200


@pytest.mark.parametrize(
    "path", ["/read/physical-ai/nothing", "/read/no-book/01/02-loop", "/read/physical-ai/../../etc/passwd"]
)
async def test_pages_that_are_not_there(client: httpx.AsyncClient, path: str) -> None:
    """404 for every such address."""
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize("name", ["reader.js", "reader.css", "icon.svg", "widget/lutrin.js"])
async def test_static_files_are_revalidated(client: httpx.AsyncClient, name: str) -> None:
    """With an ETag, and 304 for a browser that has them."""
    first = await client.get(f"/static/{name}")
    assert first.status_code == 200
    again = await client.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_licences_of_the_widget_are_served_beside_it(client: httpx.AsyncClient) -> None:
    """The comment at the head of the script names a file in the same folder, which a browser shows as text."""
    script = await client.get("/widget/lutrin.js")
    named = re.findall(r"\S+\.LICENSE\.txt", script.text.partition("\n")[0])
    assert len(named) == 1
    licences = await client.get(f"/widget/{named[0]}")
    assert licences.status_code == 200
    assert licences.headers["content-type"].startswith("text/plain")
    assert "Google LLC" in licences.text


@pytest.mark.parametrize(
    "path", ["/static/..%2f..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/", "/widget/x"]
)
async def test_no_other_file_is_served(client: httpx.AsyncClient, path: str) -> None:
    """Only what was in the folder at the start has a name here."""
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize(
    "path", ["/", "/read/physical-ai", "/read/physical-ai/01/02-loop", "/search?q=loop", "/schema"]
)
async def test_pages_load_nothing_from_elsewhere(client: httpx.AsyncClient, path: str) -> None:
    """No inline script, style or handler; every source and style sheet is ours, and is there."""
    page = (await client.get(path)).text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)|https?://", page)
    loaded = re.findall(r'<(?:script|link)[^>]*(?:src|href)="([^"]+)"', page)
    assert all(url.startswith(("/static/", "/widget/", "/manifest.webmanifest")) for url in loaded)
    for url in loaded:
        assert (await client.get(url)).status_code == 200


async def test_a_box_of_the_book_stays_in_the_text(client: httpx.AsyncClient) -> None:
    """Nothing that floats over the page has the name of a kind of box: a book's tip once lay over its text."""
    style = (await client.get("/static/reader.css")).text
    floating = re.findall(r"^\s*\.([\w-]+) \{[^}]*position: (?:fixed|absolute)", style, re.MULTILINE)
    assert "sheet" in floating
    assert not set(floating) & set(BOXES.values())


@pytest.mark.parametrize("path", ["/", "/read/physical-ai/01/02-loop"])
async def test_pages_hold_the_widget_and_the_search_of_their_book(client: httpx.AsyncClient, path: str) -> None:
    """The widget asks this server about this book and page, the policy allows its drawing alone."""
    response = await client.get(path)
    page = ' page="01/02-loop.mdx"' if path.startswith("/read/") else ""
    starters = """ starters='["What is the sensorimotor loop?"]'"""
    assert f'<lutrin-chat api="/" dock book="physical-ai"{page}{starters}></lutrin-chat>' in response.text
    assert re.search(r'<script src="/widget/lutrin\.[0-9a-f]{12}\.js" defer></script>', response.text)
    assert re.search(
        r'<form class="box" role="search" action="/search" method="get" data-box data-book="physical-ai">',
        response.text,
    )
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    assert policy["trusted-types"] == "lit-html lutrin-worker"
    assert policy["require-trusted-types-for"] == "'script'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}


@pytest.mark.parametrize(
    "name", ["reader.js", "box.js", "looks.js", "page.js", "margin.js", "passages.js", "texts.js", "worker.js"]
)
async def test_the_scripts_write_no_html(client: httpx.AsyncClient, name: str) -> None:
    """Book text stays text in the list of results."""
    script = await client.get(f"/static/{name}")
    assert script.headers["content-type"].startswith("text/javascript")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|import\(", script.text, re.MULTILINE
    )
    for line in re.findall(r"^import .*", script.text, re.MULTILINE):
        assert re.fullmatch(r'import \{[\w, ]+\} from "\./[a-z]+\.[0-9a-f]{12}\.js";', line)


async def test_a_script_that_is_imported_is_the_one_that_the_page_has_loaded(client: httpx.AsyncClient) -> None:
    """Both name it by its hash, so that it is fetched once, kept for ever, and there without a network."""
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    script = (await client.get("/static/margin.js")).text
    for name in ("passages", "texts"):
        loaded = re.search(rf'<link rel="modulepreload" href="/static/({name}\.[0-9a-f]{{12}}\.js)">', page)
        assert loaded is not None
        assert f'from "./{loaded[1]}"' in script
        assert "immutable" in (await client.get(f"/static/{loaded[1]}")).headers["cache-control"]


async def test_a_page_names_its_sections_in_the_contents(client: httpx.AsyncClient) -> None:
    """Under the page that is read stand its sections, each a link."""
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    here = page.partition('aria-current="page"')[2].partition("</nav>")[0]
    assert '<a href="#the-sensorimotor-loop">The sensorimotor loop</a>' in here


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    '<iframe src="https://evil.example"></iframe>',
    '<p style="background:url(https://evil.example)">x</p>',
    "<svg><script>alert(1)</script></svg>",
    '<form action="https://evil.example"><input name="q"></form>',
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '<object data="https://evil.example"></object>',
    '<img src="https://evil.example/pixel.png">',
    '<div onclick="alert(1)">x</div>',
    '<base href="https://evil.example">',
    '<link rel="stylesheet" href="https://evil.example">',
    '<math><mi xlink:href="javascript:alert(1)">x</mi></math>',
]


def test_what_runs_or_loads_is_taken_out() -> None:
    """Both the renderer and the final sanitiser remove it."""
    for payload in HOSTILE:
        for text in (
            sanitise(payload),
            render_page(f"# Title\n\n{payload}\n", "a.mdx").html,
            render_page(payload, "a.md").html,
        ):
            assert not re.search(r"<(script|iframe|object|form|input|meta|base|link|img|svg)\b", text)
            assert not re.search(r"<[^>]*\s(on\w+|style|src|action)=", text)
            assert not re.search(r'href="(?!https?:|/|#|\.|mailto:)[^"]*:', text)


async def test_a_book_takes_no_id_of_our_page(client: httpx.AsyncClient, house: House) -> None:
    """Headings keep the ids that link to them; our own ids have a prefix that no book's id has."""
    names = ("Finder", "Contents", "Content", "Share", "Looks", "lutrin:finder")
    sections = "".join(f"## {name}\n\nWords.\n\n" for name in names)
    raw = '<span id="lutrin:finder">x</span>\n\n## Named {#lutrin:share}\n'
    house.library.sources["01/02-loop.mdx"] = f"# T\n\n{sections}\n{raw}"
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {"finder", "contents", "content", "share", "looks", "lutrin:finder", "lutrin:share"} <= set(ids)
    assert '<h2 id="finder">Finder' in page


def test_code_is_coloured_by_classes() -> None:
    """Tokens in spans, the text itself unchanged, unknown languages left alone."""
    source = '# T\n\n```python\nx = "<b>" & 1\n```\n\n```nosuch\n<i>\n```\n'
    text = render_page(source, "a.mdx").html
    assert '<code class="language-python"><span class="n">x</span>' in text
    assert re.sub(r"<[^>]+>", "", text).split("\n")[1].startswith('x = "&lt;b&gt;" &amp; 1')
    assert '<code class="language-nosuch">&lt;i&gt;' in text


def test_pages_of_a_pdf_have_the_anchors_of_citations() -> None:
    """`#page=2` lands on the second page."""
    text = render_page("# One\n\nFirst.\f# Two\n\nSecond.", "book.pdf").html
    assert "Second." in text.partition('id="page=2"')[2]


def test_a_long_pdf_is_shown_in_its_chapters() -> None:
    """Each from the page that its title is on; what comes before the first is a part, too."""
    pages = ["Cover.", "# One\n\nFirst.", "More.", "# Two\n\nSecond.", *["And on."] * 6]
    page = render_page("\f".join(pages), "book.pdf")
    assert page.sections == (("page=1", "Page 1"), ("one", "One"), ("two", "Two"))
    assert re.findall(r'data-pages="([^"]+)"', page.html) == ["Page 1", "Pages 2 to 3", "Pages 4 to 10"]
    assert [int(number) for number in re.findall(r'id="page=(\d+)"', page.html)] == list(range(1, 11))


def test_a_long_pdf_without_chapters_is_shown_some_pages_at_a_time() -> None:
    """A short one is one page, as it is a sheet."""
    page = render_page("\f".join(["Text."] * 20), "book.pdf")
    assert [title for _, title in page.sections] == ["Pages 1 to 8", "Pages 9 to 16", "Pages 17 to 20"]
    assert page.html.count('class="part"') == 3
    assert 'class="part"' not in render_page("\f".join(["Text."] * 8), "book.pdf").html


def test_tables_scroll_in_a_box_that_the_keyboard_reaches() -> None:
    """A wide table does not widen the page."""
    text = render_page("# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "a.md").html
    assert re.search(
        r'<div class="wide" role="region" aria-label="Table" tabindex="0"><table>.*</table></div>', text, re.DOTALL
    )


def test_headings_have_a_link_to_themselves_that_is_no_part_of_their_title() -> None:
    """It says where it leads; the contents show the title alone."""
    page = render_page("# T\n\n## What *this* is\n\nText.\n", "a.md")
    assert '<a class="anchor" href="#what-this-is" aria-label="Link to: What this is"></a></h2>' in page.html
    assert page.sections == (("what-this-is", "What <em>this</em> is"),)


async def test_what_was_prepared_of_a_section_stands_at_its_end(client: httpx.AsyncClient, house: House) -> None:
    """Key points, terms and questions with their answers, folded; a model's text is shown as plain text."""
    term = Entry(kind="term", file=LOOP.filename, heading="x", topic="loop", text="A <b>cycle</b>.")
    quiz = Entry(
        kind="quiz",
        file=LOOP.filename,
        heading="x",
        topic="How often?",
        text="Why.",
        choices=("Once", "Always"),
        answer=1,
    )
    house.library.prepared = {"the-sensorimotor-loop": Notes(["It never stops."], [term], [quiz]), "gone": Notes(["?"])}
    page = (await client.get("/read/physical-ai/01/02-loop")).text
    notes = page.partition(LOOP.quote)[2].partition("</aside>")[0]
    for part in (
        "Key points",
        "It never stops.",
        "A &lt;b&gt;cycle&lt;/b&gt;.",
        "Check yourself",
        "<strong>B: Always</strong>",
    ):
        assert part in notes
    assert page.count("<aside") == 1
    assert "<aside" not in (await client.get("/read/physical-ai/01/01-start")).text


async def test_the_address_of_a_page_is_there_as_a_qr_code(client: httpx.AsyncClient) -> None:
    """Only for addresses of this server."""
    code = await client.get("/qr.svg", params={"to": "/read/physical-ai/01/02-loop#the-sensorimotor-loop"})
    assert code.headers["content-type"] == "image/svg+xml"
    assert code.text.startswith("<svg")
    for path in ("https://evil.example", "//evil.example", "/\\evil.example", "", "/" + "x" * 1000):
        assert (await client.get("/qr.svg", params={"to": path})).status_code == 422, path


async def test_the_interface_describes_itself(client: httpx.AsyncClient) -> None:
    """Every path of the contract is in the OpenAPI document, with an id of its own and its problems."""
    document = (await client.get("/schema/openapi.json")).json()
    paths = {path.partition("{")[0] for path in document["paths"]}
    contract = (
        "/health /ready /api/query /query /query-selected-text /query-selection /chat /history/ /api/retrieve "
        "/sessions /messages/ /ingest /v1/chat/completions /v1/models /metrics / /read/"
    )
    assert set(contract.split()) <= paths
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))
    chat = document["paths"]["/chat"]["post"]
    assert {"200", "400", "413", "422", "429", "500", "503"} <= chat["responses"].keys()
    assert "application/problem+json" in chat["responses"]["429"]["content"]
    page = (await client.get("/schema")).text
    assert all(f"POST {path}" in page for path in ("/chat", "/api/query", "/v1/chat/completions"))
    assert "<code>Accept: text/event-stream</code>" in page
    assert "`" not in page


def test_pages_of_a_pdf_are_headed_with_the_numbers_printed_on_them() -> None:
    """Known ones and those that follow; nothing before the first that is known."""
    page = "".join(f'<section class="page" id="page={number}"><p>Text</p></section>' for number in range(1, 5))
    shown = with_page_labels(page, {2: "iv", 4: "1"})
    assert re.findall(r"Page (\w+)<|(Text)", shown) == [
        ("", "Text"), ("iv", ""), ("", "Text"), ("v", ""), ("", "Text"), ("1", ""), ("", "Text"),
    ]  # fmt: skip
    assert with_page_labels(page, {}) == page
