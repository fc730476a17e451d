"""Which titles in a file's properties are its author's, and which a program made up."""

import re

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
_NAME = re.compile(r"[a-z0-9]{2,}(?:[-.][a-z0-9]{2,})+")
"""Of a project or file, which no author gives to a book."""
_CODES = re.compile(r"[\W\d_]*|\w+(?:_\w+)+|[0-9a-f]{16,}|[\w-]{1,4}\d{4,}[\w-]{0,8}|.*\ufffd.*", re.IGNORECASE)


def true_title(title: str) -> str:
    """A title from a file's properties; empty if a program made it up.

    >>> true_title("Microsoft Word - handout_v3.doc"), true_title("10811.exe"), true_title("Node.js in practice")
    ('', '', 'Node.js in practice')
    >>> true_title("Untitled-2"), true_title("(Microsoft Word - Kapitel)"), true_title("Documents of the war")
    ('', '', 'Documents of the war')
    >>> true_title("developers-reference"), true_title("Self-Help"), true_title("E-commerce")
    ('', 'Self-Help', 'E-commerce')
    """
    title = " ".join(title.split())
    if _PROGRAMS.match(title) or any(made.fullmatch(title) for made in (_FILE, _CODES, _NAME)):
        return ""
    return title
