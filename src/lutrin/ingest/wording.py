"""Text forms of markup: white space, captions, alerts, the language and title of a fence."""

import re
import unicodedata

UNKNOWN = "[\u2026]"
"""Placeholder for a value that is on the built page but not in the file."""
_ZERO_WIDTH = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)
ALERT = re.compile(r"\[!(?P<kind>[A-Za-z][\w -]{0,30})\][+-]?[ \t]*(?P<title>[^\n]*)(?:\n|\Z)")
BOLD_ALERT = re.compile(
    r"\*\*(?P<kind>warning|caution|danger|important|note|tip)\*\*(?P<title>)[ \t]*(?:\n|\Z)", re.IGNORECASE
)
"""GitHub's first way to write an alert."""
SIGNAL = re.compile(r"(warning|caution|danger)\**\s*[:!]", re.IGNORECASE)
"""A signal word of a safety notice (ISO 3864-2, ANSI Z535) at the start of a text."""
RECOGNIZED = "\u2042 Recognised from a picture of this page; letters may be wrong."
"""Precedes the text of a scanned page, and does not belong to it."""
_CODE_TITLE = re.compile(r"\btitle=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_TAB_TITLE = re.compile(r"\S+[ \t]+(?=[^\s{=])([^{=]*[^\s{=])[ \t]*")
"""Text after the language in a fence that names its tab: `bash npm`."""
CODE_GROUPS = frozenset({"CodeGroup", "RequestExample", "ResponseExample"})
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_SIMPLE = re.compile(r"[-+\u2212\u2013]?[\w.,]+|\w*[-+\u2212]|[\u2032\u2033'*\u00b0]+")
_OVER = re.compile(r"\s*[/\u2044]\s*<sub\b")
_NOTE_SIGN = re.compile(r"\[?\d{1,3}(?:[,\u2013-]\d{1,3})*\]?|[*\u2020\u2021\u00a7]{1,3}")
_NOTED = re.compile(r"(?:(?<![\d.,])[12]\d{3}|[^\W\d_]{4}|[.,;:!?\"'\u201d\u2019])\Z")
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_TRADE_MARKS = frozenset({"tm", "sm", "\u2122", "\u2120", "\u00ae", "\u00a9"})
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LANGUAGE = re.compile(r"\{?\.?([^\s{},:]*)")
_CODE_DIRECTIVE = re.compile(r"\{(?:code-block|code|code-cell|sourcecode)\}[ \t]*(\S*)")


def clean(text: str) -> str:
    """Single blanks for white space, no zero-width characters and direction marks, combined accents."""
    text = " ".join(text.split()) if text.isascii() else " ".join(text.translate(_ZERO_WIDTH).split())
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def without_ligatures(text: str) -> str:
    """Text with Latin ligatures split into letters."""
    return _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def language_of(info: str) -> str:
    """The language of a fence: `python` of `python title="a.py" {1,3}` and of MyST's `{code-block} python`."""
    directive = _CODE_DIRECTIVE.match(info)
    match = directive or _LANGUAGE.match(info)
    return match[1] if match else ""


def code_title(info: str, *, tab: bool) -> re.Match[str] | None:
    """The title of a fence in its last group; in a group of tabs, text after the language is one, too."""
    return _CODE_TITLE.search(info) or (_TAB_TITLE.fullmatch(info) if tab else None)


def looks_like_note_mark(before: str, inside: str) -> bool:
    """Whether raised text is the mark of an unlinked note: after a word, a year, a full stop.

    >>> looks_like_note_mark("in 1905", "3"), looks_like_note_mark("10", "9"), looks_like_note_mark("35 cm", "2")
    (True, False, False)
    """
    return _NOTE_SIGN.fullmatch(inside.strip()) is not None and _NOTED.search(before[-5:]) is not None


def signs_around(name: str, before: str, inside: str, after: str = "") -> tuple[str, str]:
    """Characters that keep raised and lowered text apart from the word before it, as a reader would type them.

    >>> signs_around("sup", "10", "-7"), signs_around("sub", "H", "2"), signs_around("sub", "10", "2")
    (('^', ''), ('', ''), ('_', ''))
    >>> signs_around("sup", "2", "n + 1"), signs_around("sup", "21", "st"), signs_around("rt", "\u6f22", "kan")
    (('^(', ')'), ('', ''), (' (', ')'))

    >>> signs_around("sup", "the I", "2", "C bus"), signs_around("sup", "3", "1", "/<sub>2</sub>")
    (('', ''), (' ', ''))

    Args:
        after: The source after it; between capitals a figure is part of a name, above another figure part of a
            fraction.
    """
    inside = inside.strip()
    if not inside:
        return "", ""
    if name == "rt":
        return " (", ")"
    ordinal = inside in _ORDINALS and (before[-1:].isalnum() or before.endswith("$"))
    if name == "sup" and (inside.lower() in _TRADE_MARKS or ordinal):
        return "", ""
    if name == "sup" and inside.isdigit() and _OVER.match(after):
        return " " if before[-1:].isdigit() else "", ""
    if inside.isdigit() and before[-1:].isupper() and after[:1].isupper():
        return "", ""
    if name == "sub" and inside.isdigit() and (before[-1:].isalpha() or before[-1:] in {")", "]", "/", "\u2044"}):
        return "", ""
    sign = "^" if name == "sup" else "_"
    return (sign, "") if _SIMPLE.fullmatch(inside) else (f"{sign}(", ")")


def whole(value: object, default: int) -> int:
    """A whole number from an attribute."""
    return int(str(value)) if value is not None and re.fullmatch(r"-?\d{1,9}", str(value).strip()) else default


def numeral(number: int, kind: str) -> str:
    """A number in the style of a list: `1`, `a`, `A`, `i` or `I`.

    >>> numeral(4, "a"), numeral(9, "i"), numeral(28, "A"), numeral(0, "a")
    ('d', 'ix', 'AB', '0')
    """
    if kind in "aA" and number > 0:
        text = ""
        while number:
            number, rest = divmod(number - 1, 26)
            text = _LETTERS[rest] + text
        return text if kind == "a" else text.upper()
    if kind in "iI" and 0 < number < 4000:
        text = ""
        for value, sign in zip(
            (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
            "m cm d cd c xc l xl x ix v iv i".split(),
            strict=True,
        ):
            text += sign * (number // value)
            number %= value
        return text if kind == "i" else text.upper()
    return str(number)


# Titles in the properties of files -----------------------------------------------------------------------------------

_PROGRAMS = re.compile(
    r"\(?(?:(?:microsoft|ms|adobe)[ -]+(?:word|powerpoint|excel|indesign|acrobat)\b[^-\u2013\u2014]{0,12}"
    r"|powerpoint[ -]?(?:presentation|pr[\u00e4a]e?sentation)|\(?anonymous\)?"
    r"|(?:untitled(?:[ -](?:document|page|presentation))?|document|dokument|unbenannt"
    r"|presentation|pr[\u00e4a]e?sentation|slide|folie|layout|scan|scanned(?: document)?|book|mappe"
    r"|page|blank page|new page|sans titre|sin t[\u00edi]tulo)"
    r"[ _-]*\d*"
    r"|title|no title|titel|new document|print|n/?a|none|null|temp|test|draft|cover|pii:.*|doi:.*|https?:.*|file:.*)"
    r"\s*(?:[-\u2013\u2014]|\)?\Z)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\S.{0,120}\.(?:docx?|dotx?|rtf|odt|pages|indd|qxd|qxp|tex|dvi|e?ps|ai|pdf|pptx?|xlsx?|html?|md|txt|exe|tmp|pmd|fm|book)",
    re.IGNORECASE,
)
LONGEST_TITLE = 300
"""Characters; no program generates a longer one."""
_NAME = re.compile(r"[a-z0-9]{2,}(?:[-.][a-z0-9]{2,})+")
"""Names of a project or file, which no author gives to a book."""
_CODES = re.compile(r"[\W\d_]*|\w+_\w+|[0-9a-f]{16,}|[\w-]{1,4}\d{4,}[\w-]{0,8}|.*\ufffd.*", re.IGNORECASE)


def true_title(title: str) -> str:
    """A title from a file's properties; empty if a program generated it.

    >>> true_title("Microsoft Word - handout_v3.doc"), true_title("10811.exe"), true_title("Node.js in practice")
    ('', '', 'Node.js in practice')
    >>> true_title("Untitled-2"), true_title("(Microsoft Word - Kapitel)"), true_title("Documents of the war")
    ('', '', 'Documents of the war')
    >>> true_title("developers-reference"), true_title("Self-Help"), true_title("E-commerce")
    ('', 'Self-Help', 'E-commerce')
    """
    title = " ".join(title.split())
    if len(title) > LONGEST_TITLE:
        return title
    made = _PROGRAMS.match(title) or _FILE.fullmatch(title) or _CODES.fullmatch(title) or _NAME.fullmatch(title)
    return "" if made else title
