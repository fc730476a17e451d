"""The OpenAPI document and a page that shows it, made here: nothing is loaded from elsewhere."""

import re
from html import escape
from typing import Any, get_args

import msgspec
from litestar import Litestar
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin

from lutrin import __version__
from lutrin.records import AnswerEvent
from lutrin.serve.requests import HTTPRequest

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
        self._page = self._page or self.made(openapi_schema)
        return self._page

    @staticmethod
    def made(openapi_schema: dict[str, Any]) -> bytes:
        """Make the page of a document."""
        info = openapi_schema["info"]
        operations = [
            _operation(path, method, spec)
            for path, item in sorted(openapi_schema.get("paths", {}).items())
            for method, spec in item.items()
            if isinstance(spec, dict)
        ]
        schemas = openapi_schema.get("components", {}).get("schemas", {})
        shapes = [_shape(name, spec) for name, spec in sorted(schemas.items())]
        page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{escape(info["title"])}: interface</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/static/reader.css"></head>
<body><main class="interface"><h1>{escape(info["title"])} {escape(info["version"])}</h1>
<p>{_text(info.get("description", ""))}</p><p><a href="{DOCUMENT}">The OpenAPI document</a></p>
<h2>Operations</h2>{"".join(operations)}<h2>Shapes</h2>{"".join(shapes)}</main></body></html>"""
        return page.encode()


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


def _operation(path: str, method: str, spec: dict[str, Any]) -> str:
    parameters = "".join(
        f"<li><code>{escape(item['name'])}</code> in {escape(item['in'])}: {_type(item.get('schema', {}))}</li>"
        for item in spec.get("parameters", [])
    )
    body = _content(spec.get("requestBody", {}))
    replies = "".join(
        f"<li><code>{escape(code)}</code> {_text(reply.get('description', ''))} {_content(reply)}</li>"
        for code, reply in spec.get("responses", {}).items()
    )
    name = f"<code>{escape(method.upper())} {escape(path)}</code> {escape(spec.get('summary', ''))}"
    return (
        f"<details><summary>{name}</summary><p>{_text(spec.get('description', ''))}</p><ul>{parameters}</ul>"
        f"{f'<p>Body: {body}</p>' if body else ''}<p>Replies:</p><ul>{replies}</ul></details>"
    )


def _shape(name: str, spec: dict[str, Any]) -> str:
    required = set(spec.get("required", []))
    fields = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in required else ' (optional)'}</td>"
        f"<td>{_type(kind)}</td><td>{_text(kind.get('description', ''))}</td></tr>"
        for field, kind in spec.get("properties", {}).items()
    )
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"<p>{_text(spec.get('description', ''))}</p><table><tbody>{fields}</tbody></table></details>"
    )


def _content(holder: dict[str, Any]) -> str:
    return ", ".join(_type(item.get("schema", {})) for item in (holder.get("content") or {}).values())


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return " or ".join(_type(item) for item in schema[several])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    kind = schema.get("type", "any")
    return escape(kind if isinstance(kind, str) else " or ".join(kind))


def _text(description: str) -> str:
    """Render text in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(description))
