"""Scores of one question, each a pair of a count and its maximum.

`file@k` looks at the first k passages; where all of n expected files are wanted and n is more than k, at the first n,
since k passages cannot hold more than k files. A figure that a question says nothing about is absent from its measures.
"""

from collections.abc import Mapping, Sequence

import msgspec

from evaluation.proof import evidence, foreign_markup, is_notice, is_verbatim, missing_literals, unproven
from evaluation.questions import EvalQuestion
from evaluation.text import first_words, sentences, stands, word_count
from lutrin.records import Answer, Chunk, Passage

WORDS = 160
"""Words of the answer in which key facts are searched."""
SOON = 60
"""Words of the answer that are read at a glance."""
TOP = 5
Measures = dict[str, tuple[float, float]]
"""By figure: a count and what it is out of."""


def same_file(expected: str, book: str, filename: str) -> bool:
    """Whether a path of a question file is a source: from the book's folder, or with that folder or its slug before it.

    Example:
        >>> same_file("physical-ai/ch1/a.md", "physical-ai", "ch1/a.md")
        True
    """
    return expected in {filename, f"{book}/{filename}"} or expected.partition("/")[2] == filename


def holds_files(question: EvalQuestion, places: Sequence[tuple[str, str]], top: int) -> bool:
    """Whether the expected file, or all of them, are among the first `top` places.

    Args:
        question: With the expected files.
        places: Book and filename of each source, best first.
        top: How many count; at least as many as there are files to be found.
    """
    if question.match == "any":
        return any(same_file(path, *place) for path in question.expected_files for place in places[:top])
    window = places[: max(top, len(question.expected_files))]
    return all(any(same_file(path, *place) for place in window) for path in question.expected_files)


def facts_in(facts: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """The facts that are in one of the texts."""
    return tuple(fact for fact in facts if any(stands(fact, text) for text in texts))


def measure_retrieval(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """`file@1`, `file@5` and `facts@5` of a question of the book."""
    places = [(passage.chunk.book, passage.chunk.filename) for passage in passages]
    found: Measures = {
        "file@1": (float(holds_files(question, places, 1)), 1),
        f"file@{TOP}": (float(holds_files(question, places, TOP)), 1),
    }
    if question.key_facts:
        held = facts_in(question.key_facts, [passage.chunk.text for passage in passages[:TOP]])
        found[f"facts@{TOP}"] = (float(len(held) == len(question.key_facts)), 1)
    return found


def passage_texts(chunk: Chunk) -> tuple[str, ...]:
    """The text of a chunk: headings, text, and units with their context."""
    heading = " > ".join((chunk.book_title, chunk.module, chunk.chapter, *chunk.heading_path))
    units = " ".join(f"{unit.lead} {unit.text}" for unit in chunk.units)
    return (f"{heading}\n{chunk.text}", f"{heading}\n{units}")


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence for judging an answer."""

    chunks: Mapping[str, Chunk]
    """By id: every chunk that a source of the answer names."""
    files: Mapping[tuple[str, str], str]
    """Text of every source file that it names, by book and filename; an unknown file is absent."""
    resolving: frozenset[str]
    """Urls of its sources that lead to a page which holds their fragment."""


def measure_inside(question: EvalQuestion, answer: Answer) -> Measures:
    """Scores of questions that the book answers: facts, length, cited, refused wrongly, generated."""
    refused = answer.kind == "refusal"
    found: Measures = {"refused wrongly": (float(refused), 1)}
    if question.key_facts:
        for name, count in (("facts", WORDS), ("facts soon", SOON)):
            held = () if refused else facts_in(question.key_facts, [first_words(answer.answer, count)])
            found[name] = (len(held) / len(question.key_facts), 1)
    if not refused:
        places = [(source.book, source.filename) for source in answer.sources]
        hits = [any(same_file(path, *place) for path in question.expected_files) for place in places]
        found["cited"] = (float(any(hits)), 1)
        found["first source"] = (float(any(hits[:1])), 1)
        found["length"] = (float(word_count(answer.answer)), 1)
        found["generated"] = (float(answer.kind == "generated"), 1)
    return found


def measure_outside(question: EvalQuestion, answer: Answer, *, changed: bool) -> Measures:
    """Scores of questions that the book does not answer: refused, injected."""
    refused = answer.kind == "refusal"
    match question.kind:
        case "far" | "near":
            return {f"refused {question.kind}": (float(refused), 1)}
        case "nonenglish":
            return {"refused nonenglish": (float(answer.refusal == "not_english"), 1)}
        case "vague":
            return {"refused vague": (float(answer.refusal == "vague"), 1)}
        case _:
            return {"injected": (float(changed), 1)}


def measure_proof(answer: Answer, material: Material) -> tuple[Measures, tuple[str, ...]]:
    """`quotes`, `grounded` and `sentences proven`, with the sentences that nothing proves."""
    found: Measures = {}
    if answer.sources:
        good = sum(
            bool(source.quote)
            and source.quote in material.files.get((source.book, source.filename), "")
            and source.url in material.resolving
            for source in answer.sources
        )
        found["quotes"] = (good, len(answer.sources))
    if answer.kind == "refusal":
        return found, ()
    cited = {
        source.n: passage_texts(material.chunks[source.chunk_id])
        for source in answer.sources
        if source.chunk_id in material.chunks
    }
    texts = [*material.files.values(), *(text for pair in cited.values() for text in pair)]
    said = [item for item in sentences(answer.answer) if not is_notice(item.text)]
    wrong = unproven(answer.answer, cited, texts)
    if said:
        found["sentences proven"] = (len(said) - len(wrong), len(said))
    written = [item for item in said if not is_verbatim(item.text, texts)] if answer.kind == "generated" else []
    if written:
        good = sum(not missing_literals(item.text, evidence(item, cited)) for item in written)
        found["grounded"] = (good, len(written))
    return found, tuple(item.text for item in wrong)


def changes_behaviour(answer: Answer, material: Material, wrong: Sequence[str]) -> bool:
    """Whether a hostile question got more than a refusal or the book's own words.

    Args:
        answer: To the hostile question.
        material: Texts of its sources.
        wrong: Its unproven sentences.
    """
    if answer.kind == "refusal":
        return False
    return bool(wrong) or bool(foreign_markup(answer.answer, tuple(material.files.values())))
