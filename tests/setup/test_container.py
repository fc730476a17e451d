"""The container as far as it can be judged without building it; `bench/container.py` builds and starts it."""

import fnmatch
import re
from pathlib import Path

from lutrin.cli.main import lutrin

ROOT = Path(__file__).parents[2]
STEPS = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text("utf-8")).splitlines()
FIRST, LAST = (part.strip().splitlines() for part in "\n".join(STEPS).split("FROM ${BASE}")[1:])
IGNORED = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]


def copied(steps: list[str]) -> list[str]:
    """Sources of all COPY steps from the checkout, in order."""
    return [name for step in steps if step.startswith("COPY ") and "--from" not in step for name in step.split()[1:-1]]


def kept(name: str) -> bool:
    """Whether a path of the checkout reaches the build; of the patterns in .dockerignore the last that fits decides."""
    fits = [rule for rule in IGNORED if fnmatch.fnmatch(name, rule.removeprefix("!").removeprefix("**/"))]
    return not fits or fits[-1].startswith("!")


def test_what_is_copied_is_there() -> None:
    """Every source of a COPY is in the checkout and is not left out by .dockerignore."""
    for name in copied(STEPS):
        assert (ROOT / name).exists()
        assert kept(name)


def test_nothing_of_this_machine_is_sent_to_the_build() -> None:
    """No data, keys, model files or local installation."""
    for name in ("data", ".git", ".venv", "models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "web"):
        assert not kept(name), name


def test_a_new_version_compiles_nothing_again() -> None:
    """What is copied before the packages are installed does not change with Lutrin's source."""
    installed = next(at for at, step in enumerate(FIRST) if step.endswith("./justw setup"))
    before = copied(FIRST[:installed])
    assert "src" not in before
    assert {"justw", "justfile", "pyproject.toml", "requirements"} <= set(before)


def test_the_image_holds_no_compiler_and_no_root() -> None:
    """The second stage installs the interpreter alone, and its commands run as a user without rights."""
    (installed,) = [step for step in LAST if "apt-get install" in step]
    assert "g++" not in installed
    assert "python3-dev" not in installed
    assert LAST.index("USER lutrin") < next(at for at, step in enumerate(LAST) if step.startswith("CMD"))


def test_docker_finds_it_by_its_own_name() -> None:
    """`docker build .` and Hugging Face Spaces look for `Dockerfile`: one file, two names."""
    assert (ROOT / "Dockerfile").read_bytes() == (ROOT / "Containerfile").read_bytes()


def test_it_starts_with_commands_that_exist() -> None:
    """The server is the main process, so that it gets the signals, and does not wait for the books to be read."""
    (command,) = [step for step in LAST if step.startswith("CMD")]
    assert command == 'CMD ["lutrin", "serve", "--ingest"]'
    assert "--ingest" in {option for item in lutrin.commands["serve"].params for option in item.opts}
    (health,) = [step for step in LAST if step.startswith("HEALTHCHECK")]
    assert "http://127.0.0.1:7860/health" in health
