"""Which engine set-up installs, what it is compiled with, and when it is compiled again."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DIGEST = "ab" * 32


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The program of set-up, in an environment where nothing was installed yet."""
    spec = importlib.util.spec_from_file_location("install", ROOT / "requirements" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.sys, "prefix", str(tmp_path))
    for name in ("LUTRIN_ENGINE", "CMAKE_ARGS", "CMAKE_TOOLCHAIN_FILE"):
        monkeypatch.delenv(name, raising=False)
    return module


def pinned(setup: ModuleType) -> str:
    """The engine's version in the requirement file."""
    text = (ROOT / "requirements" / "runtime.txt").read_text("utf-8")
    return text.partition(f"{setup.ENGINE}==")[2].split()[0]


def test_a_graphics_processor_sets_the_build(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """CMake gets the switch beside what the operator gives it, and the same build is not taken for another."""
    monkeypatch.setenv("CMAKE_ARGS", "-DCMAKE_CUDA_ARCHITECTURES=87")
    (install, _), environment = setup.commands("runtime", "cuda", tmp_path)
    assert environment["CMAKE_ARGS"] == "-DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=87"
    assert any(word.endswith(setup.engine("cuda")) for word in install)
    assert len({setup.engine(choice) for choice in setup.FLAGS}) == len(setup.FLAGS)


def test_another_choice_or_other_flags_install_anew(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was installed for the processor is not enough for CUDA, nor for other flags of CMake."""
    setup.stamp("runtime").write_text(setup.wanted("runtime", "cpu"))
    assert setup.is_installed("runtime", "cpu")
    assert not setup.is_installed("runtime", "cuda")
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_BLAS=ON")
    assert not setup.is_installed("runtime", "cpu")


def test_a_choice_holds_until_another_is_made(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe that is run later without the variable does not go back to the default."""
    assert setup.chosen("development") == "cpu"
    setup.stamp("engine-choice").write_text("vulkan")
    assert setup.chosen("runtime") == "vulkan"
    monkeypatch.setenv("LUTRIN_ENGINE", "cpu")
    assert setup.chosen("runtime") == "cpu"


def test_who_names_no_language_model_needs_no_compiler(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The default leaves the engine to the server; naming a model, in `.env` too, or testing brings it at once."""
    monkeypatch.setattr(setup, "ENV_FILE", tmp_path / ".env")
    monkeypatch.delenv("LUTRIN_MODEL", raising=False)
    monkeypatch.setattr(setup.shutil, "which", lambda _: None)
    assert setup.chosen("runtime") == "none"
    setup.check_machine("none")
    (install, _), _ = setup.commands("runtime", "none", tmp_path)
    packages = setup.PINNED.sub("", (ROOT / "requirements" / "runtime.txt").read_text("utf-8"))
    assert Path(install[install.index("-r") + 1]).read_text("utf-8") == packages
    assert "llama-cpp-python==" not in packages
    assert setup.chosen("development") == "cpu"
    (tmp_path / ".env").write_text("LUTRIN_PORT=1\nLUTRIN_MODEL='medium' # explains\n")
    assert setup.chosen("runtime") == "cpu"
    monkeypatch.setenv("LUTRIN_MODEL", "none")
    assert setup.chosen("runtime") == "none"
    setup.stamp("runtime").write_text(setup.wanted("runtime", "cpu"))
    assert setup.is_installed("runtime", "none")


@pytest.mark.parametrize(
    "choice", ["rocm", "engine.whl", "llama_cpp_python-0.3.36-py3-none-any.whl", "https://a.example"]
)
def test_what_is_no_engine_is_named(setup: ModuleType, monkeypatch: pytest.MonkeyPatch, choice: str) -> None:
    """A slip, or a wheel without its hash, ends set-up with what may be written."""
    monkeypatch.setenv("LUTRIN_ENGINE", choice)
    with pytest.raises(SystemExit, match=r"cuda.*#sha256="):
        setup.chosen("runtime")


def test_a_wheel_needs_no_compiler_and_is_pinned(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is in the requirement file with its hash, in the place of the sources; everything else stays pinned."""
    wheel = tmp_path / "a folder" / f"llama_cpp_python-{pinned(setup)}-py3-none-linux_x86_64.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"PK")
    digest = hashlib.sha256(b"PK").hexdigest()
    monkeypatch.setattr(setup.shutil, "which", lambda _: None)
    setup.check_machine(f"{wheel}#sha256={digest}")
    (install, _), _ = setup.commands("runtime", f"{wheel}#sha256={digest}", tmp_path)
    text = Path(install[install.index("-r") + 1]).read_text("utf-8")
    assert f"llama-cpp-python @ {wheel.as_uri()} --hash=sha256:{digest}\n" in text
    assert "llama-cpp-python==" not in text
    before = (ROOT / "requirements" / "runtime.txt").read_text("utf-8")
    assert text.count("\n") > before.count("\n") - 6


def test_a_wheel_of_another_version_is_refused(setup: ModuleType, tmp_path: Path) -> None:
    """The interface of the engine changes between versions."""
    with pytest.raises(SystemExit, match=r"version 0\.0\.1, Lutrin needs"):
        setup.commands("runtime", f"llama_cpp_python-0.0.1-py3-none-any.whl#sha256={DIGEST}", tmp_path)


def test_a_missing_toolkit_is_named_before_minutes_are_spent(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA without its compiler would fail deep in a build."""
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/c++" if name == "c++" else None)
    with pytest.raises(SystemExit, match="nvcc is not on the path"):
        setup.check_machine("cuda")


def test_a_dry_run_says_what_the_build_is_told() -> None:
    """It shows whether a choice reaches the compiler, and changes nothing."""
    for choice, told in (
        ("cpu", "CMAKE_ARGS=\n"),
        ("cuda", "CMAKE_ARGS=-DGGML_CUDA=ON\n"),
        ("vulkan", "CMAKE_ARGS=-DGGML_VULKAN=ON\n"),
        ("metal", "CMAKE_ARGS=-DGGML_METAL=ON\n"),
        ("none", ""),
    ):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CMAKE_", "LUTRIN_"))}
        done = subprocess.run(
            [sys.executable, "requirements/install.py", "runtime", "--dry-run"],
            cwd=ROOT, env=environment | {"LUTRIN_ENGINE": choice}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        first, _, rest = done.stdout.partition("\n")
        assert first.startswith(f"engine {choice}, runtime ")
        assert rest.startswith(told or "uv pip install")
        assert "uv pip install" in rest


@pytest.fixture
def recipe(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program that makes the wheel for all processors."""
    monkeypatch.setitem(sys.modules, "install", setup)
    spec = importlib.util.spec_from_file_location("engine_wheel", ROOT / "requirements" / "engine_wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.platform, "machine", lambda: "x86_64")
    return module


@pytest.mark.parametrize(("arch", "told"), [("x86_64", "engine.cmake"), ("aarch64", "engine.aarch64.cmake")])
def test_the_wheel_of_another_architecture_has_its_own_compiler_and_name(
    recipe: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arch: str, told: str
) -> None:
    """CMake reads the file of that architecture beside all that it includes, and its build is kept apart."""
    seen: dict[str, str] = {}
    folders: list[str] = []

    def pip(*arguments: str, environment: dict[str, str]) -> None:
        seen.update(environment)
        folders.extend(word for word in arguments if word.startswith("build-dir="))
        (tmp_path / "wheels").mkdir()
        (tmp_path / "wheels" / "engine.whl").write_bytes(b"PK")

    monkeypatch.delenv("_PYTHON_HOST_PLATFORM", raising=False)
    monkeypatch.setattr(recipe, "pip", pip)
    monkeypatch.setattr(recipe, "sources", lambda work: work)
    assert recipe.build(tmp_path, tmp_path / "dist", 1, arch).read_bytes() == b"PK"
    assert Path(seen["CMAKE_TOOLCHAIN_FILE"]) == tmp_path / told
    assert {file.name for file in tmp_path.glob("engine*.cmake")} == {"engine.cmake", "engine.aarch64.cmake"}
    assert (tmp_path / "engine.h").exists()
    own = arch == "x86_64"
    assert seen.get("_PYTHON_HOST_PLATFORM") == (None if own else "linux-aarch64")
    assert folders == [f"build-dir={tmp_path / ('build' if own else 'build-aarch64')}"]


def test_a_compiler_that_cannot_make_every_part_is_named_at_once(
    recipe: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not after an hour, at the part for the newest processors; nor where there is no compiler at all."""
    old = tmp_path / "aarch64-linux-gnu-g++"
    old.write_text("#!/bin/sh\nexit 1\n", "ascii")
    old.chmod(0o755)
    for name in ("cmake", "ninja"):
        (tmp_path / name).symlink_to(old)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"does not know -march=armv9\.2-a\+sme.*GCC 14"):
        recipe.check_compiler("aarch64")
    old.unlink()
    with pytest.raises(SystemExit, match=r"apt-get install g\+\+-aarch64-linux-gnu"):
        recipe.check_compiler("aarch64")


def test_tools_of_the_other_architecture_are_not_fetched_to_compile_for_it(
    recipe: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pip would bring a CMake that does not run here."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("aarch64-linux-gnu-g++", "cmake", "ninja"):
        with pytest.raises(SystemExit, match=r"apt-get install (g\+\+-aarch64-linux-gnu|cmake ninja-build)"):
            recipe.check_compiler("aarch64")
        (tmp_path / name).write_text("#!/bin/sh\n", "ascii")
        (tmp_path / name).chmod(0o755)
    recipe.check_compiler("aarch64")


def test_a_wheel_says_which_c_library_it_needs(recipe: ModuleType, tmp_path: Path) -> None:
    """The newest that any of its libraries names; a program's text is no library."""
    with zipfile.ZipFile(tmp_path / "engine.whl", "w") as wheel:
        wheel.writestr("llama_cpp/lib/libllama.so", b"\0GLIBC_2.17\0GLIBC_2.34\0")
        wheel.writestr("llama_cpp/lib/libggml.so", b"\0GLIBC_2.4\0GLIBC_PRIVATE\0")
        wheel.writestr("llama_cpp/notes.txt", b"GLIBC_2.99\0")
    assert recipe.needed_library(tmp_path / "engine.whl") == "2.34"
