"""Sums are recalculated, and nothing but arithmetic is ever evaluated."""

from lutrin.answer.grade import calculations, evaluate


def test_a_result_is_what_the_numbers_give() -> None:
    """As exactly as the result is written; units beside numbers are ignored."""
    for text, right in (
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
    ):
        (found,) = calculations(text)
        assert found.is_right is right


def test_what_is_no_calculation_is_none() -> None:
    """Numbers beside a sign alone are not one."""
    for text in ("It has 3 joints.", "The answer = 4", "see pages 3-5", "a * b = 3"):
        assert calculations(text) == []


def test_nothing_but_arithmetic_is_evaluated() -> None:
    """No names, calls, strings or lists, and no power that would take for ever."""
    for expression in (
        "__import__('os').getcwd()",
        "(lambda: 1)()",
        "9 ** 9 ** 9",
        "[1] * 9",
        "1 if 1 else 2",
        "'a' * 9",
    ):
        assert evaluate(expression) is None


def test_the_operands_are_told() -> None:
    """So that they can be looked for in the book."""
    (found,) = calculations("3 * 1,200 rpm = 3600 rpm")
    assert found.operands == ("3", "1200")
