"""Two questions that mean the same are told from two on the same subject: labelled pairs, and what must agree."""

import asyncio

import numpy as np

from lutrin.prepared import Entry
from lutrin.runtime.profile import open_embedder
from lutrin.settings import load_settings
from lutrin.study.same import SIGNALS, EncodedQuestion, Terms, agree, compare, may_be_meant, odds, weights
from training.same import measured, read_pairs


def said(text: str) -> EncodedQuestion:
    """A question without vectors."""
    return EncodedQuestion(text, np.ones(2, np.float32), np.ones((0, 2), np.float32))


def test_no_near_question_passes_and_many_others_do() -> None:
    """With the shipped embedder none of 393 near pairs is taken for the same; others are taken or offered."""
    embedder = open_embedder(load_settings(), threads=1)
    known, pairs = weights(), read_pairs()
    assert known is not None
    assert known.embedder == embedder.name, "another reader is installed: run `python -m training same`"
    try:
        values, agreeing = asyncio.run(measured(pairs, embedder))
    finally:
        embedder.close()
    chances = [odds(row.astype(np.float32), embedder.name) for row in values]
    taken = [bool(agrees) and chance > 0 for chance, agrees in zip(chances, agreeing, strict=True)]
    offered = {means: np.mean([may_be_meant(c) for c, p in zip(chances, pairs, strict=True) if p.same is means])
               for means in (True, False)}  # fmt: skip
    near = [pair.asked for pair, passes in zip(pairs, taken, strict=True) if passes and not pair.same]
    same = [passes for pair, passes in zip(pairs, taken, strict=True) if pair.same]
    assert near == []
    assert len(taken) - len(same) >= 300
    assert np.mean(same) >= 0.46
    assert offered[True] >= 0.88
    assert offered[False] <= 0.15


def test_terms_numbers_and_denials_must_agree() -> None:
    """At any similarity of the vectors: another term, another number or a negation is another question."""
    terms = Terms(
        Entry(kind="term", file="a", heading="b", topic=topic, aka=aka)
        for topic, aka in (
            ("accuracy", ()),
            ("precision", ()),
            ("lidar", ("laser scanner",)),
            ("scanner", ()),
            ("A*", ()),
        )
    )
    assert not agree(said("What is accuracy?"), said("What is accuracy and precision?"), terms)
    assert agree(said("How far does the lidar see?"), said("How far does the laser scanner see?"), terms)
    assert agree(said("What is lidar?"), said("What is a lidar?"), terms)
    assert not agree(said("Is it true of 2D?"), said("Is it true of 3D?"), terms)
    assert not agree(said("What does cd .. do?"), said("What does cd - do?"), terms)
    assert agree(said("What does the .. mean?"), said("What do two dots mean?"), terms)
    assert not agree(said("May I charge it?"), said("May I not charge it?"), terms)


def test_an_unknown_embedder_matches_nothing() -> None:
    """A fit for one reader does not apply to another's vectors."""
    assert odds(np.ones(len(SIGNALS), np.float32), "another") == -np.inf
    assert compare(said("a"), said("b")).tolist() == [0.0] * len(SIGNALS)
