"""Questions that people ask any assistant and no book answers: "What time is it?", "Tell me a joke".

They share words with a book ("time") but are close to nothing in it. A regression on the question's vector, trained on
listed examples and look-alikes, scores how everyday it is; `python -m evaluation.everyday` fits it.
"""

from functools import cache

from lutrin.search.fits import Float, VectorFit, load_fit


@cache
def fit() -> VectorFit:
    """The fit of `python -m evaluation.everyday`, on a question's vector: (d,)."""
    return load_fit("lutrin.search", "everyday.json", VectorFit)


def loss(vector: Float, embedder: str) -> float:
    """Loss of the log odds that the book answers: the log odds of an everyday question, if positive.

    Zero for vectors of another embedder.
    """
    return max(fit().odds(vector), 0.0) if embedder.partition("/")[0] == fit().embedder else 0.0
