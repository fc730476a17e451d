"""Learn from how estimates of explanations hold, so that the next ones are true and nobody waits in vain."""

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
LEARNT = 0.5
"""Share of what an estimate missed by, as a logarithm, that corrects the next."""
MOST = 8.0
"""Bound of the correction, and of its inverse."""


def is_late(estimate_s: float, took_s: float) -> bool:
    """Whether a first sentence is late by far."""
    return took_s > FAR * estimate_s + GRACE_S


class Punctuality:
    """Corrects estimates by what the last ones missed by, and tells when explanations should not begin unasked."""

    def __init__(self) -> None:
        self.correction = 1.0
        """Estimates are multiplied by this."""
        self._late = 0
        self._cost_s = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the last explanations were late by far."""
        return self._late >= LATE_IN_A_ROW

    def corrected(self, raw: Forecast) -> Forecast:
        """An estimate with the correction."""
        return Forecast(raw.first_s * self.correction, raw.whole_s * self.correction)

    def note(self, estimate_s: float, took_s: float, standard: Forecast | None) -> None:
        """Note how long a first sentence took; `standard` is what a standard explanation would take now."""
        ratio = max(took_s, SHORTEST_S) / max(estimate_s, SHORTEST_S)
        self.correction = min(max(self.correction * ratio**LEARNT, 1 / MOST), MOST)
        if not is_late(estimate_s, took_s):
            self._late = 0
            return
        self._late += 1
        self._cost_s = standard.first_s if standard is not None else 0.0

    def is_better(self, standard: Forecast | None) -> bool:
        """Whether a standard explanation would take much less now than when the model was late."""
        return standard is not None and standard.first_s <= BETTER * self._cost_s

    def resume(self) -> None:
        """Begin explanations unasked again."""
        self._late, self.correction = 0, 1.0
