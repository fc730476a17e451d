"""Open llama.cpp. If it was built for several processors, the part for this processor is loaded.

Such a build (`just engine-wheel`; `GGML_BACKEND_DL` and `GGML_CPU_ALL_VARIANTS` of llama.cpp) has a file
`libggml-cpu-NAME.so` for each kind of processor beside its own library, and llama.cpp takes the best one that runs
here. A build for a single processor has no such files.
"""

import ctypes
import os
from functools import cache
from pathlib import Path

import llama_cpp
from llama_cpp import llama_cpp as binding

from lutrin.errors import GeneratorUnavailable

PARTS = "libggml-cpu-*.so"
GRAPHICS = (1, 2)
"""`GGML_BACKEND_DEVICE_TYPE_GPU` and `..._IGPU` of ggml-backend.h; the second counts only without the first."""


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]  # ctypes makes it
def quiet(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Drop llama.cpp's log lines, which name files and sizes and sometimes contain prompts."""


@cache
def open_engine() -> str:
    """Initialise llama.cpp once, silence its log, and name its part (`haswell`); empty if it has one part only.

    Raises:
        GeneratorUnavailable: None of the parts runs on this processor.
    """
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    library = binding._lib  # noqa: SLF001 - the only way to get the loaded library and those beside it
    folder = Path(library._name).parent  # noqa: SLF001 - ctypes keeps the path there
    parts = sorted(folder.glob(PARTS))
    if not parts:
        return ""
    library.ggml_backend_load_all_from_path(ctypes.c_char_p(os.fsencode(folder)))
    loaded = [part for part in parts if _is_loaded(part)]
    if not loaded:
        names = ", ".join(_kind(part) for part in parts)
        raise GeneratorUnavailable(f"The engine was not built for this processor, only for: {names}.")
    return _kind(loaded[0])


@cache
def graphics_processors() -> tuple[str, ...]:
    """List the graphics processors that this engine uses, such as `CUDA0 (NVIDIA Orin)`.

    Source: ggml-backend.h, whose functions the package does not expose.

    Raises:
        GeneratorUnavailable: See `open_engine`.
    """
    open_engine()
    library = binding._lib  # noqa: SLF001 - as above
    count, get = library.ggml_backend_dev_count, library.ggml_backend_dev_get
    kind, name, description = (getattr(library, f"ggml_backend_dev_{what}") for what in ("type", "name", "description"))
    count.restype, get.restype, get.argtypes = ctypes.c_size_t, ctypes.c_void_p, [ctypes.c_size_t]
    name.restype = description.restype = ctypes.c_char_p
    for function in (kind, name, description):
        function.argtypes = [ctypes.c_void_p]
    devices = [get(number) for number in range(count())]
    found = [[one for one in devices if kind(one) == wanted] for wanted in GRAPHICS]
    return tuple(
        f"{name(one).decode(errors='replace')} ({description(one).decode(errors='replace')})"
        for one in next(filter(None, found), [])
    )


def computed_by(gpu_layers: int | None, layers: int | None = None) -> str:
    """Describe what computes a model (`CUDA0 (NVIDIA Orin), 25 of 25 layers`); None: all layers, or unknown.

    Raises:
        GeneratorUnavailable: See `open_engine`.
    """
    found = graphics_processors() if gpu_layers != 0 else ()
    if not found:
        part = open_engine()
        return f"processor ({part})" if part else "processor"
    if layers is None:
        share = "all layers" if gpu_layers is None else f"up to {gpu_layers} layers"
    else:
        share = f"{layers if gpu_layers is None else min(gpu_layers, layers)} of {layers} layers"
    return f"{' and '.join(found)}, {share}"


def _is_loaded(part: Path) -> bool:
    """Return whether this process has loaded a library (dlopen(3), `RTLD_NOLOAD`)."""
    try:
        ctypes.CDLL(str(part), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def _kind(part: Path) -> str:
    return part.stem.removeprefix("libggml-cpu-")
