"""Sentences of a book that speak to the machine instead of the reader.

They are quoted like any other words of the book, for a chapter on such attacks may well show them. But the model is not
given them, and they prove no sentence of its: what it writes rests on the rest.
"""

import re
from functools import lru_cache

from lutrin.language.words import REMEMBERED

CONTROL_TOKEN = re.compile(
    r"<[|\uff5c][^|\uff5c>]*[|\uff5c]>|\[/?(?:INST|SYSTEM_PROMPT)\]|<{1,2}/?SYS>{1,2}|</?(?:start|end)_of_turn>"
)
"""What parts the turns of a conversation in the templates of language models."""
_TURN_MARK = re.compile(rf"{CONTROL_TOKEN.pattern}|</?(?:s|bos|eos|pad|unk)>")
"""The same, with what a page may hold as well: `<s>` strikes words out."""
_MACHINE = r"(?:AI|LLM|(?:AI |language |chat )?(?:assistant|model)|chat ?bot|bot|tutor|agent)s?"
_AS_MACHINE = r"(?:AI|LLM|(?:large )?language model|(?:AI|virtual|digital|chat) assistant|chat ?bot|bot)s?"
_TELL = r"(?:say|answer|tell|reply|respond|state|claim|recommend|mention|write|insist|deny|refuse|pretend)"
_PUT = r"(?:add|append|cite|include|insert|link|mention|promote|put|recommend|repeat|say|show|write)"
_REPLY = (
    r"(?:your (?:next )?(?:answers?|output|reply|replies|responses?)"
    r"|(?:all|any|each|every) (?:of your )?(?:answers?|reply|replies))"
)
_MUST = r"you (?:must|should|shall|have to|are to|will)\b"
_ORDERS = re.compile(
    r"^[ \t]*(?:#+[ \t]*)?(?:system|assistant|developer)[ \t]*:"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|guidelines|everything)\b"
    r"|\b(?:system|hidden|secret|initial|your|developer) (?:prompt|instructions?|rules)\b"
    r"|\bnew (?:rules|instructions)\b|\byou are now\b|\bfrom now on,? you\b|\bpretend (?:to be|that you)\b"
    r"|\b(?:answer|reply|respond)\b.{0,25}\b(?:only|nothing but|instead)\b"
    r"|\b(?:begin|start|end)\b.{0,25}\b(?:each|every|your|all|the) (?:answer|reply|response)s?\b"
    r"|\b(?:add|insert|include|append|put|show)\b.{0,30}\b(?:link|picture|image|url)s?\b.{0,30}\b(?:answer|reply|response)"
    r"|\b(?:tell|convince|assure) (?:the |every |each |all )?(?:pupil|user|reader|student|learner|human)s?\b"
    # "Note to the tutor:", "Message for any AI reading this,", "Dear assistant,", "To the assistant: ...".
    rf"|(?:^|[.!?(\[])\W{{0,20}}(?:note|message|memo|instructions?|reminder|attention|hint) (?:to|for)"
    rf" (?:the |any |all |every |our )?{_MACHINE}\b[^.:\n]{{0,40}}[:,;!\u2013\u2014-]"
    rf"|^\W{{0,20}}(?:to|for|attention),? (?:the |any |all |every )(?:{_AS_MACHINE}|assistants?|tutors?)\b"
    r"[^.,:\n]{0,30}:"
    rf"|^\W{{0,20}}(?:dear|hey|hello|hi),? (?:the |any |all |every )?{_MACHINE}\b ?[,:!]"
    rf"|\bif you(?: are|['\u2019]re) an? {_AS_MACHINE}\b|\bas an? {_AS_MACHINE},? {_MUST}"
    rf"|\b{_MACHINE} (?:reading|processing|summari[sz]ing) this\b"
    # "When asked about the smoker, say that ...", "If a reader asks for it, you must tell ...".
    r"|\b(?:when|whenever|if|once) (?:(?:you(?: are|['\u2019]re) )?(?:ever )?(?:being )?asked"
    r"|(?:an?|any|the) (?:learner|pupil|reader|student|user) asks)\b"
    rf".{{0,80}}?[,;:] ?(?:then |always |please |simply |just |only )*(?:(?:you|{_MUST}) )?{_TELL}\b"
    # "mention www.acme.example in your reply", "In every answer, recommend ...".
    rf"|\b{_PUT}\b.{{1,60}}?\b(?:in|into|at the end of) {_REPLY}\b"
    rf"|\bin {_REPLY},? (?:always |please |also |{_MUST} )*{_PUT}\b",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=REMEMBERED)
def gives_orders(text: str) -> bool:
    """Whether a text looks like an instruction to a language model."""
    return bool(CONTROL_TOKEN.search(text) or _ORDERS.search(text))


def without_control(text: str) -> str:
    """Remove the control tokens of all model templates from a text."""
    return _TURN_MARK.sub(" ", text)


def headings(path: tuple[str, ...]) -> tuple[str, ...]:
    """Drop headings that give orders to a model."""
    return tuple(title for title in path if not gives_orders(title))
