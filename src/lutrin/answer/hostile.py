"""Detects sentences of a book that address the machine instead of the reader.

Excerpts quote them like any other sentence, for a chapter on such attacks may well show them. But the model does not
see them, and they support none of its sentences.

Only English orders are detected, also in full-width letters and with lookalike letters of other scripts. An order in
another language, or in unforeseen words, reaches the model like any sentence of the book.
"""

import re
import unicodedata
from functools import lru_cache

from lutrin.language import lexicon
from lutrin.language.words import REMEMBERED

CONTROL_TOKEN = re.compile(
    r"<[|\uff5c][^|\uff5c>]*[|\uff5c]>|\[/?(?:INST|SYSTEM_PROMPT)\]|<{1,2}/?SYS>{1,2}|</?(?:start|end)_of_turn>"
)
"""Tokens that separate the turns of a conversation in model templates."""
_TURN_MARK = re.compile(rf"{CONTROL_TOKEN.pattern}|</?(?:s|bos|eos|pad|unk)>")
"""The same plus those that a page may contain, too: `<s>` strikes words out."""
_ORDERS = re.compile(lexicon.pattern("orders").pattern, re.IGNORECASE | re.MULTILINE)


_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u0412\u0410\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u03b9\u0131\u0261\u0251",
    "aeopcyxijshdqwlBAEKMHOPCTXIJSABEZHIKMNOPTYXoviiga",
)
"""Cyrillic, Greek and other letters that look like Latin ones (Unicode Technical Standard 39, confusables)."""


def as_seen(text: str) -> str:
    """Normalise a text to the letters that a reader sees: one width, no invisible characters, Latin for lookalikes.

    >>> as_seen("\uff29gn\u043er\u0435 a\u200bll")
    'Ignore all'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_LOOKALIKES)


@lru_cache(maxsize=REMEMBERED)
def gives_orders(text: str) -> bool:
    """Whether a text looks like an instruction to a language model."""
    return any(pattern.search(one) for one in {text, as_seen(text)} for pattern in (CONTROL_TOKEN, _ORDERS))


def without_control(text: str) -> str:
    """Remove the control tokens of all model templates from a text."""
    return _TURN_MARK.sub(" ", text)
