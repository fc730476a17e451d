"""Sections under construction: the headings of a page, with the units read so far under each."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from msgspec import structs

from lutrin.ingest.roles import Shape, roles_of_headings, roles_of_units, titled
from lutrin.records import Section, TextRole, Unit, UnitKind


@dataclass(frozen=True, slots=True)
class Where:
    """The context of a block."""

    warning: bool = False
    headings: bool = True
    """Whether a heading here starts a section; inside lists, quotations and admonitions it is a sentence."""
    lead: str = ""
    """For a nested list: the item that it belongs to."""
    tabs: bool = False
    """Whether it is in a group of code blocks, each in a tab that its fence names."""
    caption: bool = False
    """Whether its markup says that it is a caption."""
    role: TextRole = "text"
    """Role from the surrounding markup."""
    variant: str = ""
    """Name of the tab that it is in."""

    def within(self, role: TextRole | None) -> "Where":
        """The context of the blocks in a box of this role."""
        return self if role is None else replace(self, role=role)


@dataclass(slots=True)
class Draft:
    """A heading with its units so far."""

    title: str
    level: int
    path: tuple[str, ...]
    anchor: str
    start: int
    units: list[Unit] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    """What each unit consists of."""
    blocks: int = 0

    def new_block(self) -> int:
        """The number of the next block."""
        self.blocks += 1
        return self.blocks - 1

    def append(self, unit: Unit, shape: Shape = "") -> None:
        """Add a unit."""
        self.units.append(unit)
        self.shapes.append(shape)

    def add(
        self,
        kind: UnitKind,
        text: str,
        place: tuple[int, int],
        number: int,
        where: Where,
        *,
        lead: str = "",
        shape: Shape = "",
    ) -> None:
        """Add a unit of block `number`, unless it has no text."""
        if text:
            unit = Unit(
                kind=kind,
                text=text,
                char_start=place[0],
                char_end=place[1],
                lead="" if lead == text else lead,
                block=number,
                warning=where.warning,
                role=where.role,
                variant=where.variant,
            )
            self.append(unit, shape)


def finish_sections(drafts: Iterable[Draft], end: int, page: TextRole | None) -> tuple[Section, ...]:
    """The sections of a page in order, each up to where the next one starts, their units with their roles."""
    drafts = list(drafts)
    ends = [draft.start for draft in drafts[1:]] + [end]
    given = roles_of_headings([titled(draft.title, len(draft.path), draft.units) for draft in drafts], page)
    return tuple(
        Section(
            title=draft.title,
            level=draft.level,
            heading_path=draft.path,
            anchor=draft.anchor,
            units=_with_roles(draft, heading),
            char_start=draft.start,
            char_end=stop,
            role=heading or "text",
        )
        for draft, stop, heading in zip(drafts, ends, given, strict=True)
    )


def _with_roles(draft: Draft, heading: TextRole | None) -> tuple[Unit, ...]:
    told = roles_of_units(draft.units, draft.shapes, heading)
    return tuple(
        unit if unit.role == role else structs.replace(unit, role=role)
        for unit, role in zip(draft.units, told, strict=True)
    )
