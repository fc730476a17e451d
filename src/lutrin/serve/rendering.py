"""Renders a page of a book as safe HTML, from the same text that was indexed.

A book's text can make a renderer take quadratic time or worse: syntax highlighters, formula converters, diagram layout.
Each has a limit for a piece and one for a page; a piece beyond them stays as typed. The process that renders it bounds
the page as a whole (`render_process`).
"""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape, unescape
from itertools import pairwise
from urllib.parse import quote

import msgspec
import nh3
from latex2mathml import exceptions
from latex2mathml.converter import convert
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from lutrin import messages
from lutrin.ingest.page import page_html
from lutrin.serve.diagrams import with_diagrams

FORMULA = re.compile(r'<span class="math">(\${1,2})([^<]*?)\1</span>')
"""HTML by `page_html`; all text of the book is escaped."""
MATH_TAGS = frozenset(
    "math semantics annotation mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose "
    "msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd".split()
)
MATH_ATTRIBUTES = {
    "math": {"display", "class"},
    "annotation": {"encoding"},
    "mo": {"stretchy", "fence", "form", "accent", "separator", "lspace", "rspace", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mfrac": {"linethickness"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mspace": {"width", "height", "depth", "linebreak"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mpadded": {"width", "height", "depth", "lspace", "voffset"},
    "mtable": {"displaystyle", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
}
"""Elements and attributes that the sanitiser allows: none that link, load or style."""

_MOST_CHARS = 4000
_MACROS = re.compile(r"\\(?:def|newcommand|renewcommand|let)(?![A-Za-z])")
"""Length limit: a formula that defines its own commands can grow without bound."""
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|align|split|gathered|equation|equation\*)\}")
_UPRIGHT_WORD = re.compile(r"(?:<mi mathvariant=\"normal\">[^<]</mi>){2,}")
_BOUNDARY = re.compile(r"<(?!/?(?:" + "|".join(MATH_TAGS) + r")\b)")
_AMPERSAND = re.compile(r"&(?!#x[0-9A-F]+;)")
_ENTITY = re.compile(r"&#x([0-9A-F]{1,6});")
_REFUSALS: tuple[type[Exception], ...] = (
    *(one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception)),
    *(LookupError, ValueError, TypeError, AttributeError, StopIteration, RuntimeError),
)
"""Exceptions of the TeX converter for input that it cannot read; they share no base class. A RuntimeError means a too
deeply nested formula, or a generator that ended too early."""


def mathml(tex: str, *, display: bool) -> str | None:
    """Convert a formula to a `math` element with its TeX as an annotation; None if that fails.

    The result must still be sanitised: text inside the formula is not trusted.
    """
    if len(tex) > _MOST_CHARS or _MACROS.search(tex):
        return None
    source = _ALIGNED.sub(r"\\\1{align*}", tex).replace(r"\boldsymbol", r"\mathbf")
    try:
        converted = convert(source, display="block" if display else "inline")
    except _REFUSALS:
        return None
    inside = converted.partition(">")[2].removesuffix("</math>")
    inside = _ENTITY.sub(_letter, _BOUNDARY.sub("&lt;", _AMPERSAND.sub("&amp;", inside)))
    inside = _UPRIGHT_WORD.sub(lambda word: f"<mi>{re.sub('<[^>]+>', '', word[0])}</mi>", inside)
    return (
        f'<math display="{"block" if display else "inline"}"><semantics>{inside}'
        f'<annotation encoding="application/x-tex">{escape(tex, quote=False)}</annotation></semantics></math>'
    )


def _letter(entity: re.Match[str]) -> str:
    return escape(chr(int(entity[1], 16)), quote=False)


def draw_formula(match: re.Match[str]) -> str:
    """Convert a formula in HTML (`FORMULA`) to MathML; leave one that fails as typed."""
    return mathml(unescape(match[2]).strip(), display=match[1] == "$$") or match[0]


# All as written by `page_html`; any text of the book itself is escaped.
CODE = re.compile(r'<pre><code class="language-([^"]+)">([^<]*+)</code></pre>')
IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)">')
_TITLE = r"((?:(?!</?h[1-6][ >]).)*+)"
SECTION = re.compile(rf'<h2 id="([^"]+)">{_TITLE}</h2>', re.DOTALL)
JOINED = re.compile(r'<math display="inline">(?:(?!</?math\b).)*+</math>[,.;:!?)]+', re.DOTALL)
PAGES_A_PART = 8
"""Characters of a part of a PDF without chapters: about one page of a book made for the screen."""
MOST_PARTLESS = 2
TABLE = re.compile(r"<table\b(?:(?!<table\b).)*?</table>", re.DOTALL)
LINKED = re.compile(rf'<h([2-4]) id="([^"]+)">{_TITLE}</h\1>', re.DOTALL)
TAG = re.compile(r'<(?:[^<>"]|"[^"]*+")++>')
PDF_SECTION = re.compile(r'<section class="page" id="page=\d+">')
TITLE = re.compile(rf'<h1 id="([^"]+)">{_TITLE}</h1>', re.DOTALL)
PDF_PAGE = re.compile(r'<section class="page" id="page-(\d+)">')
"""Citations of a PDF link to `#page=4`, a form that PDF viewers also understand."""

MOST_CODE_CHARS = 50_000
"""Characters of one highlighted block: a thousand lines of code."""
PIECE_S = 0.25
"""Processor time of one piece, a hundred times that of a normal block or formula."""
PAGE_S = 1.0
"""The same for all pieces of one kind on a page."""

OUR_IDS = "lutrin:"
"""Prefixes of the ids of our own parts of a page, so that a heading such as *Finder* can have its linked id."""

_ATTRIBUTES = {
    **{tag: {*names} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()},
    **{f"h{level}": {"id", "class"} for level in range(1, 7)},
    **MATH_ATTRIBUTES,
    **{tag: {"class"} for tag in ("aside", "code", "figure", "p", "table")},
    "a": {"href", "id", "class", "title"},
    "details": {"open", "class"},
    "div": {"class", "id"},
    "li": {"value"},
    "pre": {"class", "tabindex"},
    "section": {"class", "id"},
    "span": {"class", "id"},
    "sup": {"id"},
    "td": {"class", "colspan", "rowspan", "align"},
    "th": {"class", "colspan", "rowspan", "align", "scope"},
}
_TAGS = {*nh3.ALLOWED_TAGS, *MATH_TAGS, "aside", "details", "figcaption", "figure", "section", "summary"} - {"img"}


class RenderedPage(msgspec.Struct, frozen=True):
    """The text of a page, rendered."""

    html: str
    """Safe HTML; a picture is a `span` with its description."""
    pictures: tuple[str, ...]
    """Addresses of its pictures, as written in the page."""
    sections: tuple[tuple[str, str], ...]
    """Anchor and title, as safe HTML, of each section."""


def render_page(source: str, filename: str) -> RenderedPage:
    """Render a source file as safe HTML, with the heading anchors that citations link to."""
    pictures: list[str] = []

    def description(match: re.Match[str]) -> str:
        pictures.append(unescape(match[1]))
        return f'<span class="missing-image picture-{len(pictures) - 1}">{match[2]}</span>'

    page = CODE.sub(_bound(_highlight), IMAGE.sub(description, page_html(source, filename)))
    page = FORMULA.sub(_bound(draw_formula), page)
    safe = sanitise(PDF_PAGE.sub(r'<section class="page" id="page=\1">', page))
    sections = tuple((unescape(match[1]), _without_links(match[2])) for match in SECTION.finditer(safe))
    scrollable = safe.replace("<pre><code", '<pre tabindex="0"><code')
    scrollable = TABLE.sub(
        rf'<div class="wide" role="region" aria-label="{messages.TABLE}" tabindex="0">\g<0></div>', scrollable
    )
    # Otherwise a browser could break the line between a formula and its comma.
    whole = with_anchors(JOINED.sub(r'<span class="joined">\g<0></span>', scrollable))
    parts, chapters = in_parts(whole)
    try:
        with processor_time(PAGE_S):
            parts = with_diagrams(parts)
    except TooSlowError:
        pass  # its diagrams stay as their author typed them
    return RenderedPage(parts, tuple(pictures), chapters or sections)


class TooSlowError(Exception):
    """A piece of a page exceeded its processor time."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Limit the processor time of a block, even of a regular expression that never returns.

    Signals only reach the main thread; a page is rendered in that of its own process.

    Raises:
        TooSlowError: The time is up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)  # again: a converter may have caught the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _bound(render: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    """Render each piece within its own limit and that of the page; leave a piece beyond them unchanged."""
    left_s = PAGE_S

    def shorten(match: re.Match[str]) -> str:
        nonlocal left_s
        if left_s <= 0:
            return match[0]
        start_s = time.thread_time()
        try:
            with processor_time(min(PIECE_S, left_s)):
                return render(match)
        except TooSlowError:
            return match[0]
        finally:
            left_s -= time.thread_time() - start_s

    return shorten


def with_anchors(page: str) -> str:
    """Add a link to each heading of a page, so that readers can share it."""

    def link(match: re.Match[str]) -> str:
        level, anchor, title = match.groups()
        text = escape(messages.LINK_TO.format(title=unescape(TAG.sub("", title))))
        link = f'<a class="anchor" href="#{quote(unescape(anchor), safe="=")}" aria-label="{text}"></a>'
        return f'<h{level} id="{anchor}">{title}{link}</h{level}>'

    return LINKED.sub(link, page)


def in_parts(page: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Split a long PDF into chapters, or into parts of a few pages if it has no chapters.

    Args:
        page: HTML with a section for each page of the PDF; other HTML is left unchanged.

    Returns:
        The page, each part in a `div`, and for each part an anchor in it and its title, as safe HTML; none if it is not
        a PDF, or a short one.
    """
    pages = PDF_SECTION.split(page)[1:]
    if len(pages) <= PAGES_A_PART:
        return page, ()
    openings = [TITLE.search(one) for one in pages]
    starts = [number for number, title in enumerate(openings) if title]
    if len(starts) < MOST_PARTLESS:
        starts = list(range(0, len(pages), PAGES_A_PART))
    bounds = [0, *(start for start in starts if start), len(pages)]
    parts, chapters = [], []
    for first, end in pairwise(bounds):
        title = openings[first]
        one = end - first == 1
        span = messages.PAGE.format(label=first + 1) if one else messages.PAGES.format(first=first + 1, last=end)
        chapters.append((title[1], _without_links(title[2])) if title else (f"page={first + 1}", span))
        inside = "".join(f'<section class="page" id="page={n}">{pages[n - 1]}' for n in range(first + 1, end + 1))
        heading = "" if title else f'<h1 class="quietly">{span}</h1>'
        parts.append(f'<div class="part" data-pages="{span}">{heading}{inside}</div>')
    return "".join(parts), tuple(chapters)


def pictures_in(source: str, filename: str) -> list[str]:
    """Addresses of the pictures on a page, as written in the page."""
    return [unescape(address) for address, _ in IMAGE.findall(page_html(source, filename))]


def sanitise(page: str) -> str:
    """Remove everything from HTML that runs or loads: scripts, styles, handlers, frames, forms and pictures."""
    return nh3.clean(
        page,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_not_ours,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )


def _not_ours(_tag: str, name: str, value: str) -> str | None:
    """Drop an attribute that takes the id of a part of our pages."""
    return None if name == "id" and value.startswith(OUR_IDS) else value


def _highlight(match: re.Match[str]) -> str:
    """Mark a code block's tokens with classes; leave an unknown language unchanged."""
    if len(match[2]) > MOST_CODE_CHARS:
        return match[0]
    try:
        lexer = get_lexer_by_name(unescape(match[1]), stripnl=False)
    except ClassNotFound:
        return match[0]
    inside = highlight(unescape(match[2]), lexer, HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0"><code class="language-{match[1]}">{inside}</code></pre>'


def _without_links(inside: str) -> str:
    return re.sub(r'<a class="anchor"[^>]*></a>|</?a\b[^>]*>', "", inside)
