"""Update the places of labelled passages after a page of our books was edited: `python -m evaluation.anchor`.

A label names its evidence by file, offset, length and hash. Text added above a stretch moves it: then the offset is
corrected in `evaluation/claims/` and `evaluation/remote/`. A stretch whose own words have changed is listed and left
unchanged: read the sentence again, check whether its label still holds, and set the hash.
"""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
LABELLED = ("claims", "remote")


def found_again(text: str, offset: int, length: int, digest: str) -> int | None:
    """The current place of a stretch: the nearest one to its old place with the same characters.

    Args:
        text: The page.
        offset: Where the stretch began, in characters.
        length: Of the stretch, in characters.
        digest: SHA-256 of the stretch.

    Returns:
        Its offset; None: no stretch of this length has this hash.

    >>> found_again("New. Old.", 0, 4, sha256(b"Old.").hexdigest())
    5
    """
    starts = sorted(range(len(text) - length + 1), key=lambda start: abs(start - offset))
    return next(
        (start for start in starts if sha256(text[start : start + length].encode()).hexdigest() == digest), None
    )


def mended(row: dict[str, Any], folder: Path) -> list[str]:
    """Move the places of a labelled line to where their stretches stand now; return what is nowhere any more.

    Args:
        row: A claim or an answer; changed in place.
        folder: Of its book.
    """
    lost = []
    several = row.get("passages") or row.get("places")
    for place in several or [[row["file"], row["offset"], row["length"], row["hash"]]]:
        file, offset, length, digest = place
        now = found_again((folder / file).read_bytes().decode("utf-8"), offset, length, digest)
        if now is None:
            lost.append(f"{file}, {length} characters from {offset} on: {row.get('claim') or row['question']}")
        elif several:
            place[1] = now
        else:
            row["offset"] = now
    return lost


def follow(labels: Path, corpus: Path) -> tuple[int, list[str]]:
    """Mend every file of labels about a book of the corpus.

    Returns:
        How many lines were changed, and what has to be read again.
    """
    changed, lost = 0, []
    for path in sorted(file for kind in LABELLED for file in (labels / kind).glob("*.jsonl")):
        if not (corpus / path.stem).is_dir():
            continue
        lines = []
        for line in path.read_text("utf-8").splitlines():
            row = msgspec.json.decode(line)
            before = msgspec.json.encode(row)
            lost += mended(row, corpus / path.stem)
            moved = msgspec.json.encode(row) != before
            changed += moved
            lines.append(msgspec.json.encode(row).decode() if moved else line)
        path.write_bytes(("\n".join(lines) + "\n").encode())
    return changed, lost


if __name__ == "__main__":
    moved, gone = follow(ROOT / "evaluation", ROOT / "corpus")
    print(f"{moved} labelled lines moved, {len(gone)} stretches are not there any more", *gone, sep="\n  ")
    sys.exit(1 if gone else 0)
