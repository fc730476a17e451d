"""A question without the name of what its book is about, which every page of the book matches."""

import re
from collections.abc import Sequence

from lutrin.retrieve.words import topic_stems


def without(question: str, subjects: Sequence[str]) -> str | None:
    """The question with "it" in place of the names; None if it holds none, or asks of nothing else.

    Args:
        question: As it is searched for.
        subjects: Names that the whole book speaks of, lower case; see `lutrin.index.subjects`.

    Example:
        >>> without("Does Kestrel's hand run on Windows?", ["kestrel"])
        "Does it's hand run on Windows?"
        >>> without("What is Kestrel?", ["kestrel"])
    """
    names = "|".join(re.escape(name) for name in subjects if topic_stems(name))
    if not names:
        return None
    left = re.sub(rf"(?<!\w)(?:{names})s?(?!\w)", "it", question, flags=re.IGNORECASE)
    return left if left != question and topic_stems(left) else None
