"""The workplace of guests' commands (`lutrin.guest_ports.Workplace`); a stage loads its libraries when it runs."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from lutrin.guest_ports import Study
from lutrin.prepared import Entry
from lutrin.records import MergeSummary, Notice
from lutrin.settings import Settings


class Workplace:
    """See `lutrin.guest_ports.Workplace`."""

    def study(self, settings: Settings) -> AbstractAsyncContextManager[Study]:
        """Open the parts that a study needs, and close them at the end."""
        from lutrin.runtime.wiring import open_study  # noqa: PLC0415 - loaded when its command runs

        return open_study(settings)

    async def companion_entries(self, settings: Settings, book: str) -> Sequence[Entry]:
        """List the entries of a book's published companion; an empty slug means the first book."""
        from lutrin.runtime.wiring import companion_entries  # noqa: PLC0415 - loaded when its command runs

        return await companion_entries(settings, book)

    def write_companion(self, path: Path, entries: Sequence[Entry]) -> None:
        """Write a companion atomically, one entry on each line."""
        from lutrin.study import edit  # noqa: PLC0415 - loaded when its command runs

        edit.write_entries(path, entries)

    def companions(self, corpus: Path, *, shelf: bool) -> Sequence[Path]:
        """The companion files of a corpus' books; raises LutrinError if the corpus cannot be read."""
        from lutrin.study import edit  # noqa: PLC0415 - loaded when its command runs

        return edit.companions(corpus, shelf=shelf)

    def check_companions(self, corpus: Path, *, shelf: bool) -> tuple[int, Sequence[Notice]]:
        """Count the companion entries that fit their books, with a line for each that does not."""
        from lutrin.study import edit  # noqa: PLC0415 - loaded when its command runs

        return edit.check(corpus, shelf=shelf)

    def merge_companions(self, corpus: Path, drafts: Sequence[Path], *, author: str, shelf: bool) -> MergeSummary:
        """Merge the entries of drafts into the companions of the books that contain their files."""
        from lutrin.study import edit  # noqa: PLC0415 - loaded when its command runs

        return edit.merge(corpus, drafts, author=author, shelf=shelf)

    def approve_companions(self, paths: Collection[Path], settings: Settings) -> None:
        """Approve the current state of companions on this machine."""
        from lutrin.ingest.companion_file import approve  # noqa: PLC0415 - loaded when its command runs

        approve(paths, settings.approved_path)
