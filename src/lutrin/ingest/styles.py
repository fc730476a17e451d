"""Effects of classes and style attributes on text: hide it, raise it, lower it, strike it out."""

import re
from collections.abc import Collection

HIDING = re.compile(
    r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|\Z)"
    r"|font-size\s*:\s*0(?:px|em|pt|%|rem)?\s*(?:;|!|\Z)|color\s*:\s*transparent|clip\s*:\s*rect\(\s*[01]"
    r"|(?:left|top|text-indent|right)\s*:\s*-\d{4,})",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?P<what>(?<![\w-])color|background(?:-color)?)\s*:\s*(?P<colour>[^;!]+)", re.IGNORECASE)
_WHITE = re.compile(
    r"white|#f{3}f?|#f{6}(?:ff)?|rgba?\(\s*(?:255\s*,\s*){2}255\s*(?:,\s*1(?:\.0*)?\s*)?\)", re.IGNORECASE
)
_STYLE = re.compile(r"""(?<![\w-])style\s*=\s*(?:"([^"]*)"|'([^']*)')""")
SHIFTING = re.compile(
    r"vertical-align\s*:\s*(?P<aligned>super|text-top|sub|-?[\d.]+(?:em|ex|px|pt|%))"
    r"|(?<![\w-])(?P<side>top|bottom)\s*:\s*(?P<moved>-?[\d.]+)(?:em|ex|px|pt|%)",
    re.IGNORECASE,
)
STRIKING = re.compile(r"text-decoration(?:-line)?\s*:[^;]{0,100}line-through", re.IGNORECASE)
SHIFTED = {
    "sup": frozenset({"sup", "super", "superscript", "supscript", "exponent"}),
    "sub": frozenset({"sub", "subscript", "inferior"}),
}
"""Classes of raised and lowered text."""
_SPANS = frozenset("a abbr b cite code em font i mark small span strong u var".split())


def hides(style: str) -> bool:
    """Whether text in a style is never visible: hidden, or white on white.

    >>> hides("color: #FFF; background: white"), hides("color: white; background: #333"), hides("display:none")
    (True, False, True)
    """
    return HIDING.search(style) is not None or (is_white(style) and is_white(style, behind=True))


def are_hiding(attributes: str) -> bool:
    """Whether Pandoc's attributes include a hiding style: `{.aside style="display:none"}`."""
    style = _STYLE.search(attributes)
    return style is not None and hides(style[1] or style[2] or "")


def is_white(style: str, *, behind: bool = False) -> bool:
    """Whether a style makes the text, or the background `behind` it, white."""
    colours = {match["what"][:5].lower(): match["colour"].strip() for match in _COLOUR.finditer(style)}
    return _WHITE.fullmatch(colours.get("backg" if behind else "color", "")) is not None


def shift_of(name: str, classes: Collection[str], style: str) -> str:
    """`sup`, `sub` or `del` for an element of running text that is raised, lowered or struck out; empty for others.

    >>> shift_of("span", ["superscript"], ""), shift_of("i", [], "vertical-align: -0.3em"), shift_of("div", ["sub"], "")
    ('sup', 'sub', '')
    """
    if name not in _SPANS:
        return ""
    if STRIKING.search(style):
        return "del"
    by_class = next((kind for kind, names in SHIFTED.items() if not names.isdisjoint(classes)), "")
    shift = None if by_class else SHIFTING.search(style)
    if shift is None:
        return by_class
    if shift["side"]:
        upwards = (shift["side"].lower() == "top") == shift["moved"].startswith("-")
        return ("sup" if upwards else "sub") if "relative" in style else ""
    return "sub" if shift["aligned"].lower() == "sub" or shift["aligned"].startswith("-") else "sup"
