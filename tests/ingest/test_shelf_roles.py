"""Roles on real books: sections labelled by hand against what is read, on the shelf of books beside the checkout.

`shelf_roles.jsonl` holds a place (file, start, end in characters), the SHA-256 of what is there, and its role; the
books themselves are no part of the repository. Rules and names are fitted on the half `tune`; `test` is only counted.

    python tests/ingest/test_shelf_roles.py [tune]     # the table, and what is read otherwise than labelled
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from lutrin.ingest.markdown import parse_markdown
from lutrin.records import NEVER_AN_ANSWER

HERE = Path(__file__).parent
LABELS = HERE / "shelf_roles.jsonl"
GROUPS = {
    "questions": frozenset({"exercise", "quiz"}),
    "objectives": frozenset({"objectives"}),
    "assignments": frozenset({"assignment"}),
    "rubrics": frozenset({"rubric"}),
    "lists of links": frozenset({"references", "contents"}),
    "all of these": frozenset(NEVER_AN_ANSWER),
}
BAR = 0.95


@dataclass(frozen=True)
class Judged:
    """A labelled passage and the role that was read."""

    place: str
    half: str
    label: str
    read: str


def shelf() -> Path | None:
    """The folder of books in `shared/shelf` of the checkout or beside it."""
    root = HERE.parents[1]
    found = (folder / "shared" / "shelf" / "books" for folder in (root, *root.parents))
    return next((folder for folder in found if folder.is_dir()), None)


@lru_cache(maxsize=1)
def judged() -> tuple[Judged, ...]:
    """Every label with what is read in its place: the role of the first unit there."""
    books = shelf()
    if books is None:
        pytest.skip("The shelf of real books (shared/shelf) is not beside this checkout.")
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    documents = {
        name: parse_markdown((books / name).read_bytes().decode(), name.partition("/")[2])
        for name in {row["file"] for row in rows}
    }
    found = []
    for row in rows:
        document = documents[row["file"]]
        text = document.source[row["start"] : row["end"]]
        assert hashlib.sha256(text.encode()).hexdigest() == row["sha256"], f"{row['file']} is another edition"
        units = [unit for section in document.sections for unit in section.units]
        read = next((unit.role for unit in units if row["start"] <= unit.char_start < row["end"]), "nothing")
        place = f"{row['file']}:{row['start']}"
        half = "test" if hashlib.sha256(place.encode()).digest()[0] % 2 else "tune"
        found.append(Judged(place, half, row["role"], read))
    return tuple(found)


def scores(items: Iterable[Judged], roles: frozenset[str]) -> tuple[float, float, int]:
    """Precision, recall, and how many are labelled with one of the roles."""
    counts = Counter((item.label in roles, item.read in roles) for item in items)
    right, wrong, missed = counts[True, True], counts[False, True], counts[True, False]
    return right / max(1, right + wrong), right / max(1, right + missed), right + missed


@pytest.mark.parametrize("half", ["tune", "test"])
@pytest.mark.parametrize("group", GROUPS)
def test_what_never_answers_is_told_from_what_does(group: str, half: str) -> None:
    """Precision and recall of at least .95, on the half that rules were fitted on and on the other."""
    precision, recall, count = scores([item for item in judged() if item.half == half], GROUPS[group])
    assert count >= 5
    assert min(precision, recall) >= BAR


def test_the_labels_are_many_and_hold_no_text() -> None:
    """At least 300 sections, spread over six books; a label is a place, a hash and a role."""
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 300
    assert min(Counter(row["file"].partition("/")[0] for row in rows).values()) >= 50
    assert {frozenset(row) for row in rows} == {frozenset({"file", "start", "end", "sha256", "role"})}


if __name__ == "__main__":
    for half in ("tune", "test"):
        part = [item for item in judged() if item.half == half]
        for group, roles in GROUPS.items():
            precision, recall, count = scores(part, roles)
            sys.stdout.write(f"{half:4} {group:14} precision {precision:.3f} recall {recall:.3f} of {count}\n")
    for item in judged():
        wrong = next((True for roles in GROUPS.values() if (item.label in roles) != (item.read in roles)), False)
        if wrong and item.half in sys.argv[1:]:
            sys.stdout.write(f"{item.place} is {item.label}, read as {item.read}\n")
