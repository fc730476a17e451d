"""The page of the commands is what the commands say."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from lutrin.cli.main import with_guests

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_commands_is_up_to_date() -> None:
    """`docs/commands.md` is what its program prints now; `./justw docs` writes it."""
    program = [sys.executable, str(ROOT / "docs" / "commands.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
    assert (ROOT / "docs" / "commands.md").read_text("utf-8") == printed


def test_every_recipe_is_one_line_in_the_list() -> None:
    """`just --list` says of each recipe in one line what it is for, and holds those that the documents name."""
    just = Path(sys.executable).with_name("just")
    listed = subprocess.run([just, "--list", "--unsorted"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    recipes = {line.split()[0]: line.partition("#")[2].strip() for line in listed.splitlines()[1:]}
    wanted = "setup ingest serve ask test check fix bench eval loadtest chaos e2e web docs bundle".split()
    assert set(wanted) <= recipes.keys()
    assert {name for name, text in recipes.items() if not text} == set()


def test_third_parties_are_named_with_their_licences() -> None:
    """`THIRD_PARTY.md` is what its program prints now; `./justw docs` writes it."""
    program = [sys.executable, str(ROOT / "docs" / "third_party.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
    assert (ROOT / "THIRD_PARTY.md").read_text("utf-8") == printed


def test_the_commands_are_there_before_a_stage_loads() -> None:
    """Including those of guests: NumPy alone would delay each command by a fifth of a second."""
    code = (
        "import sys; from lutrin.cli.main import with_guests; with_guests();"
        "print(sorted({'numpy', 'onnxruntime', 'litestar'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


NAMED = re.compile(r"lutrin ((?:[a-z]+(?:-[a-z]+)* ?)+)")


def test_every_command_that_a_remedy_names_exists() -> None:
    """A remedy that names a missing command does not help."""
    named = [(path.name, words) for path in (ROOT / "src").rglob("*.py") for words in _commands(path)]
    assert len(named) > 10
    assert [f"{name}: lutrin {words}" for name, words in named if not _exists(words.split())] == []


def _commands(path: Path) -> Iterator[str]:
    """The words behind `lutrin` in every remedy of a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "remedy":
            for text in ast.walk(node.value):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield from NAMED.findall(text.value)


def _exists(words: list[str]) -> bool:
    """Whether the words name a command, and below a group one of its commands."""
    found: click.Command = with_guests()
    for word in words:
        if not isinstance(found, click.Group):
            return True
        if word not in found.commands:
            return False
        found = found.commands[word]
    return True
