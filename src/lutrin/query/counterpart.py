"""Puts the name in a follow-up in place of its counterpart in the previous question: "And on a TPU?".

The counterpart of "TPU" in "Why is dynamic padding good on a GPU?" is the words that the reader's encoder finds most
similar. After the swap the follow-up stands alone and is read like any other question.
"""

from dataclasses import replace

import numpy as np

from lutrin.language import lexicon
from lutrin.language.words import name_spans, topic_words, words
from lutrin.ports import Encode
from lutrin.query.frames import asks, frame_of
from lutrin.query.understand import PHRASE_WORDS, Query, goes_on, parts_of, topic_of


async def in_its_place(query: Query, encode: Encode) -> Query:
    """Rewrite a follow-up that consists of a name as the previous question about that name; leave others unchanged."""
    name, is_kind = name_in(query.typed)
    if not name or not query.base or not query.subject or query.selected_text:
        return query
    spans = name_spans(query.base)
    if is_kind:
        spans = [(start, end) for start, end in spans if len(query.base[start:end].split()) > 1]
    if not spans:
        return query
    texts = [query.base[start:end] for start, end in spans]
    asked = [f"{name} {text.split()[-1]}" if is_kind else name for text in texts]
    encoded = np.array([one.pooled for one in await encode([*texts, *asked])])
    best = int((encoded[: len(spans)] * encoded[len(spans) :]).sum(axis=1).argmax())
    start, end = spans[best]
    text = f"{query.base[:start]}{asked[best]}{query.base[end:]}"
    frame, topic, about = frame_of(text)
    topic = topic_of(frame, topic or text)
    return replace(
        query, text=text, topic=topic, parts=parts_of(topic), frame=frame, about=about, base="", subject="", added="",
        follows=(), quotes=(), answers=(),
    )  # fmt: skip


def name_in(typed: str) -> tuple[str, bool]:
    """The name that a follow-up consists of, and whether it only names a kind; empty if it says more.

    >>> name_in("And on a TPU?"), name_in("What about the input one?"), name_in("And how is it mounted?")
    (('TPU', False), ('input', True), ('', False))
    """
    if not goes_on(typed):
        return "", False
    opener = max((one for one in lexicon.GOES_ON if typed.lower().startswith(one)), key=len)
    said = typed[len(opener) :].strip(" ?!.,")
    if asks(said):
        return "", False
    rest = said.split()
    while rest and rest[0].lower() in lexicon.STOP_WORDS:
        rest.pop(0)
    is_kind = rest[-1:] in (["one"], ["ones"])
    name = " ".join(rest[:-1] if is_kind else rest)
    is_name = 0 < len(rest) <= PHRASE_WORDS and topic_words(name) == words(name)
    return (name, is_kind) if is_name and name else ("", False)
