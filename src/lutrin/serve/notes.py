"""The companion's additions to a book's pages, to the shelf, and to suggestions while typing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap

import msgspec

from lutrin.index.companion import Companion, defining, question_of
from lutrin.index.lexical import stem_of, words
from lutrin.index.typeahead import TypedWord
from lutrin.messages import TRIAL_QUESTION
from lutrin.prepared import BY_THE_BOOK, Entry, PreparedEntry
from lutrin.serve.templating import page_path
from lutrin.study.senses import Use, visible_names

Named = tuple[Entry, tuple[tuple[int, frozenset[str]], ...]]
"""A term, with length and stems of each of its names."""
MOST_CHECKS = 4
"""Questions below a section; the others are for practice."""
MOST_TERMS_FOUND = 2
"""Terms above the sections while typing."""


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes folded below a section."""

    points: list[str] = field(default_factory=list)
    """Key points."""
    terms: list[Entry] = field(default_factory=list)
    checks: list[Entry] = field(default_factory=list)
    """Questions for self-checking, some with choices."""

    def __add__(self, other: "Notes") -> "Notes":
        """Combine the notes of two headings in one section."""
        return Notes([*self.points, *other.points], [*self.terms, *other.terms], [*self.checks, *other.checks])

    def __bool__(self) -> bool:
        return bool(self.points or self.terms or self.checks)


class TermPlace(msgspec.Struct, frozen=True):
    """Where a page uses a term."""

    word: str
    """Its spelling on the page."""
    text: str
    """The sentence or list item that contains it, without markup."""


class Term(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name of a term, with its definition and where the book defines it."""

    name: str
    definition: str
    url: str
    heading: str
    quote: str
    places: tuple[TermPlace, ...] = ()
    """Of a page that was named: where its meaning may be shown."""


def notes_of(companion: Companion, filename: str) -> Mapping[str, Notes]:
    """The notes of a page by their section's anchor; sections without notes are skipped."""
    by_anchor: dict[str, Notes] = {}
    for item in companion.visible("keypoints", "term", "quiz", "question"):
        entry = item.entry
        if entry.file != filename:
            continue
        notes = by_anchor.setdefault(entry.anchor, Notes())
        if entry.kind == "keypoints":
            notes.points.extend(entry.points)
        elif entry.kind == "term":
            notes.terms.append(entry)
        else:
            notes.checks.append(entry)
    return {anchor: _shorten(notes) for anchor, notes in by_anchor.items()}


def _shorten(notes: Notes) -> Notes:
    """Limit the notes to a few questions, those with choices first."""
    ranked = sorted(notes.checks, key=lambda entry: entry.kind != "quiz")
    return Notes(notes.points, notes.terms, ranked[:MOST_CHECKS])


def starters(companion: Companion, count: int, filename: str = "") -> list[str]:
    """Questions that a book answers well: those of a page if it has any, else from all over the book, one per page.

    If none is approved, the book's own: from its headings, and on the meaning of its terms.
    """
    approved = [item for item in companion.visible("question", "explanation") if item.entry.state == "approved"]
    if not approved:
        return _own_starters(companion, count, filename)
    topics = dict.fromkeys(item.entry.topic for item in approved if item.entry.file == filename)
    if topics:
        return list(topics)[:count]
    by_page: dict[str, PreparedEntry] = {}
    for item in approved:
        by_page.setdefault(item.entry.file, item)
    pages = list(by_page.values())
    step = len(pages) / (count + 1)
    chosen = [pages[int(step * (number + 1))] for number in range(min(count, len(pages)))]
    return list(dict.fromkeys(item.entry.topic for item in chosen))


def _own_starters(companion: Companion, count: int, filename: str) -> list[str]:
    own = [item.entry for item in companion.visible("question", "term") if item.entry.author == BY_THE_BOOK]
    own = [entry for entry in own if entry.file == filename] or own
    questions = [question_of(entry) for entry in own]
    step = max(1, len(questions) // count) if count else 1
    return list(dict.fromkeys(questions[::step]))[:count]


def trial_questions(companion: Companion, sections: Sequence[str], count: int) -> list[str]:
    """Questions for trying out a book: prepared ones, then on its terms, then on its sections."""
    prepared = [item.entry.topic for item in companion.visible("question", "explanation")]
    terms = [defining(item.entry.topic) for item in companion.visible("term")]
    questions: dict[str, None] = {}
    for kind in (prepared, terms, [TRIAL_QUESTION.format(title=title) for title in sections]):
        step = max(1, len(kind) // count)
        questions |= dict.fromkeys(kind[::step])
    return list(questions)[:count]


def terms_by_name(companion: Companion) -> list[Named]:
    """The terms of a book with their names, in the form for `find_terms`."""
    return [
        (item.entry, tuple((len(name), frozenset(map(stem_of, words(name)))) for name in item.entry.names))
        for item in companion.visible("term")
    ]


def find_terms(terms: Iterable[Named], slug: str, typed: Sequence[TypedWord]) -> list[Term]:
    """Terms whose name has every typed word, whole or begun; short names first."""
    word_stems = [frozenset(chain(map(stem_of, one.forms), (stem_of(one.word),))) for one in typed]
    if not word_stems:
        return []
    matches = []
    for entry, names in terms:
        length = next((length for length, stems in names if not any(map(stems.isdisjoint, word_stems))), None)
        if length is not None:
            matches.append((length, entry))
    return [_term(entry, slug) for _, entry in sorted(matches, key=lambda pair: pair[0])[:MOST_TERMS_FOUND]]


def _term(entry: Entry, slug: str, name: str = "") -> Term:
    url = page_path(slug, entry.file) + (f"#{entry.anchor}" if entry.anchor else "")
    return Term(name or entry.topic, entry.points[0], url, entry.heading, entry.quotes[0] if entry.quotes else "")


def glossary(companion: Companion, slug: str) -> list[Term]:
    """The terms of a book, in its order."""
    return [_term(item.entry, slug, name) for item in companion.visible("term") for name in visible_names(item.entry)]


def glossary_of(uses: Iterable[Use], slug: str) -> list[Term]:
    """The terms that a page uses, with the places where it does."""
    return [
        msgspec.structs.replace(_term(use.entry, slug, use.name), places=tuple(starmap(TermPlace, use.places)))
        for use in uses
    ]
