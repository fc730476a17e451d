"""Questions that are understood only with something else: what was asked before, or what the reader has marked."""

import re

from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.parts import asking
from lutrin.retrieve.words import stem, stem_set, topic_stems, topic_words, words

_OPENING = re.compile(r"^(?:and|but|so|then|what about|how about|also|or)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\bthen\W*$", re.IGNORECASE)
_REFERENCE = frozenset("it its it's they them their theirs this these those he she same former latter".split())
_ONE = re.compile(
    r"\b(?:ones|(?:which|that|this|another|other|next|first|last|the|(?:an?|the) [\w-]+) one)\b", re.IGNORECASE
)
"""Not "one leg", nor "in one sentence"."""
_THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?! (?:is|are|was|were|has|have|must|should)\b)",
    re.IGNORECASE,
)
"""A place, not "Is there ...?"."""
_PEOPLE = re.compile(
    r"\b(?:they|one) (?:really |actually )?(?:mean|say|call)\b|\bsame\b.{0,40}\bas\b|\bthis (?:book|chapter)\b"
    r"|\bit (?=(?:take|called|mean|matter|safe|possible|ok|okay|bad|good|better|worse|dangerous|important|common"
    r"|normal|necessary|allowed|enough|worth)\b(?: \w+){0,3} (?:to|that|when|if)\b)",
    re.IGNORECASE,
)
"""Words for something else that name nothing: "What do they mean by drift?", "the same as", "Is it safe to ...?"."""
_HEADS = frozenset("all anyone anything one ones somebody someone something those".split())
"""Before a "that" which says what they are."""
_CLAUSE = re.compile(r"[.?!;:,]\s+|\s(?:and|or|but|when|if|while|because|so|after|before|until|once)\s", re.IGNORECASE)
_ASIDE = re.compile(
    r"^(?:(?:and|but|so|ok|wait|sorry)\W+)*what (?:do|did) you mean (?:by|with|when you say)\b(?P<term>[^?.!]*)"
    r"|^[\"“]?(?P<other>[\w -]+?)[\"”]?\W+what (?:do|did) you mean\b",
    re.IGNORECASE,
)
_AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|can|could|should|must|may|might|will|would|has|have|had|ought|need"
    r"|isn|aren|wasn|weren|don|doesn|didn|can|couldn|shouldn|mustn|won|wouldn|hasn|haven|hadn)(?:['’]?t)?\b"
)
_BRIEF = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "Why not overnight?", "Why from the bottom?": the verb is the one before.
        (
            r"^why (?:not|no|only|so|just|always|never|exactly|first|last|near|close|from|in|at|on|with|without|for|by"
            r"|to|under|over|after|before|during|through|bother)\b"
        ),
        # "For how long?", "Not in the fridge?", "Outdoors?", "In the rain?"
        (
            rf"^(?:for|from|to|at|in|into|on|by|with|without|within|not|no|even|only|under|over|after|before|during|until"
            rf"|through)\b(?!.*\b(?:{_AUXILIARY}))"
        ),
        r"^how (?:often|long|far|much|many|soon|fast|deep|hot|old|so|come|exactly|else)\W*$",
        # "How hot for PETG?"
        (
            r"^how (?!to\b|about\b|come\b)\w+ (?:for|in|at|on|with|without|after|before|under|during)\b"
            rf"(?!.*\b(?:{_AUXILIARY}))"
        ),
        r"^(?:wh(?:ich|at|en|ere|o)|how)\W*$",
        # Whose it is was said before.
        (
            r"^(?:which|what|how (?:much|many)) (?:[\w-]+ ){0,3}(?:do|does|did|should|must|can) (?:we|you|i) "
            r"(?:use|need|take|have|aim for|choose|pick|want|buy)\W*$"
        ),
        (
            r"^(?:which|what)(?: \w+)? (?:is|are|has|have|needs?|gives?|costs?|takes?|lasts?|holds?) "
            r"(?:the )?(?:\w+(?:er|est)|best|worst|better|worse|most|least|more|less)\W*$"
        ),
        (
            r"^(?:\w+ly|overnight|outdoors?|indoors?|outside|inside|alone|always|never|twice|today|anywhere|somewhere"
            r"|everywhere)\W*$"
        ),
    )
)
_COMPARED = re.compile(
    r"\b(?:better|worse|more|less|fewer|further|farther|bigger|smaller|larger|longer|shorter|higher|lower|faster|slower"
    r"|wider|narrower|thicker|thinner|heavier|lighter|hotter|colder|warmer|cooler|cheaper|stronger|weaker|deeper|older"
    r"|newer|earlier|later|harder|softer|easier|safer|nearer|closer)\b",
    re.IGNORECASE,
)
_PARTNER = re.compile(r"\b(?:than|or|versus|vs|between|compared?|of|the)\b", re.IGNORECASE)
_LIGHT = frozenset("far hot may often shall sort thing".split())
"""Stems of further words that name nothing; `is_everyday` knows most."""
MAX_OWN_TOPICS = 3
"""A question with more subjects of its own than this stands alone, whatever pronouns it holds."""
MAX_BRIEF_TOPICS = 2
"""The same for one that has no word for anything else, and only leaves something out."""
SHARED = 0.5
"""Of a question's subjects, what the marked text has to name for the question to be about it."""


def leans(question: str) -> bool:
    """Whether a question is understood only after another one.

    >>> leans("And on a Jetson?"), leans("Is the work gone then?"), leans("What is a topic?")
    (True, True, False)
    >>> leans("Why not overnight?"), leans("Why not use a service for streaming data?")
    (True, False)
    """
    if len(topic_stems(question)) > MAX_OWN_TOPICS:
        return False
    return opens(question) or refers(question) or is_brief(question) or bool(_CLOSING.search(question))


def opens(question: str) -> bool:
    """Whether a question begins as one does that goes on: "And ...", "What about ..."."""
    return bool(_OPENING.match(question))


def refers(question: str) -> bool:
    """Whether a question has a word for something that was named elsewhere: "How fast is it there?".

    What a clause before has named is named here: "What is a hanger, and what is it for?" refers to nothing else.
    """
    plain = _PEOPLE.sub(" ", question)
    found = [match.start() for match in (_ONE.search(plain), _THERE.search(plain)) if match]
    cursor = 0
    spoken = words(plain)
    for number, word in enumerate(spoken):
        cursor = plain.index(word, cursor)
        if word.lower() in _REFERENCE or (word.lower() == "that" and _points(spoken, number)):
            found.append(cursor)
        cursor += len(word)
    if not found:
        return False
    before = list(_CLAUSE.finditer(plain, 0, min(found) + 1))
    return not before or not subjects_of(plain[: before[-1].start()])


def _points(spoken: list[str], number: int) -> bool:
    """Whether a "that" is no "which": it ends the question or follows a word that is no noun."""
    if number in {0, len(spoken) - 1}:
        return True
    return spoken[number - 1].lower() not in _HEADS and not topic_words(spoken[number - 1])


def is_brief(question: str) -> bool:
    """Whether a question leaves out what it is asked of: "Why not overnight?", "Which size do we use?".

    One that names a subject of its own leaves nothing out: "Why not use a service for streaming data?".
    """
    if term_of_aside(question):
        return True
    own = subjects_of(question)
    if not own:
        return True
    if len(own) > MAX_BRIEF_TOPICS:
        return False
    if any(form.search(question) for form in _BRIEF):
        return True
    return bool(_COMPARED.search(question)) and not _PARTNER.search(question)


def subjects_of(question: str) -> frozenset[str]:
    """Stems of the words that name what a question is about; what is said of anything whatever names nothing."""
    return frozenset(map(stem, subject_words(question)))


def subject_words(question: str) -> list[str]:
    """The same words as they stand, in order; a number or a letter alone names nothing."""
    found = [(word, stem(word)) for word in topic_words(question)]
    return [
        word
        for word, root in found
        if root.isalpha() and len(root) > 1 and not is_everyday(root) and root not in _LIGHT
    ]


def term_of_aside(question: str) -> str:
    """The words that a reader wants explained of an answer: "What do you mean by swelling?" asks for swelling."""
    found = _ASIDE.match(question)
    return (found["term"] or found["other"]).strip(" '\"“”") if found else ""


def names_of(question: str, selection: str) -> bool:
    """Whether a question names what the text names that the reader has marked: half of its subjects at least."""
    topics = topic_stems(asking(question))
    return len(topics & stem_set(selection)) >= SHARED * max(1, len(topics))
