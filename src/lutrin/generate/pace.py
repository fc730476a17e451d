"""How fast the model is on this machine just now, learnt from the steps that it has done."""

from itertools import pairwise

RECENT = 0.2
"""Weight of the newest step in the running means: the last ten steps or so count."""
CLEAR_PREFILL = 16
"""Fewer prompt tokens than this say little about the speed of prefill."""
ROW = 2.5
"""Prompt tokens that one more row of a decoding step costs: it needs the vocabulary's matrix (docs/decisions/0010)."""


class Pace:
    """Running means of what a prompt token and a decoding step cost, in seconds.

    Until something was measured, everything costs nothing: nobody is turned away on a guess.
    """

    def __init__(self) -> None:
        self.prefill_s = 0.0
        """Seconds for each token of a prompt."""
        self._decode_s: dict[int, float] = {}

    def observe(self, prefill: int, decoding: int, seconds: float) -> None:
        """Learn from one step.

        Args:
            prefill: Prompt tokens in it.
            decoding: Answers that got a token from it.
            seconds: How long it took.
        """
        if prefill >= CLEAR_PREFILL:
            cost = seconds / (prefill + decoding)
            self.prefill_s = cost if self.prefill_s == 0.0 else self.prefill_s + RECENT * (cost - self.prefill_s)
        elif prefill == 0 and decoding:
            known = self._decode_s.get(decoding, seconds)
            self._decode_s[decoding] = known + RECENT * (seconds - known)

    def decode_s(self, decoding: int) -> float:
        """Seconds for a step in which `decoding` answers get one token each.

        Between two numbers that were seen it grows evenly, beyond the largest by `ROW`; fewer than the smallest cost as
        much as that one.
        """
        if not self._decode_s or decoding <= 0:
            return 0.0
        known = sorted(self._decode_s)
        if decoding <= known[0]:
            return self._decode_s[known[0]]
        for low, high in pairwise(known):
            if decoding <= high:
                share = (decoding - low) / (high - low)
                return self._decode_s[low] + share * (self._decode_s[high] - self._decode_s[low])
        return self._decode_s[known[-1]] + (decoding - known[-1]) * ROW * self.prefill_s

    def answer_s(self, prompt_tokens: int, tokens: int, decoding: int) -> float:
        """Seconds to compute `prompt_tokens` and then `tokens` steps for `decoding` answers at once."""
        return prompt_tokens * self.prefill_s + tokens * self.decode_s(decoding)
