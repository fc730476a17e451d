"""What markup means as text: white space, captions, alerts, the language and title of a fence."""

import re

_ZERO_WIDTH = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)
CAPTION = re.compile(r"(?:Fig(?:ure|\.)|Table|Listing|Diagram)\s*[\dA-Z]+(?:[.\-–]\d+)*\s*[:.–—]", re.IGNORECASE)
ALERT = re.compile(r"\[!(?P<kind>[A-Za-z][\w -]{0,30})\][+-]?[ \t]*(?P<title>[^\n]*)(?:\n|\Z)")
SIGNAL = re.compile(r"(warning|caution|danger)\**\s*[:!]", re.IGNORECASE)
"""A signal word of a safety notice (ISO 3864-2, ANSI Z535) at the start of a text."""
CODE_TITLE = re.compile(r"\btitle=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
TAB_TITLE = re.compile(r"\S+[ \t]+(?=[^\s{=])([^{=]*[^\s{=])[ \t]*")
"""What stands behind the language where a fence names its tab: `bash npm`."""
CODE_GROUPS = frozenset({"CodeGroup", "RequestExample", "ResponseExample"})
_LANGUAGE = re.compile(r"\{?\.?([^\s{},:]*)")
_CODE_DIRECTIVE = re.compile(r"\{(?:code-block|code|code-cell|sourcecode)\}[ \t]*(\S*)")


def clean(text: str) -> str:
    """White space as single blanks, zero-width characters and direction marks removed."""
    return " ".join(text.translate(_ZERO_WIDTH).split())


def language_of(info: str) -> str:
    """The language of a fence: `python` of `python title="a.py" {1,3}` and of MyST's `{code-block} python`."""
    directive = _CODE_DIRECTIVE.match(info)
    match = directive or _LANGUAGE.match(info)
    return match[1] if match else ""
