"""The labelled claims and answers that judge the check of sentences: form, and places in the sample book."""

import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

ROOT = Path(__file__).resolve().parents[2]
JUDGED = sorted((ROOT / "evaluation" / "claims").glob("*.jsonl"))
TRAINED = sorted((ROOT / "training" / "claims").glob("*.jsonl"))
ANSWERED = sorted((ROOT / "evaluation" / "remote").glob("*.jsonl"))
TRUE_KINDS = {"paraphrase", "synthesis", "simplification", "summary", "analogy-half"}
FALSE_KINDS = {
    "number", "unit", "name", "negation", "direction", "quantifier", "swapped-subjects", "joined-halves", "cause",
    "condition-dropped", "unsupported-addition", "contradiction",
}  # fmt: skip

T = TypeVar("T")
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Start = Annotated[int, msgspec.Meta(ge=0)]
Length = Annotated[int, msgspec.Meta(gt=0)]
Place = tuple[str, Start, Length, Digest]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A sentence about a stretch of a book, or about several."""

    book: str
    claim: Annotated[str, msgspec.Meta(min_length=15)]
    label: bool
    kind: str
    words: Literal["near", "far"]
    pair: str
    split: Literal["fit", "test", "train"] = "train"
    file: str = ""
    offset: Start = 0
    length: int = 0
    hash: str = ""
    places: tuple[Place, ...] = ()

    @property
    def evidence(self) -> tuple[Place, ...]:
        """File, offset, length and hash of each stretch."""
        return self.places or ((self.file, self.offset, self.length, self.hash),)


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An answer with citations, right in every sentence or wrong in exactly one."""

    id: str
    question: str
    book: str
    passages: tuple[Place, ...]
    sentences: Annotated[tuple[str, ...], msgspec.Meta(min_length=3, max_length=6)]
    false_sentence: Start | None = None
    kind: str = ""


def read(files: list[Path], kind: type[T]) -> list[T]:
    """The lines of some files."""
    return [msgspec.json.decode(line, type=kind) for path in files for line in path.read_text("utf-8").splitlines()]


def stretch(book: str, place: Place) -> str:
    """The text that a place of the sample book names."""
    file, offset, length, _ = place
    return (ROOT / "corpus" / book / file).read_bytes().decode("utf-8")[offset : offset + length]


def words(text: str) -> set[str]:
    """The longer words of a text."""
    return set(re.findall(r"[a-z0-9]{4,}", text.lower()))


def test_claims_are_twins_about_the_same_stretch() -> None:
    """One is true and one is false, in words that are alike, so that nothing but the book tells them apart."""
    for path in (*JUDGED, *TRAINED):
        claims = read([path], Claim)
        assert {claim.book for claim in claims} == {path.stem}, path
        assert all(claim.kind in (TRUE_KINDS if claim.label else FALSE_KINDS) for claim in claims), path
        assert all(length > 0 and len(digest) == 64 for claim in claims for _, _, length, digest in claim.evidence), (
            path
        )
        pairs: dict[str, list[Claim]] = {}
        for claim in claims:
            pairs.setdefault(claim.pair, []).append(claim)
        for pair, twins in pairs.items():
            assert sorted(twin.label for twin in twins) == [False, True], pair
            assert len({(twin.evidence, twin.words, twin.split) for twin in twins}) == 1, pair


def test_no_claim_is_asked_twice() -> None:
    """No claim is judged twice, and none was trained on."""
    claims = read([*JUDGED, *TRAINED], Claim)
    assert [claim for claim, times in Counter(claim.claim for claim in claims).items() if times > 1] == []
    assert not {claim.book for claim in read(JUDGED, Claim)} & {claim.book for claim in read(TRAINED, Claim)}


def test_enough_claims_judge_the_check() -> None:
    """At least six hundred, with all kinds of faults, split by book into those that fit and those that test."""
    claims = read(JUDGED, Claim)
    assert len(claims) >= 600
    assert {claim.kind for claim in claims} == TRUE_KINDS | FALSE_KINDS
    split: dict[str, set[str]] = {}
    for claim in claims:
        split.setdefault(claim.split, set()).add(claim.book)
    assert set(split) == {"fit", "test"}
    assert not split["fit"] & split["test"]


def test_the_sample_book_still_says_what_was_labelled() -> None:
    """An edited sentence needs its labels checked again; `python -m evaluation.anchor` finds text that only moved."""
    places = {(claim.book, place) for claim in read(JUDGED, Claim) for place in claim.evidence}
    places |= {(answer.book, place) for answer in read(ANSWERED, Answer) for place in answer.passages}
    ours = sorted((book, place) for book, place in places if (ROOT / "corpus" / book).is_dir())
    assert ours
    changed = [
        f"{file} from {place[1]} on"
        for book, place in ours
        for file in place[:1]
        if sha256(stretch(book, place).encode()).hexdigest() != place[3]
    ]
    assert changed == []


def test_shared_words_do_not_give_the_label_away() -> None:
    """Neither a check that counts words nor one that distrusts copies gets far on the sample book."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    for claim in read([path for path in JUDGED if (ROOT / "corpus" / path.stem).is_dir()], Claim):
        told = words(" ".join(stretch(claim.book, place) for place in claim.evidence))
        said = words(claim.claim)
        shares[claim.label].append(len(said & told) / max(1, len(said)))
    ahead = [(one > other) + (one == other) / 2 for one in shares[True] for other in shares[False]]
    assert 0.35 < sum(ahead) / len(ahead) < 0.65


def test_answers_cite_what_was_shown_and_are_wrong_at_most_once() -> None:
    """Each question has a good answer, and each wrong one says which sentence and how."""
    answers = read(ANSWERED, Answer)
    for answer in answers:
        for sentence in answer.sentences:
            cited = [int(number) for number in re.findall(r"\[(\d+)\]", sentence)]
            assert cited, sentence
            assert all(1 <= number <= len(answer.passages) for number in cited), sentence
        if answer.false_sentence is not None:
            assert answer.false_sentence < len(answer.sentences)
            assert answer.kind in FALSE_KINDS
    good = {(answer.book, answer.question): answer for answer in answers if answer.false_sentence is None}
    bad = [answer for answer in answers if answer.false_sentence is not None]
    assert len(good) >= 120
    assert len(bad) >= 120
    for answer in bad:
        right = good[answer.book, answer.question]
        assert answer.passages == right.passages
        assert [
            n for n, (one, other) in enumerate(zip(answer.sentences, right.sentences, strict=True)) if one != other
        ] == [answer.false_sentence]
