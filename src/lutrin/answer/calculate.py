"""Recalculates the sums that a model writes, so that no result is taken on trust.

A calculation is `numbers and signs = result`, with units beside the numbers: "3 * 2.5 kg = 7.5 kg". Only the four kinds
of arithmetic, powers and brackets are known; everything else is no calculation.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT = r"(?:\s?(?:%|°[CF]?|[^\W\d_]+(?:/[^\W\d_]+)?\.?))"
_TERM = rf"[(\s]*{_NUMBER}{_UNIT}?[)\s]*"
_EQUATION = re.compile(rf"({_TERM}(?:(?:[-+*/^×·÷−]|\*\*){_TERM})+)(=|≈)\s*(-?{_NUMBER})({_UNIT})?")
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "\0"})
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
LONGEST_CHARS = 200
LARGEST_POWER = 16
"""Greater exponents stand in no textbook's sum, and some would take for ever."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation as the model wrote it."""

    text: str
    operands: tuple[str, ...]
    """Numbers on its left side, without separators."""
    result: str
    is_right: bool
    """Whether the left side gives the result, as exactly as that is written."""


def calculations(text: str) -> list[Calculation]:
    """The calculations in a sentence.

    >>> [(one.result, one.is_right) for one in calculations("It needs 3 * 2.5 kg = 7.5 kg, so 7.5 / 2 = 4.")]
    [('7.5', True), ('4', False)]
    """
    found = []
    for match in _EQUATION.finditer(text[:LONGEST_CHARS]):
        bare = re.sub(_UNIT, " ", match[1].translate(_SIGNS)).replace("\0", "**")
        operands = tuple(number.replace(",", "") for number in re.findall(_NUMBER, bare))
        value = evaluate(bare.replace(",", ""))
        result = match[3].replace(",", "")
        found.append(Calculation(match[0].strip(), operands, result, _agrees(value, result, rounded=match[2] == "≈")))
    return found


def evaluate(expression: str) -> float | None:
    """Evaluate an arithmetic expression; None if it is not one or has no finite value.

    >>> evaluate("2 * (3 + 4)"), evaluate("__import__('os')"), evaluate("9 ** 9 ** 9")
    (14.0, None, None)
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _value(tree.body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return value if math.isfinite(value) else None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            first, second = _value(left), _value(right)
            if isinstance(sign, ast.Pow) and abs(second) > LARGEST_POWER:
                raise ValueError("the power is too large")
            return float(_OPERATORS[type(sign)](first, second))
    raise ValueError("this is not arithmetic")


def _agrees(value: float | None, result: str, *, rounded: bool) -> bool:
    """Whether a result is the value, rounded to its decimal places; whole ones are exact unless "≈" stands there."""
    if value is None:
        return False
    places = len(result.partition(".")[2])
    step = 10**-places if places or rounded else 0.0
    return math.isclose(value, float(result), rel_tol=1e-9) or -step / 2 < value - float(result) < step / 2
