"""The numbers and letters that lists show before their items."""

import re

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def whole(value: object, default: int) -> int:
    """A whole number as an attribute gives it."""
    return int(str(value)) if value is not None and re.fullmatch(r"-?\d{1,9}", str(value).strip()) else default


def numeral(number: int, kind: str) -> str:
    """A number as lists show it: `1`, `a`, `A`, `i` or `I`.

    >>> numeral(4, "a"), numeral(9, "i"), numeral(28, "A"), numeral(0, "a")
    ('d', 'ix', 'AB', '0')
    """
    if kind in "aA" and number > 0:
        text = ""
        while number:
            number, rest = divmod(number - 1, 26)
            text = _LETTERS[rest] + text
        return text if kind == "a" else text.upper()
    if kind in "iI" and 0 < number < 4000:
        text = ""
        for value, sign in zip(
            (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
            "m cm d cd c xc l xl x ix v iv i".split(),
            strict=True,
        ):
            text += sign * (number // value)
            number %= value
        return text if kind == "i" else text.upper()
    return str(number)
