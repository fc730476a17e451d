"""An engine for all processors: the part that fits is loaded, or a sentence says that none does."""

import ctypes
import shutil
from pathlib import Path

import pytest
from llama_cpp import llama_cpp as binding

from lutrin.adapters import llamacpp_backend
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
    llamacpp_backend.open_engine.cache_clear()


def test_an_engine_for_one_processor_has_no_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It brings its kernels itself; nothing is loaded beside it."""
    library = Library(tmp_path)
    monkeypatch.setattr(binding, "_lib", library)
    assert llamacpp_backend.open_engine() == ""
    assert library.told == []


def test_the_part_that_was_loaded_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine chooses among the files beside its library, once in a process."""
    real = next(Path(binding._lib._name).parent.glob("libggml-base.so"))
    for kind in ("haswell", "x64"):
        shutil.copyfile(real, tmp_path / f"libggml-cpu-{kind}.so")
    library = Library(tmp_path, loads=tmp_path / "libggml-cpu-x64.so")
    monkeypatch.setattr(binding, "_lib", library)
    assert (llamacpp_backend.open_engine(), llamacpp_backend.open_engine()) == ("x64", "x64")
    assert library.told == [str(tmp_path).encode()]


def test_a_processor_without_a_part_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An engine whose parts all need more than this processor has ends in a sentence, not in a crash."""
    (tmp_path / "libggml-cpu-zen9.so").write_bytes(b"")
    monkeypatch.setattr(binding, "_lib", Library(tmp_path))
    with pytest.raises(GeneratorUnavailable, match="no part for this processor, only for: zen9"):
        llamacpp_backend.open_engine()
