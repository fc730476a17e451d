"""Everyday questions are told from look-alikes by the reader's vectors."""

from pathlib import Path

import numpy as np

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.search.everyday import fit, loss

EVERYDAY = ["Is it sunny outside?", "What time is it?", "meaning of life", "What is your name?", "Tell me a joke"]
ALIKE = [
    "How does the robot tell the time?", "What happens to the camera in sunlight?", "What is the name of the node?",
    "How long is the life of a battery?", "At which time of day are the bees fed?", "What is deep learning?",
]  # fmt: skip


async def test_everyday_questions_lose_and_look_alikes_do_not(models_dir: Path) -> None:
    """None of the everyday ones is an example word for word."""
    local = FastembedEmbedder(models_dir / "reader", threads=1)
    odds = [fit().odds(one.pooled) for text in [*EVERYDAY, *ALIKE] for one in await local.encode([text])]
    local.close()
    assert [text for text, one in zip([*EVERYDAY, *ALIKE], odds, strict=True) if one > 0] == EVERYDAY


def test_another_embedder_loses_nothing() -> None:
    """The fit does not apply to its vectors."""
    vector = np.array(fit().weights[:-1], dtype=np.float32)
    assert loss(vector, f"{fit().embedder}/w256o32/i8") > 0
    assert loss(vector, "words") == 0
