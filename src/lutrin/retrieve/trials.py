"""Questions made from a book itself, on which its scope is fitted: some that it answers, and some that it does not.

Answerable ones are remains of its sentences, in the form of a question: about half of the words that say something, so
that the sentence is found by what is left and not by its wording. Foreign ones come from a list of common subjects;
those near the book are foreign ones into which words of the book's own headings are put. Nothing hangs on what the book
is about.
"""

import random
from collections.abc import Sequence
from importlib import resources

from lutrin.records import Chunk
from lutrin.retrieve.words import QUESTION_WORDS, STOP_WORDS, content_stems, stem, words

SEED = 7
ANSWERABLE, FOREIGN, NEAR = 60, 40, 60
"""Questions of each kind at most; a search takes some 10 ms."""
HEADING_WORDS = 60
"""The words of headings that stand in most passages: what the book is about."""
LEAST_WORDS, MOST_WORDS = 2, 6
FRAMES = ("How does", "What is", "Why is", "Which", "How do I", "When does")


def foreign_questions() -> list[str]:
    """The questions on common subjects that come with Lutrin."""
    text = resources.files("lutrin.retrieve").joinpath("foreign.txt").read_text(encoding="utf-8")
    return text.splitlines()


def answerable(chunks: Sequence[Chunk]) -> list[str]:
    """Questions whose words stand in one sentence of the book."""
    rng = random.Random(SEED)  # noqa: S311 - a sample, no secret
    made = []
    for chunk in rng.sample(list(chunks), len(chunks)):
        told = [told for unit in chunk.units if unit.kind != "code" and len(told := _telling(unit.text)) > LEAST_WORDS]
        if told:
            kept = _some(rng.choice(told), rng)
            made.append(f"{rng.choice(FRAMES)} {' '.join(kept)}?")
        if len(made) == ANSWERABLE:
            break
    return made


def near(chunks: Sequence[Chunk]) -> list[str]:
    """Foreign questions with words of the book's headings in them."""
    rng = random.Random(SEED)  # noqa: S311 - as above
    frequency: dict[str, int] = {}
    for chunk in chunks:
        for stemmed in set(content_stems(chunk.embedded_text())):
            frequency[stemmed] = frequency.get(stemmed, 0) + 1
    titles = {word.lower() for chunk in chunks for title in chunk.heading_path for word in _telling(title)}
    common = sorted(titles, key=lambda word: (-frequency.get(stem(word), 0), word))[:HEADING_WORDS]
    made = []
    for number, question in enumerate(rng.sample(foreign_questions(), NEAR)):
        own = rng.sample(common, min(2, len(common)))
        told = _telling(question)
        if len(own) == 2 and told:
            grafted = question.replace(rng.choice(told), own[0], 1)
            made.append(grafted if number % 2 else f"{question.rstrip('?')} of a {' '.join(own)}?")
    return made


def foreign() -> list[str]:
    """Questions about something else."""
    return random.Random(SEED).sample(foreign_questions(), FOREIGN)  # noqa: S311 - as above


def _telling(text: str) -> list[str]:
    """The words of a text that say what it is about, in order."""
    return [word for word in words(text) if len(word) > 2 and word.lower() not in STOP_WORDS | QUESTION_WORDS]


def _some(told: Sequence[str], rng: random.Random) -> list[str]:
    """About half of some words, in order."""
    count = max(LEAST_WORDS, min(MOST_WORDS, round(len(told) * rng.uniform(0.35, 0.7))))
    return [told[place] for place in sorted(rng.sample(range(len(told)), count))]
