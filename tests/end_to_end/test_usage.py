"""The promises of the command line in its help, the README and `.env.example`."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lutrin.cli.main import with_guests

from .conftest import ROOT
from .processes import Done, environment, run
from .warm import Warm


@pytest.fixture
def usage(models_dir: Path, warm: Warm, tmp_path: Path) -> "Usage":
    """Run a command that ends before it opens anything."""
    return Usage(environment(models_dir, tmp_path / "data"), warm)


class Usage:
    """Runs commands without data.

    Args:
        variables: Their environment.
        warm: What runs them.
    """

    def __init__(self, variables: dict[str, str], warm: Warm) -> None:
        self._variables = variables
        self._warm = warm

    def __call__(self, *arguments: str) -> Done:
        """The command, ended."""
        return self._warm.run(self._variables, *arguments)


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command as it is typed, without `lutrin`."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        elif not command.hidden:
            yield (*path, name)


@pytest.mark.parametrize(
    "arguments",
    [
        ("asks",),
        ("ask",),
        ("ask", "a", "b"),
        ("ask", "a", "--loud"),
        ("retrieve", "a", "-k", "0"),
        ("retrieve", "a", "-k", "many"),
        ("serve", "--port", "http"),
        ("serve", "--port", "70000"),
        ("ingest", "--book"),
        ("models", "steal"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2(usage: Usage, arguments: tuple[str, ...]) -> None:
    """Wrong arguments are explained on standard error, and the exit code is 2."""
    done = usage(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith("Error: ")


def test_every_command_has_help(models_dir: Path, tmp_path: Path) -> None:
    """`lutrin --help` lists each command with one line about it."""
    done = run(environment(models_dir, tmp_path / "data"), tmp_path, "--help")
    assert done.code == 0
    for name in with_guests().commands:
        assert re.search(rf"^  {name} +[A-Z].+\.$", done.out, re.MULTILINE), name


def test_the_readme_documents_every_command() -> None:
    """The README's table of commands names each of them, and no other."""
    table = (ROOT / "README.md").read_text("utf-8").partition("\n## Commands\n")[2].partition("\n## ")[0]
    documented: set[tuple[str, ...]] = set()
    for row in re.findall(r"^\| `lutrin ([^`]+)` \|", table, re.MULTILINE):
        words = row.replace("\\|", "|").split()
        group = len(words) > 1 and isinstance(with_guests().commands.get(words[0]), click.Group)
        documented |= {(words[0], name) for name in words[1].split("|")} if group else {(words[0],)}
    assert documented == set(commands(with_guests()))


def test_the_example_of_the_settings_is_up_to_date() -> None:
    """`.env.example` is what its program prints now."""
    program = [sys.executable, str(ROOT / "requirements" / "env_example.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
    assert (ROOT / ".env.example").read_text("utf-8") == printed
