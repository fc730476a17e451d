"""How far a model can be trusted as a judge: found by a list, kept for this machine, told in a table."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fakes_generator import ScriptedGenerator

from lutrin.answer.ability import Ability
from lutrin.errors import ModelMissing
from lutrin.runtime.judging import Trust, describe, measured, read_list, recalled, remember, trust_of

ROOT = Path(__file__).resolve().parents[2]


def test_above_the_threshold_stands_no_false_sentence() -> None:
    """The likeliest false one sets it; what is kept is the share of the true ones beyond."""
    trust = trust_of("m", [True, False, True, True, False], [0.9, 0.6, 0.61, 0.3, 0.1], [1.0, 3.0, 2.0, 2.0, 2.0])
    assert 0.6 < trust.threshold < 0.61
    assert trust.true_kept == pytest.approx(2 / 3)
    assert trust.seconds == 2.0


def test_a_model_that_says_yes_to_all_is_never_believed() -> None:
    """Its threshold lies beyond what it can say."""
    trust = trust_of("m", [True, False], [1.0, 1.0], [1.0, 1.0])
    assert trust.threshold > 1
    assert trust.true_kept == 0
    assert "explained at once" not in dict(describe(trust, Ability())).values()


async def test_the_list_tells_a_judge_by_words_from_one_by_meaning() -> None:
    """Its false sentences are near variants: who goes by words lets some through wherever the true ones pass."""

    def by_words(texts: Sequence[str]) -> str:
        evidence, _, rest = texts[-1].partition("\n\nSentence: ")
        said = rest.partition("\n\n")[0].strip(".").lower().split()
        return "YES" if sum(word in evidence.lower() for word in said) > 0.7 * len(said) else "NO"

    items = read_list(ROOT / "models")
    assert sum(item.label for item in items) * 2 == len(items) > 50
    trust = await measured(ScriptedGenerator(by_words), "words", items, lambda _: None)
    assert trust.true_kept < 0.1


def test_what_was_found_is_remembered_by_model(tmp_path: Path) -> None:
    """A second measurement replaces the first; other models stay."""
    for threshold in (0.9, 0.8):
        remember(Trust(model="a", threshold=threshold, true_kept=0.5, seconds=1.0), tmp_path / "data")
    remember(Trust(model="b", threshold=0.7, true_kept=0.5, seconds=1.0), tmp_path / "data")
    found = recalled("a", tmp_path / "data")
    assert found is not None
    assert found.threshold == 0.8
    assert recalled("c", tmp_path / "data") is None


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    """With what to do."""
    with pytest.raises(ModelMissing, match="judging"):
        read_list(tmp_path)
