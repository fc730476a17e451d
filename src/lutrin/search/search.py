"""Searches one book: two searches find candidates, and the reader ranks them and scores their units."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import identifiers, plain, subject_stems, topic_stems
from lutrin.ports import Embedder, Encoding, Ranking, Reading, Reranker
from lutrin.query.respell import Speller
from lutrin.query.understand import Query, with_spelling
from lutrin.records import NEVER_AN_ANSWER, Chunk, Passage
from lutrin.search.candidates import MatchedPool, Pool, gather, homes, same_section
from lutrin.search.extremes import at_extreme
from lutrin.search.fitted import Verdict, load_decisions
from lutrin.search.kept import MOST_LED, gains, leads_of
from lutrin.search.named_labels import NamedLabels, at_labels, find_labels, near_spans
from lutrin.search.question_tokens import tokenize_question
from lutrin.search.reader import ScoredPassage, chance_of, combine, judge, score_passages
from lutrin.search.scope import FAR, log_odds, signals
from lutrin.stages import stage

SELECTION_CHARACTERS = 4096
"""Of a selection, embedded at most."""
LONGEST_TOKENS = 1000
"""Of a text that is searched for: as many as such a selection has in English. A question of signs has 8,000, each of
which costs as much as a word."""
AT_HOME, SAME_PAGE = 3.0, 0.3
"""Logarithms of odds that a passage gains from which the selection was taken, of whose page more is asked for, or that
holds the identifiers of the question (`BMI088` is no other sensor, however alike), and on whose page the reader is."""
ENCODED_TOKENS = 8_000
"""Of the questions whose vectors are remembered, some five hundred plain ones: 12 MB. Those asked first leave first."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question asks."""

    text: str
    passages: tuple[ScoredPassage, ...]
    """Best first."""
    odds: float
    """Logarithm of the odds that the book answers it."""
    signals: tuple[float, ...] = ()
    """The signals behind these odds; see `scope.SIGNALS`."""
    around: bool = False
    """Whether what stands around a selection is wanted, whatever it is."""
    is_reranked: bool = False
    """Whether a cross-encoder's word is in the odds."""

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers it, as far as can be told without a model."""
        return (load_decisions().without_model if self.is_reranked else load_decisions().by_reader).verdict(self.odds)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search: the evidence for an answer."""

    passages: tuple[Passage, ...]
    """Best first, at most as many as asked for; the score is the probability that a passage answers."""
    parts: tuple[Part, ...]
    """One for each thing that is asked, in order."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that were searched for in the book's spelling."""

    @property
    def odds(self) -> float:
        """Logarithm of the odds that the book answers any part of the question; comparable between books."""
        return max((part.odds for part in self.parts), default=-np.inf)

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers any part of the question, likewise."""
        return max(self.parts, key=lambda part: part.odds).verdict if self.parts else "no"


class Searcher:
    """Finds evidence in an open generation.

    Args:
        embedder: The one that the index was built with.
        reranker: Reads the best passages once more, together with the question; None: nobody does.
    """

    def __init__(self, embedder: Embedder, reranker: Reranker | None = None) -> None:
        self.embedder = embedder
        self._reranker = reranker
        self._speller = Speller()
        self._encoded: dict[str, Encoding] = {}

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode questions as far as `LONGEST_TOKENS`, and remember the latest: several books are searched for one."""
        wanted = dict.fromkeys(texts)
        known = {text: self._encoded[text] for text in wanted if text in self._encoded}
        missing = [text for text in wanted if text not in known]
        if missing:
            with stage("embed"):
                known.update(zip(missing, await self.embedder.encode(list(map(self._cut, missing))), strict=True))
            self._encoded.update(known)
            while sum(1 + len(one.token_offsets) for one in self._encoded.values()) > ENCODED_TOKENS:
                del self._encoded[next(iter(self._encoded))]
        return [known[text] for text in texts]

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
        """Find the passages and units that answer a query.

        Args:
            generation: Open for reading.
            query: What is asked.
            k: Passages at most.
            where: Only chunks of this chapter, module or content type.
            again: Let the cross-encoder read the best passages once more.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        selection = query.selected_text[:SELECTION_CHARACTERS]
        found_in = await homes(generation, selection)
        known = [chunk.chunk_id for chunk in found_in]
        section = [
            chunk.chunk_id
            for home in found_in[: int(query.leans)]
            for chunk in await generation.chunks_of(home.filename)
            if same_section(chunk, home)
        ]
        changes = await self.changes(generation, query)
        numbered = [find_labels(generation, text) for text in query.parts]
        query = with_spelling(query, changes)
        # A question that names no subject is one about the whole selection.
        texts = [selection] if selection and not topic_stems(query.topic) else list(query.parts)
        if query.leans and not found_in and texts != [selection]:
            # What is not marked word for word in the book says itself what "this concept" is.
            texts = [f"{query.topic} – {selection}"]
        added = [query.added] if query.added and len(texts) == 1 else []
        # What leans on a selection or on the question before is no question that a cross-encoder has learned.
        is_question = not query.subject and not query.leans and texts != [selection]
        reranker = self._reranker if again and is_question else None
        reading = reranker.ranking.reading(self.embedder.reading) if reranker is not None else self.embedder.reading
        wanted = [*texts, *added]
        asks = [
            await tokenize_question(generation, text, encoding, reading)
            for text, encoding in zip(wanted, await self.encode(wanted), strict=True)
        ]
        besides = [*known, *section, *query.follows, *(name for named in numbered for name in named.chunks)]
        # A selection says itself where to look; what leans on it is like any question that leans on something.
        leads = {
            item.text: {} if selection else leads_of(generation.companion, item.vector) for item in asks[: len(texts)]
        }
        further = [name for found in leads.values() for name in list(found)[:MOST_LED]] if where is None else []
        found = await gather(generation, asks, where, besides=besides, led=further, page=query.page)
        numbered = numbered if len(numbered) == len(texts) else [find_labels(generation, text) for text in texts]

        async def parts_of(hidden: Callable[[Chunk], bool]) -> list[Part]:
            pool, matched = found.match(hidden)
            place_bonuses = _place_bonuses(query, known, pool.chunks)
            also = matched[len(texts)] if added else None
            return [
                await self._part(
                    pool,
                    item,
                    query,
                    reading,
                    reranker,
                    place_bonuses=place_bonuses | dict.fromkeys(named.chunks, AT_HOME),
                    lead_gains=gains(leads[item.asked.text], self.embedder.name),
                    also=also,
                    numbered=named,
                )
                for item, named in zip(matched[: len(texts)], numbered, strict=True)
            ]

        parts = await parts_of(lambda chunk: query.frame != "quiz" and _asks_only(chunk, query))
        if not any(_answers(part) for part in parts) and any(_asks_only(chunk, query) for _, chunk in found.places):
            further_parts = await parts_of(lambda _: False)
            parts = [more if _tells(more) else part for part, more in zip(parts, further_parts, strict=True)]
        if is_question:
            for place, part in enumerate(parts):
                if rows := await at_extreme(generation, part.text, part.passages, self.encode):
                    parts[place] = replace(part, passages=tuple(rows), odds=np.inf)
        return SearchResult(passages=_passages(parts, k, reading), parts=tuple(parts), changes=changes)

    async def _part(
        self,
        pool: Pool,
        matched: MatchedPool,
        query: Query,
        reading: Reading,
        reranker: Reranker | None,
        *,
        place_bonuses: Mapping[str, float],
        lead_gains: Mapping[str, float],
        also: MatchedPool | None,
        numbered: NamedLabels,
    ) -> Part:
        """What one text finds in the pool.

        What follows another question is read with it and without (`also`): with it alone the answer before would win
        again.
        """
        if not pool.chunks:
            return Part(matched.asked.text, (), -np.inf)
        found = score_passages(pool, matched, reading)
        told = signals(pool, matched, found)
        if also is not None:
            found = [
                replace(one, score=(one.score + other.score) / 2, scores=(one.scores + other.scores) / np.float32(2))
                for one, other in zip(found, score_passages(pool, also, reading), strict=True)
            ]
        most = max((lead_gains.get(item.chunk.chunk_id, 0.0) for item in found), default=0.0)
        # Logarithms of odds become scores of the reader.
        ranking = reranker.ranking if reranker is not None else Ranking()
        slope = reading.answers[0] * ranking.reader
        ranked = []
        for item in found:
            name, file = item.chunk.chunk_id, item.chunk.filename
            place = max(place_bonuses.get(name, 0.0), place_bonuses.get(file, 0.0)) / slope
            # What a kept question adds is taken from the others, so that no score is larger than without.
            ranked.append(_raise(item, place + lead_gains.get(name, 0.0) - most))
        ranked = _favour_identifiers(ranked, matched.asked.text, AT_HOME / slope)
        ranked.sort(key=lambda item: (-item.score, item.chunk.chunk_id))
        if reranker is not None:
            with stage("rank"):
                judgements = await judge(reranker, matched.asked.text, ranked)
            ranked = combine(ranked, judgements, ranking)
            if ranking.scope:
                told = np.append(told, np.float32(max(one.passage for one in judgements)))
        if query.leans:
            ranked = _home_first(ranked, [name for name, bonus in place_bonuses.items() if bonus >= AT_HOME])
        is_home = any(place_bonuses.get(item.chunk.chunk_id, 0.0) >= AT_HOME for item in ranked[:1])
        ranked = _without_other_tabs(ranked, query.typed)
        if query.is_more:
            ranked = _without_repeats(ranked, " ".join(query.said))
        around = is_home and query.selected_text == matched.asked.text
        if around:
            ranked = _near_selection(ranked, query.selected_text)
        elif is_home and numbered.alone and numbered.labels:
            ranked, around = at_labels(ranked, numbered.labels), True
        # What is asked about "this", or about a figure and nothing else, can only be answered there.
        odds = log_odds(told, reading) + (AT_HOME if is_home else 0.0)
        if is_home and (query.leans or numbered.alone):
            odds = np.inf
        elif numbered.alone and numbered.missing:
            odds = FAR
        is_reranked = reranker is not None and bool(ranking.scope)
        return Part(
            matched.asked.text, tuple(ranked), odds, tuple(map(float, told)), around=around, is_reranked=is_reranked
        )


def _asks_only(chunk: Chunk, query: Query) -> bool:
    """Whether a passage holds questions, tasks or lists of sources, and its heading is not what is asked for."""
    title = subject_stems(chunk.section_title)
    return chunk.role in NEVER_AN_ANSWER and not (title and title <= topic_stems(query.topic))


def _is_topic(chunk: Chunk, query: Query) -> bool:
    """Whether the heading of a passage is all that is asked for."""
    title = topic_stems(chunk.section_title)
    return bool(title) and title == topic_stems(query.topic)


def _answers(part: Part) -> bool:
    return part.verdict == "answers"


def _tells(part: Part) -> bool:
    """Whether what answers best is told, and no question of the book's own: an exercise may hold a fact."""
    best = part.passages[0] if part.passages else None
    if best is None or not len(best.scores) or part.verdict == "no":
        return False
    return not best.chunk.units[int(best.scores.argmax())].text.rstrip().endswith("?")


def _place_bonuses(query: Query, homes: Sequence[str], chunks: Sequence[Chunk]) -> dict[str, float]:
    """Bonuses for the reader's place: by chunk id, and by file name."""
    more = [chunk.filename for chunk in chunks if query.is_more and chunk.chunk_id in query.follows[:1]]
    # "What are the exercises of chapter 8?" names no subject but their heading.
    named = [chunk.chunk_id for chunk in chunks if chunk.role in NEVER_AN_ANSWER and _is_topic(chunk, query)]
    return dict.fromkeys([*homes, *more, *named], AT_HOME) | ({query.page: SAME_PAGE} if query.page else {})


def _raise(item: ScoredPassage, bonus: float) -> ScoredPassage:
    return replace(item, score=item.score + bonus, scores=item.scores + np.float32(bonus)) if bonus else item


def _home_first(ranked: Sequence[ScoredPassage], homes: Sequence[str]) -> list[ScoredPassage]:
    """Passages as they are if those from which the selection was taken come first; else those of its page.

    What leans on a selection is asked about its subject: whatever comes before it is about another one that shares a
    word, and what comes behind, too.
    """
    first = next((item for item in ranked if item.chunk.chunk_id in homes), None)
    if first is None or ranked[0].chunk.chunk_id in homes:
        return list(ranked)
    near = [item for item in ranked if item.chunk.filename == first.chunk.filename]
    return sorted(near, key=lambda item: item.chunk.chunk_id not in homes)


def _without_other_tabs(ranked: Sequence[ScoredPassage], typed: str) -> list[ScoredPassage]:
    """Passages without the other tabs of a section, where the question names one of them: "... in Python"."""
    said = f" {plain(typed)} "

    def is_named(chunk: Chunk) -> bool:
        return bool(chunk.variant) and f" {plain(chunk.variant)} " in said

    named = {(item.chunk.filename, item.chunk.heading_path) for item in ranked if is_named(item.chunk)}
    return [
        item
        for item in ranked
        if not item.chunk.variant or is_named(item.chunk) or (item.chunk.filename, item.chunk.heading_path) not in named
    ]


def _without_repeats(ranked: Sequence[ScoredPassage], said: str) -> list[ScoredPassage]:
    """Passages without what the answer before said; as they are if it said all of them."""

    def rest(item: ScoredPassage) -> ScoredPassage:
        held = np.array([plain(unit.text) in said for unit in item.chunk.units], dtype=np.bool_)
        return replace(item, scores=np.where(held, np.float32(-np.inf), item.scores))

    found = [rest(item) for item in ranked]
    return found if any(np.isfinite(item.scores).any() for item in found) else list(ranked)


def _near_selection(ranked: Sequence[ScoredPassage], selection: str) -> list[ScoredPassage]:
    """The passages of a selection's section, whose units count the less the further they are from it.

    Args:
        ranked: The first is the one from which the selection was taken.
        selection: What was read, and is asked about without a word of its own.
    """
    home, said = ranked[0], plain(selection)
    spans = [
        (home.chunk.filename, unit.char_start, unit.char_end)
        for unit in home.chunk.units
        if (own := plain(unit.text)) and (own in said or said in own)
    ]
    return [near_spans(item, spans, home.score) for item in ranked if spans and same_section(item.chunk, home.chunk)]


def _favour_identifiers(ranked: Sequence[ScoredPassage], text: str, bonus: float) -> list[ScoredPassage]:
    """Passages, those raised that hold every identifier of a question which any of them holds."""
    asked_for = identifiers(text)
    if not asked_for:
        return list(ranked)
    held = [_identifiers_in(item.chunk.embedded_text(), asked_for) for item in ranked]
    wanted = frozenset().union(*held)
    return [_raise(item, bonus if wanted and wanted <= own else 0.0) for item, own in zip(ranked, held, strict=True)]


def _identifiers_in(text: str, asked_for: Sequence[str]) -> frozenset[str]:
    """Which identifiers a text holds."""
    return (
        frozenset(identifiers(text)).intersection(asked_for) if any(one in text for one in asked_for) else frozenset()
    )


def _passages(parts: Sequence[Part], k: int, reading: Reading) -> tuple[Passage, ...]:
    """The best passages of all parts in turn, each once."""
    chosen: dict[str, Passage] = {}
    for rank in range(max((len(part.passages) for part in parts), default=0)):
        for part in parts:
            if rank < len(part.passages) and len(chosen) < k:
                item = part.passages[rank]
                passage = Passage(
                    chunk=item.chunk, score=chance_of(item.score, reading), cosine=item.cosine, lexical=None
                )
                chosen.setdefault(item.chunk.chunk_id, passage)
    return tuple(sorted(chosen.values(), key=lambda item: -item.score)) if len(parts) == 1 else tuple(chosen.values())
