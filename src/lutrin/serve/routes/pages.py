"""Pages for people: the shelf, the books, practice with them, and the files that all need. None needs a script."""

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
"""Lines under the box: as many as a glance takes in."""
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
    """All files of some folders, read once. A name that is not among them is never looked for on the disk.

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
        """The file, or 304 if the browser has it already; raises NotFound."""
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
        """A hash of all files."""
        return hashlib.sha256("".join(file.etag for file in self._files.values()).encode()).hexdigest()

    def text(self, name: str) -> str:
        """A script or style sheet."""
        return self._files[name].body.decode()

    def stamp_page(self, page: str) -> str:
        """A page that loads our files under names that hold their hash, so that browsers keep them."""
        return LOADED.sub(self._stamp, page)

    def _stamp(self, match: re.Match[str]) -> str:
        folder, name, suffix = match[2], match[3], match[4]
        file = self._files.get(f"widget/{name}.{suffix}" if folder == "widget" else f"{name}.{suffix}")
        return f'{match[1]}="/{folder}/{name}.{file.stamp}.{suffix}"' if file is not None else match[0]


@get("/", **operation("shelf", "All books with their contents", "pages", 503), media_type=MediaType.HTML)
async def shelf(reader: Given[Reader]) -> Response[str]:
    """The shelf."""
    return _page(await reader.shelf())


@get("/read/{book:str}", **operation("readBook", "A book with its contents", "pages", 404, 503))
async def cover(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """The page that leads to all pages of a book."""
    return _page(await reader.cover(book))


@get("/search", **operation("searchPage", "A page that lists the sections that fit words", "pages", 404, 422, 503))
async def results(reader: Given[Reader], q: Typed = "", book: Slug = "") -> Response[str]:
    """Where the box leads that has no script."""
    return _page(await reader.results(q.strip(), book), NO_STORE)


@get("/api/search", **operation("search", "Sections that fit words which are still being typed", *READING))
async def search(service: Given[AnswerService], q: Typed, book: Slug = "") -> Response[Suggestions]:
    """The last word may be unfinished, and any may hold a slip; none of it is stored."""
    suggestions = await service.services.library.find(q, book, MOST_FOUND) if q.strip() else ()
    return Response(Suggestions(list(suggestions)), headers=NO_STORE)


TERMS = operation(
    "terms", "The terms of a book, or those that a page uses, with their definitions", *READING, returns=Glossary
)


@get("/api/terms", **TERMS)
async def terms(
    service: Given[AnswerService], workshop: Given[Workshop], book: Slug, page: PageName = ""
) -> Response[bytes]:
    """For the definitions that a page shows; empty where nothing was prepared."""
    glossary = await service.services.library.glossary(book, page)
    encode = partial(msgspec.json.encode, Glossary(list(glossary)))
    body = await workshop.do(encode) if page else await workshop.once(("terms", Same(glossary)), encode)
    return Response(body, media_type=MediaType.JSON, headers=REVALIDATE)


@get("/read/{book:str}/{page:path}", **operation("readPage", "A page of a book", "pages", 404, 503))
async def read(book: FromPath[str], page: FromPath[Path], reader: Given[Reader]) -> Response[str]:
    """Where citations lead."""
    return _page(await reader.page(book, page.as_posix()))


@get("/picture/{number:int}/{book:str}/{page:path}", include_in_schema=False)
async def picture(
    number: FromPath[int], book: FromPath[str], page: FromPath[Path], reader: Given[Reader]
) -> Response[bytes]:
    """A picture that a page of a book shows, by its place on the page."""
    body, media_type = await reader.picture(book, page.as_posix(), number)
    return Response(body, media_type=media_type, headers=PICTURE_HEADERS)


@get("/qr.svg", include_in_schema=False)
async def qr_code(request: HTTPRequest, to: OwnPath, workshop: Given[Workshop]) -> Response[bytes]:
    """The address of a page of this server as a QR code, for a telephone that is held before it."""
    address = address_of(request, to)
    code = await workshop.once(("qr", address), lambda: qr_svg(address))
    return Response(code, media_type="image/svg+xml", headers=REVALIDATE)


@get("/worker.js", include_in_schema=False)
async def worker(reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """The script that keeps opened pages; once a book was read anew it is another one, and renews them."""
    version = hashlib.sha256(f"{files.version} {await reader.version()}".encode()).hexdigest()[:16]
    script = f'const VERSION = "{version}";\n{files.text("worker.js")}'
    return Response(script, media_type="text/javascript", headers=REVALIDATE)


@get("/manifest.webmanifest", include_in_schema=False)
async def manifest(files: Given[StaticFiles]) -> Response[str]:
    """What a telephone needs to put the shelf beside its programs; addresses are relative to this one."""
    return Response(files.text("manifest.json"), media_type="application/manifest+json", headers=REVALIDATE)


@get("/offline", include_in_schema=False)
async def offline(files: Given[StaticFiles]) -> Response[str]:
    """What the worker shows in place of a page that it does not have."""
    return _page(files.stamp_page(html.offline()))


@get("/static/{name:path}", include_in_schema=False)
async def static(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """Style sheets and scripts of the pages."""
    return files.response(name.as_posix().strip("/"), request)


@get("/widget/{name:path}", include_in_schema=False)
async def widget(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """The widget, for pages of any site."""
    return files.response(f"widget/{name.as_posix().strip('/')}", request)


def script_texts() -> bytes:
    """What the scripts of the pages say, as JavaScript."""
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


@get("/study/{book:str}", **operation("study", "What a book has to practise with", "pages", 404, 503))
async def study(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Where practice begins."""
    return _page(await reader.study(book))


@get(
    "/study/{book:str}/deck", **operation("studyDeck", "The cards of a chapter, ten a sitting", "pages", 404, 422, 503)
)
async def deck(
    book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1, sitting: Sitting = 1, page: PageName = ""
) -> Response[str]:
    """Cards that open; with `page`, those of one page of the book."""
    return _page(await reader.study(book, "deck", chapter, sitting, page))


@get("/study/{book:str}/today", **operation("studyToday", "The cards that are due today", "pages", 404, 503))
async def today(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Only the browser knows which they are: a script lists them."""
    return _page(await reader.study(book, "today"))


@get(
    "/study/{book:str}/worksheet",
    **operation("studyWorksheet", "A worksheet for print, with the answers on the last page", "pages", 404, 422, 503),
)
async def worksheet(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 1) -> Response[str]:
    """Questions with room to write."""
    return _page(await reader.study(book, "worksheet", chapter))


@get("/study/{book:str}/glossary", **operation("studyGlossary", "The terms of a book from A to Z", "pages", 404, 503))
async def glossary(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Terms with their meanings."""
    return _page(await reader.study(book, "glossary"))


@get("/study/{book:str}/guide", **operation("studyGuide", "The key points of each chapter", "pages", 404, 503))
async def guide(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """Serve the guide: each section in a few sentences."""
    return _page(await reader.study(book, "guide"))


DECK = operation("studyDeckData", "The cards of a chapter, or of the whole book, as data", *READING, returns=list[Card])


@get("/study/{book:str}/deck.json", **DECK)
async def deck_data(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """For programs that space cards."""
    return Response(await reader.take_away(book, "json", chapter), media_type=MediaType.JSON, headers=REVALIDATE)


TERMS_OF_BOOK = operation(
    "studyGlossaryData", "The terms of a book as data", "reading", 404, 503, returns=list[GlossaryTerm]
)


@get("/study/{book:str}/glossary.json", **TERMS_OF_BOOK)
async def glossary_data(book: FromPath[str], reader: Given[Reader]) -> Response[bytes]:
    """For pages that show what a term means where it stands."""
    return Response(await reader.take_away(book, "terms", 0), media_type=MediaType.JSON, headers=REVALIDATE)


@get("/study/{book:str}/deck.csv", **operation("studyDeckTable", "The cards as comma-separated values", *READING))
async def deck_table(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """For spreadsheets and other programs for cards."""
    body = await reader.take_away(book, "csv", chapter)
    return Response(body, media_type="text/csv; charset=utf-8", headers=_download_headers(book, chapter, "csv"))


@get("/study/{book:str}/deck.apkg", **operation("studyDeckAnki", "The cards as a package for Anki", *READING))
async def deck_anki(book: FromPath[str], reader: Given[Reader], chapter: Chapter = 0) -> Response[bytes]:
    """A deck for each chapter; importing it again keeps what was learnt."""
    body = await reader.take_away(book, "apkg", chapter)
    return Response(body, media_type=ANKI, headers=_download_headers(book, chapter, "apkg"))


class RecallBody(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /api/recall`: a question, and the words of the passage that answered it."""

    book: Annotated[str, msgspec.Meta(max_length=200)]
    chunk_id: Annotated[str, msgspec.Meta(max_length=100)]
    question: Annotated[str, msgspec.Meta(max_length=8000)] = ""
    words: Annotated[str, msgspec.Meta(max_length=16_000)] = ""


RECALL = operation(
    "recall", "A hint at an answer, and a question to ask back on its passage", "reading", 404, 413, 422, 503
)


@post("/api/recall", **RECALL, status_code=200)
async def recall(data: JSONBody[RecallBody], service: Given[AnswerService]) -> Response[Recall]:
    """For the panel, below an answer; nothing of it is stored."""
    found = await service.services.library.recall(data.book, data.chunk_id, data.question, data.words)
    return Response(found, status_code=200, headers=NO_STORE)


LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


def address_of(request: HTTPRequest, path: str) -> str:
    """The full address of a page, as a reader would have to type it."""
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.headers.get('host', '')}{path}"


def address_for_others(request: HTTPRequest, host: str) -> str:
    """The address at which other devices in the room reach the server, though a browser here may not; empty: none."""
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
