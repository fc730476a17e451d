"""Guests: packages that add to Lutrin through entry points, so that the core needs none of them.

| group | what an entry names |
|---|---|
| `lutrin.formats` | a mapping from suffixes such as `.pdf` to `lutrin.ingest.formats.Format` |
| `lutrin.profiles` | a module with the parts of a profile; `remote` is the one that Lutrin asks for |
| `lutrin.pages` | a `lutrin.serve.guest_pages.GuestPages`: handlers, templates and static files of the server |
| `lutrin.commands` | a command of `click`; its context's object is a `lutrin.guest_ports.Workplace` |
| `lutrin.idle` | a coroutine function that is given a `lutrin.guest_ports.Study` while the server is idle |

A package of its own adds a format with one entry point and no change here: `examples/lutrin-asciidoc`.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from lutrin.errors import InvalidSettings


def find_guests(group: str) -> list[EntryPoint]:
    """The entry points of a group such as `formats`, by name, so that every start sees the same order."""
    return sorted(entry_points(group=f"lutrin.{group}"), key=lambda entry: (entry.name, entry.value))


@cache
def load_guests(group: str) -> tuple[Any, ...]:
    """The objects of a group's guests, loaded once.

    Raises:
        InvalidSettings: A guest cannot be loaded; the message names its package.
    """
    return tuple(map(load_guest, find_guests(group)))


def load_guest(entry: EntryPoint) -> Any:  # noqa: ANN401 - what a group's entries name differs by group
    """Load one guest.

    Raises:
        InvalidSettings: It cannot be loaded; the message names its package.
    """
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist is not None else entry.module
        raise InvalidSettings(
            f"The package {package} names {entry.value} in the entry points {entry.group}, which cannot be loaded: "
            f"{error}.",
            remedy=f"Install a version of {package} that fits this Lutrin, or uninstall it.",
        ) from error
