"""The order of pages as a site's own table of contents gives it: Mintlify's, MyST's, Jupyter Book's, mdBook's."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import yaml

from lutrin.ingest.frontmatter import PlainLoader

_MAX_BYTES = 262_144
_DEEPEST = 40
_SUMMARY_LINK = re.compile(r"^[ \t]*+(?:[-*+][ \t]+)?\[[^\]\n]{0,500}\]\(<?([^()<>#\n]{1,500}\.mdx?)", re.MULTILINE)
# Under these names stand a page or lists of pages, in the order in which a reader leafs through them.
_PAGES = frozenset({"pages", "file", "root"})


def pages_in_order(root: Path) -> Mapping[str, int]:
    """Place of each page in the first table of contents that lies in a book's folder; empty if there is none.

    A file that cannot be read gives no order: names and `sidebar_position` serve then.

    Args:
        root: The book's folder.

    Returns:
        Ordinals by path relative to the folder, without suffix.
    """
    for name, read in (
        ("docs.json", _from_json),
        ("mint.json", _from_json),
        ("myst.yml", _from_yaml),
        ("_toc.yml", _from_yaml),
        ("SUMMARY.md", _from_links),
    ):
        path = root / name
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
                continue
            pages = list(read(path.read_text(encoding="utf-8", errors="replace")))
        except (OSError, ValueError, yaml.YAMLError, RecursionError):
            continue
        if pages:
            return {name: number for number, name in enumerate(dict.fromkeys(map(bare, pages)))}
    return {}


def bare(name: str) -> str:
    """A page's path as tables of contents write it: relative, without suffix.

    >>> bare("/guide/a & b.mdx"), bare("./1.2-intro")
    ('guide/a & b', '1.2-intro')
    """
    path = PurePosixPath(name.removeprefix("./").strip("/"))
    return (path.with_suffix("") if path.suffix in {".md", ".mdx", ".pdf", ".ipynb", ".rst"} else path).as_posix()


def _from_json(text: str) -> Iterator[str]:
    values = json.loads(text)
    return _pages(values.get("navigation") if isinstance(values, dict) else None)


def _from_yaml(text: str) -> Iterator[str]:
    values = yaml.load(text, Loader=PlainLoader)  # noqa: S506 - a subclass of SafeLoader
    project = values.get("project") if isinstance(values, dict) else None
    return _pages(project.get("toc") if isinstance(project, dict) else values)


def _from_links(text: str) -> Iterator[str]:
    return map(unquote, _SUMMARY_LINK.findall(text))


def _pages(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:  # noqa: ANN401 - whatever the file holds
    """The pages that a nested value names, in order."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and name in _PAGES:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _pages(item, name, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _pages(item, str(key), depth + 1)
