"""Whether a proposed entry keeps to its section literally: numbers with their units, names, commands, "all", "never".

What an entry means was judged when it was written, by a model that may not be here; its section has not changed since,
for it has the hash of that. This much needs no model, and holds an entry that was edited by hand against the book, too.
"""

from collections.abc import Sequence

from lutrin.answer.grade import evidence_of, keeps_names, keeps_numbers, literals_stand
from lutrin.answer.runs import whole
from lutrin.ingest.sentences import sentence_ranges
from lutrin.prepared import Entry
from lutrin.records import Chunk


def literal_problem(entry: Entry, passages: Sequence[Chunk]) -> str:
    """Name what an unapproved entry says that is not in the book; empty if nothing."""
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
