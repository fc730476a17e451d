"""What a reader gets when many ask at once: a prompt that costs its share of the time, and one sentence.

A prompt's tokens are most of an answer's cost, so ten full prompts would leave nobody time to be answered. In a crowd
each newcomer's prompt keeps its beginning, as many of the book's paragraphs as its share of the time allows, the best
ones first, and the question; the answer ends with its first sentence. The reader has the quotes in any case.
"""

import re

from lutrin.generate.pace import Pace
from lutrin.generate.protocol import Limits

_ITEM_SIGN = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s+")
_NEXT_SENTENCE = re.compile(r"""[.!?]["'”’)\]*`]*\s+["'“‘(\[*`]*[A-Z0-9]""")


def crowded(pace: Pace, limits: Limits, *, left_s: float, prompt_tokens: int, readers: int) -> bool:
    """Whether readers with full prompts and usual answers would not all be in time.

    Args:
        pace: What steps have cost.
        limits: Hold the usual length of an answer.
        left_s: Seconds until the deadline.
        prompt_tokens: That are still to be computed, of all these readers.
        readers: Who are being answered or wait, at most as many as there are slots.
    """
    return readers > 1 and pace.answer_s(prompt_tokens, limits.usual_tokens, readers, limits.guesses) > left_s


def share_tokens(pace: Pace, limits: Limits, *, left_s: float, readers: int, unread: int) -> int:
    """Prompt tokens that each of `unread` readers may cost, so that everybody gets a sentence in time.

    Args:
        pace: What steps have cost.
        limits: Hold the length of a sentence and the least share.
        left_s: Seconds until the deadline.
        readers: Who will be decoded at once.
        unread: Those of them whose prompts are not computed.
    """
    if pace.prefill_s == 0.0:
        return limits.least_share_tokens
    left_s -= limits.worth_tokens * pace.token_s(readers, limits.guesses)
    return max(limits.least_share_tokens, int(left_s / pace.prefill_s / max(1, unread)))


_ENDS = re.compile(r"(?:^|\s)(?!(?:approx|resp|incl|etc|fig|sec|vol|max|min|vs)\.)[a-z]{3,}[.!?]$")


def ends_plainly(text: str, prompt: str) -> bool:
    """Whether a text ends with a plain word and a full stop: a step saved, which is most of a tenth of a second.

    Args:
        text: What was written.
        prompt: A word after whose dot something follows there, such as a module's name, may go on.
    """
    end = _ENDS.search(text)
    return end is not None and not re.search(rf"\b{re.escape(end.group().strip())}\w", prompt)


def has_sentence(text: str) -> bool:
    """Whether a sentence has ended and the next one has begun: only then is its end certain.

    The number of a list's item ends none.
    """
    sign = _ITEM_SIGN.match(text)
    return bool(_NEXT_SENTENCE.search(text, sign.end() if sign else 0))
