"""Prepares entries from a book's own words, without a model: terms with their defining sentences, questions, and lists.

Candidates come from structure: words in bold or italics, short headings, list items that open with a name, headings
that ask, lists that a sentence introduces. The reader decides: a candidate is kept only if a search for its question
finds, at the top of this book, a sentence that has the name as its subject; for a heading that asks, a sentence of its
own section. In addition, the ranker must find the answer in these words alone, like a pupil who only has the card.
Every entry is a copy of the book's words. A section with written entries is skipped.
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
from lutrin.query.conversation import refers
from lutrin.query.frames import asks, frame_of
from lutrin.query.understand import alone
from lutrin.records import Chunk, Question, Unit
from lutrin.search.fits import read_fit
from lutrin.search.search import Searcher

MOST_NAME_WORDS = 4
LEAST_WORDS = 5
"""Words about a name in a sentence, besides the name."""
MOST_WORDS = 60
"""Words of an answer on a card."""
GOES_ON = 0.6
"""Share of a name's occurrences followed by the same word above which that word belongs to the name."""
LEAST_PLACES = 3
"""Occurrences of a heading's words from which they are a term of the book."""
NOUN = 0.05
"""Share of a word's occurrences after an article above which it is a noun: *key* in .42, *allows* in 0."""
LEAD_WORDS = 4
"""Words of a sentence that introduces a list and makes sense without it."""
LIST_ITEMS = range(3, 9)
MOST_LIST_WORDS = 120
"""Items of a list to recall at once."""
MOST_LISTS = 2
"""Lists of one section."""
FITTED = "cards.json"
CardSource = Literal["term", "mention"]
"""Source of a card: words that introduce a name, or other words about it."""
MATTER = frozenset({"text", "summary", "glossary"})
_MARKED = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3})(?=[^\s*_])(?P<sign>[^*_\n]{2,60})(?<=[^\s*_])\1(?![\w*])"
    r"|<(strong|b|dfn|em|i)>(?P<tag>[^<\n]{2,60})</\3>"
)
"""Words in bold or italics."""
_OPENING = re.compile(r"^[^\w(\[\"'“‘$`]+")
"""Characters before the first word: a picture, a dash."""
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_SIGN = re.compile(r"^\W+\s")
_WORDS = re.compile(r"(?:\s+[\w-]+)*")
_ITEM = re.compile(r"(?:\d+[.)]\s+)?(?P<name>[^:–—]{2,40}?)(?::|\s[-–—])\s+(?P<text>\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that the book may define, or a heading that asks a question."""

    topic: str
    chunk: Chunk
    """Passage that contains it."""

    @property
    def asks(self) -> bool:
        """Whether it is already a question."""
        return self.topic.endswith("?") and asks(self.topic)

    @property
    def question(self) -> str:
        """The question to search for."""
        return self.topic if self.asks else defining(self.topic)


class CardsFit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m training cards`."""

    ranker: str
    """Name of the ranker that it was fitted for."""
    terms: float
    """Least log odds, up to the ranker's constant, that words which introduce a term or heading answer its question."""
    mentions: float
    """The same for words anywhere else."""
    lists: tuple[float, ...]
    """Weight of each of `list_signals`, then the bias: log odds above 0 keep a list."""
    right: Mapping[str, tuple[int, int, int]]
    """For each kind: cards kept by a fit without their book, how many of these are right, and all cards."""


class Extractor:
    """Finds entries in a book's own words.

    Args:
        ranker: Judges the search results; None: they are trusted.
    """

    def __init__(self, searcher: Searcher, ranker: Reranker | None = None) -> None:
        self._searcher = searcher
        self._ranker = ranker

    async def entries(
        self, generation: OpenGeneration, files: Collection[str] | None = None
    ) -> AsyncGenerator[Entry, None]:
        """Yield a book's definitions of its terms, and answers to its heading questions; from all files or these.

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
        """The entry of a candidate, if a glossary defines it, or a search for it finds an answer."""
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
        """Whether the ranker finds the answer to a question in a text that is all it sees."""
        fit = self._fit()
        if self._ranker is None or fit is None:
            return True
        return await judged(self._ranker, question, text) >= (fit.terms if kind == "term" else fit.mentions)

    async def _lists_what(self, title: str, lead: str, text: str) -> bool:
        """Whether a list makes a card together with the sentence before it."""
        fit = self._fit()
        if self._ranker is None or fit is None:
            return True
        signals = list_signals(await judged(self._ranker, lead.rstrip(": "), text), title, lead)
        return float(np.dot((*signals, 1.0), fit.lists)) > 0

    def _fit(self) -> CardsFit | None:
        """The fit for this ranker."""
        fit = weights()
        return fit if fit is not None and self._ranker is not None and fit.ranker == self._ranker.name else None

    async def _search(self, generation: OpenGeneration, candidate: Candidate) -> tuple[Chunk, Unit | None]:
        """The first passage in a search for a candidate, and its unit that surely answers; None if none does."""
        result = await self._searcher.search([generation], alone(Question(text=candidate.question)), k=1)
        if result.verdict != "answers" or not result.parts[0].passages:
            return candidate.chunk, None
        best = result.parts[0].passages[0]
        place = int(best.scores.argmax())
        # Likelier than all others of its passage together; otherwise the passage answers, but no sentence alone.
        is_sure = 2 * np.exp(best.scores[place]) > np.exp(best.scores).sum()
        if candidate.asks and best.chunk.heading_key != candidate.chunk.heading_key:
            is_sure = False
        return best.chunk, best.chunk.units[place] if is_sure else None


def weights() -> CardsFit | None:
    """Return the fit; None before fitting."""
    return read_fit("lutrin.study", FITTED, CardsFit)


async def judged(ranker: Reranker, question: str, text: str) -> float:
    """Log odds, up to a constant, that a text answers a question by itself."""
    (judgement,) = await ranker.judge(question, [View(text, 0, 0, whole=True)])
    return judgement.passage


def list_signals(odds: float, title: str, lead: str) -> tuple[float, float, float]:
    """The signals for whether a list makes a card, with the ranker's `odds` that it answers the sentence before it.

    The others: whether that sentence names the subject of its section, and whether it is one clause.
    """
    about, named = (_key(" ".join(subject_words(text))) for text in (title, lead))
    return odds, float(not set(about).isdisjoint(named)), float("," not in lead)


def _listed(items: Sequence[Unit] | Sequence[str]) -> str:
    texts = (item if isinstance(item, str) else item.text for item in items)
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


def _named_items(block: Sequence[Unit]) -> Sequence[str]:
    """The names that open the items of a list, if all do: the question asks for them, the rest explains them."""
    names = [item[0] for unit in block if (item := _item(unit)) is not None]
    return names if len(names) == len(block) else ()


def _enumerations(section: SectionText) -> Iterator[Sequence[Unit]]:
    """The lists of a section that name the parts of something that one sentence introduces."""
    units = list({unit.char_start: unit for unit in section.units}.values())
    if is_procedure(units) and tells_to_act(steps_of(units)):
        return  # they serve its steps
    for _, group in groupby(units, key=lambda unit: (unit.kind, unit.block)):
        block = list(group)
        if block[0].kind == "list_item" and block[0].role in {"text", "summary"} and _is_enumeration(block):
            yield block


def _is_enumeration(block: Sequence[Unit]) -> bool:
    """Whether a list names the parts of something that one sentence introduces; steps and calculations do not count."""
    lead = block[0].lead.strip()
    is_one = lead.endswith(":") and len(sentence_ranges(lead)) == 1 and word_count(lead) >= LEAD_WORDS
    reads_alone = is_one and bool(subject_words(lead)) and not refers(lead)
    is_done = is_procedure(block) or any("=" in unit.text for unit in block)
    return len(block) in LIST_ITEMS and reads_alone and not is_done


def _answer(candidate: Candidate, unit: Unit) -> str:
    """A unit's text on a candidate, readable alone; empty if there is none."""
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
        # An introduced item ("Its drawbacks are:") makes sense only there, unless it names itself.
        is_announced = unit.kind == "list_item" and bool(unit.lead)
        alone = not is_announced or _opening(candidate.topic).match(meaning) is not None
        return meaning if is_named and alone and word_count(meaning) >= LEAST_WORDS else ""
    opens = _opening(candidate.topic).match(text)
    if opens is not None and text[opens.end() :].startswith((".", ":")):
        # The label of a paragraph: its text is about the name only if it begins with it, too.
        text = text[opens.end() + 1 :].lstrip()
        opens = _opening(candidate.topic).match(text)
    rest = text[opens.end() :].lstrip() if opens is not None else ""
    # "The Raspberry Pi Foundation" is another name.
    says_more = word_count(rest) >= LEAST_WORDS and not rest[:1].isupper()
    return text if says_more and _is_whole(unit, text) else ""


def _item(unit: Unit) -> tuple[str, str] | None:
    """The name that opens a list item, or a row of a glossary's table, and the text about it."""
    if unit.kind == "table_row" and unit.role == "glossary" and len(cells := unit.row) == 2:
        return cells[0], cells[1]
    item = _ITEM.fullmatch(_OPENING.sub("", " ".join(unit.text.split()))) if unit.kind == "list_item" else None
    return (item["name"], item["text"].strip()) if item is not None else None


def _subject(question: str) -> str:
    """The term that a question asks to define, as written."""
    named = subject_words(question)
    return question[question.find(named[0]) : question.rfind(named[-1]) + len(named[-1])] if named else question


def _opening(name: str) -> re.Pattern[str]:
    """Match a name as the subject that opens a sentence, at most after an article; with `The`, exactly as written.

    "A relay is ..." and "Relays are ..." are about all relays, "The relay is ..." about one mentioned before.
    """
    exact = r"\W+".join(map(re.escape, words(name)))
    either = rf"(?:{exact}(?:e?s)?|{exact.removesuffix('s')})"
    return re.compile(rf"(?:The\s+{exact}|(?:An?\s+)?{either})\b", re.IGNORECASE)


def _introduces(section: SectionText, unit: Unit, topic: str, quote: str) -> bool:
    """Whether a unit introduces a name: it is an item, the first sentence below the name, or highlights it.

    Args:
        quote: The unit's source, including bold and italics.
    """
    own = set(_key(topic))
    marked = ({*_key(match["sign"] or match["tag"])} for match in _MARKED.finditer(quote))
    is_first = unit == next((one for one in section.units if one.kind == "sentence"), None)
    is_set_apart = any(name and (name <= own or own <= name) for name in marked)
    return unit.kind != "sentence" or is_set_apart or (is_first and not own.isdisjoint(_key(section.title)))


def _subject_of(name: str, sentence: str) -> str:
    """A name as the subject of a sentence that it opens, with its article: for "geofences", "a geofence"."""
    opens = _opening(name).match(sentence)
    article = _ARTICLE.match(opens[0]) if opens is not None else None
    return name if opens is None else f"{article[0].lower()}{opens[0][article.end() :]}" if article else opens[0]


def _is_whole(unit: Unit, text: str) -> bool:
    return unit.kind == "sentence" and text.endswith((".", "!"))


def _candidates(chunks: Sequence[Chunk], sources: Mapping[str, str], usage: "Usage") -> Iterator[Candidate]:
    """Names and heading questions, each once: those of a glossary, then the others in the order of the book."""
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
    """A name without leading list marks and enclosing characters.

    >>> _bare("- Allocation"), _bare("(torque)."), _bare("--version")
    ('Allocation', 'torque', '--version')
    """
    return _SIGN.sub("", topic).strip(" .,;:!()[]\"'“”‘’")


def _names_in(chunk: Chunk, source: str) -> Iterator[str]:
    """Words in bold or italics within the sentences of a passage, and the openings of its list items."""
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

    If it begins with an everyday word, apart from articles, it is a phrase, unless written as a title.

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
    """Statistics of a book's word use."""

    places: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Count of each run of stems."""
    following: dict[tuple[str, ...], Counter[str]] = field(default_factory=dict)
    """The words behind each run."""
    words: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    """Count of each word right after an article."""

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> "Usage":
        """Count the passages of a book."""
        usage = cls()
        for chunk in chunks:
            for unit in chunk.units:
                if unit.kind != "code":
                    usage.count([word.lower() for word in words(unit.text)])
        return usage

    def count(self, own: Sequence[str]) -> None:
        """Count the words of a unit, in lower case."""
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
        """Extend a name by the word that nearly always follows it: "symmetric" becomes "symmetric encryption"."""
        after = self.following.get(_key(name), Counter())
        word, count = next(iter(after.most_common(1)), ("", 0))
        goes_on = (
            count >= LEAST_PLACES and count >= GOES_ON * after.total() and bool(word) and bool(content_stems(word))
        )
        return f"{name} {word}" if goes_on else name

    def name_in(self, name: str, sentence: str) -> str:
        """Extend a name by the nouns that follow it in a sentence that it opens: "scalar" becomes "scalar type"."""
        opens = _opening(name).match(sentence)
        behind = _WORDS.match(sentence, opens.end()) if opens is not None else None
        own = behind[0].split() if behind is not None else []
        nouns = list(takewhile(self._is_noun, own))
        if nouns and len(own) > len(nouns) and _ARTICLE.fullmatch(f"{own[len(nouns)]} "):
            nouns.pop()  # a verb before its object
        # As written: "cameras" becomes "Camera sensors".
        return " ".join((_ARTICLE.sub("", opens[0]), *nouns)) if nouns and opens is not None else name

    def _is_noun(self, word: str) -> bool:
        return len(word) > 1 and self.named[word.lower()] >= NOUN * max(1, self.words[word.lower()])
