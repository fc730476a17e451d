"""Checks whether a proposed entry keeps to its section literally: numbers with units, names, commands, "all", "never".

An entry's meaning was judged when it was written, by a model that may be absent now; its section has not changed since,
as its hash shows. This check needs no model, and also covers an entry that was edited by hand.
"""

from collections.abc import Sequence

from lutrin.answer.grade import evidence_of, keeps_names, keeps_numbers, literals_stand
from lutrin.answer.runs import whole
from lutrin.ingest.sentences import sentence_ranges
from lutrin.prepared import Entry
from lutrin.records import Chunk


def literal_problem(entry: Entry, passages: Sequence[Chunk]) -> str:
    """Name the part of an unapproved entry that is not in the book; empty if there is none."""
    evidence = "\n".join(evidence_of(whole(chunk)) for chunk in passages)
    question = " ".join(entry.names)
    for text in entry.points:
        for start, end in sentence_ranges(text):
            sentence = text[start:end].strip()
            if entry.kind == "analogy":
                holds = keeps_numbers(sentence, evidence) and keeps_names(sentence, evidence, question)
            else:
                holds = literals_stand(sentence, evidence, question)
            if not holds:
                return f"the section does not have the numbers, units or names of “{sentence}”"
    return ""
