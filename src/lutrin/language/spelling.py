"""British and American spelling as data."""

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
