"""Prepares a book from its own words, without a model: terms with the sentences that define them, questions, and lists.

Candidates come from structure: words set in bold or italics, short headings, list items that open with a name, headings
that ask, lists that a sentence announces. The reader decides: a candidate is kept only if a search for its question
finds, first in this book, a sentence that has the name as its subject; for a heading that asks, a sentence of its own
section. Of all, the ranker must find what is asked in these words alone, as a pupil will who has only the card. What is
kept is a copy of the book's words. A section for which somebody wrote entries is left alone.
"""

import re
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise, takewhile
from typing import Literal

import msgspec
import numpy as np

from lutrin.answer.hostile import gives_orders
from lutrin.answer.runs import is_procedure, steps_of, tells_to_act
from lutrin.index.companion import defining
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.companion_file import SectionText, section_with, sections_of
from lutrin.ingest.sentences import sentence_ranges
from lutrin.language.words import content_stems, stem, subject_words, word_count, words
from lutrin.ports import Reranker, View
from lutrin.prepared import BY_THE_BOOK, Entry
from lutrin.query.frames import asks, frame_of
from lutrin.query.understand import alone, refers
from lutrin.records import Chunk, Question, Unit
from lutrin.search.reader import read_fit
from lutrin.search.search import Searcher

MOST_NAME_WORDS = 4
LEAST_WORDS = 5
"""Of a sentence that says something of a name, besides the name."""
MOST_WORDS = 60
"""Of an answer that is read on a card."""
GOES_ON = 0.6
"""A name after which one word follows in so large a share of its places goes on with that word."""
LEAST_PLACES = 3
"""Places in which the words of a heading must stand, to be a term of the book."""
NOUN = 0.05
"""A word that stands behind an article in so large a share of its places is a noun: *key* in .42, *allows* in 0."""
LEAD_WORDS = 4
"""Of a sentence that announces a list and is understood without it."""
LIST_ITEMS = range(3, 9)
MOST_LIST_WORDS = 120
"""Of a list that is recalled at once."""
MOST_LISTS = 2
"""Of one section."""
FITTED = "cards.json"
CardSource = Literal["term", "mention"]
"""What a card is made of: words that introduce a name, or others that stand about it."""
MATTER = frozenset({"text", "summary", "glossary"})
_MARKED = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3})(?=[^\s*_])(?P<sign>[^*_\n]{2,60})(?<=[^\s*_])\1(?![\w*])"
    r"|<(strong|b|dfn|em|i)>(?P<tag>[^<\n]{2,60})</\3>"
)
"""Words set in bold or italics."""
_OPENING = re.compile(r"^[^\w(\[\"'“‘$`]+")
"""Signs before the first word: a picture, a dash."""
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_SIGN = re.compile(r"^\W+\s")
_WORDS = re.compile(r"(?:\s+[\w-]+)*")
_ITEM = re.compile(r"(?:\d+[.)]\s+)?(?P<name>[^:–—]{2,40}?)(?::|\s[-–—])\s+(?P<text>\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that the book may define, or a heading that asks."""

    topic: str
    chunk: Chunk
    """Where it stands."""

    @property
    def asks(self) -> bool:
        """Whether it is a question by itself."""
        return self.topic.endswith("?") and asks(self.topic)

    @property
    def question(self) -> str:
        """The question that is searched for."""
        return self.topic if self.asks else defining(self.topic)


class CardsFit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `python -m training cards` wrote."""

    ranker: str
    """Name of the ranker that it was fitted for."""
    terms: float
    """Least log odds, up to the ranker's constant, that words which introduce a term or heading answer its question."""
    mentions: float
    """The same of words that stand anywhere else."""
    lists: tuple[float, ...]
    """Weight of each of `list_signals`, then the bias: log odds above 0 keep a list."""
    right: Mapping[str, tuple[int, int, int]]
    """Of each kind: cards that are kept by what was fitted without their book, how many of these are right, cards."""


class Extractor:
    """Finds entries in a book's own words.

    Args:
        ranker: Judges what is found; None: it is believed.
    """

    def __init__(self, searcher: Searcher, ranker: Reranker | None = None) -> None:
        self._searcher = searcher
        self._ranker = ranker

    async def entries(
        self, generation: OpenGeneration, files: Collection[str] | None = None
    ) -> AsyncGenerator[Entry, None]:
        """Yield what a book says of its terms, and answers to the questions of its headings; of all or of these files.

        Raises:
            IndexUnavailable: The book cannot be read.
        """
        chunks = [chunk for chunk in await generation.all_chunks() if chunk.role in MATTER]
        entries = [one.entry for one in generation.companion.entries]
        names = {_key(name) for entry in entries for name in entry.names}
        answers = {entry.points for entry in entries if entry.author == BY_THE_BOOK}
        places = {(entry.file, entry.heading) for entry in entries if entry.author != BY_THE_BOOK}
        sources = {name: await generation.source(name) for name in dict.fromkeys(chunk.filename for chunk in chunks)}
        sections = {name: sections_of(sources[name], await generation.chunks_of(name)) for name in sources}
        usage = Usage.of(chunks)
        for candidate in _candidates(chunks, sources, usage):
            home = candidate.chunk
            is_tried = files is None or home.filename in files
            if not is_tried or _key(candidate.topic) in names or (home.filename, home.section_title) in places:
                continue
            entry = await self._keep(generation, candidate, sources, sections, usage)
            is_new = entry is not None and entry.points not in answers and _key(entry.topic) not in names
            if entry is not None and is_new and (entry.file, entry.heading) not in places:
                names |= {_key(candidate.topic), _key(entry.topic)}
                answers.add(entry.points)
                yield entry
        for name, source in sources.items():
            for section in sections[name] if files is None or name in files else ():
                if (name, section.title) not in places:
                    async for entry in self._lists(section, source):
                        yield entry

    async def _keep(
        self,
        generation: OpenGeneration,
        candidate: Candidate,
        sources: Mapping[str, str],
        sections: Mapping[str, Sequence[SectionText]],
        usage: "Usage",
    ) -> Entry | None:
        """The entry of a candidate, if a glossary defines it, or asking for it finds what answers."""
        home = candidate.chunk
        meanings = (unit for unit in home.units if home.role == "glossary" and _answer(candidate, unit))
        chunk, unit = home, next(meanings, None)
        if unit is None:
            chunk, unit = await self._search(generation, candidate)
        text = _answer(candidate, unit) if unit is not None else ""
        if unit is None or not text or chunk.filename not in sources or gives_orders(chunk.text):
            return None
        if unit.kind == "sentence" and not candidate.asks:
            candidate = replace(candidate, topic=usage.name_in(candidate.topic, text))
            if not _is_name(candidate.topic) or usage.places[_key(candidate.topic)] < LEAST_PLACES:
                return None
        asked, told = candidate.question, " ".join(unit.text.split())
        if unit.kind == "sentence":
            asked, told = asked if candidate.asks else defining(_subject_of(candidate.topic, text)), text
        quote = sources[chunk.filename][unit.char_start : unit.char_end]
        section = section_with(chunk, sections[chunk.filename])
        kind: CardSource = "term" if _introduces(section, unit, candidate.topic, quote) else "mention"
        if home.role != "glossary" and not await self._tells(kind, asked, told):
            return None
        return section.entry("question" if candidate.asks else "term", candidate.topic, text, quote, BY_THE_BOOK)

    async def _lists(self, section: SectionText, source: str) -> AsyncGenerator[Entry, None]:
        """The lists of a section that answer the sentence before them."""
        kept = 0
        for block in _enumerations(section):
            lead, items, answer = " ".join(block[0].lead.split()), _listed(block), _listed(_named_items(block) or block)
            is_short = word_count(answer) <= MOST_LIST_WORDS
            if is_short and kept < MOST_LISTS and await self._lists_what(section.title, lead, f"{lead}\n{items}"):
                kept += 1
                quote = source[block[0].char_start : block[-1].char_end]
                yield section.entry("list", lead, answer, quote, BY_THE_BOOK)

    async def _tells(self, kind: CardSource, question: str, text: str) -> bool:
        """Whether the ranker finds in a text, which is all that it sees, what is asked."""
        fit = self._fit()
        if self._ranker is None or fit is None:
            return True
        return await judged(self._ranker, question, text) >= (fit.terms if kind == "term" else fit.mentions)

    async def _lists_what(self, title: str, lead: str, text: str) -> bool:
        """Whether a list with the sentence before it makes a card."""
        fit = self._fit()
        if self._ranker is None or fit is None:
            return True
        signals = list_signals(await judged(self._ranker, lead.rstrip(": "), text), title, lead)
        return float(np.dot((*signals, 1.0), fit.lists)) > 0

    def _fit(self) -> CardsFit | None:
        """What was fitted for this ranker."""
        fit = weights()
        return fit if fit is not None and self._ranker is not None and fit.ranker == self._ranker.name else None

    async def _search(self, generation: OpenGeneration, candidate: Candidate) -> tuple[Chunk, Unit | None]:
        """The passage that a search for a candidate's question finds, and its unit that surely answers; None: none."""
        result = await self._searcher.search(generation, alone(Question(text=candidate.question)), k=1)
        if result.verdict != "answers" or not result.parts[0].passages:
            return candidate.chunk, None
        best = result.parts[0].passages[0]
        place = int(best.scores.argmax())
        # Likelier than all others of its passage together: else the passage answers, and no sentence of it does.
        is_sure = 2 * np.exp(best.scores[place]) > np.exp(best.scores).sum()
        if candidate.asks and best.chunk.heading_key != candidate.chunk.heading_key:
            is_sure = False
        return best.chunk, best.chunk.units[place] if is_sure else None


def weights() -> CardsFit | None:
    """Return what was fitted; None before fitting."""
    return read_fit("lutrin.study", FITTED, CardsFit)


async def judged(ranker: Reranker, question: str, text: str) -> float:
    """Log odds, up to a constant, that a text answers a question by itself."""
    (judgement,) = await ranker.judge(question, [View(text, 0, 0, whole=True)])
    return judgement.passage


def list_signals(odds: float, title: str, lead: str) -> tuple[float, float, float]:
    """What tells whether a list makes a card, with the ranker's `odds` that it answers the sentence before it.

    The others: whether that sentence names what its section is about, and whether it is one clause.
    """
    about, named = (_key(" ".join(subject_words(text))) for text in (title, lead))
    return odds, float(not set(about).isdisjoint(named)), float("," not in lead)


def _listed(items: Sequence[Unit] | Sequence[str]) -> str:
    texts = (item if isinstance(item, str) else item.text for item in items)
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


def _named_items(block: Sequence[Unit]) -> Sequence[str]:
    """The names with which the items of a list open, if all do: they are what is asked for, the rest explains them."""
    names = [item[0] for unit in block if (item := _item(unit)) is not None]
    return names if len(names) == len(block) else ()


def _enumerations(section: SectionText) -> Iterator[Sequence[Unit]]:
    """The lists of a section that name the parts of what one sentence announces."""
    units = list({unit.char_start: unit for unit in section.units}.values())
    if is_procedure(units) and tells_to_act(steps_of(units)):
        return  # they serve its steps
    for _, group in groupby(units, key=lambda unit: (unit.kind, unit.block)):
        block = list(group)
        if block[0].kind == "list_item" and block[0].role in {"text", "summary"} and _is_enumeration(block):
            yield block


def _is_enumeration(block: Sequence[Unit]) -> bool:
    """Whether a list names the parts of what one sentence announces; steps and calculations are done, not learnt."""
    lead = block[0].lead.strip()
    is_one = lead.endswith(":") and len(sentence_ranges(lead)) == 1 and word_count(lead) >= LEAD_WORDS
    reads_alone = is_one and bool(subject_words(lead)) and not refers(lead)
    is_done = is_procedure(block) or any("=" in unit.text for unit in block)
    return len(block) in LIST_ITEMS and reads_alone and not is_done


def _answer(candidate: Candidate, unit: Unit) -> str:
    """What a unit says to a candidate, readable alone; empty: nothing."""
    text = _OPENING.sub("", " ".join(unit.text.split()))
    if unit.role not in MATTER or unit.warning or word_count(text) > MOST_WORDS:
        return ""
    if candidate.asks:
        names = frame_of(candidate.topic)[0] != "definition" or _opening(_subject(candidate.topic)).match(text)
        return text if names and _is_whole(unit, text) and not refers(text) else ""
    name = [stem(word) for word in words(candidate.topic)]
    if (item := _item(unit)) is not None:
        named, meaning = item
        is_named = [stem(word) for word in words(named)] == name
        # What is announced ("Its drawbacks are:") is understood there alone, unless it names itself.
        is_announced = unit.kind == "list_item" and bool(unit.lead)
        alone = not is_announced or _opening(candidate.topic).match(meaning) is not None
        return meaning if is_named and alone and word_count(meaning) >= LEAST_WORDS else ""
    opens = _opening(candidate.topic).match(text)
    if opens is not None and text[opens.end() :].startswith((".", ":")):
        # The label of a paragraph: what stands behind it is of the name only if it begins with it, too.
        text = text[opens.end() + 1 :].lstrip()
        opens = _opening(candidate.topic).match(text)
    rest = text[opens.end() :].lstrip() if opens is not None else ""
    # "The Raspberry Pi Foundation" is another name.
    says_more = word_count(rest) >= LEAST_WORDS and not rest[:1].isupper()
    return text if says_more and _is_whole(unit, text) else ""


def _item(unit: Unit) -> tuple[str, str] | None:
    """The name with which an item of a list, or a row of a glossary's table, opens, and what it says of it."""
    if unit.kind == "table_row" and unit.role == "glossary" and len(cells := unit.row) == 2:
        return cells[0], cells[1]
    item = _ITEM.fullmatch(_OPENING.sub("", " ".join(unit.text.split()))) if unit.kind == "list_item" else None
    return (item["name"], item["text"].strip()) if item is not None else None


def _subject(question: str) -> str:
    """What a question asks to define, as it stands there."""
    named = subject_words(question)
    return question[question.find(named[0]) : question.rfind(named[-1]) + len(named[-1])] if named else question


def _opening(name: str) -> re.Pattern[str]:
    """Finds a name as the subject that opens a sentence, behind an article at most; `The` wants it as it stands.

    "A relay is ..." and "Relays are ..." are of all relays, "The relay is ..." of one that was spoken of.
    """
    exact = r"\W+".join(map(re.escape, words(name)))
    either = rf"(?:{exact}(?:e?s)?|{exact.removesuffix('s')})"
    return re.compile(rf"(?:The\s+{exact}|(?:An?\s+)?{either})\b", re.IGNORECASE)


def _introduces(section: SectionText, unit: Unit, topic: str, quote: str) -> bool:
    """Whether a unit brings a name in: it is an item, the first sentence below the name, or sets it apart.

    Args:
        quote: The unit as the source has it, with what is set in bold or italics.
    """
    own = set(_key(topic))
    marked = ({*_key(match["sign"] or match["tag"])} for match in _MARKED.finditer(quote))
    is_first = unit == next((one for one in section.units if one.kind == "sentence"), None)
    is_set_apart = any(name and (name <= own or own <= name) for name in marked)
    return unit.kind != "sentence" or is_set_apart or (is_first and not own.isdisjoint(_key(section.title)))


def _subject_of(name: str, sentence: str) -> str:
    """A name as the subject of a sentence that it opens, with its article: of "geofences" it is "a geofence"."""
    opens = _opening(name).match(sentence)
    article = _ARTICLE.match(opens[0]) if opens is not None else None
    return name if opens is None else f"{article[0].lower()}{opens[0][article.end() :]}" if article else opens[0]


def _is_whole(unit: Unit, text: str) -> bool:
    return unit.kind == "sentence" and text.endswith((".", "!"))


def _candidates(chunks: Sequence[Chunk], sources: Mapping[str, str], usage: "Usage") -> Iterator[Candidate]:
    """Names and asking headings, each once: those of a glossary, then the others in the order of the book."""
    seen: set[str] = set()
    for chunk in sorted(chunks, key=lambda chunk: chunk.role != "glossary"):
        title = chunk.section_title.strip()
        for topic in (title, *_names_in(chunk, sources.get(chunk.filename, ""))):
            name = topic if topic.endswith("?") else usage.whole_name(_bare(topic))
            is_term = chunk.role == "glossary" or usage.places[_key(name)] >= LEAST_PLACES
            is_wanted = name.endswith("?") or (_is_name(name) and is_term)
            if is_wanted and name.casefold() not in seen:
                seen.add(name.casefold())
                yield Candidate(name, chunk)


def _bare(topic: str) -> str:
    """A name without the sign before it, as of a list, and without what encloses it.

    >>> _bare("- Allocation"), _bare("(torque)."), _bare("--version")
    ('Allocation', 'torque', '--version')
    """
    return _SIGN.sub("", topic).strip(" .,;:!()[]\"'“”‘’")


def _names_in(chunk: Chunk, source: str) -> Iterator[str]:
    """What is set in bold or italics within the sentences of a passage, and what its list items open with."""
    for unit in chunk.units:
        if unit.role not in MATTER:
            continue
        if (item := _item(unit)) is not None:
            yield item[0]
        elif unit.kind == "sentence":
            for match in _MARKED.finditer(source, unit.char_start, unit.char_end):
                yield match["sign"] or match["tag"]


def _is_name(name: str) -> bool:
    """Whether words may name a thing: few, with letters, and not all of them everyday ones.

    One that begins with an everyday word, articles apart, is a phrase, unless it is written as a title.

    >>> _is_name("The Stream Trait"), _is_name("One-Pixel Attack"), _is_name("In practice"), _is_name("Chapter 11")
    (True, True, False, False)
    """
    own = words(_ARTICLE.sub("", name))
    has_letters = all(any(map(str.isalpha, word)) for word in own)  # "Chapter 11" names a place
    is_named = bool(own and content_stems(own[0])) or any(word[0].isupper() for word in own[1:])
    return len(own) <= MOST_NAME_WORDS and len(name) > 1 and is_named and bool(content_stems(name)) and has_letters


def _key(name: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(name))


@dataclass(frozen=True, slots=True)
class Usage:
    """How a book uses its words."""

    places: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """How often each run of stems stands in it."""
    following: dict[tuple[str, ...], Counter[str]] = field(default_factory=dict)
    """The words behind each of them."""
    words: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    """How often a word stands right behind an article."""

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> "Usage":
        """Count in the passages of a book."""
        usage = cls()
        for chunk in chunks:
            for unit in chunk.units:
                if unit.kind != "code":
                    usage.count([word.lower() for word in words(unit.text)])
        return usage

    def count(self, own: Sequence[str]) -> None:
        """Count in the words of a unit, lower case."""
        stems = [stem(word) for word in own]
        self.words.update(own)
        self.named.update(word for before, word in pairwise(own) if _ARTICLE.fullmatch(f"{before} "))
        for length in range(1, MOST_NAME_WORDS + 1):
            for at in range(len(stems) - length + 1):
                key = tuple(stems[at : at + length])
                self.places[key] += 1
                after = own[at + length] if at + length < len(own) else ""
                self.following.setdefault(key, Counter())[after] += 1

    def whole_name(self, name: str) -> str:
        """A name with the word that nearly always follows it: "symmetric" is "symmetric encryption"."""
        after = self.following.get(_key(name), Counter())
        word, count = next(iter(after.most_common(1)), ("", 0))
        goes_on = (
            count >= LEAST_PLACES and count >= GOES_ON * after.total() and bool(word) and bool(content_stems(word))
        )
        return f"{name} {word}" if goes_on else name

    def name_in(self, name: str, sentence: str) -> str:
        """A name with the nouns that go on with it in a sentence that it opens: "scalar" is "scalar type"."""
        opens = _opening(name).match(sentence)
        behind = _WORDS.match(sentence, opens.end()) if opens is not None else None
        own = behind[0].split() if behind is not None else []
        nouns = list(takewhile(self._is_noun, own))
        if nouns and len(own) > len(nouns) and _ARTICLE.fullmatch(f"{own[len(nouns)]} "):
            nouns.pop()  # a verb before its object
        # As it stands there: of "cameras" it is "Camera sensors".
        return " ".join((_ARTICLE.sub("", opens[0]), *nouns)) if nouns and opens is not None else name

    def _is_noun(self, word: str) -> bool:
        return len(word) > 1 and self.named[word.lower()] >= NOUN * max(1, self.words[word.lower()])
