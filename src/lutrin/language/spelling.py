"""How words are spelt and mistyped: British and American English, neighbours on the keyboard, letters of one sound."""

from functools import cache

_ENDINGS = r"(?=(?:e|ed|er|ers|es|ing|able|ation|ations)$)"
SPELLING_RULES: tuple[tuple[str, str], ...] = (
    (rf"is{_ENDINGS}", "iz"),
    (rf"iz{_ENDINGS}", "is"),
    (rf"ys{_ENDINGS}", "yz"),
    (rf"yz{_ENDINGS}", "ys"),
    (r"(?<=\w\w)our", "or"),
    (r"(?<=\w\w)or", "our"),
    (r"(?<=[bt])re(?=s?$)", "er"),
    (r"(?<=[bt])er(?=s?$)", "re"),
    (r"(?<=[bt])re(?=d$)", "ere"),
    (r"(?<=[bt])ere(?=d$)", "re"),
    (r"ogue", "og"),
    (r"og(?=s?$|ed$|ing$)", "ogue"),
    (r"ll(?=(?:ed|er|ers|ing)$)", "l"),
    (r"(?<=[aeo])l(?=(?:ed|er|ers|ing)$)", "ll"),
    (r"ence(?=s?$)", "ense"),
    (r"ense(?=s?$)", "ence"),
    (r"[ao]e(?=.{5})", "e"),
    (r"e(?=.{5})", "ae"),
    (r"e(?=.{5})", "oe"),
)
"""What differs between British and American spelling, in both directions. A rule may give words that do not exist: only
what the book has is taken."""
SPELLING_PAIRS: tuple[tuple[str, str], ...] = (
    ("aging", "ageing"), ("airplane", "aeroplane"), ("aluminum", "aluminium"), ("artifact", "artefact"),
    ("curb", "kerb"), ("draft", "draught"), ("gage", "gauge"), ("gray", "grey"), ("jewelry", "jewellery"),
    ("judgment", "judgement"), ("mold", "mould"), ("plow", "plough"), ("program", "programme"),
    ("skeptic", "sceptic"), ("sulfur", "sulphur"), ("tire", "tyre"),
)  # fmt: skip
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Rows of keys; each begins half a key further to the right."""
SOUNDS = ("aeiouy", "ckq", "csxz", "fv", "bp", "dt", "gj", "mn", "uvw")
"""Letters that are taken for each other by ear."""


@cache
def is_confused(one: str, other: str) -> bool:
    """Whether a letter is easily typed for another: they sound alike or are neighbours on the keyboard.

    >>> is_confused("k", "c"), is_confused("s", "d"), is_confused("m", "l")
    (True, True, False)
    """
    if one == other or any(one in group and other in group for group in SOUNDS):
        return True
    places = [
        (row, column + row / 2)
        for letter in (one, other)
        for row, keys in enumerate(KEYBOARD)
        for column, key in enumerate(keys)
        if key == letter
    ]
    return len(places) == 2 and all(abs(a - b) <= 1 for a, b in zip(*places, strict=True))
