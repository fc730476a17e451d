"""An engine for all processors: the part that fits is loaded, or a sentence says that none does."""

import ctypes
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from llama_cpp import llama_cpp as binding

from lutrin.adapters import llamacpp
from lutrin.errors import GeneratorUnavailable


class Library:
    """Stands for llama.cpp's library in a folder; remembers from where it was told to load parts."""

    def __init__(self, folder: Path, loads: Path | None = None) -> None:
        self._name = str(folder / "libllama.so")
        self._loads = loads
        self.told: list[bytes | None] = []

    def ggml_backend_load_all_from_path(self, folder: ctypes.c_char_p) -> None:
        """Load the part that it was made to find best."""
        self.told.append(folder.value)
        if self._loads is not None:
            ctypes.CDLL(str(self._loads))


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Nothing was opened in this process yet."""
    llamacpp.open_engine.cache_clear()
    llamacpp.graphics_processors.cache_clear()


def test_an_engine_for_one_processor_has_no_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It brings its kernels itself; nothing is loaded beside it."""
    library = Library(tmp_path)
    monkeypatch.setattr(binding, "_lib", library)
    assert llamacpp.open_engine() == ""
    assert library.told == []


def test_the_part_that_was_loaded_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine chooses among the files beside its library, once in a process."""
    real = next(Path(binding._lib._name).parent.glob("libggml-base.so"))
    for kind in ("haswell", "x64"):
        shutil.copyfile(real, tmp_path / f"libggml-cpu-{kind}.so")
    library = Library(tmp_path, loads=tmp_path / "libggml-cpu-x64.so")
    monkeypatch.setattr(binding, "_lib", library)
    assert (llamacpp.open_engine(), llamacpp.open_engine()) == ("x64", "x64")
    assert library.told == [str(tmp_path).encode()]


def test_a_processor_without_a_part_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An engine whose parts all need more than this processor has ends in a sentence, not in a crash."""
    (tmp_path / "libggml-cpu-zen9.so").write_bytes(b"")
    monkeypatch.setattr(binding, "_lib", Library(tmp_path))
    with pytest.raises(GeneratorUnavailable, match="not built for this processor, only for: zen9"):
        llamacpp.open_engine()


def seeing(*devices: tuple[int, str, str]) -> SimpleNamespace:
    """Stands for the library of an engine that sees devices: kind, name, description."""
    return SimpleNamespace(
        _name="/nowhere/libllama.so",
        ggml_backend_dev_count=lambda: len(devices),
        ggml_backend_dev_get=lambda number: number,
        ggml_backend_dev_type=lambda number: devices[number][0],
        ggml_backend_dev_name=lambda number: devices[number][1].encode(),
        ggml_backend_dev_description=lambda number: devices[number][2].encode(),
    )


CPU = (0, "CPU", "Some processor")
JETSON = (1, "CUDA0", "NVIDIA Orin")


@pytest.mark.parametrize(
    ("gpu_layers", "layers", "said"),
    [
        (None, 25, "CUDA0 (NVIDIA Orin), 25 of 25 layers"),
        (10, 25, "CUDA0 (NVIDIA Orin), 10 of 25 layers"),
        (99, 25, "CUDA0 (NVIDIA Orin), 25 of 25 layers"),
        (0, 25, "processor"),
        (None, None, "CUDA0 (NVIDIA Orin), all layers"),
        (10, None, "CUDA0 (NVIDIA Orin), up to 10 layers"),
    ],
)
def test_a_graphics_processor_is_named_with_its_share(
    monkeypatch: pytest.MonkeyPatch, gpu_layers: int | None, layers: int | None, said: str
) -> None:
    """The layers of LUTRIN_GPU_LAYERS, up to those of the model; without any, the processor computes."""
    monkeypatch.setattr(binding, "_lib", seeing(CPU, (2, "Vulkan0", "Some processor's own"), JETSON))
    assert llamacpp.computed_by(gpu_layers, layers) == said


def test_an_engine_that_sees_no_graphics_processor_computes_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many layers were asked for."""
    monkeypatch.setattr(binding, "_lib", seeing(CPU))
    assert llamacpp.computed_by(None, 25) == "processor"


def test_a_processor_s_own_graphics_are_taken_where_there_are_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As llama.cpp does."""
    monkeypatch.setattr(binding, "_lib", seeing(CPU, (2, "Metal", "Apple M4")))
    assert llamacpp.computed_by(None, 29) == "Metal (Apple M4), 29 of 29 layers"


def test_the_part_for_this_processor_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator who compares speeds sees which one was chosen."""
    monkeypatch.setattr(binding, "_lib", seeing(CPU))
    monkeypatch.setattr(llamacpp, "open_engine", lambda: "haswell")
    assert llamacpp.computed_by(None) == "processor (haswell)"
