"""HTML pages: the shelf, the books, practice, and static files. No page needs a script."""

import hashlib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated

import msgspec
import segno
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody, Parameter, QueryParameter

from lutrin.errors import NotFound
from lutrin.messages import COUNTED, NOTHING_HERE, SCRIPT_TEXTS
from lutrin.platform import network_addresses
from lutrin.prepared import Card, GlossaryTerm
from lutrin.serve import html
from lutrin.serve.answer_service import NO_STORE, AnswerService
from lutrin.serve.book_reader import Reader
from lutrin.serve.budget import Same, Workshop
from lutrin.serve.finding import Glossary, Suggestions
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.library import PICTURE_HEADERS
from lutrin.serve.ownership import is_secure
from lutrin.serve.problems import operation
from lutrin.serve.responses import prefix_of
from lutrin.study.recall import Recall

STATIC = Path(__file__).parents[1] / "static"
STAMPED = re.compile(r"(.+)\.([0-9a-f]{12})\.(js|css|svg)")
LOADED = re.compile(r'(src|href)="/(static|widget)/([a-z]+)\.(js|css|svg)"')
IMPORTED = re.compile(rb'(?<=from "\./)([a-z]+)\.js(?=")')
MOST_FOUND = 8
"""Suggestions under the search box: as many as a reader takes in at a glance."""
Typed = Annotated[str, QueryParameter(max_length=500, description="As typed in the box")]
Slug = Annotated[str, QueryParameter(max_length=200, description="Slug of the book; empty: all books")]
PageName = Annotated[str, QueryParameter(max_length=500, description="File of a page: only what belongs to it")]
OwnPath = Annotated[
    str, QueryParameter(pattern=r"^/([^/\\].*)?$", max_length=400, description="Path of a page, from /")
]
READING = ("reading", 404, 422, 503)
"""Tag and problems of what is found by a name and a number, or by words."""
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
REVALIDATE = {"Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file, ready to be sent."""

    body: bytes
    media_type: str
    etag: str

    @property
    def stamp(self) -> str:
        """Part of the hash, for the file's name."""
        return self.etag.strip('"')[:12]


class StaticFiles:
    """The files of some folders, read once. Other names are never looked up on the disk.

    A script may import one that imports none; it does so under the name that holds that one's hash. One of those is
    `texts.js`, which gets what the scripts say.
    """

    def __init__(self, *roots: Path) -> None:
        files = {
            path.relative_to(root).as_posix(): path for root in roots for path in root.rglob("*") if path.is_file()
        }
        bodies = {name: path.read_bytes() for name, path in sorted(files.items())}
        bodies["texts.js"] = script_texts() + bodies["texts.js"]

        def stamp(name: re.Match[bytes]) -> bytes:
            return b"%s.%s.js" % (name[1], _static_file("", bodies[name[0].decode()]).stamp.encode())

        self._files = {name: _static_file(name, IMPORTED.sub(stamp, body)) for name, body in bodies.items()}

    def response(self, name: str, request: HTTPRequest) -> Response[bytes]:
        """Return the file, or 304 if the browser already has it; raises NotFound."""
        stamp = STAMPED.fullmatch(name)
        file = self._files.get(f"{stamp[1]}.{stamp[3]}" if stamp else name)
        if file is None or (stamp and stamp[2] != file.stamp):
            raise NotFound(NOTHING_HERE)
        headers = {"ETag": file.etag, **(FOR_EVER if stamp else REVALIDATE)}
        if request.headers.get("if-none-match", "").removeprefix("W/") == file.etag:
            return Response(b"", status_code=304, media_type=file.media_type, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)

    @property
    def version(self) -> str:
        """Hash of all files."""
        return hashlib.sha256("".join(file.etag for file in self._files.values()).encode()).hexdigest()

    def text(self, name: str) -> str:
        """Return a script or style sheet."""
        return self._files[name].body.decode()

    def stamp_page(self, page: str) -> str:
        """Rewrite a page to load static files under names with their hash, so that browsers can cache them."""
        return LOADED.sub(self._stamp, page)

    def _stamp(self, match: re.Match[str]) -> str:
        folder, name, suffix = match[2], match[3], match[4]
        file = self._files.get(f"widget/{name}.{suffix}" if folder == "widget" else f"{name}.{suffix}")
        return f'{match[1]}="/{folder}/{name}.{file.stamp}.{suffix}"' if file is not None else match[0]


@get("/", **operation("shelf", "The shelf: all books with their contents", "pages", 503), media_type=MediaType.HTML)
async def shelf(reader: Given[Reader]) -> Response[str]:
    """Show the shelf."""
    return _page(await reader.shelf())


@get("/read/{book:str}", **operation("readBook", "A book with its contents", "pages", 404, 503))
async def cover(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Show a book's cover page, which links to all of its pages."""
    return _page(await reader.cover(book))


@get("/search", **operation("searchPage", "A page with the sections that match a search", "pages", 404, 422, 503))
async def results(reader: Given[Reader], q: Typed = "", book: Slug = "") -> Response[str]:
    """Show the results of the search box in browsers without scripts."""
    return _page(await reader.results(q.strip(), book), NO_STORE)


@get("/api/search", **operation("search", "Sections that match unfinished words", *READING))
async def search(service: Given[AnswerService], q: Typed, book: Slug = "") -> Response[Suggestions]:
    """Suggest pages for typed text. The last word may be unfinished, all may be misspelt; nothing is stored."""
    suggestions = await service.services.library.find(q, book, MOST_FOUND) if q.strip() else ()
    return Response(Suggestions(list(suggestions)), headers=NO_STORE)


TERMS = operation(
    "terms", "The terms of a book, or those that a page uses, with their definitions", *READING, returns=Glossary
)


@get("/api/terms", **TERMS)
async def terms(
    service: Given[AnswerService], workshop: Given[Workshop], book: Slug, page: PageName = ""
) -> Response[bytes]:
    """List the terms that a page defines; empty if none were prepared."""
    glossary = await service.services.library.glossary(book, page)
    encode = partial(msgspec.json.encode, Glossary(list(glossary)))
    body = await workshop.do(encode) if page else await workshop.once(("terms", Same(glossary)), encode)
    return Response(body, media_type=MediaType.JSON, headers=REVALIDATE)


@get("/read/{book:str}/{page:path}", **operation("readPage", "A page of a book", "pages", 404, 503))
async def read(book: FromPath[str], page: FromPath[Path], reader: Given[Reader]) -> Response[str]:
    """Show a page of a book; citations link here."""
    return _page(await reader.page(book, page.as_posix()))


@get("/picture/{number:int}/{book:str}/{page:path}", include_in_schema=False)
async def picture(
    number: FromPath[int], book: FromPath[str], page: FromPath[Path], reader: Given[Reader]
) -> Response[bytes]:
    """Return a picture of a book's page, by its ordinal on the page."""
    body, media_type = await reader.picture(book, page.as_posix(), number)
    return Response(body, media_type=media_type, headers=PICTURE_HEADERS)


@get("/qr.svg", include_in_schema=False)
async def qr_code(request: HTTPRequest, to: OwnPath, workshop: Given[Workshop]) -> Response[bytes]:
    """Draw the address of a page as a QR code, for a telephone's camera."""
    address = address_of(request, to)
    code = await workshop.once(("qr", address), lambda: qr_svg(address))
    return Response(code, media_type="image/svg+xml", headers=REVALIDATE)


@get("/worker.js", include_in_schema=False)
async def worker(reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """Return the service worker, which caches opened pages; it changes when a book is read anew, and so renews them."""
    version = hashlib.sha256(f"{files.version} {await reader.version()}".encode()).hexdigest()[:16]
    script = f'const VERSION = "{version}";\n{files.text("worker.js")}'
    return Response(script, media_type="text/javascript", headers=REVALIDATE)


@get("/manifest.webmanifest", include_in_schema=False)
async def manifest(files: Given[StaticFiles]) -> Response[str]:
    """Return the web app manifest, with which a telephone can install the shelf; its addresses are relative."""
    return Response(files.text("manifest.json"), media_type="application/manifest+json", headers=REVALIDATE)


@get("/offline", include_in_schema=False)
async def offline(files: Given[StaticFiles]) -> Response[str]:
    """Return the page that the service worker shows for pages that are not cached."""
    return _page(files.stamp_page(html.offline()))


@get("/static/{name:path}", include_in_schema=False)
async def static(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """Return a style sheet or script of the pages."""
    return files.response(name.as_posix().strip("/"), request)


@get("/widget/{name:path}", include_in_schema=False)
async def widget(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """Return the widget, for pages of any site."""
    return files.response(f"widget/{name.as_posix().strip('/')}", request)


def script_texts() -> bytes:
    """Return the texts of the pages' scripts, as JavaScript."""
    texts, counted = msgspec.json.encode(SCRIPT_TEXTS), msgspec.json.encode(COUNTED)
    return b"const TEXTS = %s;\nconst COUNTED = %s;\n" % (texts, counted)


def _static_file(name: str, body: bytes) -> StaticFile:
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    media_type = "text/javascript" if name.endswith(".js") else guessed
    return StaticFile(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:20]}"')


Chapter = Annotated[int, Parameter(ge=0, le=10_000, description="Number of the chapter, from 1; 0: the whole book.")]
Sitting = Annotated[int, Parameter(ge=1, le=10_000, description="Number of the sitting, from 1.")]
ANKI = "application/octet-stream"


def _page(page: str, headers: Mapping[str, str] = REVALIDATE) -> Response[str]:
    return Response(page, media_type=MediaType.HTML, headers=dict(headers))


def _download_headers(book: str, chapter: int, suffix: str) -> dict[str, str]:
    part = f"-{chapter}" if chapter else ""
    return {**REVALIDATE, "Content-Disposition": f'attachment; filename="{book}{part}.{suffix}"'}


@get("/study/{book:str}", **operation("study", "Overview of practice with a book", "pages", 404, 503))
async def study(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Show the overview of practice with a book."""
    return _page(await reader.study(book))


@get(
    "/study/{book:str}/deck", **operation("studyDeck", "The cards of a chapter, ten at a time", "pages", 404, 422, 503)
)
async def deck(
    book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1, sitting: Sitting = 1, page: PageName = ""
) -> Response[str]:
    """Show flash cards; `page` selects those of one page of the book."""
    return _page(await reader.study(book, "deck", chapter, sitting, page))


@get("/study/{book:str}/today", **operation("studyToday", "The cards that are due today", "pages", 404, 503))
async def today(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Show the cards that are due today; only the browser knows which, and its script lists them."""
    return _page(await reader.study(book, "today"))


@get(
    "/study/{book:str}/worksheet",
    **operation("studyWorksheet", "A printable worksheet, with the answers on the last page", "pages", 404, 422, 503),
)
async def worksheet(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1) -> Response[str]:
    """Show a worksheet: questions with space for answers."""
    return _page(await reader.study(book, "worksheet", chapter))


@get("/study/{book:str}/glossary", **operation("studyGlossary", "The terms of a book from A to Z", "pages", 404, 503))
async def glossary(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Show the terms of a book with their definitions."""
    return _page(await reader.study(book, "glossary"))


@get("/study/{book:str}/guide", **operation("studyGuide", "The key points of each chapter", "pages", 404, 503))
async def guide(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Show the guide: a summary of each section in a few sentences."""
    return _page(await reader.study(book, "guide"))


DECK = operation("studyDeckData", "The cards of a chapter or of the whole book, as JSON", *READING, returns=list[Card])


@get("/study/{book:str}/deck.json", **DECK)
async def deck_data(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """Export the cards as JSON, for programs with spaced repetition."""
    return Response(await reader.take_away(book, "json", chapter), media_type=MediaType.JSON, headers=REVALIDATE)


TERMS_OF_BOOK = operation(
    "studyGlossaryData", "The terms of a book as JSON", "reading", 404, 503, returns=list[GlossaryTerm]
)


@get("/study/{book:str}/glossary.json", **TERMS_OF_BOOK)
async def glossary_data(book: FromPath[str], reader: Given[Reader]) -> Response[bytes]:
    """Export the terms as JSON, for pages that show a definition beside its term."""
    return Response(await reader.take_away(book, "terms", 0), media_type=MediaType.JSON, headers=REVALIDATE)


@get("/study/{book:str}/deck.csv", **operation("studyDeckTable", "The cards as CSV", *READING))
async def deck_table(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """Export the cards as a table, for spreadsheets and other flash-card programs."""
    body = await reader.take_away(book, "csv", chapter)
    return Response(body, media_type="text/csv; charset=utf-8", headers=_download_headers(book, chapter, "csv"))


@get("/study/{book:str}/deck.apkg", **operation("studyDeckAnki", "The cards as a package for Anki", *READING))
async def deck_anki(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """Export an Anki deck for each chapter; importing it again keeps the learning progress."""
    body = await reader.take_away(book, "apkg", chapter)
    return Response(body, media_type=ANKI, headers=_download_headers(book, chapter, "apkg"))


class RecallBody(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /api/recall`: a question, and the text of the passage that answered it."""

    book: Annotated[str, msgspec.Meta(max_length=200)]
    chunk_id: Annotated[str, msgspec.Meta(max_length=100)]
    question: Annotated[str, msgspec.Meta(max_length=8000)] = ""
    words: Annotated[str, msgspec.Meta(max_length=16_000)] = ""


RECALL = operation("recall", "A hint at an answer, and a question about its passage", "reading", 404, 413, 422, 503)


@post("/api/recall", **RECALL, status_code=200)
async def recall(data: JSONBody[RecallBody], service: Given[AnswerService]) -> Response[Recall]:
    """Suggest cards to practise after an answer; nothing is stored."""
    found = await service.services.library.recall(data.book, data.chunk_id, data.question, data.words)
    return Response(found, status_code=200, headers=NO_STORE)


LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


def address_of(request: HTTPRequest, path: str) -> str:
    """The full address of a page, as a reader would type it."""
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.headers.get('host', '')}{path}"


def address_for_others(request: HTTPRequest, host: str) -> str:
    """The server's address for other devices, which a browser here may be unable to open; empty: none."""
    name, _, port = request.headers.get("host", "").rpartition(":")
    name = name or request.headers.get("host", "")
    if name.lower() not in LOCAL:
        return address_of(request, f"{prefix_of(request.scope)}/")
    if host not in {"0.0.0.0", "::"}:  # noqa: S104 - it is compared with, nothing is bound to it
        return ""
    address = next(iter(network_addresses()), "")
    place = f"{address}:{port}" if port.isdigit() else address
    return f"http://{place}{prefix_of(request.scope)}/" if address else ""


def qr_svg(text: str) -> bytes:
    """Draw a text as a QR code that scales to any size."""
    out = BytesIO()
    segno.make(text, micro=False).save(out, kind="svg", scale=4, border=3, dark="#2b2018", light="#fff", xmldecl=False)
    return out.getvalue()


HANDLERS = [
    shelf, cover, results, search, terms, read, picture, study, deck, today, worksheet, glossary, guide, deck_data,
    glossary_data, deck_table, deck_anki, recall, qr_code, worker, manifest, offline, static, widget,
]  # fmt: skip
