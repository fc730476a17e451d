"""The teacher's pages as a guest of the server."""

from collections.abc import Mapping
from pathlib import Path

from lutrin.guest_ports import Server
from lutrin.serve.guest_pages import GuestPages
from lutrin_teacher import assignments, teacher, teacher_books
from lutrin_teacher.teach import Editor
from lutrin_teacher.teacher_page import Examination

FOLDER = Path(__file__).parent


def give(server: Server) -> Mapping[str, object]:
    """The services that the pages need: the doctor's checks and the books' companions."""
    editor = Editor(server.companions) if server.companions is not None else None
    return {"examination": Examination(server.settings, server.now), "companions": editor}


PAGES = GuestPages(
    handlers=[*teacher.HANDLERS, *teacher_books.HANDLERS, *assignments.HANDLERS],
    give=give,
    templates=FOLDER / "templates",
    static=FOLDER / "static",
)
