"""Renders the HTML templates in `templates/` and in those of guests; all values are escaped."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lutrin.guests import load_guests
from lutrin.messages import COUNTED, PAGE_TEXTS, plural
from lutrin.records import MARKDOWN

_LINK = re.compile(r"\[([^][]*)\]\([^()\s]*\)")
"""A link in Markdown; a quotation shows only its words."""
FOLDER = Path(__file__).with_name("templates")


def book_path(slug: str) -> str:
    """Path of a book's table of contents."""
    return f"/read/{quote(slug)}"


def page_path(slug: str, filename: str) -> str:
    """Path of a page in the reader, as in citations: Markdown files lose their suffix, other files keep it."""
    path = PurePosixPath(filename)
    name = str(path.with_suffix("")) if path.suffix.lower() in MARKDOWN else filename
    return f"/read/{quote(slug)}/{quote(name)}"


@cache
def environment() -> Environment:
    """The environment of all templates: `base.html` to extend, `say`, `book_path`, `page_path`, and two filters.

    Autoescape is on for every template. A template that uses an undefined name fails instead of showing nothing.
    Sanitised HTML already comes as `markupsafe.Markup`.
    """
    environment = Environment(
        loader=FileSystemLoader([FOLDER, *(guest.templates for guest in load_guests("pages"))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.globals |= {"book_path": book_path, "page_path": page_path, "counted": count_of}
    environment.globals |= {"marked": with_marks, "say": say}
    environment.filters |= {"anchor": anchor, "code": with_code}
    return environment


def say(key: str, **values: object) -> Markup:
    """A text of the pages (`messages.PAGE_TEXTS`); values are escaped unless they are markup."""
    return Markup(PAGE_TEXTS[key]).format(**values)  # noqa: S704 - our own text


def count_of(number: int, thing: str) -> str:
    """A number of things (`messages.COUNTED`).

    >>> count_of(1, "page"), count_of(1200, "page")
    ('1 page', '1,200 pages')
    """
    return COUNTED[thing][plural(number)].format(number=f"{number:,}")


def anchor(name: str) -> str:
    """Quote an anchor for the part of an address after `#`; `page=4` stays unchanged for PDF viewers."""
    return quote(name, safe="=")


def with_marks(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """A text of a book as HTML, with marks, and with links as words."""
    pieces, at = [], 0
    for start, end in marks:
        pieces += [escape(text[at:start]), Markup("<mark>{}</mark>").format(text[start:end])]
        at = end
    return Markup(_LINK.sub(r"\1", Markup("").join([*pieces, escape(text[at:])])))  # noqa: S704 - escaped before


def with_code(text: str | None) -> Markup:
    """A text as HTML, with backticks as code; a missing one is empty."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text or ""))))  # noqa: S704 - escaped before


def render(template: str, **values: object) -> str:
    """Render a page.

    Args:
        values: Values for the template. Of those that `base.html` takes, `chat` says whether the page has the chat,
            `book` and `page` its subject; each has a default.
    """
    return environment().get_template(template).render(values)
