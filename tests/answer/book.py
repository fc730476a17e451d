"""A page of a small book, in memory, for the tests of the answer stage."""

import functools

from lutrin.language.gate import LanguageGate
from lutrin.records import Chunk, Unit, UnitKind


@functools.cache
def english() -> LanguageGate:
    """Accepts English only."""
    return LanguageGate(["en"])


def unit(
    text: str, *, kind: UnitKind = "sentence", block: int = 0, start: int = 0, lead: str = "", warning: bool = False,
    language: str = "",
) -> Unit:  # fmt: skip
    """A unit whose words are in its source at `start`."""
    return Unit(
        kind=kind, text=text, char_start=start, char_end=start + len(text), lead=lead, block=block, warning=warning,
        language=language,
    )  # fmt: skip


def chunk(*units: Unit, chunk_id: str = "c1", filename: str = "01-loops.mdx", simulation: bool | None = None) -> Chunk:
    """A chunk of these units."""
    return Chunk(
        chunk_id=chunk_id,
        text=" ".join(item.text for item in units),
        book="robots",
        book_title="Robots",
        edition="First Edition",
        module="Part 1",
        chapter="Chapter 1: Loops",
        section="01-loops",
        section_title="The loop",
        heading_path=("Loops", "The loop"),
        filename=filename,
        page=None,
        page_label="",
        anchor="the-loop",
        chunk_index=0,
        char_start=units[0].char_start,
        char_end=units[-1].char_end,
        token_count=10,
        content_type="text",
        is_simulation=simulation,
        content_hash="0" * 64,
        units=units,
    )
