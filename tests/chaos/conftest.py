"""Books that were read already, for accidents that need some."""

from tests.end_to_end.conftest import empty_folder, library

__all__ = ["empty_folder", "library"]
