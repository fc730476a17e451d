"""Pictures of a book: which file a page means, and how it is sent so that it can only be looked at."""

import posixpath
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

MEDIA_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
HEADERS = {
    # An SVG may hold scripts and links: shown on its own it is a picture all the same.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    "Cache-Control": "no-cache",
}
_STATIC = ("@site/static/", "/static/")


def media_type(name: str) -> str:
    """The media type for a picture's suffix; empty if it is not a picture."""
    return MEDIA_TYPES.get(PurePosixPath(name).suffix.lower(), "")


def candidates(page: str, address: str) -> list[str]:
    """Files that a picture's address in a page, or from the site's root, may mean, likeliest first.

    Nothing outside of the folder, hidden, or of another kind than a picture is among them.
    """
    path = unquote(urlsplit(address).path)
    if path.startswith(("/", "@site/")):
        inside = path.removeprefix("@site").lstrip("/")
        for prefix in _STATIC:
            inside = inside.removeprefix(prefix.removeprefix("@site").lstrip("/"))
        found = [inside, f"static/{inside}"]
    else:
        found = [posixpath.join(posixpath.dirname(page), path)]
    return [name for name in map(posixpath.normpath, found) if _may_be_shown(name)]


def _may_be_shown(name: str) -> bool:
    parts = name.split("/")
    return bool(media_type(name)) and name.isprintable() and not any(part.startswith(".") or not part for part in parts)
