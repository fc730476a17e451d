"""Opens a GGUF model as a `Decoder`; llama.cpp itself is loaded only where one is opened, in the model's process."""

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lutrin.errors import EngineMissing, ModelMissing
from lutrin.installed import command_to_add
from lutrin.platform import physical_cores
from lutrin.ports import Decoder

PACKAGES = ("llama-cpp-python>=0.3.36",)
"""The engine, as pyproject.toml's extra `engine` names it."""


def require_engine() -> None:
    """Say what to do where llama.cpp is not installed; nothing of it is loaded.

    Raises:
        EngineMissing: It is not.
    """
    if find_spec("llama_cpp") is None:
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
        path: The file.
        n_ctx: Cells that all sequences share.
        slots: Answers at the same time.
        threads: Of the computation; 0: the physical cores.
        kv_type: Number format of the cache.
        flash_attention: Skips cells that a token does not attend to (docs/decisions/0010).
        step_tokens: Most tokens in one step.
        gpu_layers: Of the model on a graphics processor; None: all, where the engine has one.

    Raises:
        ModelMissing: There is no such file.
        GeneratorUnavailable: It is not a model that llama.cpp can run, or memory does not suffice.
    """
    if not path.is_file():
        raise ModelMissing(f"The model file {path} does not exist.", remedy="Run `lutrin models fetch`.")
    # The server names this function for its model's process, and must not hold llama.cpp itself.
    from lutrin.adapters.llamacpp_decoder import load  # noqa: PLC0415 - see above

    return load(
        path,
        n_ctx=n_ctx,
        slots=slots,
        threads=threads or physical_cores(),
        kv_type=kv_type,
        flash_attention=flash_attention,
        step_tokens=step_tokens,
        gpu_layers=gpu_layers,
    )
