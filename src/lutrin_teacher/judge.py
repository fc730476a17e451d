"""The language model as judge of its own cards: beyond truth, whether they serve a pupil.

A local model reports the probability of its yes; a service only says yes or no, which counts as certain.
"""

import math

from lutrin.errors import GeneratorError
from lutrin.ports import Generator
from lutrin.records import Finished, GenerationRequest, Message, Piece

LEAST_YES = 0.91
"""Probability of the model's yes from which a card is kept: of 57 cards by `medium`, reviewed by a person, .81 were
right and useful; of the 41 that pass both questions .90. Not fitted for larger models."""
PATIENCE_S = 600.0
"""Seconds for one request of a study; no reader waits for it."""
YES, NO = "YES", "NO"
IS_CLEAR = (
    "You check a pupil's question. Answer YES only if a pupil who has not seen the passage understands what is asked, "
    "and the passage answers it. Write one word."
)
IS_ANSWERED = (
    "You check a pupil's card. Answer YES only if the answer tells exactly what the question asks, by itself and as "
    "the passage does. Answer NO if it speaks of something else, only announces an answer, says less than was asked, "
    "or repeats the question. Write one word."
)


async def objection(generator: Generator, evidence: str, question: str, answer: str) -> str:
    """Why the model rejects a card of a passage (`evidence`); empty if it accepts. Doubt and failure count as no."""
    prompt = f"Question: {question}"
    if not await _says_yes(generator, IS_CLEAR, evidence, prompt):
        return "not clear by itself"
    is_answered = await _says_yes(generator, IS_ANSWERED, evidence, f"{prompt}\nAnswer: {answer}")
    return "" if is_answered else "not what was asked"


async def _says_yes(generator: Generator, system: str, evidence: str, card: str) -> bool:
    request = GenerationRequest(
        messages=(
            Message(role="system", content=system),
            Message(role="user", content=f"Passage:\n{evidence}\n\n{card}\n\nYES or NO?"),
        ),
        max_tokens=4,
        deadline_s=PATIENCE_S,
        between=(YES, NO),
    )
    text, odds = "", None
    try:
        async for event in generator.stream(request):
            text += event.text if isinstance(event, Piece) else ""
            odds = event.odds if isinstance(event, Finished) else odds
    except GeneratorError:
        return False
    return 1 / (1 + math.exp(-odds)) >= LEAST_YES if odds is not None else text.strip().upper().startswith(YES)
