"""QR codes with addresses of this server, for phones."""

from io import BytesIO

import segno

from lutrin.platform import network_addresses
from lutrin.serve.answer_service import is_secure
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.responses import prefix_of

LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


def address(request: HTTPRequest, path: str) -> str:
    """The full address of a page, as a reader would have to type it."""
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.headers.get('host', '')}{path}"


def for_others(request: HTTPRequest, host: str) -> str:
    """The address at which other devices in the room reach the server, though a browser here may not; empty: none."""
    name, _, port = request.headers.get("host", "").rpartition(":")
    name = name or request.headers.get("host", "")
    if name.lower() not in LOCAL:
        return address(request, f"{prefix_of(request.scope)}/")
    if host not in {"0.0.0.0", "::"}:  # noqa: S104 - it is compared with, nothing is bound to it
        return ""
    found = next(iter(network_addresses()), "")
    place = f"{found}:{port}" if port.isdigit() else found
    return f"http://{place}{prefix_of(request.scope)}/" if found else ""


def svg(text: str) -> bytes:
    """Draw a text as a QR code that scales to any size."""
    out = BytesIO()
    segno.make(text, micro=False).save(out, kind="svg", scale=4, border=3, dark="#2b2018", light="#fff", xmldecl=False)
    return out.getvalue()
