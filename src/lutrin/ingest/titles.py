"""Which titles in a file's properties are its author's, and which a program made up."""

import re

_PROGRAMS = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation|untitled|\(anonymous\)|document\d*|dokument\d*"
    r"|presentation\d*|slide \d+|title|no title|new document|layout \d+|print)\b\s*(?:[-\u2013\u2014]|\Z)",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\S.{0,120}\.(?:docx?|dotx?|rtf|odt|pages|indd|qxd|qxp|tex|dvi|e?ps|ai|pdf|pptx?|xlsx?|html?|md|txt|exe|tmp|pmd|fm|book)",
    re.IGNORECASE,
)
_CODES = re.compile(r"[\W\d_]*|[0-9a-f]{16,}|[\w-]{1,4}\d{4,}[\w-]{0,8}|.*\ufffd.*", re.IGNORECASE)


def true_title(title: str) -> str:
    """A title from a file's properties; empty if a program made it up.

    >>> true_title("Microsoft Word - handout_v3.doc"), true_title("10811.exe"), true_title("Node.js in practice")
    ('', '', 'Node.js in practice')
    """
    title = " ".join(title.split())
    if _PROGRAMS.match(title) or _FILE.fullmatch(title) or _CODES.fullmatch(title):
        return ""
    return title
