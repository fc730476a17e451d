"""The teacher's pages as the server takes them in."""

from collections.abc import Mapping
from pathlib import Path

from lutrin.serve.guest_pages import GuestPages
from lutrin.serve.services import Services
from lutrin.settings import Settings
from lutrin_teacher import assignments, teacher, teacher_books
from lutrin_teacher.teach import Editor
from lutrin_teacher.teacher_page import Examination

FOLDER = Path(__file__).parent


def give(services: Services, settings: Settings) -> Mapping[str, object]:
    """What the pages ask for by name: the doctor's examinations and the companions of the books."""
    companions = Editor(services.companions) if services.companions is not None else None
    return {"examination": Examination(settings, services.now), "companions": companions}


PAGES = GuestPages(
    handlers=[*teacher.HANDLERS, *teacher_books.HANDLERS, *assignments.HANDLERS],
    give=give,
    templates=FOLDER / "templates",
    static=FOLDER / "static",
)
