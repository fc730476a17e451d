"""Sums are recalculated, and nothing but arithmetic is ever evaluated."""

import pytest

from lutrin.answer.calculate import calculations, evaluate


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("3 * 2.5 kg = 7.5 kg", True),
        ("The robot needs 24 V × 20 Ah = 480 Wh in all.", True),
        ("480 Wh / 160 W = 3 h", True),
        ("1,000 m - 250 m = 750 m", True),
        ("(8 + 2) * 3 = 30", True),
        ("10 / 3 ≈ 3.33", True),
        ("2^3 = 8", True),
        ("12 / 5 ≈ 2", True),
        ("12 / 5 = 2", False),
        ("10 / 3 = 3.34", False),
        ("8 GB - 2.5 GB = 5 GB", False),
        ("1 / 0 = 5", False),
    ],
)
def test_a_result_is_what_the_numbers_give(text: str, right: bool) -> None:
    """As exactly as the result is written; units stand beside and are not calculated with."""
    (found,) = calculations(text)
    assert found.is_right is right


@pytest.mark.parametrize("text", ["It has 3 joints.", "The answer = 4", "see pages 3-5", "a * b = 3"])
def test_what_is_no_calculation_is_none(text: str) -> None:
    """Numbers beside a sign alone are not one."""
    assert calculations(text) == []


@pytest.mark.parametrize(
    "expression", ["__import__('os').getcwd()", "(lambda: 1)()", "9 ** 9 ** 9", "[1] * 9", "1 if 1 else 2", "'a' * 9"]
)
def test_nothing_but_arithmetic_is_evaluated(expression: str) -> None:
    """No names, calls, strings or lists, and no power that would take for ever."""
    assert evaluate(expression) is None


def test_the_operands_are_told() -> None:
    """So that they can be looked for in the book."""
    (found,) = calculations("3 * 1,200 rpm = 3600 rpm")
    assert (found.operands, found.result) == (("3", "1200"), "3600")
