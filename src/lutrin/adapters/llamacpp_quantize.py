"""Converts a GGUF file to a number format that this CPU has fast kernels for."""

import os
import shutil
from pathlib import Path

import llama_cpp

from lutrin.adapters.llamacpp_backend import open_engine
from lutrin.errors import GeneratorUnavailable, NotEnoughSpace

FORMATS: dict[str, tuple[int, int | None]] = {
    # Format of the layers, and of the vocabulary's matrix unless llama.cpp chooses it (mostly 8 bits).
    "Q4_0": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, None),
    "Q4_0-all": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, llama_cpp.GGML_TYPE_Q4_0),
    "IQ4_NL": (llama_cpp.LLAMA_FTYPE_MOSTLY_IQ4_NL, None),
    "Q8_0": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, None),
}
LARGEST_GROWTH = 2.2
"""Most by which a file with 4 bits for a weight can grow."""


def offloads() -> bool:
    """Return whether this build of llama.cpp computes on a GPU, which then gets all layers."""
    open_engine()
    return bool(llama_cpp.llama_supports_gpu_offload())


def quantize(source: Path, target: Path, kind: str, threads: int = 0) -> None:
    """Write `source` in another of `FORMATS`. Weights that are already quantised lose a little more precision.

    Raises:
        NotEnoughSpace: The disk is too full.
        GeneratorUnavailable: llama.cpp cannot convert the file.
    """
    needed = int(source.stat().st_size * (LARGEST_GROWTH if kind == "Q8_0" else 1.2))
    if shutil.disk_usage(target.parent).free < needed:
        raise NotEnoughSpace(
            f"{target.name} needs {needed / 1e6:.0f} MB on the disk.", remedy="Free some space and try again."
        )
    open_engine()
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, vocabulary = FORMATS[kind]
    if vocabulary is not None:
        params.output_tensor_type = params.token_embedding_type = vocabulary
    params.allow_requantize = True
    params.nthread = threads
    unfinished = target.with_suffix(".part")
    try:
        if llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(unfinished), params) != 0:
            raise GeneratorUnavailable(f"{source.name} cannot be converted to {kind}.")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
