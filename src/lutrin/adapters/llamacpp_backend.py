"""Opens llama.cpp: where it was built with parts for several processors, the one that fits this processor is loaded.

Such a build (`just engine-wheel`; `GGML_BACKEND_DL` and `GGML_CPU_ALL_VARIANTS` of llama.cpp) has a file
`libggml-cpu-NAME.so` for each kind of processor beside its own library, and llama.cpp takes the best of them that can
run here. A build for one processor has none of them, and nothing is loaded.
"""

import ctypes
import os
from functools import cache
from pathlib import Path

import llama_cpp
from llama_cpp import llama_cpp as binding

from lutrin.errors import GeneratorUnavailable

PARTS = "libggml-cpu-*.so"


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]  # ctypes makes it
def quiet(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Drops llama.cpp's log lines; they name files and sizes, sometimes prompts."""


@cache
def open_engine() -> str:
    """Make llama.cpp ready in this process, once, and keep it quiet.

    Returns:
        Name of the part for this processor, such as `haswell`; empty for an engine that was compiled for one processor.

    Raises:
        GeneratorUnavailable: It has parts for processors, and none of them runs here.
    """
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    library = binding._lib  # noqa: SLF001 - nothing else gives the library that was loaded, and those that came with it
    folder = Path(library._name).parent  # noqa: SLF001 - ctypes keeps the path there
    parts = sorted(folder.glob(PARTS))
    if not parts:
        return ""
    library.ggml_backend_load_all_from_path(ctypes.c_char_p(os.fsencode(folder)))
    loaded = [part for part in parts if _is_loaded(part)]
    if not loaded:
        names = ", ".join(_kind(part) for part in parts)
        raise GeneratorUnavailable(f"The engine has no part for this processor, only for: {names}.")
    return _kind(loaded[0])


def _is_loaded(part: Path) -> bool:
    """Whether this process holds a library (dlopen(3), `RTLD_NOLOAD`: nothing is loaded)."""
    try:
        ctypes.CDLL(str(part), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def _kind(part: Path) -> str:
    return part.stem.removeprefix("libggml-cpu-")
