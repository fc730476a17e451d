"""Learn from how estimates of explanations hold, so that the next ones are true."""

from dataclasses import dataclass
from math import exp, log

from lutrin.records import Forecast, GenerationRequest, Message

STANDARD_CHARS = 1280
STANDARD_TOKENS = 60
LONGEST_S = 600.0
STANDARD = GenerationRequest(
    messages=(Message(role="user", content="A section that nobody has read. ".ljust(STANDARD_CHARS, ".")),),
    max_tokens=STANDARD_TOKENS,
    deadline_s=LONGEST_S,
    stable_chars=STANDARD_CHARS,
)
"""Estimated, never sent: what an explanation of a section that was never read would take now."""
FAR = 2.0
GRACE_S = 3.0
"""An explanation is late by far after twice its estimate and three seconds more."""
SHORTEST_S = 0.1
"""Shorter times are taken as this, so that no ratio of two of them means anything."""
LATE_IN_A_ROW = 2
"""Explanations late by far after which the model begins none unasked."""
BETTER = 0.7
"""Share of the cost of a standard explanation, when the model was late, at which it is tried again."""
LEARNT = 0.25
"""Weight of the last wait in the running mean of what estimates missed by, as logarithms."""
MOST = 4.0
"""Bound of what one of them counts, and of its inverse."""


def is_late(estimate_s: float, took_s: float) -> bool:
    """Whether a first sentence is late by far."""
    return took_s > FAR * estimate_s + GRACE_S


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long an explanation takes, as the reader is told, in seconds."""

    first_s: float
    """Until the first sentence."""
    raw_s: float
    """The same, uncorrected."""


class Punctuality:
    """Corrects estimates by what the last ones missed by, and tells when explanations should not begin unasked."""

    def __init__(self) -> None:
        self._missed = 0.0
        self._late = 0
        self._cost_s = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the last explanations were late by far."""
        return self._late >= LATE_IN_A_ROW

    @property
    def correction(self) -> float:
        """Estimates are multiplied by this."""
        return exp(self._missed)

    def corrected(self, raw_s: float) -> Estimate:
        """An estimate with the correction."""
        return Estimate(raw_s * self.correction, raw_s)

    def note(self, estimate: Estimate, took_s: float, standard: Forecast | None) -> None:
        """Note how long a wait took; `standard` is what a standard explanation would take now.

        A class is told many estimates before the first has ended, so each counts as it was before any correction.
        """
        missed = log(max(took_s, SHORTEST_S) / max(estimate.raw_s, SHORTEST_S))
        self._missed += LEARNT * (max(-log(MOST), min(missed, log(MOST))) - self._missed)
        if not is_late(estimate.first_s, took_s):
            self._late = 0
            return
        self._late += 1
        self._cost_s = standard.first_s if standard is not None else 0.0

    def is_better(self, standard: Forecast | None) -> bool:
        """Whether a standard explanation would take much less now than when the model was late."""
        return standard is not None and standard.first_s <= BETTER * self._cost_s

    def resume(self) -> None:
        """Begin explanations unasked again."""
        self._late, self._missed = 0, 0.0
