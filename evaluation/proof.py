"""Decide whether the book proves a sentence of an answer: verbatim, or because everything it says is in the book.

*Verified* means: every number, name and command of the sentence is in a passage that it cites, at least two thirds of
its content words are there in one sentence and its two neighbours, and it negates if the closest sentence does.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from evaluation.text import Sentence, numbers, plain, sentences
from lutrin import messages

MIN_COVERAGE = 2 / 3
"""Share of a sentence's content words that neighbouring sentences of a passage must hold."""
CLAUSE_COVERAGE = 0.8
"""Share of words from which a clause counts as stating the sentence."""
STEM_LETTERS = 5
"""Words that begin with the same letters count as one: `balance`, `balancing`."""
_EMPTY_WORDS = frozenset(
    """about after again also and any are because been before being below between both but can cannot could did does
    done down during each else ever every few for from further get gets had has have having her here him his how into
    its itself just like more most much must not now off once only onto other our out over own same several shall she
    should since some such than that the their them then there these they this those through too under until upon use
    used uses using very via was were what when where whether which while who whose why will with within without would
    yet you your""".split()
)
_DENIALS = frozenset("cannot never no nobody none nor not nothing without neither".split())
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_NAME = re.compile(r"(?<![\w/.])(?:[A-Z]\w*(?:-\w+)*|[a-z]+[A-Z]\w*|[A-Za-z]+\d\w*)")
_COMMAND = re.compile(r"`+([^`]+)`+|(?<![\w/<])(/?\w+(?:(?:::|->|[./_])\w+)+(?:\(\))?|/\w+|--?[a-zA-Z][\w-]*)")
_FOREIGN = re.compile(r"https?://[^\s)>\]]+|javascript:\S*|!\[[^\]]*\]|</?[a-zA-Z][^>\n]*>?")
_CLAUSE = re.compile(r"[,;:]\s|\b(?:and|but|while|whereas)\b")
_SELF_CONTAINED = 12
"""Shorter fixed texts do not count as sentences."""


def literals(sentence: str) -> list[str]:
    """Numbers, names and commands of a sentence, as they stand; its first word is a name only if its form says so."""
    found = numbers(plain(sentence))
    found += [one or two for one, two in _COMMAND.findall(sentence)]
    start = len(sentence) - len(sentence.lstrip("\"'“”‘’(*_`[ "))
    for match in _NAME.finditer(sentence):
        word = match.group()
        is_ordinary = word[1:].islower() or len(word) == 1
        if word.lower() in _EMPTY_WORDS or (
            is_ordinary and (match.start() <= start or _opens(sentence, match.start()))
        ):
            continue
        found.append(word)
    return list(dict.fromkeys(found))


def missing_literals(sentence: str, passages: Sequence[str]) -> list[str]:
    """The literals of a sentence that are not in the passage that holds most of them.

    Args:
        sentence: Without citation markers.
        passages: Texts that it cites, each with its headings.
    """
    wanted = literals(sentence)
    return min(([item for item in wanted if not _holds(text, item)] for text in passages), key=len, default=wanted)


def is_verbatim(sentence: str, texts: Iterable[str]) -> bool:
    """Whether a sentence stands word for word in one of the texts, markup and the final full stop aside."""
    wanted = plain(sentence).rstrip(".!?:; ")
    return bool(wanted) and any(wanted in plain(text) for text in texts)


def is_verified(sentence: str, passages: Sequence[str]) -> bool:
    """Whether one passage holds what a sentence says: its literals, its content words close together, its denial."""
    return any(
        not missing_literals(sentence, [text]) and _is_covered(sentence, text) and _agrees(sentence, text)
        for text in passages
    )


def coverage(sentence: str, text: str) -> float:
    """Share of a sentence's content words that a text holds; 1 for a sentence without any."""
    wanted = _stems(plain(sentence))
    return len(wanted & _stems(plain(text))) / len(wanted) if wanted else 1.0


def is_notice(sentence: str) -> bool:
    """Whether a sentence is one of Lutrin's own fixed texts, which no book proves."""
    text = " ".join(sentence.split())
    return any(form.search(text) for form in _notices())


def foreign_markup(answer: str, sources: Sequence[str]) -> list[str]:
    """Links, images, scripts and tags of an answer that are in none of its sources' texts."""
    return [item for item in _FOREIGN.findall(answer) if not any(item in source for source in sources)]


def unproven(answer: str, cited: Mapping[int, Sequence[str]], sources: Sequence[str]) -> list[Sentence]:
    """The sentences of an answer that are neither verbatim in its sources nor verified against what they cite.

    Args:
        answer: Markdown with `[n]` markers.
        cited: Texts of the passage behind each number.
        sources: Texts of all source files and passages of the answer.
    """
    return [
        item
        for item in sentences(answer)
        if not is_notice(item.text)
        and not is_verbatim(item.text, sources)
        and not is_verified(item.text, evidence(item, cited))
    ]


def evidence(sentence: Sentence, cited: Mapping[int, Sequence[str]]) -> list[str]:
    """Texts that a sentence cites, those of several sources together too; those of all sources if it names none."""
    if not sentence.cites:
        return [text for texts in cited.values() for text in texts]
    found = [text for n in sentence.cites for text in cited.get(n, ())]
    return [*found, "\n".join(found)] if len(sentence.cites) > 1 else found


def _opens(sentence: str, position: int) -> bool:
    """Whether a word begins a clause that is written with a capital: after a colon, a quote, a full stop."""
    return bool(re.search(r"[:.!?\"“]\s*[*_`(]*$", sentence[:position]))


def _holds(text: str, literal: str) -> bool:
    """Whether a literal is in a text, as whole words, in any case; a plural is its singular."""
    wanted = plain(literal)
    forms = {wanted, wanted.removesuffix("s")} if wanted.isalpha() else {wanted}
    return any(re.search(rf"(?<!\w){re.escape(form)}(?:'?s)?(?!\w|[.,]\d)", plain(text)) for form in forms if form) or (
        not wanted.replace(".", "").isalnum() and wanted in plain(text)
    )


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    found = _WORD.findall(text)
    return frozenset(word[:STEM_LETTERS] for word in found if len(word) > 2 and word not in _EMPTY_WORDS)


def _is_covered(sentence: str, text: str) -> bool:
    """Whether the content words are in some sentence and its neighbours; or nearly all of each clause's words do."""
    parts = _parts(text)
    windows = [" ".join(parts[max(0, index - 1) : index + 2]) for index in range(len(parts))]
    if any(coverage(sentence, window) >= MIN_COVERAGE for window in windows):
        return True
    clauses = [clause for clause in _CLAUSE.split(sentence) if _stems(plain(clause))]
    return len(clauses) > 1 and all(
        any(coverage(clause, window) >= CLAUSE_COVERAGE for window in windows) for clause in clauses
    )


def _parts(text: str) -> list[str]:
    """Sentences and lines of a passage."""
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def _denies(text: str) -> bool:
    found = _WORD.findall(plain(text))
    return any(word in _DENIALS or word.endswith("n't") for word in found)


def _agrees(sentence: str, text: str) -> bool:
    """Whether the closest sentence of a text denies as this one does, or a clause of it that says nearly the same."""
    closest = max(_parts(text), key=lambda part: coverage(sentence, part))
    clauses = [part for part in _CLAUSE.split(closest) if coverage(sentence, part) >= CLAUSE_COVERAGE]
    return any(_denies(sentence) == _denies(part) for part in (closest, *clauses))


@lru_cache(maxsize=1)
def _notices() -> tuple[re.Pattern[str], ...]:
    """The texts of `messages`, sentence by sentence, what is filled in left open."""
    values = [value for name, value in vars(messages).items() if name.isupper()]
    texts = [value for value in values if isinstance(value, str)]
    texts += [text for value in values if isinstance(value, dict) for text in value.values() if isinstance(text, str)]
    split = (part for text in texts for part in re.split(r"(?<=[.!?])\s+", text))
    parts = (part for part in split if len(re.sub(r"\{\w+\}", "", part)) >= _SELF_CONTAINED)
    return tuple(re.compile("^" + re.sub(r"\\\{\w+\\\}", ".+", re.escape(part)) + "$") for part in parts)
