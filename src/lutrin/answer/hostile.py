"""Sentences of a book that speak to the machine instead of the reader.

They are quoted like any other words of the book, for a chapter on such attacks may well show them. But the model is not
given them, and they prove no sentence of its: what it writes rests on the rest.
"""

import re
from functools import lru_cache

from lutrin.language import lexicon
from lutrin.language.words import REMEMBERED

CONTROL_TOKEN = re.compile(
    r"<[|\uff5c][^|\uff5c>]*[|\uff5c]>|\[/?(?:INST|SYSTEM_PROMPT)\]|<{1,2}/?SYS>{1,2}|</?(?:start|end)_of_turn>"
)
"""What parts the turns of a conversation in the templates of language models."""
_TURN_MARK = re.compile(rf"{CONTROL_TOKEN.pattern}|</?(?:s|bos|eos|pad|unk)>")
"""The same, with what a page may hold as well: `<s>` strikes words out."""
_ORDERS = re.compile(lexicon.pattern("orders").pattern, re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=REMEMBERED)
def gives_orders(text: str) -> bool:
    """Whether a text looks like an instruction to a language model."""
    return bool(CONTROL_TOKEN.search(text) or _ORDERS.search(text))


def without_control(text: str) -> str:
    """Remove the control tokens of all model templates from a text."""
    return _TURN_MARK.sub(" ", text)
