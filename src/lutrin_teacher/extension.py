"""The teacher's pages as the server takes them in."""

from collections.abc import Mapping
from pathlib import Path

from lutrin.guest_ports import Server
from lutrin.serve.guest_pages import GuestPages
from lutrin_teacher import assignments, teacher, teacher_books
from lutrin_teacher.teach import Editor
from lutrin_teacher.teacher_page import Examination

FOLDER = Path(__file__).parent


def give(server: Server) -> Mapping[str, object]:
    """What the pages ask for by name: the doctor's examinations and the companions of the books."""
    editor = Editor(server.companions) if server.companions is not None else None
    return {"examination": Examination(server.settings, server.now), "companions": editor}


PAGES = GuestPages(
    handlers=[*teacher.HANDLERS, *teacher_books.HANDLERS, *assignments.HANDLERS],
    give=give,
    templates=FOLDER / "templates",
    static=FOLDER / "static",
)
