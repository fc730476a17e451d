"""Small configuration files of sites: YAML, TOML, JSON. Unreadable ones count as empty."""

import json
import tomllib
from pathlib import Path
from typing import Any

import yaml

from lutrin.ingest.frontmatter import PlainLoader

MAX_BYTES = 262_144


def is_small_file(path: Path) -> bool:
    """Whether a path is a file small enough to be hand-written, and not a link."""
    try:
        return not path.is_symlink() and path.is_file() and path.stat().st_size <= MAX_BYTES
    except OSError:
        return False


def read_small(path: Path) -> str:
    """The text of a configuration; empty if it is missing, a link, too large, or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if is_small_file(path) else ""
    except OSError:
        return ""


class _TolerantLoader(PlainLoader):
    """YAML in which a tag of another program (`!!python/name:...`, `!ENV`) counts as empty."""


_TolerantLoader.add_multi_constructor("", lambda _loader, _suffix, _node: None)


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Read a YAML file's value; None if it has none."""
    try:
        return yaml.load(read_small(path), Loader=_TolerantLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; none if it cannot be read."""
    try:
        return tomllib.loads(read_small(path))
    except (ValueError, RecursionError):
        return {}


def read_json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Read a JSON file's value; None if it has none."""
    try:
        return json.loads(read_small(path) or "null")
    except (ValueError, RecursionError):
        return None
