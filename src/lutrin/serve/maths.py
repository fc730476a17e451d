"""Formulas of a book as MathML, which browsers draw themselves: no script, no font from elsewhere."""

import re
from html import escape, unescape

from latex2mathml import exceptions
from latex2mathml.converter import convert

FORMULA = re.compile(r'<span class="math">(\${1,2})(.*?)\1</span>', re.DOTALL)
"""As `page_html` writes it; whatever a book itself says stands escaped."""
TAGS = frozenset(
    "math semantics annotation mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose "
    "msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd".split()
)
ATTRIBUTES = {
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
"""A formula that defines its own commands can grow without limit."""
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|align|split|gathered|equation|equation\*)\}")
_UPRIGHT_WORD = re.compile(r"(?:<mi mathvariant=\"normal\">[^<]</mi>){2,}")
_BOUNDARY = re.compile(r"<(?!/?(?:" + "|".join(TAGS) + r")\b)")
_AMPERSAND = re.compile(r"&(?!#x[0-9A-F]+;)")
_ENTITY = re.compile(r"&#x([0-9A-F]{1,6});")
_REFUSALS: tuple[type[Exception], ...] = (
    *(found for found in vars(exceptions).values() if isinstance(found, type) and issubclass(found, Exception)),
    RecursionError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    StopIteration,
    RuntimeError,  # a generator that ended too early
)
"""Exceptions of the converter for TeX that it cannot read; they share no base class."""


def mathml(tex: str, *, display: bool) -> str | None:
    """Convert a formula to a `math` element with its TeX as an annotation; None if that fails.

    The result still has to be sanitised: a text inside the formula is not trusted.
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


def draw(match: re.Match[str]) -> str:
    """Convert a formula in HTML (`FORMULA`) to MathML; one that cannot be converted stays as its author typed it."""
    return mathml(unescape(match[2]).strip(), display=match[1] == "$$") or match[0]
