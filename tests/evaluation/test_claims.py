"""Judging the check of sentences: claims are read, their evidence is found, and a threshold keeps its word."""

from hashlib import sha256
from pathlib import Path

import pytest
from tests.fakes import WordHashEmbedder

from evaluation.claims import Claim, compare, passages_of, read_claims, row, table
from lutrin.errors import InvalidInput

PAGE = "# Bees\n\n## Smoke\n\nSmoke calms the bees.\n\n## Weight\n\nA full frame weighs 2 kg.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book of one page."""
    (tmp_path / "bees.md").write_text(PAGE)
    return tmp_path


def claim(text: str, evidence: str, *, label: bool, split: str = "test") -> Claim:
    """A claim about a stretch of the page."""
    at = PAGE.index(evidence)
    digest = sha256(evidence.encode()).hexdigest()
    return Claim(
        book="bees", file="bees.md", offset=at, length=len(evidence), hash=digest, claim=text, label=label,
        kind="paraphrase" if label else "number", pair="p", split=split,
    )  # fmt: skip


def test_evidence_is_what_stands_in_the_stretch_below_its_headings(folder: Path) -> None:
    """As an answer would be checked against it."""
    (passage,) = passages_of(claim("Frames weigh 2 kg.", "A full frame weighs 2 kg.", label=True), folder)
    assert passage.heading_path == ("Bees", "Weight")
    assert [unit.text for unit in passage.units] == ["A full frame weighs 2 kg."]


def test_a_page_that_has_changed_is_named(folder: Path) -> None:
    """A label holds for the text that was labelled, not for later versions."""
    wanted = claim("Frames weigh 2 kg.", "A full frame weighs 2 kg.", label=True)
    (folder / "bees.md").write_text(PAGE.replace("2 kg", "3 kg"))
    with pytest.raises(InvalidInput, match=r"bees, bees\.md: the 25 characters from 52"):
        passages_of(wanted, folder)


async def test_what_is_shown_and_what_is_stated_is_counted_by_split(folder: Path) -> None:
    """Shares of true and of false claims; a wrong number is never shown."""
    evidence = "A full frame weighs 2 kg."
    claims = [
        claim("A full frame weighs 2 kg.", evidence, label=True, split="fit"),
        claim("A full frame weighs 9 kg.", evidence, label=False, split="fit"),
        claim("A frame that is full weighs 2 kg.", evidence, label=True),
        claim("A frame that is full weighs 3 kg.", evidence, label=False),
    ]
    found = await compare(claims, [passages_of(one, folder) for one in claims], WordHashEmbedder())
    assert row("shown", claims, found["shown"]).false_kept == 0.0
    assert row("literals", claims, found["literals alone"], "test").true_kept == 1.0
    assert "| literals alone " in table(claims, found)


def test_a_line_that_is_no_claim_is_named(tmp_path: Path) -> None:
    """With file and number."""
    (tmp_path / "claims.jsonl").write_text('{"claim": "x"}\n')
    with pytest.raises(InvalidInput, match=r"claims\.jsonl, line 1: .*required field"):
        read_claims([tmp_path / "claims.jsonl"])
