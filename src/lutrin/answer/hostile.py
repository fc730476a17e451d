"""Sentences of a book that speak to the machine instead of the reader.

They are quoted like any other words of the book, for a chapter on such attacks may well show them. But the model is not
given them, and they prove no sentence of its: what it writes rests on the rest.
"""

import re
from functools import lru_cache

from lutrin.retrieve.words import REMEMBERED

_ORDERS = re.compile(
    r"<\|[^|>]*\|>|^\s*(?:#+\s*)?(?:system|assistant|developer)\s*:"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|guidelines|everything)\b"
    r"|\b(?:system|hidden|secret|initial|your|developer) (?:prompt|instructions?|rules)\b"
    r"|\bnew (?:rules|instructions)\b|\byou are now\b|\bfrom now on,? you\b|\bpretend (?:to be|that you)\b"
    r"|\b(?:answer|reply|respond)\b.{0,25}\b(?:only|nothing but|instead)\b"
    r"|\b(?:begin|start|end)\b.{0,25}\b(?:each|every|your|all|the) (?:answer|reply|response)s?\b"
    r"|\b(?:add|insert|include|append|put|show)\b.{0,30}\b(?:link|picture|image|url)s?\b.{0,30}\b(?:answer|reply|response)"
    r"|\b(?:tell|convince|assure) (?:the |every |each |all )?(?:pupil|user|reader|student|learner|human)s?\b",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=REMEMBERED)
def gives_orders(text: str) -> bool:
    """Whether a text looks like an instruction to a language model."""
    return bool(_ORDERS.search(text))


def headings(path: tuple[str, ...]) -> tuple[str, ...]:
    """Headings without those that give orders."""
    return tuple(title for title in path if not gives_orders(title))
