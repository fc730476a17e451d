"""Measure the grades of sentences on labelled claims: `python -m evaluation.claims [FILE ...]`.

FILE (default `evaluation/claims/*.jsonl`) holds one claim a line: a sentence, the stretches of a book that are its
evidence (file, offset, length, SHA-256), whether they state it, and of which kind it is. Books of the shelf lie under
`--shelf`, the sample book in `corpus/`. A stretch counts as the units of its page that lie within it, below their
headings: just what an answer is checked against.

The figures are the claims that a reader would see, those without a mark, and those that pass the rules for literals
alone. The claims were not written by a model, so its signals are missing here; `evaluation/written` has sentences that
models really wrote.
"""

import argparse
import asyncio
import io
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np

from evaluation.rows import read_rows
from evaluation.show import aligned
from lutrin.answer.grade import Grader, RawSentence, broken_literal, evidence_of
from lutrin.answer.runs import whole
from lutrin.errors import InvalidInput, LutrinError
from lutrin.ingest.formats import format_of
from lutrin.ports import Embedder
from lutrin.records import Chunk, Document

ROOT = Path(__file__).resolve().parents[1]
SHELF = ROOT.parent / "shared" / "shelf" / "books"
CLAIMS = ROOT / "evaluation" / "claims"
SEED = 1

Judge = Callable[["Claim", Sequence[Chunk]], Awaitable[bool]]
Place = tuple[str, int, int, str]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence about a stretch of a book, labelled by hand."""

    book: str
    claim: str
    label: bool
    kind: str
    pair: str
    split: str = "train"
    file: str = ""
    offset: int = 0
    length: int = 0
    hash: str = ""
    places: tuple[Place, ...] = ()

    @property
    def stretches(self) -> tuple[Place, ...]:
        """The evidence: file, offset and length in characters, SHA-256."""
        return self.places or ((self.file, self.offset, self.length, self.hash),)


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a check on some claims."""

    name: str
    true_kept: float
    false_kept: float
    ms: float
    """Median milliseconds for a claim."""


def read_claims(files: Sequence[Path]) -> list[Claim]:
    """The claims of several files, in order.

    Raises:
        InvalidInput: A line is not a claim, or there are no lines.
    """
    return read_rows(files, Claim, f"There are no claims in {', '.join(map(str, files)) or CLAIMS}.")


def passages_of(claim: Claim, folder: Path) -> list[Chunk]:
    """Return the evidence of a claim as passages.

    Args:
        claim: Names the stretches of text.
        folder: Folder of the book.

    Raises:
        InvalidInput: A stretch has changed since the claim was written, or contains no text.
    """
    return [stretch_as_passage(claim.book, folder / place[0], place) for place in claim.stretches]


def stretch_as_passage(book: str, path: Path, place: Place) -> Chunk:
    """Return the units within a stretch of a page, below their headings, as a passage.

    Raises:
        InvalidInput: The stretch has changed, or contains no text.
    """
    name, offset, length, digest = place
    end = offset + length
    source, document = _document(path)
    if sha256(source[offset:end].encode()).hexdigest() != digest:
        raise InvalidInput(
            f"{book}, {name}: the {length} characters from {offset} on are not those that were labelled."
        )
    inside = [
        (section, [unit for unit in section.units if unit.char_start < end and unit.char_end > offset])
        for section in document.sections
    ]
    held = [(section, units) for section, units in inside if units]
    if not held:
        raise InvalidInput(f"{book}, {name}: no text stands in the {length} characters from {offset} on.")
    section = held[0][0]
    units = tuple(unit for _, found in held for unit in found)
    return Chunk(
        chunk_id=digest, text="\n".join(unit.text for unit in units), book=book, book_title="", edition="", module="",
        chapter=document.chapter, section=document.section, section_title=section.title,
        heading_path=section.heading_path, filename=name, page=None, page_label="", anchor="", chunk_index=0,
        char_start=offset, char_end=end, token_count=0, content_type="text", is_simulation=None, content_hash=digest,
        units=units,
    )  # fmt: skip


@cache
def _document(path: Path) -> tuple[str, Document]:
    kind = format_of(path.name)
    if kind is None or not path.is_file():
        raise InvalidInput(f"There is no page {path}.")
    data = path.read_bytes()
    return data.decode("utf-8"), kind.parse(io.BytesIO(data), path.name, "")


async def judged(
    claims: Sequence[Claim], evidence: Sequence[Sequence[Chunk]], judge: Judge
) -> list[tuple[bool, float]]:
    """Check each claim; return whether it is kept, and the milliseconds."""
    found = []
    for claim, passages in zip(claims, evidence, strict=True):
        began = time.perf_counter()
        kept = await judge(claim, passages)
        found.append((bool(kept), 1000 * (time.perf_counter() - began)))
    return found


def row(name: str, claims: Sequence[Claim], found: Sequence[tuple[bool, float]], split: str = "") -> Row:
    """Compute the figures of a check on a split, or on all claims if the split is empty."""
    chosen = [(claim, kept, ms) for claim, (kept, ms) in zip(claims, found, strict=True) if split in {"", claim.split}]

    def share(*, label: bool) -> float:
        of = [kept for claim, kept, _ in chosen if claim.label is label]
        return sum(of) / len(of) if of else float("nan")

    median = float(np.median([ms for _, _, ms in chosen])) if chosen else 0.0
    return Row(name, share(label=True), share(label=False), median)


async def compare(
    claims: Sequence[Claim], evidence: Sequence[Sequence[Chunk]], embedder: Embedder
) -> dict[str, list[tuple[bool, float]]]:
    """Grade every claim; return by name which are shown, which count as stated, and which pass the literals alone."""
    grader = Grader(embedder)

    async def literal(claim: Claim, passages: Sequence[Chunk]) -> bool:
        return not broken_literal(claim.claim, "\n".join(evidence_of(whole(chunk)) for chunk in passages))

    def graded(*levels: str) -> Judge:
        async def judge(claim: Claim, passages: Sequence[Chunk]) -> bool:
            shown = [(number, whole(chunk)) for number, chunk in enumerate(passages, 1)]
            return (await grader.grade(RawSentence(claim.claim), shown, "")).level in levels

        return judge

    return {
        "shown": await judged(claims, evidence, graded("stated", "likely")),
        "stated": await judged(claims, evidence, graded("stated")),
        "literals alone": await judged(claims, evidence, literal),
    }


def table(claims: Sequence[Claim], found: Mapping[str, Sequence[tuple[bool, float]]]) -> str:
    """Format the shares of true and false claims that each check keeps, then Lutrin's by kind."""
    heads = [["check", "fit: true", "false", "test: true", "false", "all: true", "false", "ms a claim"]]
    for name, kept in found.items():
        fit, test, both = (row(name, claims, kept, split) for split in ("fit", "test", ""))
        shares = [f"{value:.3f}" for one in (fit, test, both) for value in (one.true_kept, one.false_kept)]
        heads.append([name, *shares, f"{both.ms:.1f}"])
    kinds = [["kind", "claims", "kept"]]
    for is_false, kind in sorted({(not claim.label, claim.kind) for claim in claims}):
        held = [kept for claim, (kept, _) in zip(claims, found["shown"], strict=True) if claim.kind == kind]
        kinds.append([f"{'false' if is_false else 'true'}: {kind}", str(len(held)), f"{sum(held) / len(held):.3f}"])
    return f"{aligned(heads)}\n\n{aligned(kinds)}"


def folder_of(book: str, *folders: Path) -> Path:
    """Return the folder of a book: the sample book's, else the first in `folders`.

    Raises:
        InvalidInput: It is in none of them.
    """
    places = [folder / book for folder in (ROOT / "corpus", *folders)]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise InvalidInput(f"There is no book {book} in {', '.join(map(str, folders))}.")
    return found


def listed(claims: Iterable[Claim], found: Iterable[tuple[bool, float]]) -> str:
    """List the claims of the split `fit` that were judged wrongly; those of `test` stay unread."""
    return "\n".join(
        f"{'lost' if claim.label else 'LET THROUGH'} {claim.pair} {claim.kind}: {claim.claim}"
        for claim, (kept, _) in zip(claims, found, strict=True)
        if kept != claim.label and claim.split != "test"
    )


async def main_async(options: argparse.Namespace) -> None:
    """Read, judge, print."""
    from lutrin.runtime.profile import open_embedder  # noqa: PLC0415 - models load only when claims are judged
    from lutrin.settings import load_settings  # noqa: PLC0415 - as below

    settings = load_settings(profile="local", models_dir=ROOT / "models", model="none", log_level="error")
    claims = read_claims(options.files or sorted(CLAIMS.glob("*.jsonl")))
    if options.most and options.most < len(claims):
        claims = [
            claims[place] for place in sorted(np.random.default_rng(SEED).permutation(len(claims))[: options.most])
        ]
    evidence = [passages_of(claim, folder_of(claim.book, options.shelf)) for claim in claims]
    found = await compare(claims, evidence, open_embedder(settings))
    print(f"{len(claims)} claims, {sum(claim.label for claim in claims)} of them true")
    print(table(claims, found))
    if options.verbose:
        print(listed(claims, found["shown"]))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--shelf", type=Path, default=SHELF, help="folder of the shelf's books")
    parser.add_argument("--most", type=int, default=0, help="so many claims, drawn; 0: all")
    parser.add_argument("--verbose", action="store_true", help="print what is judged wrongly in the split `fit`")
    try:
        asyncio.run(main_async(parser.parse_args()))
    except LutrinError as error:
        print(error.detail, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
