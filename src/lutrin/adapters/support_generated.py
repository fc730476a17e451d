"""A language model as judge of a prepared card: whether its question is clear, and its answer tells what is asked.

This costs a short request for each, and is as good as the model. A local model reports the probability of its
yes; a service only says yes or no.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lutrin.errors import GeneratorError
from lutrin.ports import Generator
from lutrin.records import Finished, GenerationRequest, Message, Piece

YES, NO = "YES", "NO"


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked for a judgement."""

    system: str
    form: str
    """Of what it reads, with `{evidence}` and `{claim}`."""


CLEAR = Asking(
    "You check a pupil's question. Answer YES only if a pupil who has not seen the passage understands what is asked, "
    "and the passage answers it. Write one word.",
    "Passage:\n{evidence}\n\nQuestion: {claim}\n\nYES or NO?",
)
"""Of a prepared question."""
ANSWERED = Asking(
    "You check a pupil's card. Answer YES only if the answer tells exactly what the question asks, by itself and as "
    "the passage does. Answer NO if it speaks of something else, only announces an answer, says less than was asked, "
    "or repeats the question. Write one word.",
    "Passage:\n{evidence}\n\n{claim}\n\nYES or NO?",
)
"""Of a prepared question with its answer."""
AT_ONCE = 4


class GeneratedSupport:
    """Asks a generator; see `ports.Support`. Doubt, failure, and silence for `patience_s` count as no."""

    def __init__(self, generator: Generator, threshold: float = 0.5, *, asking: Asking, patience_s: float) -> None:
        self.name = f"asked of {generator.name}"
        self.threshold = threshold
        self._patience_s = patience_s
        self._generator = generator
        self._asking = asking
        self._at_once = asyncio.Semaphore(AT_ONCE)

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float32]:
        """Return the probabilities of the model's yes, (n,); 1 or 0 if it reports none."""
        said = await asyncio.gather(*(self._yes(claim, evidence) for claim, evidence in pairs))
        return np.array(said, dtype=np.float32)

    async def _yes(self, claim: str, evidence: str) -> float:
        if not evidence.strip():
            return 0.0
        request = GenerationRequest(
            messages=(
                Message(role="system", content=self._asking.system),
                Message(role="user", content=self._asking.form.format(evidence=evidence, claim=claim)),
            ),
            max_tokens=4,
            deadline_s=self._patience_s,
            between=(YES, NO),
        )
        text, odds = "", None
        try:
            async with self._at_once:
                async for event in self._generator.stream(request):
                    text += event.text if isinstance(event, Piece) else ""
                    odds = event.odds if isinstance(event, Finished) else odds
        except GeneratorError:
            return 0.0
        return 1 / (1 + math.exp(-odds)) if odds is not None else float(text.strip().upper().startswith(YES))
