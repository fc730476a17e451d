"""The model's own head: reads from the model's values for a question whether the passage before it answers.

A model knows more than it says: a linear regression on its hidden state is better than its yes at telling whether a
passage answers (Slobodkin et al. 2023, https://arxiv.org/abs/2310.11877). The values that each layer keeps of a
prompt's last token are projections of that state and are cached anyway: reading them costs nothing beyond the yes.

A head belongs to one model file, and to the prompt that asks whether the passage answers (`lutrin.answer.prompt`).
`python -m training.head fit` writes `head.json`.
"""

from functools import cache
from importlib import resources

import msgspec
import numpy as np

from lutrin.ports import Values


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression on the values of a prompt's last token."""

    sha256: str
    """SHA-256 of the model file; a file converted from it has the same head."""
    size: int
    """Size of that file in bytes."""
    layers: tuple[int, int]
    """The first layer to read, and the one after the last; the model's first is 0."""
    weights: bytes
    """(layers * width,): little-endian 16-bit floating-point numbers, layer by layer."""
    bias: float

    def odds(self, values: Values) -> float:
        """Log odds that the passage answers.

        Args:
            values: (layers, width), of all layers of the model.
        """
        first, end = self.layers
        weights = np.frombuffer(self.weights, "<f2").astype(np.float32)
        return float(values[first:end].ravel() @ weights) + self.bias


@cache
def shipped_head() -> Head:
    """The head that ships with Lutrin."""
    data = resources.files("lutrin.generate").joinpath("head.json").read_bytes()
    return msgspec.json.decode(data, type=Head)
