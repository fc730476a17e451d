"""Lutrin: a textbook that answers, offline."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lutrin.api import get_embedding, retrieve

__all__ = ["__version__", "get_embedding", "retrieve"]
__version__ = "0.3.0"

# ONNX Runtime's own builds report to their publisher from the moment they are imported, and leave an identifier in the
# home folder. They read this variable only then (its Privacy.md); no later call undoes what was sent.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any member of the package
    """`get_embedding` and `retrieve` on first use: importing Lutrin loads nothing."""
    if name in {"get_embedding", "retrieve"}:
        return getattr(import_module("lutrin.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
