"""Searches a book, or a selection alone: two searches find candidates; the reader ranks them and scores their units.

Prepared questions lead to passages: each says, in readers' words, what a passage answers. A reader's question is closer
to such a question than to the prose that answers it (hypothetical prompt embeddings, HyPE; doc2query does the same with
words). A passage gains by the nearest question that leads to it. The verdict on whether the book answers ignores this
gain: any near question would find one like itself.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from itertools import chain, zip_longest

import msgspec
import numpy as np

from lutrin.index.companion import Companion
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.labels import labels_in
from lutrin.language.words import identifiers, numbered_names, plain, stem_set, subject_stems, topic_stems, words
from lutrin.ports import Embedder, Encode, Encoding, Ranking, Reading, Reranker
from lutrin.prepared import BY_THE_BOOK
from lutrin.query.respell import Speller
from lutrin.query.understand import Query, with_spelling
from lutrin.records import NEVER_AN_ANSWER, Chunk, Passage, Unit
from lutrin.search import everyday
from lutrin.search.marked import homes, selection_chunk
from lutrin.search.reader import (
    FAR,
    Decision,
    Float,
    Pool,
    ScoredPassage,
    Verdict,
    chance_of,
    combine,
    gather,
    judge,
    load_decisions,
    log_odds,
    read_fit,
    score_passages,
    signals,
    tokenize_question,
)
from lutrin.stages import stage

SELECTION_CHARACTERS = 4096
"""Characters of a selection that are embedded, at most."""
LONGEST_TOKENS = 1000
"""Tokens of a search text, as many as such a selection has in English. A question made of symbols has 8,000, and each
costs as much as a word."""
AT_HOME = 3.0
"""Log odds added to a passage that contains the selection or the question's identifiers (`BMI088` is not another
sensor, however similar)."""
ENCODED_TOKENS = 8_000
"""Tokens of the questions whose vectors are cached, some five hundred short ones: 12 MB. The oldest leave first."""
CLOSE = 50.0
"""Decay length, in characters: text this far from the subject of the question counts 1/e."""
REFERS = 25.0
"""Distance in characters, at most, that counts for a text that refers to a figure."""
NEAREST = 60
"""Prepared questions that may lead to a passage."""
MOST_LED = 12
"""Passages that become candidates because of them, at most."""
FITTED = "kept.json"
IN_TABLES = 3
"""The best passages, whose tables are searched for the row with the most or the least."""
LEAST_ROWS = 3
ALIKE, APART, OTHER_COLUMN = 0.8, 0.01, 0.06
"""Least cosine with a question for the most or the least, and its least margins over the other kinds of question and
over the table's other columns. Of 35 questions whose column a table has, as a noun, a verb or an adjective ("Which clay
shrinks least?", "Which planet is the heaviest?"), 25 get the right row and none a wrong one; of 31 others none gets
one."""
GAIN = 3.0
"""Log odds of that row above the best score of its passage."""
_NUMBER = re.compile(r"[-\u2212]?\d+(?:[ ,\u202f]\d{3})*(?:\.\d+)?")
_QUESTIONS = (
    ("Which {row} has the highest {column}?", "Which {row} has the most {column}?"),
    ("Which {row} has the lowest {column}?", "Which {row} has the least {column}?"),
    ("What is the {column} of a {row}?", "Which {row} is it?", "Which {row} is best?"),
)


class Places(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m evaluation.places`: log odds that a passage gains by its place."""

    shown: float
    """First citation of the previous answer, for a follow-up question."""
    section: float
    """The other passages of its section."""
    leaning: float
    """Gain of the odds that the book answers, if one of these comes first."""
    told: float
    """Loss, within its passage, of the sentence that began the previous answer."""
    page: float
    """The page that the reader has open."""


@dataclass(frozen=True, slots=True)
class NamedLabels:
    """Figures, tables and listings that a question names."""

    labels: frozenset[str] = frozenset()
    """None if the book numbers its figures but has no such number: `Figure 9.9`."""
    chunks: tuple[str, ...] = ()
    """Ids of the chunks that hold them."""
    alone: bool = False
    """Whether the question names nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A book's search texts, and the passages that the question points at."""

    query: Query
    """In the book's spelling."""
    texts: list[str]
    """One text for each thing that is asked."""
    is_selection: bool
    """Whether the text is the selection itself."""
    homes: list[str]
    """Ids of the passages that contain the selection."""
    section: list[str]
    """Ids of all passages of its section, if the question leans on it."""
    shown: Mapping[str, float]
    """Gains by id of the passages that the question continues from."""
    numbered: list[NamedLabels]
    """The labels that each part of the question names."""
    changes: Mapping[str, str]
    """Words that the book spells differently."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question asks."""

    text: str
    passages: tuple[ScoredPassage, ...]
    """Best first."""
    odds: float
    """Logarithm of the odds that the book answers it."""
    around: bool = False
    """Whether more than a sentence is wanted: the text around a selection, or a table that compares two things."""
    is_reranked: bool = False
    """Whether the odds include a cross-encoder's scores."""
    evidence: tuple[float, ...] = ()
    """For a selection: the signals behind the odds."""
    share: tuple[float, ...] = ()
    """Weight of each token of the text; they sum to 1."""

    @property
    def decision(self) -> Decision:
        """The rule that turns its odds into a verdict without a model."""
        return load_decisions().without_model if self.is_reranked else load_decisions().by_reader

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers it, without asking a model."""
        return self.decision.verdict(self.odds)

    def shown(self) -> "Part":
        """A copy whose verdict shows at least its closest passage."""
        return replace(self, odds=max(self.odds, self.decision.floor))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search: the evidence for an answer."""

    passages: tuple[Passage, ...]
    """Best first, at most as many as requested; the score is the probability that a passage answers."""
    parts: tuple[Part, ...]
    """One part for each thing that is asked, in order."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that were searched for in the book's spelling."""

    @property
    def odds(self) -> float:
        """Log odds that the book answers any part of the question; comparable between books."""
        return max((part.odds for part in self.parts), default=-np.inf)

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers any part of the question."""
        return max(self.parts, key=lambda part: part.odds).verdict if self.parts else "no"


class Searcher:
    """Finds evidence in an open generation.

    The embedder must be the one that built the index. The reranker, if there is one, reads the best passages again,
    together with the question.
    """

    def __init__(self, embedder: Embedder, reranker: Reranker | None = None) -> None:
        self.embedder = embedder
        self._reranker = reranker
        self._speller = Speller()
        self._encoded: dict[str, Encoding] = {}

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode questions up to `LONGEST_TOKENS` and cache the latest: several books are searched for the same one."""
        distinct = dict.fromkeys(texts)
        encodings = {text: self._encoded[text] for text in distinct if text in self._encoded}
        missing = [text for text in distinct if text not in encodings]
        if missing:
            with stage("embed"):
                encodings.update(zip(missing, await self.embedder.encode(list(map(self._cut, missing))), strict=True))
            self._encoded.update(encodings)
            while sum(1 + len(one.token_offsets) for one in self._encoded.values()) > ENCODED_TOKENS:
                del self._encoded[next(iter(self._encoded))]
        return [encodings[text] for text in texts]

    def _cut(self, text: str) -> str:
        if len(text) <= LONGEST_TOKENS:
            return text
        offsets = self.embedder.token_offsets(text)
        return text[: offsets[LONGEST_TOKENS][0]] if len(offsets) > LONGEST_TOKENS else text

    async def changes(self, generation: OpenGeneration, query: Query) -> dict[str, str]:
        """The words of a query that a book spells differently, with its spelling.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        return await self._speller.changes(generation, query.topic, self.embedder, chunks=generation.manifest.chunks)

    async def search(
        self,
        generation: OpenGeneration,
        query: Query,
        *,
        k: int,
        where: Mapping[str, str] | None = None,
        again: bool = True,
    ) -> SearchResult:
        """Find at most `k` passages, with their units, that answer a query.

        `where` limits the search to a chapter, module or content type; `again` lets the cross-encoder read the best
        passages.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        sought = await self._sought(generation, query)
        query, texts, numbered = sought.query, sought.texts, sought.numbered
        added = [query.added] if query.added and len(texts) == 1 else []
        # The cross-encoder has not been trained on follow-ups or questions about a selection.
        is_question = not query.subject and not query.leans and not sought.is_selection
        reranker = self._reranker if again and is_question else None
        reading = reranker.ranking.reading(self.embedder.reading) if reranker is not None else self.embedder.reading
        inputs = [*texts, *added]
        encoded = list(zip(inputs, await self.encode(inputs), strict=True))
        losses = await self._everyday_losses(query, [encoding for _, encoding in encoded[: len(texts)]])
        besides = [*sought.homes, *sought.section, *query.follows, *sought.shown]
        besides += [name for named in numbered for name in named.chunks]
        # A selection points at its own place; a question that leans on one is handled like any other follow-up.
        leads = {
            text: {} if query.selected_text else leads_of(generation.companion, encoding.pooled)
            for text, encoding in encoded[: len(texts)]
        }
        further = [name for lead in leads.values() for name in list(lead)[:MOST_LED]] if where is None else []
        candidates = await gather(generation, encoded, reading, where, besides=besides, led=further, page=query.page)
        numbered = numbered if len(numbered) == len(texts) else [find_labels(generation, text) for text in texts]

        async def parts_of(hidden: Callable[[Chunk], bool]) -> list[Part]:
            pools = candidates.match(hidden)
            place_bonuses = _place_bonuses(query, sought.homes, sought.shown, pools[0].chunks)
            return [
                await self._part(
                    pool,
                    query,
                    reading,
                    reranker,
                    place_bonuses=place_bonuses | dict.fromkeys(named.chunks, AT_HOME),
                    lead_gains=gains(leads[pool.question.text], self.embedder.name),
                    also=pools[len(texts)] if added else None,
                    numbered=named,
                    loss=loss,
                )
                for pool, named, loss in zip(pools[: len(texts)], numbered, losses, strict=True)
            ]

        parts = await parts_of(lambda chunk: query.frame != "quiz" and _asks_only(chunk, query))
        if all(part.verdict != "answers" for part in parts) and any(
            _asks_only(chunk, query) for _, chunk in candidates.places
        ):
            further_parts = await parts_of(lambda _: False)
            parts = [more if _tells(more) else part for part, more in zip(parts, further_parts, strict=True)]
        if is_question:
            for place, part in enumerate(parts):
                if rows := await at_extreme(generation, part.text, part.passages, self.encode):
                    parts[place] = replace(part, passages=tuple(rows), odds=np.inf)
        return SearchResult(passages=_passages(parts, k, reading), parts=tuple(parts), changes=sought.changes)

    async def _sought(self, generation: OpenGeneration, query: Query) -> Sought:
        """Choose the search texts for a book, in its spelling, and the passages that the question points at."""
        selection = query.selected_text[:SELECTION_CHARACTERS]
        home_chunks = await homes(generation, selection)
        section = [
            chunk.chunk_id
            for home in home_chunks[: int(query.leans)]
            for chunk in await generation.chunks_of(home.filename)
            if chunk.heading_key == home.heading_key
        ]
        shown = await _section_shown(generation, query)
        changes = await self.changes(generation, query)
        numbered = [find_labels(generation, text) for text in query.parts]
        query = with_spelling(query, changes)
        # A question that names no subject is about the whole selection.
        texts = [selection] if selection and not query.stems else list(query.parts)
        is_selection = texts == [selection]
        if query.leans and not home_chunks and not is_selection and " ".join(selection.split()) not in query.topic:
            # If the selection is not in the book word for word, its text must say what "this concept" is.
            texts = [f"{query.topic} – {selection}"]
        return Sought(
            query=query,
            texts=texts,
            is_selection=is_selection,
            homes=[chunk.chunk_id for chunk in home_chunks],
            section=section,
            shown=shown,
            numbered=numbered,
            changes=changes,
        )

    async def _everyday_losses(self, query: Query, encodings: Sequence[Encoding]) -> list[float]:
        """The loss of each part's odds for an everyday question; zero if the question leans on anything.

        A question that asks one thing is judged by all of its words, "Tell me a joke", even those not searched for.
        """
        if query.selected_text or query.subject:
            return [0.0] * len(encodings)
        whole = await self.encode([query.text]) if len(encodings) == 1 else encodings
        return [everyday.loss(encoding.pooled, self.embedder.name) for encoding in whole]

    async def _part(
        self,
        pool: Pool,
        query: Query,
        reading: Reading,
        reranker: Reranker | None,
        *,
        place_bonuses: Mapping[str, float],
        lead_gains: Mapping[str, float],
        also: Pool | None,
        numbered: NamedLabels,
        loss: float,
    ) -> Part:
        """Rank the pool for one text.

        A follow-up is read with and without its context (`also`): with it alone, the previous answer would win again.
        """
        text = pool.question.text
        if not pool.chunks:
            return Part(text, (), -np.inf)
        passages = score_passages(pool, reading)
        evidence = signals(pool, passages)
        if also is not None:
            passages = [
                replace(one, score=(one.score + other.score) / 2, scores=(one.scores + other.scores) / np.float32(2))
                for one, other in zip(passages, score_passages(also, reading), strict=True)
            ]
        most = max((lead_gains.get(item.chunk.chunk_id, 0.0) for item in passages), default=0.0)
        # Convert log odds into the reader's score.
        ranking = reranker.ranking if reranker is not None else Ranking()
        slope = reading.answers[0] * ranking.reader
        ranked = []
        for item in passages:
            name, file = item.chunk.chunk_id, item.chunk.filename
            place = max(place_bonuses.get(name, 0.0), place_bonuses.get(file, 0.0)) / slope
            # Prepared questions lower the other passages instead of raising their own, so that no score grows.
            ranked.append(_raise(item, place + lead_gains.get(name, 0.0) - most))
        ranked = _favour_identifiers(ranked, text, AT_HOME / slope)
        ranked.sort(key=lambda item: (-item.score, item.chunk.chunk_id))
        if reranker is not None:
            with stage("rank"):
                judgements = await judge(reranker, text, ranked)
            ranked = combine(ranked, judgements, ranking)
            if ranking.scope:
                evidence = np.append(evidence, np.float32(max(one.passage for one in judgements)))
        if query.leans:
            ranked = _home_first(ranked, [name for name, bonus in place_bonuses.items() if bonus >= AT_HOME])
        is_home = any(place_bonuses.get(item.chunk.chunk_id, 0.0) >= AT_HOME for item in ranked[:1])
        ranked = _without_other_tabs(ranked, query.typed)
        if query.is_more:
            ranked = _without_repeats(ranked, " ".join(query.answers))
        elif query.subject and query.answers:
            ranked = [_after(item, query.answers[-1], places().told / slope) for item in ranked]
        around = is_home and query.selected_text == text
        if around:
            phrase = plain(text)
            ranked = _near(
                ranked, ranked[:1], lambda unit: bool(own := plain(unit.text)) and (own in phrase or phrase in own)
            )
        elif is_home and numbered.alone and numbered.labels:
            homes = [item for item in ranked if any(unit.label in numbered.labels for unit in item.chunk.units)]
            around = True
            ranked = _near(ranked, homes, lambda unit: unit.label in numbered.labels, numbered.labels) or ranked
        # A question about "this", or about a figure and nothing else, can only be answered there.
        is_shown = bool(query.follows) and bool(ranked) and ranked[0].chunk.chunk_id in place_bonuses
        odds = log_odds(evidence, reading) + (AT_HOME if is_home else places().leaning if is_shown else 0.0)
        odds -= loss
        if is_home and (query.leans or numbered.alone):
            odds = np.inf
        elif numbered.alone and not numbered.labels:
            odds = FAR
        is_reranked = reranker is not None and bool(ranking.scope)
        share = tuple(pool.question.share.tolist())
        return Part(text, tuple(ranked), odds, around=around, is_reranked=is_reranked, share=share)


def _asks_only(chunk: Chunk, query: Query) -> bool:
    """Whether a passage holds questions, tasks or sources, and the question does not ask for its heading."""
    title = subject_stems(chunk.section_title)
    return chunk.role in NEVER_AN_ANSWER and not (title and title <= query.stems)


def _tells(part: Part) -> bool:
    """Whether the best unit is a statement, not one of the book's own questions; an exercise may hold a fact."""
    best = part.passages[0] if part.passages else None
    if best is None or not len(best.scores) or part.verdict == "no":
        return False
    return not best.chunk.units[int(best.scores.argmax())].text.rstrip().endswith("?")


async def _section_shown(generation: OpenGeneration, query: Query) -> dict[str, float]:
    """Gains of the passages that a follow-up continues from: the first one shown, and those of its section.

    Empty if it asks the same about something else, "And the LED?", that they do not mention.
    """
    fit = places()
    for chunk in await generation.chunks(query.follows[:1]):
        own = [other for other in await generation.chunks_of(chunk.filename) if other.heading_key == chunk.heading_key]
        if query.goes_on:
            own = [other for other in own if subject_stems(query.added) <= stem_set(other.embedded_text())]
            if chunk not in own:
                return dict.fromkeys((other.chunk_id for other in own), fit.section)
        return dict.fromkeys((other.chunk_id for other in own), fit.section) | {chunk.chunk_id: fit.shown}
    return {}


def _place_bonuses(
    query: Query, homes: Sequence[str], shown: Mapping[str, float], chunks: Sequence[Chunk]
) -> dict[str, float]:
    """Gains for the reader's place: by chunk id, and by file name."""
    more = [chunk.filename for chunk in chunks if query.is_more and chunk.chunk_id in query.follows[:1]]
    # "What are the exercises of chapter 8?" names no subject except their heading.
    topic = query.stems
    named = [
        chunk.chunk_id
        for chunk in chunks
        if chunk.role in NEVER_AN_ANSWER and topic and topic_stems(chunk.section_title) == topic
    ]
    at_home = dict.fromkeys([*homes, *more, *named], AT_HOME)
    return {**({query.page: places().page} if query.page else {}), **shown, **at_home}


def _raise(item: ScoredPassage, bonus: float) -> ScoredPassage:
    return replace(item, score=item.score + bonus, scores=item.scores + np.float32(bonus)) if bonus else item


def _home_first(ranked: Sequence[ScoredPassage], homes: Sequence[str]) -> list[ScoredPassage]:
    """Return the passages unchanged if one that contains the selection comes first; otherwise only those of its page.

    A question that leans on a selection is about its subject: a passage ranked above it is about another one that
    shares a word, and so are those below.
    """
    first = next((item for item in ranked if item.chunk.chunk_id in homes), None)
    if first is None or ranked[0].chunk.chunk_id in homes:
        return list(ranked)
    near = [item for item in ranked if item.chunk.filename == first.chunk.filename]
    return sorted(near, key=lambda item: item.chunk.chunk_id not in homes)


def _without_other_tabs(ranked: Sequence[ScoredPassage], typed: str) -> list[ScoredPassage]:
    """Drop the other tabs of a section if the question names one of them: "... in Python"."""
    question = f" {plain(typed)} "

    def is_named(chunk: Chunk) -> bool:
        return bool(chunk.variant) and f" {plain(chunk.variant)} " in question

    named = {(item.chunk.filename, item.chunk.heading_path) for item in ranked if is_named(item.chunk)}
    return [
        item
        for item in ranked
        if not item.chunk.variant or is_named(item.chunk) or (item.chunk.filename, item.chunk.heading_path) not in named
    ]


def _without_repeats(ranked: Sequence[ScoredPassage], answers: str) -> list[ScoredPassage]:
    """Drop passages that repeat the previous answer; keep all if it said all of them."""

    def rest(item: ScoredPassage) -> ScoredPassage:
        repeats = np.array([plain(unit.text) in answers for unit in item.chunk.units], dtype=np.bool_)
        return replace(item, scores=np.where(repeats, np.float32(-np.inf), item.scores))

    passages = [rest(item) for item in ranked]
    return passages if any(np.isfinite(item.scores).any() for item in passages) else list(ranked)


def _after(item: ScoredPassage, answer: str, loss: float) -> ScoredPassage:
    """Lower the units that began the previous answer: a new question seldom asks for them again."""
    told = np.array(
        [bool(text := plain(unit.text)) and answer.startswith(text) for unit in item.chunk.units], dtype=np.bool_
    )
    return replace(item, scores=np.where(told, item.scores - np.float32(loss), item.scores)) if told.any() else item


def _near(
    ranked: Sequence[ScoredPassage],
    homes: Sequence[ScoredPassage],
    holds: Callable[[Unit], bool],
    labels: frozenset[str] = frozenset(),
) -> list[ScoredPassage]:
    """The passages of the sections of `homes`; a unit counts less the further it is from one that `holds` the subject.

    The homes contain the subject, best first; a text that refers to one of the labels counts as near.
    """
    spans = [
        (home.chunk.filename, unit.char_start, unit.char_end)
        for home in homes
        for unit in home.chunk.units
        if holds(unit)
    ]

    def near(item: ScoredPassage) -> ScoredPassage:
        places = [(start, end) for filename, start, end in spans if filename == item.chunk.filename]
        scores = []
        for unit in item.chunk.units:
            away = min((max(start - unit.char_end, unit.char_start - end, 0) for start, end in places), default=np.inf)
            refers = away > REFERS and any(label in labels for label, _ in (labels_in(unit.text) if labels else ()))
            scores.append(homes[0].score - (REFERS if refers else away) / CLOSE)
        return replace(item, score=homes[0].score, scores=np.array(scores, dtype=np.float32))

    in_sections = (item for item in ranked if any(item.chunk.heading_key == home.chunk.heading_key for home in homes))
    return [near(item) for item in in_sections if spans]


def _favour_identifiers(ranked: Sequence[ScoredPassage], text: str, bonus: float) -> list[ScoredPassage]:
    """Raise the passages that contain every identifier and numbered name of the question that any of them contains."""
    names, numbered = identifiers(text), numbered_names(text)
    if not names and not numbered:
        return list(ranked)
    texts = [item.chunk.embedded_text() for item in ranked]
    matches = [set(identifiers(one)) & set(names) if any(name in one for name in names) else set() for one in texts]
    for own, one in zip(matches, texts, strict=True):
        own.update(name for name in numbered if f" {name} " in f" {plain(one)} ")
    most = set[str]().union(*matches)
    return [_raise(item, bonus if most and most <= own else 0.0) for item, own in zip(ranked, matches, strict=True)]


def _passages(parts: Sequence[Part], k: int, reading: Reading) -> tuple[Passage, ...]:
    """The best passages of all parts, taken in turn, each once."""
    chosen: dict[str, Passage] = {}
    for item in chain.from_iterable(zip_longest(*(part.passages for part in parts))):
        if item is not None and len(chosen) < k:
            passage = Passage(chunk=item.chunk, score=chance_of(item.score, reading), cosine=item.cosine)
            chosen.setdefault(item.chunk.chunk_id, passage)
    return tuple(sorted(chosen.values(), key=lambda item: -item.score)) if len(parts) == 1 else tuple(chosen.values())


def find_labels(generation: OpenGeneration, text: str) -> NamedLabels:
    """Find the book's labels in a question."""
    kinds = {label.partition(" ")[0] for label in generation.labels}
    named = [(label, place) for label, place in labels_in(text) if label.partition(" ")[0] in kinds]
    if not named:
        return NamedLabels()
    labels = {label: generation.labels[label] for label, _ in named if label in generation.labels}
    rest = text
    for start, end in sorted({place for _, place in named}, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    names = dict.fromkeys(name for chunks in labels.values() for name in chunks)
    return NamedLabels(frozenset(labels), tuple(names), alone=not subject_stems(rest))


class Weight(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m training kept`."""

    embedder: str
    """Name of the embedder whose scores it was fitted for."""
    weight: float
    """Factor for the nearness of the nearest prepared question (`leads_of`), added to a passage's score."""
    questions: int
    file_at_1: tuple[float, float]
    """Share of the sample questions whose file comes first, without prepared questions and with them."""


def leads_of(companion: Companion, vector: Float) -> dict[str, float]:
    """Passages that prepared questions lead to, by id, nearest question first, with its nearness.

    Nearness is the question's cosine minus that of the farthest of the `NEAREST`: a passage without a question counts
    like one that only the farthest leads to. An entry leads to every passage that it quotes. The vector has length 1:
    (d,).
    """
    nearest = companion.nearest(vector, NEAREST)
    leads: dict[str, float] = {}
    for place, cosine in nearest:
        for owner in companion.owners[companion.texts[place]]:
            item = companion.entries[owner]
            if item.entry.author == BY_THE_BOOK:
                continue  # a search has found it already
            for name in (item.chunk_id, *(name for name, _, _ in item.places)):
                leads.setdefault(name, cosine - nearest[-1][1])
    return leads


@cache
def places() -> Places:
    """The fitted gains for the reader's place."""
    data = resources.files("lutrin.search").joinpath("places.json").read_bytes()
    return msgspec.json.decode(data, type=Places)


def weights() -> Weight | None:
    """The fitted weight of prepared questions; None before fitting."""
    return read_fit("lutrin.search", FITTED, Weight)


def gains(leads: Mapping[str, float], embedder: str) -> dict[str, float]:
    """Gains of passages by prepared questions, by id; none for another embedder's scores."""
    fit = weights()
    weight = fit.weight if fit is not None and fit.embedder == embedder else 0.0
    return {name: weight * near for name, near in leads.items() if weight}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table with its numbers, if all have one unit."""

    row: str
    """The head of the first column."""
    name: str
    values: tuple[tuple[int, float], ...]
    """Offset of each row in the file, and its number; empty if the column holds anything else."""


def columns(units: Sequence[Unit]) -> list[Column]:
    """The columns of the tables of one section, except the first of each, which names the rows."""
    tables: dict[tuple[str, ...], dict[int, list[str]]] = defaultdict(dict)
    for unit in units:
        if unit.kind == "table_row" and len(unit.header) > 1:
            tables[*unit.header][unit.char_start] = unit.row
    result = []
    for heads, rows in tables.items():
        if len(rows) < LEAST_ROWS or any(len(cells) != len(heads) for cells in rows.values()):
            continue
        for place in range(1, len(heads)):
            cells = [cells[place] for cells in rows.values()]
            numbers = [_NUMBER.findall(cell) for cell in cells]
            values: list[float] = []
            if all(len(one) == 1 for one in numbers) and len({_NUMBER.sub("", cell).strip() for cell in cells}) == 1:
                values = [float(re.sub(r"[ ,\u202f]", "", one[0]).replace("\u2212", "-")) for one in numbers]
            result.append(Column(heads[0], heads[place], tuple(zip(rows, values, strict=True)) if values else ()))
    return result


async def at_extreme(
    generation: OpenGeneration,
    text: str,
    ranked: Sequence[ScoredPassage],
    encode: Encode,
) -> list[ScoredPassage]:
    """Move the row with the most or the least of the requested quantity to the front; empty if there is none.

    A table may be cut into several passages, so this reads all rows of the section of one of the best.
    """
    stems = subject_stems(text)
    for item in ranked[:IN_TABLES]:
        if not any(unit.kind == "table_row" and stems & subject_stems(unit.lead) for unit in item.chunk.units):
            continue
        section = [
            one for one in await generation.chunks_of(item.chunk.filename) if one.heading_key == item.chunk.heading_key
        ]
        rows = await rows_at_extreme(text, columns([unit for chunk in section for unit in chunk.units]), encode)
        for home in ranked if rows else ():
            mask = [unit.kind == "table_row" and unit.char_start in rows for unit in home.chunk.units]
            if any(mask) and home.chunk.filename == item.chunk.filename:
                best = max(float(home.scores.max()), ranked[0].score) + GAIN
                first = replace(home, score=best, scores=np.where(mask, np.float32(best), home.scores))
                return [first, *(other for other in ranked if other is not home)]
    return []


async def rows_at_extreme(text: str, candidates: Sequence[Column], encode: Encode) -> list[int]:
    """Offsets of the rows that the question asks for, in the columns of candidate tables; empty if there are none."""
    forms = [
        (column, kind, form.format(row=column.row, column=column.name))
        for column in candidates
        for kind, same in enumerate(_QUESTIONS)
        for form in same
    ]
    if not any(column.values for column in candidates):
        return []
    first, *others = (one.pooled for one in await encode([text, *(form for *_, form in forms)]))
    likeness = np.array(others) @ first
    best = int(likeness.argmax())
    column, kind, _ = forms[best]
    apart = likeness[best] - likeness
    other_kinds = apart[[own != kind for _, own, _ in forms]]
    other_columns = apart[[other.name != column.name for other, *_ in forms]]
    is_alike = kind < len(_QUESTIONS) - 1 and likeness[best] >= ALIKE
    is_asked = is_alike and (other_kinds >= APART).all() and (other_columns >= OTHER_COLUMN).all()
    values = [value for _, value in column.values] if is_asked else []
    extreme = (max, min)[kind](values) if values else None
    return [start for start, value in column.values if value == extreme]


async def search_selection(embedder: Embedder, generation: OpenGeneration, query: Query) -> SearchResult:
    """Score the sentences of a selection for a query, as if it were the only passage of its book.

    The odds of its one part say whether the selection answers. A selection found in the book has the book's chapter and
    headings.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    chunk = await selection_chunk(generation, query.selected_text)
    # "Explain this passage" is about all of it: no sentence answers better than another.
    if not query.stems and chunk.units:
        whole = ScoredPassage(chunk, np.zeros(len(chunk.units), dtype=np.float32), 0.0, 1.0)
        return SearchResult(passages=(Passage(chunk=chunk, score=1.0),), parts=(Part(query.topic, (whole,), np.inf),))
    with stage("embed"):
        question, selected = await embedder.encode([query.topic, chunk.embedded_text()])
    if not chunk.units or selected.token_vectors is None:
        return SearchResult(passages=(), parts=(Part(query.topic, (), -np.inf),))
    reading = embedder.reading
    query_tokens = await tokenize_question(generation, query.topic, question, reading)
    alone = generation.tokens.alone(chunk, selected.token_vectors, selected.token_offsets)
    (late,) = alone.maxsim([(generation.tokens.project(query_tokens.tokens), query_tokens.share)], [0])
    pool = Pool(
        chunks=[chunk],
        question=query_tokens,
        cosines=np.array([selected.pooled @ query_tokens.vector], dtype=np.float32),
        lexical={chunk.chunk_id: 1.0} if query.stems & stem_set(chunk.embedded_text()) else {},
        late=late,
    )
    passages = score_passages(pool, reading)
    passage = Passage(chunk=chunk, score=chance_of(passages[0].score, reading))
    evidence = selection_signals(pool, passages[0])
    share, odds = tuple(query_tokens.share.tolist()), selection_floor().odds(evidence)
    part = Part(query.topic, tuple(passages), odds, evidence=tuple(evidence.tolist()), share=share)
    return SearchResult(passages=(passage,), parts=(part,))


def selection_signals(pool: Pool, passage: ScoredPassage) -> Float:
    """The signals that tell whether a selection answers: those of a book, its best unit over 10, and its length."""
    own = [float(passage.scores.max()) / 10, float(np.log1p(len(words(passage.chunk.text)))) / 10]
    return np.append(signals(pool, [passage]), np.array(own, dtype=np.float32))


class SelectionFloor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m evaluation.marked --write`."""

    weights: tuple[float, ...]
    """One weight for each of `selection_signals`, then the bias: log odds below 0 mean no answer."""

    def odds(self, evidence: Float) -> float:
        """Log odds that a selection answers."""
        return float(evidence @ np.array(self.weights[:-1], dtype=np.float32)) + self.weights[-1]


@cache
def selection_floor() -> SelectionFloor:
    """The fitted rule for selections."""
    data = resources.files("lutrin.search").joinpath("selection.json").read_bytes()
    return msgspec.json.decode(data, type=SelectionFloor)
