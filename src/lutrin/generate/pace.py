"""Estimates how fast the model is on this machine now, from its recent steps."""

from itertools import pairwise

RECENT = 0.2
"""Weight of the newest step in the running means: the last ten steps or so count."""
QUICKER = 0.5
"""Its weight if it was faster: requests that seem too slow are not tried, so a slow moment must not be believed for
ever."""
CLEAR_PREFILL = 16
"""Fewer prompt tokens than this say little about the speed of prefill."""
LONGEST_STEP_S = 3.0
"""For the prompt tokens of one step: others wait for it, and a process that is silent for long counts as stuck."""
ROW = 2.5
"""Cost of one more row of a decoding step, in prompt tokens: it needs the vocabulary's matrix (docs/decisions/0010)."""
LIKELY = 0.5
"""Assumed share of right guesses before any was tried."""
TRIED = 0.05
"""Weight of each guess in the running mean of those that were right."""
FORGOTTEN = 0.002
"""Weight with which each step draws that mean back to LIKELY, so that guessing is tried again."""


class Pace:
    """Running means of what a prompt token and a decoding step cost, in seconds.

    Until something is measured, everything costs nothing, so that nobody is turned away on a guess.
    """

    def __init__(self) -> None:
        self.prefill_s = 0.0
        """Seconds for each token of a prompt."""
        self.right = LIKELY
        """Share of guessed tokens that the model would have chosen."""
        self._decode_s: dict[int, float] = {}

    def observe(self, prefill: int, decoding: int, seconds: float) -> None:
        """Learn from one step.

        Args:
            prefill: Prompt tokens in it.
            decoding: Rows of answers in it: one for each token and for each guess.
            seconds: How long it took.
        """
        self.right += FORGOTTEN * (LIKELY - self.right)
        if prefill >= CLEAR_PREFILL:
            cost = seconds / (prefill + decoding)
            self.prefill_s = cost if self.prefill_s == 0.0 else self.prefill_s + RECENT * (cost - self.prefill_s)
        elif prefill == 0 and decoding:
            known = self._decode_s.get(decoding, seconds)
            self._decode_s[decoding] = known + (QUICKER if seconds < known else RECENT) * (seconds - known)

    def guessed(self, *, right: bool) -> None:
        """Learn from a guess."""
        self.right += TRIED * (right - self.right)

    def prompt_tokens(self, most: int) -> int:
        """How many prompt tokens to read in one step: `most`, or fewer on a slow machine and until that is known."""
        fitting = int(LONGEST_STEP_S / self.prefill_s) if self.prefill_s else 0
        return min(most, max(CLEAR_PREFILL, fitting))

    def guesses(self, answers: int, most: int) -> int:
        """How many tokens to guess for each answer so that a token costs least; 0 if guessing does not pay.

        Args:
            answers: Answers that are decoded at once.
            most: Guesses at most, for each.
        """
        return min(range(most + 1), key=lambda number: (self._token_s(answers, number), number))

    def token_s(self, answers: int, most: int) -> float:
        """Seconds for one token of each of `answers`, with as many guesses as pay."""
        return min(self._token_s(answers, number) for number in range(most + 1))

    def _token_s(self, answers: int, guesses: int) -> float:
        """Tokens a step: a guess counts if all before it were right, 1 + r + r^2 + ... (Leviathan et al. 2023)."""
        return self.decode_s(answers * (1 + guesses)) / sum(self.right**place for place in range(guesses + 1))

    def decode_s(self, decoding: int) -> float:
        """Seconds for a step with `decoding` rows, each the last token of an answer or a guess at what follows.

        Between two measured numbers of rows the time is interpolated. Beyond the largest it grows by `ROW`; below the
        smallest it stays the same.
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

    def answer_s(self, prompt_tokens: int, tokens: int, decoding: int, guesses: int = 0) -> float:
        """Seconds to compute `prompt_tokens`, then `tokens` for each of `decoding` answers, with `guesses` at most."""
        return prompt_tokens * self.prefill_s + tokens * self.token_s(decoding, guesses)
