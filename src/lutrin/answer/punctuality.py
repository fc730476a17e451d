"""Learns from the errors of past estimates of explanations to correct the next ones."""

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
"""A standard explanation, only estimated, never sent: the time for a section that the model has never read."""
FAR = 2.0
GRACE_S = 3.0
"""An explanation is far too late after twice its estimate plus three seconds."""
SHORTEST_S = 0.1
"""Shorter times count as this, since ratios of very short times mean nothing."""
LATE_IN_A_ROW = 2
"""Explanations in a row that are far too late before unasked ones stop."""
BETTER = 0.7
"""Share of a standard explanation's cost during the delay at which unasked ones are tried again."""
LEARNT = 0.25
"""Weight of the last wait in the running mean of log errors."""
MOST = 4.0
"""Bound of one error factor, and of its inverse."""


def is_late(estimate_s: float, took_s: float) -> bool:
    """Whether a first sentence is far too late."""
    return took_s > FAR * estimate_s + GRACE_S


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated time of an explanation as sent to the reader, in seconds."""

    first_s: float
    """Seconds until the first sentence."""
    raw_s: float
    """The same seconds without correction."""


class Punctuality:
    """Corrects estimates by recent errors, and decides when explanations should not start unasked."""

    def __init__(self) -> None:
        self._missed = 0.0
        self._late = 0
        self._cost_s = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the last explanations were far too late."""
        return self._late >= LATE_IN_A_ROW

    @property
    def correction(self) -> float:
        """Factor for estimates."""
        return exp(self._missed)

    def corrected(self, raw_s: float) -> Estimate:
        """An estimate with the correction."""
        return Estimate(raw_s * self.correction, raw_s)

    def note(self, estimate: Estimate, took_s: float, standard: Forecast | None) -> None:
        """Record a wait; `standard` is the time of a standard explanation now.

        A class receives many estimates before the first wait ends, so each is compared without its correction.
        """
        missed = log(max(took_s, SHORTEST_S) / max(estimate.raw_s, SHORTEST_S))
        self._missed += LEARNT * (max(-log(MOST), min(missed, log(MOST))) - self._missed)
        if not is_late(estimate.first_s, took_s):
            self._late = 0
            return
        self._late += 1
        self._cost_s = standard.first_s if standard is not None else 0.0

    def is_better(self, standard: Forecast | None) -> bool:
        """Whether a standard explanation is much faster now than when the model was late."""
        return standard is not None and standard.first_s <= BETTER * self._cost_s

    def resume(self) -> None:
        """Allow unasked explanations again."""
        self._late, self._missed = 0, 0.0
