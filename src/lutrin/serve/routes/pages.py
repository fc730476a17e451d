"""Pages for people: the shelf, the books, and the files that they need."""

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from litestar import MediaType, Response, get
from litestar.di import NamedDependency as Given
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, QueryParameter

from lutrin.errors import NotFound
from lutrin.messages import NOTHING_HERE
from lutrin.serve import html, pictures, qr
from lutrin.serve.answer_service import NO_STORE, AnswerService
from lutrin.serve.book_reader import Reader
from lutrin.serve.finding import Glossary, Suggestions
from lutrin.serve.problems import operation
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.workshop import Same, Workshop

STATIC = Path(__file__).parents[1] / "static"
STAMPED = re.compile(r"(.+)\.([0-9a-f]{12})\.(js|css|svg)")
LOADED = re.compile(r'(src|href)="/(static|widget)/([a-z]+)\.(js|css|svg)"')
IMPORTED = re.compile(rb'(?<=from "\./)([a-z]+)\.js(?=")')
MOST_FOUND = 8
"""Lines under the box: as many as a glance takes in."""
Typed = Annotated[str, QueryParameter(max_length=500, description="As typed in the box")]
Slug = Annotated[str, QueryParameter(max_length=200, description="Slug of the book; empty: all books")]
PageName = Annotated[
    str, QueryParameter(max_length=500, description="File of a page: only terms that it uses in their sense")
]
OwnPath = Annotated[
    str, QueryParameter(pattern=r"^/([^/\\].*)?$", max_length=400, description="Path of a page, from /")
]
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
    """All files of a folder, read once. A name that is not among them is never looked for on the disk.

    A script may import one that imports none; it does so under the name that holds that one's hash.
    """

    def __init__(self, root: Path = STATIC) -> None:
        bodies = {
            path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
        }

        def stamped(name: re.Match[bytes]) -> bytes:
            return b"%s.%s.js" % (name[1], _static_file("", bodies[name[0].decode()]).stamp.encode())

        self._files = {name: _static_file(name, IMPORTED.sub(stamped, body)) for name, body in bodies.items()}

    def response(self, name: str, request: HTTPRequest) -> Response[bytes]:
        """The file, or 304 if the browser has it already.

        Raises:
            NotFound: There is no such file.
        """
        stamped = STAMPED.fullmatch(name)
        file = self._files.get(f"{stamped[1]}.{stamped[3]}" if stamped else name)
        if file is None or (stamped and stamped[2] != file.stamp):
            raise NotFound(NOTHING_HERE)
        headers = {"ETag": file.etag, **(FOR_EVER if stamped else REVALIDATE)}
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

    def stamped(self, page: str) -> str:
        """A page that loads our files under names that hold their hash, so that browsers keep them."""
        return LOADED.sub(self._stamped, page)

    def _stamped(self, match: re.Match[str]) -> str:
        folder, name, suffix = match[2], match[3], match[4]
        file = self._files.get(f"widget/{name}.{suffix}" if folder == "widget" else f"{name}.{suffix}")
        return f'{match[1]}="/{folder}/{name}.{file.stamp}.{suffix}"' if file is not None else match[0]


@get("/", **operation("shelf", "All books with their contents", "pages", 503), media_type=MediaType.HTML)
async def shelf(reader: Given[Reader]) -> Response[str]:
    """The shelf."""
    return Response(await reader.shelf(), media_type=MediaType.HTML, headers=REVALIDATE)


@get("/read/{book:str}", **operation("readBook", "A book with its contents", "pages", 404, 503))
async def cover(book: FromPath[str], reader: Given[Reader]) -> Response[str]:
    """The page that leads to all pages of a book."""
    return Response(await reader.cover(book), media_type=MediaType.HTML, headers=REVALIDATE)


@get("/search", **operation("searchPage", "A page that lists the sections that fit words", "pages", 404, 422, 503))
async def results(reader: Given[Reader], q: Typed = "", book: Slug = "") -> Response[str]:
    """Where the box leads that has no script."""
    page = await reader.results(q.strip(), book)
    return Response(page, media_type=MediaType.HTML, headers=NO_STORE)


@get(
    "/api/search",
    **operation("search", "Sections that fit words which are still being typed", "reading", 404, 422, 503),
)
async def search(service: Given[AnswerService], q: Typed, book: Slug = "") -> Response[Suggestions]:
    """The last word may be unfinished, and any may hold a slip; none of it is stored."""
    found = await service.services.library.find(q, book, MOST_FOUND) if q.strip() else ()
    return Response(Suggestions(list(found)), headers=NO_STORE)


@get(
    "/api/terms",
    **operation(
        "terms",
        "The terms of a book, or those that a page uses, with their definitions",
        "reading",
        404,
        422,
        503,
        returns=ResponseSpec(Glossary, generate_examples=False),
    ),
)
async def terms(
    service: Given[AnswerService], workshop: Given[Workshop], book: Slug, page: PageName = ""
) -> Response[bytes]:
    """For the definitions that a page shows; empty where nothing was prepared."""
    found = await service.services.library.glossary(book, page)
    made = partial(msgspec.json.encode, Glossary(list(found)))
    body = await workshop.do(made) if page else await workshop.once(("terms", Same(found)), made)
    return Response(body, media_type=MediaType.JSON, headers=REVALIDATE)


@get("/read/{book:str}/{page:path}", **operation("readPage", "A page of a book", "pages", 404, 503))
async def read(book: FromPath[str], page: FromPath[Path], reader: Given[Reader]) -> Response[str]:
    """Where citations lead."""
    shown = await reader.page(book, page.as_posix())
    return Response(shown, media_type=MediaType.HTML, headers=REVALIDATE)


@get("/picture/{number:int}/{book:str}/{page:path}", include_in_schema=False)
async def picture(
    number: FromPath[int], book: FromPath[str], page: FromPath[Path], reader: Given[Reader]
) -> Response[bytes]:
    """A picture that a page of a book shows, by its place on the page."""
    found = await reader.picture(book, page.as_posix(), number)
    return Response(found.body, media_type=found.media_type, headers=pictures.HEADERS)


@get("/qr.svg", include_in_schema=False)
async def qr_code(request: HTTPRequest, to: OwnPath, workshop: Given[Workshop]) -> Response[bytes]:
    """The address of a page of this server as a QR code, for a telephone that is held before it."""
    address = qr.address(request, to)
    code = await workshop.once(("qr", address), lambda: qr.svg(address))
    return Response(code, media_type="image/svg+xml", headers=REVALIDATE)


@get("/worker.js", include_in_schema=False)
async def worker(reader: Given[Reader], files: Given[StaticFiles]) -> Response[str]:
    """The script that keeps opened pages; once a book was read anew it is another one, and renews them."""
    version = hashlib.sha256(f"{files.version} {await reader.version()}".encode()).hexdigest()[:16]
    script = f'const VERSION = "{version}";\n{files.text("worker.js")}'
    return Response(script, media_type="text/javascript", headers=REVALIDATE)


@get("/offline", include_in_schema=False)
async def offline(files: Given[StaticFiles]) -> Response[str]:
    """What the worker shows in place of a page that it does not have."""
    return Response(files.stamped(html.offline()), media_type=MediaType.HTML, headers=REVALIDATE)


@get("/static/{name:path}", include_in_schema=False)
async def static(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """Style sheets and scripts of the pages."""
    return files.response(name.as_posix().strip("/"), request)


@get("/widget/{name:path}", include_in_schema=False)
async def widget(name: FromPath[Path], request: HTTPRequest, files: Given[StaticFiles]) -> Response[bytes]:
    """The widget, for pages of any site."""
    return files.response(f"widget/{name.as_posix().strip('/')}", request)


def _static_file(name: str, body: bytes) -> StaticFile:
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    media_type = "text/javascript" if name.endswith(".js") else guessed
    return StaticFile(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
