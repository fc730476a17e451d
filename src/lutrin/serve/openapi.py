"""The OpenAPI document and a page that shows it, made here: nothing is loaded from elsewhere."""

from typing import Any, get_args

import msgspec
from litestar import Litestar
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin

from lutrin import __version__
from lutrin.records import AnswerEvent
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.templating import render

EVENTS = tuple(str(event.__struct_config__.tag) for event in get_args(AnswerEvent))
"""Names of the events of a stream, in the order in which they come."""
DESCRIPTION = (
    "A textbook that answers, offline. Answering endpoints send JSON or, with `Accept: text/event-stream`, "
    f"Server-Sent Events: {', '.join(EVENTS)}. Errors are application/problem+json."
)


DOCUMENT = "/schema/openapi.json"


class Document(JsonRenderPlugin):
    """The document as JSON."""

    def __init__(self) -> None:
        super().__init__()
        self._json = b""

    def render(self, request: HTTPRequest, openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002 - the framework's signature
        """The document; always the same."""
        self._json = self._json or msgspec.json.encode(openapi_schema)
        return self._json


class Viewer(OpenAPIRenderPlugin):
    """The document as one plain page."""

    def __init__(self) -> None:
        super().__init__(path="/", favicon="", style="")
        self._page = b""

    def render(self, request: HTTPRequest, openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002 - the framework's signature
        """The page; always the same."""
        shapes = openapi_schema.get("components", {}).get("schemas", {})
        shown = {"info": openapi_schema["info"], "paths": openapi_schema.get("paths", {}), "schemas": shapes}
        self._page = self._page or render("interface.html", document=DOCUMENT, **shown).encode()
        return self._page


def prepare(app: Litestar) -> None:
    """Make the document and its page, which takes too long for the first request that asks for them."""
    schema: dict[str, Any] = app.plugins.get("OpenAPIPlugin").provide_openapi_schema()
    for plugin in app.openapi_config.render_plugins if app.openapi_config else ():
        plugin.render(None, schema)  # type: ignore[arg-type]  # ours look at no request


def openapi_config() -> OpenAPIConfig:
    """Litestar's configuration: the page at `/schema`, the document at `/schema/openapi.json`."""
    return OpenAPIConfig(
        title="Lutrin",
        version=__version__,
        description=DESCRIPTION,
        path="/schema",
        render_plugins=[Viewer(), Document()],
        use_handler_docstrings=True,
    )
