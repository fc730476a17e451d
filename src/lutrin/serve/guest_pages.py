"""Pages that guests add to the server through the entry point `lutrin.pages`, such as the teacher's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litestar.handlers import HTTPRouteHandler

from lutrin.guest_ports import Server
from lutrin.guests import load_guests


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestPages:
    """The object behind an entry point."""

    handlers: Sequence[HTTPRouteHandler]
    """They may ask by name for the `server` and the `visit` (`lutrin.guest_ports`), and for what `give` returns."""
    give: Callable[[Server], Mapping[str, object]]
    """Creates the dependencies of the guest's handlers, once for each server."""
    templates: Path
    """Folder of its templates, which may extend the core's."""
    static: Path
    """Folder of its style sheets and scripts, served under `/static` beside the core's."""


def guest_pages() -> tuple[GuestPages, ...]:
    """The pages of all guests; raises InvalidSettings as `load_guests`."""
    return load_guests("pages")
