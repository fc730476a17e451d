"""The companion beside a book: read line by line, checking each entry against the present book.

An entry belongs to a section, which it names by file and heading, and stores the hash of the section's text. It fits if
the section exists, its text has not changed since, and each quote is in the file. Neither hash nor quote depends on
blanks and line ends. An entry that does not fit is reported with its line, and stays in the file.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import msgspec

from lutrin.index.companion import FILE, wordings
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.books import Book
from lutrin.ingest.configuration import fault_of, is_small_file, read_plain
from lutrin.prepared import KINDS, THE_AUTHORS, Decision, Entry, Kind, PreparedEntry, State, key_of
from lutrin.records import NEVER_AN_ANSWER, Chunk, Notice, Unit

MAX_BYTES = 64 << 20
MAX_LINE = 32_768
"""Bytes of one entry."""
WRITTEN = b"3"
"""Change this to rebuild every companion."""
EXTRACTED = "extracted 2"
"""Change this to regenerate the entries from every book's own words."""
PAGE = "the teacher's page"
"""Named in the report of an entry from there that no longer fits."""
SHIPPED = Path(__file__).with_name("approved.txt")
"""SHA-256 of the companions that ship with Lutrin; `just docs` writes it."""
HASH_DIGITS = 16
"""Length of a shortened SHA-256: 64 bits distinguish the versions of one book's sections."""
_WORD = re.compile(r"\w+")

Extract = Callable[[OpenGeneration, Collection[str] | None], AsyncIterator[Entry]]
"""Yields entries from a book's own words: from some of its files, or from all."""
Holds = Callable[[Entry, Sequence[Chunk]], str]
"""The part of an entry that neither its section nor its quoted passages support; empty if there is none."""
ReadFile = Callable[[str], tuple[str, Sequence[Chunk]] | None]
"""Source text and chunks of a file by its name; None if the book does not have it."""


class MisfitError(Exception):
    """An entry does not fit the book; the text tells its author why."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a companion: an entry, or its fault."""

    number: int
    entry: Entry | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section of a file, up to the end of its units."""

    title: str
    anchor: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    """Offsets in the source file."""
    digest: str
    chunks: tuple[Chunk, ...]

    @property
    def units(self) -> Iterator[Unit]:
        """The units of its passages in order; units repeated by passages come twice."""
        return (unit for chunk in self.chunks for unit in chunk.units)

    def entry(self, kind: Kind, topic: str, text: str | tuple[str, ...], quote: str, author: str) -> Entry:
        """An entry on this section in its present state."""
        return Entry(
            kind=kind,
            file=self.chunks[0].filename,
            heading=self.title,
            anchor=self.anchor,
            section_hash=self.digest,
            topic=topic,
            text=text,
            quotes=(quote,),
            author=author,
        )


def companion_path(book: Book) -> Path:
    """Path of a book's companion: in its folder, or beside the file of a one-file book."""
    only = book.rules.only
    if only is not None and len(only) == 1:
        return book.root / f"{Path(next(iter(only))).stem}.{FILE}"
    return book.root / FILE


def own_files(paths: Sequence[Path], studied: Path, approved: Path) -> tuple[Path, ...]:
    """Select those of a book's companions whose claims about themselves are trusted.

    Trusted are files written on this machine, files merged here, and those of Lutrin's sample book. A folder that calls
    itself *approved* proves nothing.

    Args:
        approved: List of the SHA-256 of files that somebody approved here, one a line; it may be missing.
    """
    digests = {*SHIPPED.read_text(encoding="ascii").split()}
    if approved.exists():
        digests |= {*approved.read_text(encoding="ascii", errors="replace").split()}
    return tuple(
        path for path in paths if path == studied or (is_small_file(path, MAX_BYTES) and digest_of(path) in digests)
    )


def approve(paths: Iterable[Path], approved: Path) -> None:
    """Vouch for companions in their present state; see `own_files`."""
    approved.parent.mkdir(parents=True, exist_ok=True)
    with approved.open("a", encoding="ascii") as file:
        file.writelines(f"{digest_of(path)}\n" for path in paths)


def digest_of(path: Path) -> str:
    """SHA-256 of a companion, which identifies it in approvals."""
    return hashlib.sha256(read_plain(path, MAX_BYTES)).hexdigest()


def as_the_books(entry: Entry) -> Entry:
    """Reduce an entry of a book's folder to the book's rights: no approval, no pin, no author's name."""
    author = entry.author if entry.by_model or not entry.author.strip() else THE_AUTHORS
    state: State = "hidden" if entry.state == "hidden" else "proposed"
    return msgspec.structs.replace(entry, author=author, state=state, pinned=False)


def fingerprint_of(
    paths: Sequence[Path], decisions: Sequence[Decision] = (), own: Collection[Path] = (), *, extracts: bool = False
) -> str:
    """Hash a book's companions, the trusted ones among them, and the teacher's decisions; empty if there are none.

    The version of the extraction is appended to the hash; see `extraction_of`.
    """
    parts = [read_plain(path, MAX_BYTES) for path in paths if is_small_file(path, MAX_BYTES)]
    parts += [b"own" if path in own else b"" for path in paths if is_small_file(path, MAX_BYTES)]
    parts += [msgspec.json.encode(decisions)] if decisions else []
    digest = hashlib.sha256(b"\n".join([WRITTEN, *parts])).hexdigest() if parts or extracts else ""
    return f"{digest}:{EXTRACTED}" if extracts else digest


def extraction_of(fingerprint: str) -> str:
    """The version of the extraction behind a fingerprint, in the form of `EXTRACTED`; empty if there is none."""
    return fingerprint.partition(":")[2]


def read_lines(path: Path) -> list[Line]:
    """The entries of a companion, each with its faults.

    Raises:
        OSError: The file cannot be read.
    """
    if fault := fault_of(path.lstat(), MAX_BYTES):
        return [Line(1, None, f"the companion {fault}")]
    text = read_plain(path, MAX_BYTES)
    numbered = enumerate(text.removeprefix(b"\xef\xbb\xbf").splitlines(), 1)
    return [_line(number, line) for number, line in numbered if line.strip()]


def _line(number: int, line: bytes) -> Line:
    if len(line) > MAX_LINE:
        return Line(number, None, f"the entry is longer than {MAX_LINE:,} bytes")
    try:
        entry = msgspec.json.decode(line, type=Entry)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Line(number, None, f"is not an entry: {error}")
    return Line(number, entry, entry.problem)


def sections_of(source: str, chunks: Iterable[Chunk]) -> list[SectionText]:
    """The sections of a file in order."""
    groups: dict[tuple[tuple[str, ...], str], list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault((chunk.heading_path, chunk.anchor), []).append(chunk)
    texts = []
    for (path, anchor), own in groups.items():
        start, end = min(chunk.char_start for chunk in own), max(chunk.char_end for chunk in own)
        texts.append(SectionText(own[0].section_title, anchor, path, start, end, digest(source[start:end]), tuple(own)))
    return sorted(texts, key=lambda section: section.start)


def section_with(chunk: Chunk, sections: Iterable[SectionText]) -> SectionText:
    """The section of a passage, among those of its file."""
    return next(one for one in sections if (one.heading_path, one.anchor) == (chunk.heading_path, chunk.anchor))


def digest(text: str) -> str:
    """The hash of a section's text, ignoring white space."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


class Fitting:
    """Checks entries against a book; `holds` checks unapproved ones, None: only their places count."""

    def __init__(self, read: ReadFile, names: Sequence[str], holds: Holds | None = None) -> None:
        self._holds = holds
        self._read = read
        self.names = names
        self._files: dict[str, tuple[str, list[SectionText]]] = {}

    def fit(self, entry: Entry, *, draft: bool = False) -> PreparedEntry:
        """An entry with its places and exact quotes; a draft belongs to the present section, and gets its hash.

        Raises:
            MisfitError: It does not fit.
        """
        source, sections = self._file(entry.file)
        spans = [self._span(quote, source, sections) for quote in entry.quotes]
        section = _section(entry, sections, spans)
        if not draft and not entry.author.strip():
            raise MisfitError("author must not be empty; add drafts with `lutrin companion merge`")
        if not draft and entry.section_hash != section.digest:
            changed = "has changed since the entry was written" if entry.section_hash else "has no hash yet"
            raise MisfitError(
                f"the section “{section.title}” {changed}; if it still holds, run `lutrin companion merge`"
            )
        homes = [_home(span, sections) for span in spans]
        if not all(homes) and spans:
            raise MisfitError("a quote stands outside of what is read as text")
        quoted = [home for home in homes if home is not None]
        exact = msgspec.structs.replace(
            entry,
            heading=section.title,
            anchor=section.anchor,
            section_hash=section.digest,
            quotes=tuple(source[slice(*span)] for span in spans),
        )
        if self._holds is not None and entry.state == "proposed" and entry.author:  # else its author merges it
            near = {chunk.chunk_id: chunk for chunk in (*section.chunks, *quoted)}
            if problem := self._holds(exact, list(near.values())):
                raise MisfitError(problem)
        return PreparedEntry(
            entry=exact,
            chunk_id=(quoted or section.chunks)[0].chunk_id,
            places=tuple((home.chunk_id, *span) for home, span in zip(quoted, spans, strict=True)),
            heading_path=section.heading_path,
            asked=wordings(exact),
        )

    def _file(self, name: str) -> tuple[str, list[SectionText]]:
        if name not in self._files:
            file = self._read(name) if name in self.names else None
            if file is None:
                raise MisfitError(f"the book has no file {name}{_resolve(name, self.names)}")
            self._files[name] = (file[0], sections_of(*file))
        return self._files[name]

    def _span(self, quote: str, source: str, sections: Sequence[SectionText]) -> tuple[int, int]:
        """Find a quote in a file: as written, or without markup, in which case the whole unit is used."""
        words = quote.split()
        exact = re.search(r"\s+".join(map(re.escape, words)), source)
        if exact is not None:
            return exact.span()
        plain = " ".join(words)
        for unit in (unit for section in sections for unit in section.units):
            if plain in " ".join(unit.text.split()):
                return unit.char_start, unit.char_end
        raise MisfitError(f"these words are not in the file: “{plain}”")


def _section(entry: Entry, sections: Sequence[SectionText], spans: Sequence[tuple[int, int]]) -> SectionText:
    """The section that an entry names; if several have that title, the one with its first quote."""
    heading = _plain(entry.heading)
    matches = [section for section in sections if _plain(section.title) == heading]
    # Smaller headings count as sentences of their section.
    matches = matches or [one for one in sections if any(_plain(unit.text) == heading for unit in one.units)]
    if entry.anchor and len(matches) > 1:
        matches = [section for section in matches if section.anchor == entry.anchor] or matches
    holding = [section for section in matches if spans and section.start <= spans[0][0] < section.end]
    if not matches:
        hint = _resolve(entry.heading, [section.title for section in sections])
        raise MisfitError(f"the file has no heading “{entry.heading}”{hint}")
    return (holding or matches)[0]


def _home(span: tuple[int, int], sections: Sequence[SectionText]) -> Chunk | None:
    """The passage with the largest part of a span; prefer passages that may answer."""

    def common(chunk: Chunk) -> int:
        return sum(max(0, min(unit.char_end, span[1]) - max(unit.char_start, span[0])) for unit in chunk.units)

    chunks = [chunk for section in sections for chunk in section.chunks]
    best = max(chunks, key=lambda chunk: (common(chunk), chunk.role not in NEVER_AN_ANSWER), default=None)
    return best if best is not None and common(best) else None


def _resolve(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.0)
    return f"; did you mean “{near[0]}”?" if near else ""


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def check_files(
    paths: Sequence[Path], fitting: Fitting, decisions: Sequence[Decision], own: Collection[Path]
) -> tuple[tuple[PreparedEntry, ...], tuple[Notice, ...]]:
    """The entries of companions that fit their book, in its order, and a notice for each of the others.

    Earlier files win; the teacher overrides them all.

    Raises:
        OSError: A file cannot be read.
    """
    notices: list[Notice] = []
    entries: dict[tuple[str, ...], PreparedEntry] = {}
    for path in paths:
        for line in read_lines(path) if path.exists() else ():
            believed = line if path in own or line.entry is None else replace(line, entry=as_the_books(line.entry))
            try:
                prepared = fitted_line(believed, fitting)
            except MisfitError as misfit:
                notices.append(Notice(filename=path.name, line=line.number, message=str(misfit)))
            else:
                entries.setdefault(key_of(prepared.entry), prepared)
    for decision in decisions:
        key = key_of(decision.item.entry)
        try:
            if key in entries:
                entries[key] = decision.on(entries[key])
            elif decision.is_own:
                entries[key] = fitting.fit(decision.item.entry)
        except MisfitError as misfit:
            notices.append(Notice(filename=PAGE, message=f"“{decision.item.entry.topic}”: {misfit}"))
    return in_order(entries.values(), fitting.names), tuple(notices)


def in_order(entries: Iterable[PreparedEntry], names: Sequence[str]) -> tuple[PreparedEntry, ...]:
    """Entries in the order of the book, whose files are in `names`, in reading order."""
    order = {name: place for place, name in enumerate(names)}

    def place(item: PreparedEntry) -> tuple[int, int, int]:
        first = item.places[0][1] if item.places else 0
        return order.get(item.entry.file, len(order)), first, KINDS.index(item.entry.kind)

    return tuple(sorted(entries, key=place))


def fitted_line(line: Line, fitting: Fitting, *, draft: bool = False) -> PreparedEntry:
    """A line's entry with its places in the book.

    Raises:
        MisfitError: It does not fit, or is not an entry.
    """
    if line.entry is None or line.problem:
        raise MisfitError(line.problem)
    return fitting.fit(line.entry, draft=draft)
