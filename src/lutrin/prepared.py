"""Records of a book's prepared material: the entries of a companion, decisions about them, and cards."""

import hashlib
import re
from typing import Literal, get_args

import msgspec

Kind = Literal["keypoints", "term", "question", "list", "explanation", "simpler", "example", "analogy", "quiz"]
State = Literal["proposed", "approved", "hidden"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds in the order in which a section shows them."""
OF_A_TERM: frozenset[Kind] = frozenset({"term", "simpler", "example", "analogy"})
"""Kinds whose topic is the name of a term."""
THE_AUTHORS = "the authors"
THE_TEACHER = "the teacher"
BY_THE_BOOK = "the book"
"""Author of copies of the book's own words."""
CardKind = Literal["question", "choice", "term", "gap", "list", "table", "exercise"]
ON_PAPER: tuple[CardKind, ...] = ("question", "choice", "gap", "exercise", "term")
"""Kinds of cards that can be asked as the questions of a worksheet."""
CHOICE_LETTERS = "ABCDEF"
"""Letters that name the choices of a card."""
MAX_TEXT = 3_000
"""Characters of one explanation."""
MOST_QUOTES, MOST_POINTS = 6, 10
CHOICES = range(2, 7)
_WORD = re.compile(r"\w+")
_MODEL = re.compile(r".+@\d{4}-\d\d-\d\d")


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of a companion."""

    kind: Kind
    file: str
    """Path of the source file below the book's folder."""
    heading: str
    """Heading of its section, as written in the book, without markup."""
    anchor: str = ""
    """Fragment of that heading in the built page."""
    section_hash: str = ""
    """Hash of the section's text when the entry was written; see `lutrin.ingest.companion_file`. Empty in a draft."""
    topic: str
    """The question; for a term, its name; for a list, the sentence before it; for key points, the section's title."""
    text: str | tuple[str, ...] = ""
    """Answer, explanation or definition; for key points, several strings; for a quiz, why the choice is right."""
    quotes: tuple[str, ...] = ()
    """Exact words of the source file that prove it."""
    choices: tuple[str, ...] = ()
    answer: int | None = None
    """For a quiz: index of the right choice."""
    aka: tuple[str, ...] = ()
    """For a term, its other names in the book; for a question, other ways of asking it."""
    author: str = ""
    """Its author: `the authors`, a name, or `model@date`; empty in a draft."""
    state: State = "proposed"
    """`proposed`: written by a model and not reviewed; `approved`: a person vouches for it; `hidden`: never shown."""
    pinned: bool = False
    """Whether it comes before others of its kind; a pinned answer replaces any other answer to its question."""
    unlike: tuple[str, ...] = ()
    """For a pinned answer, questions that it does not answer, however near they are to its own."""
    unlisted: bool = False
    """Whether its question is kept private, because it is in a pupil's words; it still answers."""

    @property
    def by_model(self) -> bool:
        """Whether a model wrote it (`model@date`) and not a person."""
        return _MODEL.fullmatch(self.author) is not None

    @property
    def points(self) -> tuple[str, ...]:
        """The text as one or several paragraphs."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @property
    def names(self) -> tuple[str, ...]:
        """All names of its topic."""
        return (self.topic, *self.aka)

    @property
    def problem(self) -> str:
        """The fault of the entry on its own; empty if there is none."""
        lacks_text = not self.points or not all(point.strip() for point in self.points)
        if not self.topic.strip():
            return "topic must not be empty"
        if self.kind == "keypoints" and (isinstance(self.text, str) or lacks_text or len(self.points) > MOST_POINTS):
            return f"text of keypoints must be a list of 1 to {MOST_POINTS} sentences"
        if self.kind == "quiz":
            return self._quiz_problem()
        if self.kind != "keypoints" and (not isinstance(self.text, str) or lacks_text):
            return f"text of kind {self.kind} must be a text"
        if sum(map(len, self.points)) > MAX_TEXT:
            return f"text is longer than {MAX_TEXT:,} characters"
        if len(self.quotes) > MOST_QUOTES or not all(quote.strip() for quote in self.quotes):
            return f"quotes must be at most {MOST_QUOTES} texts, none of them empty"
        return "" if self.quotes or self.kind == "analogy" else "quotes are missing: which words of the book prove it?"

    def _quiz_problem(self) -> str:
        distinct = {" ".join(_WORD.findall(choice.casefold())) for choice in self.choices}
        if len(self.choices) not in CHOICES or len(distinct) < len(self.choices):
            return f"choices must be {CHOICES.start} to {CHOICES.stop - 1} texts that differ"
        if self.answer is None or not 0 <= self.answer < len(self.choices):
            return f"answer must be 0 to {len(self.choices) - 1}, the place of the right choice"
        return "" if self.quotes else "quotes are missing: which words of the book prove it?"

    def line(self) -> bytes:
        """The entry as a line of a companion, which people can read and edit."""
        return msgspec.json.format(msgspec.json.encode(self), indent=0) + b"\n"


class PreparedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that fits its generation."""

    entry: Entry
    chunk_id: str
    """Id of the passage that holds the first quote."""
    places: tuple[tuple[str, int, int], ...] = ()
    """For each quote, the passage that holds it, and its offsets in the source file."""
    heading_path: tuple[str, ...] = ()
    """Titles from the page's title down to the section's."""
    asked: tuple[str, ...] = ()
    """The questions that lead to it, from `wordings`."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A teacher's decision about an entry, or a pinned answer."""

    item: PreparedEntry
    """The entry after the decision."""
    is_own: bool = False
    """Whether the text is the teacher's own; otherwise only state and pin are, and the text is the companion's."""

    def on(self, published: PreparedEntry) -> PreparedEntry:
        """A companion's entry after the decision."""
        entry = self.item.entry
        changed = msgspec.structs.replace(published.entry, state=entry.state, pinned=entry.pinned)
        if self.is_own:
            changed = msgspec.structs.replace(
                changed, text=entry.text, choices=entry.choices, answer=entry.answer, author=entry.author,
                aka=entry.aka, unlike=entry.unlike, unlisted=entry.unlisted,
            )  # fmt: skip
        return msgspec.structs.replace(
            published, entry=changed, asked=self.item.asked if self.is_own else published.asked
        )


def key_of(entry: Entry) -> tuple[str, ...]:
    """The key that identifies an entry within its kind: its topic, and for key points the section."""
    place = (entry.file, entry.anchor or entry.heading) if entry.kind == "keypoints" else ()
    return (entry.kind, " ".join(entry.topic.casefold().split()), *place)


def id_of(entry: Entry) -> str:
    """A short name for an entry, which stays the same while kind and topic do."""
    return hashlib.sha256("\n".join(key_of(entry)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card: a front, and a back with its proof."""

    id: str
    """Stable as long as front, kind and place stay the same, so that a browser remembers it."""
    kind: CardKind
    front: str
    back: str
    """Empty: the book gives no solution."""
    context: str = ""
    """Section without which the front may not be understood; empty if it is, or if the section would tell the back."""
    choices: tuple[str, ...] = ()
    answer: int | None = None
    """Index of the right choice, from 0."""
    proof: str = ""
    """Words of the book."""
    url: str
    """Path of the reader's page that holds the section, with its fragment."""
    section: str
    chapter: str
    author: str
    """Its author: as in the companion, or `the book`."""


class GlossaryTerm(msgspec.Struct, frozen=True, kw_only=True):
    """A term with its meaning."""

    term: str
    aka: tuple[str, ...]
    text: str
    url: str
    section: str
    author: str


class GuideSection(msgspec.Struct, frozen=True, kw_only=True):
    """The key points of a section."""

    title: str
    url: str
    points: tuple[str, ...]
    author: str


class GuideChapter(msgspec.Struct, frozen=True, kw_only=True):
    """A chapter with its sections in order."""

    title: str
    sections: tuple[GuideSection, ...]


class Practice(msgspec.Struct, frozen=True, kw_only=True):
    """All practice material of one book, in its order, with the glossary from A to Z."""

    cards: tuple[Card, ...] = ()
    glossary: tuple[GlossaryTerm, ...] = ()
    guide: tuple[GuideChapter, ...] = ()

    @property
    def chapters(self) -> tuple[str, ...]:
        """Titles of the chapters that have cards, in order."""
        return tuple(dict.fromkeys(card.chapter for card in self.cards))

    def of_page(self, path: str) -> tuple[Card, ...]:
        """The cards of the page at this path of the reader."""
        return tuple(card for card in self.cards if card.url.partition("#")[0] == path)

    def of_chapter(self, number: int) -> tuple[Card, ...]:
        """The cards of a chapter, counted from 1 in the order of `chapters`; 0: all of them."""
        if number <= 0:
            return self.cards
        titles = self.chapters[number - 1 : number]
        return tuple(card for card in self.cards if card.chapter in titles)
