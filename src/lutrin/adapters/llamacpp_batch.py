"""Fill the arrays of a `llama_batch` with NumPy: one slice assignment for a run instead of five calls for a token."""

import ctypes
from collections.abc import Sequence

import llama_cpp
import numpy as np

from lutrin.ports import Run


class Batch:
    """A reusable batch."""

    def __init__(self, capacity: int) -> None:
        self._token = np.zeros(capacity, np.int32)
        self._pos = np.zeros(capacity, np.int32)
        self._sequence = np.zeros(capacity, np.int32)
        self._n_seq_id = np.ones(capacity, np.int32)
        self._logits = np.zeros(capacity, np.int8)
        # Each token belongs to one sequence; its list of sequences is the address of one cell of `_sequence`.
        start = self._sequence.ctypes.data
        self._seq_id = np.arange(start, start + 4 * capacity, 4, dtype=np.uintp)
        self.raw = llama_cpp.llama_batch(
            0,
            _pointer(self._token, ctypes.c_int32),
            None,
            _pointer(self._pos, ctypes.c_int32),
            _pointer(self._n_seq_id, ctypes.c_int32),
            _pointer(self._seq_id, ctypes.POINTER(ctypes.c_int32)),
            _pointer(self._logits, ctypes.c_int8),
        )

    def fill(self, runs: Sequence[Run]) -> None:
        """Write the runs into the batch, one after another."""
        at = 0
        for run in runs:
            end = at + len(run.tokens)
            self._token[at:end] = run.tokens
            self._pos[at:end] = np.arange(run.start, run.start + len(run.tokens))
            self._sequence[at:end] = run.sequence
            self._logits[at:end] = 0
            self._logits[end - 1] = run.wanted
            at = end
        self.raw.n_tokens = at


def _pointer(array: "np.ndarray[tuple[int], np.dtype[np.generic]]", kind: type) -> "ctypes._Pointer[ctypes.c_int]":
    return array.ctypes.data_as(ctypes.POINTER(kind))
