"""Training data of the cross-encoder: claims, changed sentences and public pairs, as tokens."""

import json
import random
from pathlib import Path

import pytest

from evaluation.claims import CLAIMS as JUDGED
from training import pairs, public, sources
from training.pairs import LABELS, MUTABLE, NOT_STATED, STATES, changes_of, mutations, public_pairs, selected, shortened

WORDS = {"the": 1, "arm": 2, "lifts": 3, "two": 4, "kilograms": 5, "bees": 6, "hum": 7, "in": 8, "may": 9}


def ids_of(text: str) -> list[int]:
    """One id a word."""
    return [WORDS[word] for word in text.lower().replace(".", "").split()]


def test_a_change_makes_another_statement() -> None:
    """New numbers come from the surrounding text; capitals stay at the start of a sentence."""
    for text, around, change, expected in (
        ("It lifts 28 kg.", "It lifts 28 kg. It weighs 35 kg.", 0, "It lifts 35 kg."),
        ("Pressure increases at depth.", "", 1, "Pressure decreases at depth."),
        ("The valve is open.", "", 2, "The valve is not open."),
        ("The valve must not be opened.", "", 2, "The valve must be opened."),
        ("Friction causes the heat.", "", 3, "Heat causes the friction."),
    ):
        assert changes_of(MUTABLE)[change](text, around, random.Random(1)) == expected


def test_a_sentence_without_a_handle_stays_as_it_is() -> None:
    """Nothing is made up where nothing can be changed."""
    for change in range(4):
        assert changes_of(MUTABLE)[change]("Bees hum.", "Bees hum. They dance.", random.Random(1)) is None


def test_a_sentence_is_beside_its_variant_with_the_same_evidence(tmp_path: Path) -> None:
    """Both are shortened alike, so that only what was changed tells them apart."""
    told = [
        "The gripper opens before the arm moves (see below) over the table.",
        "The table is level and it stands on four feet of steel.",
        "The light is on when the motors have power from the wall.",
        "A person may always stop the arm with the red button at the side.",
    ]
    text, units = "Arm\n", []
    for sentence in told:
        units.append([len(text), len(text) + len(sentence), "sentence", 0, 0, 0])
        text += f"{sentence} "
    path = tmp_path / "book.jsonl"
    path.write_text(json.dumps({"file": "a.md", "head": "Arm", "text": text, "units": units}) + "\n")
    ((true, false),) = mutations(path, random.Random(1), changes_of(MUTABLE))
    assert (true.label, false.label) == (STATES, NOT_STATED)
    assert true.evidence == false.evidence
    assert true.claim != false.claim
    assert any(shortened(sentence, random.Random(0)) == true.claim for sentence in told)


def test_of_long_evidence_the_sentences_that_speak_of_the_claim_are_read() -> None:
    """They keep their order; where all fit, all are read."""
    evidence = "Bees hum in may. The arm lifts two kilograms. Bees hum."
    claim = ids_of("The arm lifts two kilograms.")
    assert selected(claim, evidence, ids_of, room=5) == claim
    assert selected(claim, evidence, ids_of, room=8) == [*claim, 6, 7]
    assert selected(claim, evidence, ids_of, room=99) == ids_of(evidence)


def test_a_public_pair_keeps_its_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stated, denied or neither; a pair without a label is left out."""
    rows = [{"premise": "Bees hum.", "hypothesis": "Bees sing.", "label": label} for label in (*LABELS, "-")]
    monkeypatch.setattr(public, "pairs", lambda _: iter(rows))
    assert [said.label for (said,) in public_pairs(tmp_path)] == list(LABELS.values())


def test_no_claim_to_learn_from_is_one_to_be_judged_by() -> None:
    """The books of both sets are different ones, and none is kept for judging the reader."""
    learned = {path.stem for path in pairs.CLAIMS.glob("*.jsonl")}
    assert learned
    assert not learned & {path.stem for path in JUDGED.glob("*.jsonl")}
    assert all(not sources.sources()[name].left_out for name in learned)
