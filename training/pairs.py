"""Write what the cross-encoder that judges claims learns from: claims with their evidence as ids.

Three kinds. *Claims*: sentences of ours about the books (`claims/`; the evidence is kept as places and hashes), each
true one with a near variant that the same evidence does not state. *Mutations*: a book's sentence, shortened where it
can be, and itself with one thing changed. *Public*: premises and hypotheses of the sets in `public.toml`.

It is judged on claims about books of the shelf, and on sentences that models really wrote about them.

Evidence that is longer than the encoder's window gives the sentences that share most with the claim.
"""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from evaluation.claims import CLAIMS as JUDGED
from evaluation.claims import Claim, folder_of, passages_of, read_claims, stretch_as_passage
from evaluation.rows import read_rows
from evaluation.written import ROWS as WRITTEN
from evaluation.written import WrittenRow
from lutrin.answer.grade import evidence_of
from lutrin.answer.runs import whole
from training import public, sources
from training.examples import own_books
from training.sources import Missing
from training.tokens import Groups, Pair, Tokens, save_pairs

CLAIMS = sources.HERE / "claims"
MUTABLE = sources.HERE / "mutable.toml"
CLAIM_TOKENS, EVIDENCE_TOKENS = 48, 120
"""Maximum lengths; longer claims are cut, and longer evidence loses sentences."""
BESIDE = 0.3
"""Share of the better neighbour's score added to a sentence, which may refer to it."""
A_BOOK = 260
"""Maximum number of changed sentences of a book."""
AROUND = 4
"""Sentences on either side of a changed one that may be evidence, too."""
STATES, DENIES, NEITHER, NOT_STATED = 0, 1, 2, 3
"""Equal to those of `training.cross`, which needs torch."""
LABELS = {"entailment": STATES, "contradiction": DENIES, "neutral": NEITHER, "not_entailment": NOT_STATED}

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
Ids = Callable[[str], list[int]]
Change = Callable[[str, str, random.Random], str | None]


@dataclass(frozen=True, slots=True)
class Said:
    """A claim, its evidence and its label."""

    claim: str
    evidence: str
    label: int


def twins(claims: Sequence[Claim], folder_of: Callable[[str], Path]) -> Iterator[list[Said]]:
    """Each true claim of the books with its near variant.

    Raises:
        InvalidInput: A page is not the one that a claim was written about.
    """
    by_pair: dict[str, list[Claim]] = {}
    for claim in claims:
        by_pair.setdefault(claim.pair, []).append(claim)
    for both in by_pair.values():
        if len(both) == 2:
            yield [
                Said(
                    claim.claim,
                    "\n".join(evidence_of(whole(chunk)) for chunk in passages_of(claim, folder_of(claim.book))),
                    STATES if claim.label else NEITHER if claim.kind == "unsupported-addition" else NOT_STATED,
                )
                for claim in both
            ]


def public_pairs(folder: Path) -> Iterator[list[Said]]:
    """The pairs of the public sets; see `public.files`."""
    for row in public.pairs(folder):
        if row["label"] in LABELS:
            yield [Said(row["hypothesis"], row["premise"], LABELS[row["label"]])]


def written(*folders: Path) -> Iterator[list[Said]]:
    """Sentences that models really wrote, each with the section that it was written of, unless they say nothing.

    Args:
        folders: Hold the books that they are about, by name.

    Raises:
        InvalidInput: A page is not the one that a sentence was written of.
    """
    for row in read_rows(sorted(WRITTEN.glob("*.jsonl")), WrittenRow, f"There are no sentences in {WRITTEN}."):
        if row.label in {"right", "wrong"}:
            place = (row.file, row.offset, row.length, row.hash)
            section = whole(stretch_as_passage(row.book, folder_of(row.book, *folders) / row.file, place))
            yield [Said(row.text, evidence_of(section), STATES if row.label == "right" else NOT_STATED)]


def mutations(path: Path, rng: random.Random, changes: Sequence[Change]) -> Iterator[list[Said]]:
    """Sentences of one book, each with a changed one.

    Args:
        path: Passages, as `training.passages` writes them.
        rng: Chooses.
        changes: Ways to change a sentence, given its text and the surrounding text.
    """
    rows = sources.rows(path)
    rng.shuffle(rows)
    made = 0
    for row in rows:
        told = [row["text"][unit[0] : unit[1]] for unit in row["units"] if unit[2] == "sentence"]
        fit = [place for place, text in enumerate(told) if is_plain(text)]
        if len(told) < 4 or not fit:
            continue
        place = rng.choice(fit)
        text = shortened(told[place], rng)
        around = " ".join(told[max(0, place - AROUND) : place + AROUND + 1])
        found = (change(text, around, rng) for change in rng.sample(list(changes), len(changes)))
        changed = next((other for other in found if other and other != text), None)
        if changed is None:
            continue
        start, stop = place - rng.randint(0, AROUND), place + 1 + rng.randint(0, AROUND)
        evidence = "\n".join([row["head"], *told[max(0, start) : stop]])
        yield [Said(text, evidence, STATES), Said(changed, evidence, NOT_STATED)]
        made += 1
        if made == A_BOOK:
            return


def is_plain(text: str) -> bool:
    """Whether a sentence is prose of ordinary length."""
    return 8 <= len(text.split()) <= 34 and text.endswith(".") and not re.search(r"[$\\{}<>=|\[]|http", text)


def shortened(text: str, rng: random.Random) -> str:
    """A sentence without brackets, and at times without the clause that it ends with."""
    bare = re.sub(r"\s*\([^()]*\)", "", text)
    clause = re.match(r"(.{40,}?),? (?:which|because|so that|although|whereas|while|such as)\b", bare)
    if clause and rng.random() < 0.5:
        bare = clause.group(1).rstrip(" ,") + "."
    return bare[:1].upper() + bare[1:]


def changes_of(path: Path) -> list[Change]:
    """The ways to change a sentence: a number, a denial more or less, an opposite, two sides in each other's place.

    Args:
        path: `mutable.toml`: opposites, and verbs that can be negated or connect two sides.
    """
    words: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    opposites: dict[str, str] = {}
    for one, other in words["opposites"]:
        opposites |= {one: other, other: one}
    deniable = re.compile(rf"\b({'|'.join(words['deniable'])})\b( not)?")
    between = re.compile(rf"\b([\w-]{{4,}})( (?:{'|'.join(words['between'])})\b[^,.;]*? )([\w-]{{4,}})(?=[,.;])")

    def number(text: str, around: str, rng: random.Random) -> str | None:
        held = [found.group() for found in _NUMBER.finditer(text)]
        others = sorted({found.group() for found in _NUMBER.finditer(around)} - set(held))
        if not held:
            return None
        old = rng.choice(held)
        new = rng.choice(others) if others else f"{float(old) * rng.choice([0.1, 0.5, 2, 10]):g}"
        return re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w])", new, text, count=1)

    def opposite(text: str, around: str, rng: random.Random) -> str | None:  # noqa: ARG001 - as all of them
        held = [found for found in re.finditer(r"[A-Za-z]+", text) if found.group().lower() in opposites]
        if not held:
            return None
        old = rng.choice(held)
        return text[: old.start()] + _as(old.group(), opposites[old.group().lower()]) + text[old.end() :]

    def denial(text: str, around: str, rng: random.Random) -> str | None:  # noqa: ARG001 - as all of them
        found = deniable.search(text)
        return found and text[: found.end(1)] + ("" if found.group(2) else " not") + text[found.end() :]

    def sides(text: str, around: str, rng: random.Random) -> str | None:  # noqa: ARG001 - as all of them
        found = between.search(text)
        if not found or found.group(1).lower() == found.group(3).lower():
            return None
        return (
            f"{text[: found.start()]}{_as(found.group(1), found.group(3))}{found.group(2)}"
            f"{found.group(1).lower()}{text[found.end() :]}"
        )

    return [number, opposite, denial, sides]


def _as(model: str, word: str) -> str:
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")


def selected(said: Sequence[int], evidence: str, ids_of: Ids, room: int = EVIDENCE_TOKENS) -> list[int]:
    """The sentences of the evidence that share most with a claim, in their order, as ids.

    A token counts the less the more sentences have it. All sentences are taken where there is room.

    Args:
        said: The claim's ids.
        evidence: A text.
        ids_of: A text's ids.
        room: Tokens at most, but one sentence at least.
    """
    pieces = [ids_of(text) for text in _SENTENCE_END.split(evidence) if text.strip()]
    if sum(map(len, pieces)) <= room:
        return [token for piece in pieces for token in piece]
    count = Counter(token for piece in pieces for token in set(piece))
    own = [sum(1 / count[token] for token in set(piece) & set(said)) for piece in pieces]
    near = [
        max([*own[max(0, place - 1) : place], *own[place + 1 : place + 2]], default=0.0) for place in range(len(own))
    ]
    worth = [alone + BESIDE * beside for alone, beside in zip(own, near, strict=True)]
    kept: set[int] = set()
    for place in sorted(range(len(pieces)), key=lambda place: -worth[place]):
        if len(pieces[place]) <= room:
            kept.add(place)
            room -= len(pieces[place])
        elif not kept:
            return pieces[place]
    return [token for place in sorted(kept) for token in pieces[place]]


def encoded(said: Said, ids_of: Ids) -> Pair:
    """A claim and its evidence as the encoder reads them."""
    claim = ids_of(said.claim)[:CLAIM_TOKENS]
    return Pair(claim, selected(claim, said.evidence, ids_of)[:EVIDENCE_TOKENS], said.label)


def prepare(
    books: Path,
    out: Path,
    tokenizer: Path,
    names: Sequence[str] = (),
    *,
    held: Sequence[str] = (),
    given: Path | None = None,
    shelf: Path,
    most: int = 0,
) -> None:
    """Write `pairs.npz`, what is learned from, and `pairs-judged.npz`, by which the result is judged.

    Args:
        books: Folder with a checkout of each book.
        out: Where `prepare` wrote passages; the files come into its folder `pack`.
        tokenizer: A folder with `tokenizer.json`.
        names: Of the books only these; none: all.
        held: Books whose changed sentences judge, instead of the shelf.
        given: Folder with the public sets; None: without them.
        shelf: Folder of the books that claims are judged on.
        most: Of each kind, and changed sentences of a book; 0: as many as there are.

    Raises:
        Missing: Something is not there.
        InvalidInput: A page is not the one that a claim was written about.
    """
    described = sources.sources()
    trained_on = [source.name for source in sources.chosen(names, left_out=False)]
    ids_of = Tokens(tokenizer).ids
    changes = changes_of(MUTABLE)

    def changed(name: str) -> Iterator[list[Said]]:
        path = out / "passages" / f"{name}.jsonl"
        if not path.is_file():
            raise Missing(f"There is no {path}: run `python -m training prepare` first.")
        return islice(mutations(path, random.Random(name), changes), most or A_BOOK)

    def kept(kinds: Mapping[str, Iterable[list[Said]]]) -> Groups:
        groups = {kind: list(islice(found, most or None)) for kind, found in kinds.items()}
        print(", ".join(f"{sum(map(len, found))} {kind}" for kind, found in groups.items() if found), flush=True)
        return {kind: [[encoded(said, ids_of) for said in group] for group in found] for kind, found in groups.items()}

    def checkout(book: str) -> Path:
        return sources.checkout(books, described[book])

    claimed = [path for path in sorted(CLAIMS.glob("*.jsonl")) if path.stem in trained_on]
    mutable = [name for name in (*trained_on, *own_books(names)) if name not in held]
    learned = {
        "claims": twins(read_claims(claimed), checkout) if claimed else (),
        "mutations": chain.from_iterable(map(changed, mutable)),
        "public": public_pairs(given) if given is not None else (),
    }
    judged = {"claims": twins(read_claims(sorted(JUDGED.glob("*.jsonl"))), lambda book: folder_of(book, shelf))}
    judged |= {"written": written(shelf, books)}
    by = {"mutations": chain.from_iterable(map(changed, held))} if held else judged
    save_pairs(out / "pack" / "pairs-judged.npz", kept(by))
    save_pairs(out / "pack" / "pairs.npz", kept(learned))
