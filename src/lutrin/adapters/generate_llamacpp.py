"""Open a GGUF model as a `Decoder`. Only the model's own process loads llama.cpp."""

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lutrin.errors import EngineMissing, ModelMissing
from lutrin.installed import command_to_add
from lutrin.platform import physical_cores
from lutrin.ports import Decoder

ENGINE_MODULE = "llama_cpp"
PACKAGES = ("llama-cpp-python>=0.3.36",)
"""Package of the engine (extra `engine` of pyproject.toml)."""


def require_engine() -> None:
    """Check that llama.cpp is installed, without loading it."""
    if find_spec(ENGINE_MODULE) is None:
        raise EngineMissing(
            "The engine of the language models is not installed: answers are the book's own passages.",
            remedy=(
                f"Run `{command_to_add(PACKAGES, './justw serve')}`, which needs a C++ compiler; or set "
                "LUTRIN_MODEL=none."
            ),
        )


def open_decoder(
    path: Path,
    n_ctx: int = 8192,
    slots: int = 10,
    threads: int = 0,
    *,
    kv_type: Literal["f16", "q8_0"] = "f16",
    flash_attention: bool = True,
    step_tokens: int = 256,
    gpu_layers: int | None = None,
) -> Decoder:
    """Load a GGUF file.

    Args:
        n_ctx: Cells that all sequences share.
        slots: Simultaneous answers.
        kv_type: Number format of the cache.
        flash_attention: Skips cells that a token does not attend to (docs/decisions/0010).
        gpu_layers: Layers on a graphics processor; None: all, if the engine supports one.

    Raises:
        ModelMissing: There is no such file.
        GeneratorUnavailable: llama.cpp cannot run the model, or there is too little memory.
    """
    if not path.is_file():
        raise ModelMissing(f"The model file {path} does not exist.", remedy="Run `lutrin models fetch`.")
    # The server passes this function to the model's process, and must not load llama.cpp itself.
    from lutrin.adapters.llamacpp import load  # noqa: PLC0415 - see above

    return load(
        path, n_ctx, slots, threads or physical_cores(), kv_type=kv_type, flash_attention=flash_attention,
        step_tokens=step_tokens, gpu_layers=gpu_layers,
    )  # fmt: skip
