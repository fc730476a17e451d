"""The OpenAPI document and a page that shows it, built here: nothing is loaded from elsewhere."""

from typing import Any, get_args

import msgspec
from litestar import Litestar
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin

from lutrin import __version__
from lutrin.records import AnswerEvent
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.templating import render

EVENTS = tuple(str(event.__struct_config__.tag) for event in get_args(AnswerEvent))
"""Names of a stream's events, in their order."""
DESCRIPTION = (
    "A textbook that answers, offline. Answering endpoints send JSON or, with `Accept: text/event-stream`, "
    f"Server-Sent Events: {', '.join(EVENTS)}. Errors are application/problem+json."
)


DOCUMENT = "/schema/openapi.json"


class Document(JsonRenderPlugin):
    """The document as JSON."""

    content = b""

    def render(self, request: HTTPRequest, openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002 - the framework's signature
        """Return the document, which never changes."""
        self.content = self.content or msgspec.json.encode(openapi_schema)
        return self.content


class Viewer(OpenAPIRenderPlugin):
    """The document as one plain page."""

    def __init__(self) -> None:
        super().__init__(path="/", favicon="", style="")
        self.content = b""

    def render(self, request: HTTPRequest, openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002 - the framework's signature
        """Return the page, which never changes."""
        shapes = openapi_schema.get("components", {}).get("schemas", {})
        values = {"info": openapi_schema["info"], "paths": openapi_schema.get("paths", {}), "schemas": shapes}
        self.content = self.content or render("interface.html", document=DOCUMENT, **values).encode()
        return self.content


PLUGINS = (Viewer(), Document())
_SCHEMA: dict[str, Any] = {}
"""Cache like Litestar's; the handlers, and so the document, are the same for all servers of a process."""


def prepare(app: Litestar) -> None:
    """Build the document and its page, which would delay the first request for them."""
    plugin: Any = app.plugins.get("OpenAPIPlugin")
    if _SCHEMA:
        plugin._openapi_schema = _SCHEMA  # noqa: SLF001 - it makes one for each application, and offers no way to give it
        return
    _SCHEMA.update(plugin.provide_openapi_schema())
    for renderer in PLUGINS:
        renderer.render(None, _SCHEMA)  # type: ignore[arg-type]  # ours look at no request


def openapi_config() -> OpenAPIConfig:
    """Litestar's configuration: the page at `/schema`, the document at `/schema/openapi.json`."""
    return OpenAPIConfig(
        title="Lutrin",
        version=__version__,
        description=DESCRIPTION,
        path="/schema",
        render_plugins=PLUGINS,
        use_handler_docstrings=True,
    )
