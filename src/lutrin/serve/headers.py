"""Headers of every response: nothing is loaded from, framed by or told to anyone else.

The widget draws by Lit, whose policy for Trusted Types a page may have, and one more that names the script of the
worker that keeps pages for reading without a network.
"""

from litestar.types import Message, Scope

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html lutrin-worker"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


async def secure(message: Message, scope: Scope) -> None:
    """Add the headers to a response unless it sets them itself. A `before_send` hook."""
    if message["type"] != "http.response.start":
        return
    headers = list(message["headers"])
    known = {name.lower() for name, _ in headers}
    for name, value in HEADERS.items():
        if name not in known:
            # The widget is made to be loaded by other sites' pages.
            shared = name == b"cross-origin-resource-policy" and scope["path"].startswith("/widget/")
            headers.append((name, b"cross-origin" if shared else value))
    if not any(name.lower() == b"vary" and b"origin" in value.lower() for name, value in headers):
        headers.append((b"vary", b"Origin"))  # also where no origin was sent: a cache must not give it to one that is
    message["headers"] = headers
