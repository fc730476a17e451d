"""Faults of a generated sentence whose words are the book's, or nearly: what belongs to one thing is said of another.

Each is a rule of `ground.support`, found by reading what a small model made of a thousand passages and the other rules
had let through.
"""

import re
from collections import Counter
from collections.abc import Callable

from lutrin.language.words import content_stems, stem, words

_PAIRS = """large small, big small, big little, near far, close far, high low, tall short, long short, more less, more
fewer, most least, greater smaller, larger smaller, higher lower, longer shorter, faster slower, fast slow,
quick slow, heavy light, heavier lighter, hot cold, warm cold, hard soft, stiff soft, strong weak, stronger
weaker, better worse, best worst, good bad, left right, front back, top bottom, upper lower, above below, over
under, inside outside, inner outer, up down, first last, before after, early late, old new, open closed, open
close, on off, full empty, rise fall, rises falls, increase decrease, increases decreases, grow shrink, grows
shrinks, gain lose, gains loses, win lose, minimum maximum, positive negative, input output, send receive, sends
receives, push pull, start stop, begin end, same different, simple complex, easy hard, easy difficult, cheap
expensive, public private, simulated real, rich poor, wide narrow, deep shallow, thick thin, dry wet, loud
quiet, bright dark, young old, static dynamic, parallel serial, acid base, north south, east west, day night,
summer winter"""
_CLAUSE = re.compile(r"[,;:.!?]\s|\n|\b(?:and|but|or|while|whereas)\b", re.IGNORECASE)
"""What parts clauses, each of which says one thing of one thing."""
_PART = re.compile(r"[,;:.!?]\s|\n")
_SENTENCE = re.compile(r"[.!?]\s|\n")
_GIVES_NUMBER = re.compile(
    r"\b(?:which|that) (?:is|are|was|were|has|have) (?:about |only |at most |at least )?[\d$−-]\S*"
)
_FRAME = re.compile(
    r"(?:in|on|at|over|under|behind|within|during|with|without|for|before|after|between)\b(.*?)"
    r"(?:,|\b(?:is|are|was|were|has|have|had|can|must|may|will|does|do|there)\b)",
    re.IGNORECASE,
)
"""What a sentence begins with that says where or when it holds: "In ROS 1 there was ..."."""
FRAME_WORDS = 6
"""A longer beginning is a clause of its own."""
DOUBTS = (
    frozenset({"can", "may", "might", "could"}),
    frozenset("often usually sometimes typically mostly normally generally".split()),
)
"""Words that say how surely something holds; those of one set may stand for each other."""
SAID = 0.6
"""A sentence of the book of which this share is said is what the model speaks of."""
OWN_SHARE = 0.5
"""Of the content words of each part of a sentence so many must be the text's."""
TAKEN = 2
"""From so many words on that stand in one sentence of the book alone, that sentence is spoken of; so many are mixed."""
NAME_WORDS = 3
"""A part of an enumeration with at most so many content words is a name, not a statement."""


def is_faultless(sentence: str, text: str, question: str) -> bool:
    """Whether a sentence has none of the faults below.

    Args:
        sentence: Generated.
        text: What may prove it: headings, what announces a list (or an empty line), and units, a line each.
        question: Its words may stand in the sentence.
    """
    return invents_nothing(sentence, f"{text}\n{question}") and all(rule(sentence, text) for rule in RULES)


def _opposites() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in _PAIRS.replace("\n", " ").split(","):
        one, other = (stem(word) for word in pair.split())
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


OPPOSITES = _opposites()
"""Stems, each with those that mean the opposite."""


def keeps_opposites(sentence: str, text: str) -> bool:
    """Whether of two opposites that stand in a text each stays with what the text says it of.

    A clause with one of them may not have words that the text has only beside the other.

    >>> keeps_opposites("Far objects have a large one.", "Near objects have a large one, far objects a small one.")
    False
    """
    told = [set(content_stems(clause)) for clause in _CLAUSE.split(text)]
    words = set().union(*told)
    both = {word for word in words if OPPOSITES.get(word, set()) & words}
    for clause in _CLAUSE.split(sentence):
        said = set(content_stems(clause))
        for word in said & both:
            opposites = OPPOSITES[word]
            foreign = set().union(*(stems for stems in told if opposites & stems and word not in stems)) - opposites
            if said & foreign.difference(*(stems for stems in told if word in stems or not opposites & stems)):
                return False
            if said & opposites and not any({word, *(said & opposites)} <= stems for stems in told):
                return False
    return True


def repeats_nothing(sentence: str, text: str) -> bool:
    """Whether no clause of a sentence has a word more often than any sentence of the text: "surplus heat into heat"."""
    most: Counter[str] = Counter()
    for part in _SENTENCE.split(text):
        most |= Counter(content_stems(part))
    return all(
        times <= max(1, most[word])
        for clause in _CLAUSE.split(sentence)
        for word, times in Counter(content_stems(clause)).items()
    )


def tells_numbers(sentence: str, text: str) -> bool:
    """Whether a number of which a sentence says what it is stands so in the text: "which is 1.8°"."""
    plain = " ".join(text.split())
    return all(match.group() in plain for match in _GIVES_NUMBER.finditer(sentence))


def invents_nothing(sentence: str, text: str) -> bool:
    """Whether each part of a sentence is mostly the text's.

    >>> invents_nothing("There are two kinds: direct and indirect.", "Encoders are of two kinds:")
    False
    """
    known = set(content_stems(text))
    parts = [set(content_stems(part)) for part in _PART.split(sentence)]
    return all(len(part & known) >= OWN_SHARE * len(part) for part in parts)


def keeps_frame(sentence: str, text: str) -> bool:
    """Whether a sentence says where or when it holds, if the book's begins with that: "In ROS 1 there was ..."."""
    own = set(content_stems(sentence))
    for told in _SENTENCE.split(text):
        frame = _FRAME.match(told.lstrip())
        if frame is None or len(words(frame[1])) > FRAME_WORDS:
            continue
        inside = set(content_stems(frame[1]))
        rest = set(content_stems(told)) - inside
        numbered = {word for word in inside if word[:1].isdigit()}
        if rest and len(rest & own) >= SAID * len(rest) and (inside.isdisjoint(own) or not numbered <= own):
            return False
    return True


def keeps_list(sentence: str, text: str) -> bool:
    """Whether what announces a list stays apart from its items, and an enumeration names these by their beginnings.

    "It has five, from the inside out: mechanical stops ..." does not say that it has five mechanical stops.
    """
    _, _, body = text.partition("\n")
    lead, _, below = body.partition("\n")
    if not lead.rstrip().endswith(":") or not below:
        return True
    announced, told = set(content_stems(lead)), set(content_stems(below))
    parts = [set(content_stems(part)) for part in _PART.split(sentence)]
    if any(part & (announced - told) and part & (told - announced) for part in parts):
        return False
    begins = {stems[0] for line in below.splitlines() if (stems := content_stems(line))}
    enumerated = [content_stems(part) for part in _CLAUSE.split(sentence.partition(":")[2])]
    return all(stems[0] in begins for stems in enumerated if 0 < len(stems) <= NAME_WORDS)


def keeps_doubt(sentence: str, text: str) -> bool:
    """Whether what the book says can be, or often is, is not said to be: "images can block the channel"."""
    heard = set(words(sentence.lower()))
    told = [(set(content_stems(clause)), set(words(clause.lower()))) for clause in _CLAUSE.split(text)]
    for clause in _CLAUSE.split(sentence):
        own = set(content_stems(clause))
        most = max(len(own & stems) for stems, _ in told)
        closest = [spoken for stems, spoken in told if own and len(own & stems) == most]
        if any(all(spoken & doubts for spoken in closest) and closest and not heard & doubts for doubts in DOUBTS):
            return False
    return True


def keeps_subjects(sentence: str, text: str) -> bool:
    """Whether a sentence that takes words from two of the book names what each of them speaks of.

    "Kinematics is the geometry of motion. Dynamics asks which forces cause it." is not "Kinematics asks which forces".
    """
    own = set(content_stems(sentence))
    told = [stems for part in _SENTENCE.split(text.partition("\n")[2]) if (stems := content_stems(part))]
    times = Counter(word for stems in told for word in set(stems))
    taken = [stems for stems in told if sum(times[word] == 1 for word in own.intersection(stems)) >= TAKEN]
    if len(taken) >= TAKEN and any(stems[0] not in own and times[stems[0]] == 1 for stems in taken):
        return False
    # Nor is what one sentence says said of what another one speaks of.
    (subject,) = content_stems(sentence)[:1] or [""]
    return not any(
        sum(times[word] == 1 for word in own.intersection(stems)) > TAKEN
        and stems[0] not in own
        and subject not in stems
        and times[subject]
        for stems in told
    )


RULES: tuple[Callable[[str, str], bool], ...] = (
    keeps_opposites,
    repeats_nothing,
    tells_numbers,
    keeps_frame,
    keeps_list,
    keeps_doubt,
    keeps_subjects,
)
