"""Remedies name a command that exists where Lutrin was installed."""

import sys
import tomllib
from pathlib import Path

import pytest

from lutrin.adapters.generate_llamacpp import PACKAGES
from lutrin.installed import command_to_add
from lutrin.runtime.profile import REMOTE_PACKAGES

ROOT = Path(__file__).parents[2]
WANTED = ("llama-cpp-python>=0.3.36",)


def test_a_checkout_has_its_recipes() -> None:
    """This is one: `./justw serve` brings everything, pinned."""
    assert command_to_add(WANTED, "./justw serve") == "./justw serve"


def test_a_bundle_has_them_above_its_environment(tmp_path: Path) -> None:
    """There Lutrin is a package, and `justw` lies beside `.venv`."""
    (tmp_path / "justw").write_text("#!/bin/sh\n", "ascii")
    assert command_to_add(WANTED, "./justw serve", environment=tmp_path / ".venv") == "./justw serve"


@pytest.mark.parametrize("made_of", ["/srv/lutrin wheels/lutrin-0.2.0-py3-none-any.whl", ""])
def test_a_tool_of_uv_is_made_anew_with_the_package(tmp_path: Path, made_of: str) -> None:
    """Its environment has no pip, and what is put in by hand is gone at the next update."""
    path = f', path = "{made_of}"' if made_of else ""
    (tmp_path / "uv-receipt.toml").write_text(f'[tool]\nrequirements = [{{ name = "lutrin"{path} }}]\n', "utf-8")
    said = command_to_add(WANTED, "./justw serve", environment=tmp_path, folders=[])
    source = f"'{made_of}'" if made_of else "lutrin"
    assert said == f"uv tool install '--with=llama-cpp-python>=0.3.36' {source}"


def test_elsewhere_the_packages_are_installed_beside_lutrin(tmp_path: Path) -> None:
    """By the Python that runs, whichever `pip` is on the path."""
    said = command_to_add(WANTED, "./justw serve", environment=tmp_path, folders=[])
    assert said == f"{sys.executable} -m pip install 'llama-cpp-python>=0.3.36'"


def test_what_no_recipe_brings_is_installed_by_hand() -> None:
    """As `mcp` is, in a checkout too."""
    assert command_to_add(["mcp"]) == f"{sys.executable} -m pip install mcp"


def test_the_packages_are_those_of_the_extras() -> None:
    """What a remedy names is what pyproject.toml asks for."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert list(PACKAGES) == extras["engine"]
    assert list(REMOTE_PACKAGES) == extras["remote"]
