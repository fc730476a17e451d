"""Searches the books: two searches find candidates in each; the reader ranks them and scores their units."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.labels import labels_in
from lutrin.language.words import identifiers, numbered_names, plain, subject_stems, topic_stems
from lutrin.ports import Embedder, Encoding, Ranking, Reading, Reranker
from lutrin.query.respell import Speller
from lutrin.query.understand import Query, with_spelling
from lutrin.records import NEVER_AN_ANSWER, Chunk, Unit
from lutrin.search.extremes import at_extreme
from lutrin.search.filters import filters_of
from lutrin.search.marked import search_selection
from lutrin.search.reader import Candidates, Pool, combine, gather, judge, log_odds, score_passages, signals
from lutrin.search.result import FAR, Part, ScoredPassage, SearchResult, best_passages
from lutrin.search.sought import NamedLabels, Sought, SoughtText, places, sought_in
from lutrin.stages import stage

LONGEST_TOKENS = 1000
"""Tokens of a search text, as many as a selection has in English. A question made of symbols has 8,000, and each costs
as much as a word."""
AT_HOME = 3.0
"""Log odds added to a passage that contains the selection or the question's identifiers (`BMI088` is not another
sensor, however similar)."""
ENCODED_TOKENS = 8_000
"""Tokens of the questions whose vectors are cached, some five hundred short ones: 12 MB. The oldest leave first."""
CLOSE = 50.0
"""Decay length, in characters: text this far from the subject of the question counts 1/e."""
REFERS = 25.0
"""Distance in characters, at most, that counts for a text that refers to a figure."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """A book's candidates for a question, to be ranked."""

    sought: Sought
    candidates: Candidates
    changes: Mapping[str, str]
    """Words that the book spells differently."""


class Searcher:
    """Finds evidence in open generations.

    The embedder must be the one that built their indexes. The reranker, if there is one, reads the best passages again,
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
        self, generations: Sequence[OpenGeneration], query: Query, *, k: int, again: bool = True
    ) -> SearchResult:
        """Find at most `k` passages that answer, with their units: in the book that answers best, or in the selection.

        Books without the named chapter and module are left out. The cross-encoder (`again`) reads only the best book.

        Raises:
            InvalidQuestion: No book has the named chapter or module.
            IndexUnavailable: A book cannot be read.
        """
        if query.mode == "selection":
            return await search_selection(self.embedder, generations[0], query)
        places = filters_of(generations, query)
        books = [await self.gather(generation, query, where) for generation, where in places]
        if len(books) == 1:
            return await self.rank(books[0], k=k, again=again)
        results = [await self.rank(found, k=k, again=False) for found in books]
        best, found = max(zip(results, books, strict=True), key=lambda pair: pair[0].odds)
        return await self.rank(found, k=k) if again else best

    async def gather(
        self, generation: OpenGeneration, query: Query, where: Mapping[str, str] | None = None
    ) -> Gathered:
        """Find the candidates for a query in a book, or in one chapter, module or content type of it (`where`).

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        changes = await self.changes(generation, query)
        respelled = with_spelling(query, changes)
        sought = await sought_in(generation, respelled, self.embedder.name, self.encode)
        texts = [*((one.text, one.encoding) for one in sought.texts), *sought.added]
        led = sought.led if where is None else []
        candidates = await gather(
            generation, texts, self.embedder.reading, where, besides=sought.besides, led=led, page=query.page
        )
        return Gathered(sought, candidates, changes)

    async def rank(self, found: Gathered, *, k: int, again: bool = True) -> SearchResult:
        """Rank candidates, and keep the best `k` passages; `again` lets the cross-encoder read the best ones.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        sought, query, candidates = found.sought, found.sought.query, found.candidates
        reranker = self._reranker if again and sought.is_question else None
        reading = reranker.ranking.reading(self.embedder.reading) if reranker is not None else self.embedder.reading

        async def parts_of(hidden: Callable[[Chunk], bool]) -> list[Part]:
            pools = candidates.match(hidden)
            also = pools[len(sought.texts)] if sought.added else None
            return [
                await _part(sought, one, pool, also, reading=reading, reranker=reranker)
                for one, pool in zip(sought.texts, pools, strict=False)
            ]

        parts = await parts_of(lambda chunk: query.frame != "quiz" and _asks_only(chunk, query))
        if all(part.verdict != "answers" for part in parts) and any(
            _asks_only(chunk, query) for _, chunk in candidates.places
        ):
            further_parts = await parts_of(lambda _: False)
            parts = [more if _tells(more) else part for part, more in zip(parts, further_parts, strict=True)]
        if sought.is_question:
            for place, part in enumerate(parts):
                if rows := await at_extreme(candidates.generation, part.text, part.passages, self.encode):
                    parts[place] = replace(part, passages=tuple(rows), odds=np.inf)
        passages = best_passages(parts, k, reading)
        return SearchResult(candidates.generation, passages, tuple(parts), found.changes)


async def _part(
    sought: Sought, one: SoughtText, pool: Pool, also: Pool | None, *, reading: Reading, reranker: Reranker | None
) -> Part:
    """Rank the pool for one text, and tell whether the book answers it.

    A follow-up is read with and without its context (`also`): with it alone, the previous answer would win again.
    """
    query, labels = sought.query, one.labels
    if not pool.chunks:
        return Part(one.text, (), -np.inf)
    passages = score_passages(pool, reading)
    evidence = signals(pool, passages)
    if also is not None:
        passages = [
            replace(item, score=(item.score + other.score) / 2, scores=(item.scores + other.scores) / np.float32(2))
            for item, other in zip(passages, score_passages(also, reading), strict=True)
        ]
    ranking = reranker.ranking if reranker is not None else Ranking()
    slope = reading.answers[0] * ranking.reader
    bonuses = _place_bonuses(sought, labels, pool.chunks)
    ranked = _raised(passages, one, bonuses, slope)
    if reranker is not None:
        with stage("rank"):
            judgements = await judge(reranker, one.text, ranked)
        ranked = combine(ranked, judgements, ranking)
        if ranking.scope:
            evidence = np.append(evidence, np.float32(max(item.passage for item in judgements)))
    if query.leans:
        ranked = _home_first(ranked, [name for name, bonus in bonuses.items() if bonus >= AT_HOME])
    is_home = any(bonuses.get(item.chunk.chunk_id, 0.0) >= AT_HOME for item in ranked[:1])
    ranked = _in_context(_without_other_tabs(ranked, query.typed), query, slope)
    around = _around(ranked, query, one) if is_home else None
    ranked = ranked if around is None else around
    # A question about "this", or about a figure and nothing else, can only be answered there.
    is_shown = bool(query.follows) and bool(ranked) and ranked[0].chunk.chunk_id in bonuses
    odds = log_odds(evidence, reading) + (AT_HOME if is_home else places().leaning if is_shown else 0.0) - one.loss
    if is_home and (query.leans or labels.alone):
        odds = np.inf
    elif labels.alone and not labels.labels:
        odds = FAR
    is_reranked = reranker is not None and bool(ranking.scope)
    share = tuple(pool.question.share.tolist())
    return Part(one.text, tuple(ranked), odds, around=around is not None, is_reranked=is_reranked, share=share)


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


def _place_bonuses(sought: Sought, labels: NamedLabels, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Gains for the reader's place, and for what the question names: by chunk id, and by file name."""
    query, topic = sought.query, sought.query.stems
    more = [chunk.filename for chunk in chunks if query.is_more and chunk.chunk_id in query.follows[:1]]
    # "What are the exercises of chapter 8?" names no subject except their heading.
    named = [
        chunk.chunk_id
        for chunk in chunks
        if chunk.role in NEVER_AN_ANSWER and topic and topic_stems(chunk.section_title) == topic
    ]
    at_home = dict.fromkeys([*sought.homes, *more, *named, *labels.chunks], AT_HOME)
    return {**({query.page: places().page} if query.page else {}), **sought.shown, **at_home}


def _raised(
    passages: Sequence[ScoredPassage], one: SoughtText, bonuses: Mapping[str, float], slope: float
) -> list[ScoredPassage]:
    """Rank passages by their scores and what they gain; `slope` converts log odds into the reader's score."""
    most = max((one.gains.get(item.chunk.chunk_id, 0.0) for item in passages), default=0.0)
    raised = []
    for item in passages:
        name, file = item.chunk.chunk_id, item.chunk.filename
        place = max(bonuses.get(name, 0.0), bonuses.get(file, 0.0)) / slope
        # Prepared questions lower the other passages instead of raising their own, so that no score grows.
        raised.append(_raise(item, place + one.gains.get(name, 0.0) - most))
    ranked = _favour_identifiers(raised, one.text, AT_HOME / slope)
    return sorted(ranked, key=lambda item: (-item.score, item.chunk.chunk_id))


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


def _in_context(ranked: Sequence[ScoredPassage], query: Query, slope: float) -> list[ScoredPassage]:
    """Lower what the previous answer said already, or drop it if more is wanted."""
    if query.is_more:
        return _without_repeats(ranked, " ".join(query.answers))
    if query.subject and query.answers:
        return [_after(item, query.answers[-1], places().told / slope) for item in ranked]
    return list(ranked)


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


def _around(ranked: Sequence[ScoredPassage], query: Query, one: SoughtText) -> list[ScoredPassage] | None:
    """The text around a selection that is searched for, or around a figure that is named alone; None for the rest."""
    labels = one.labels.labels
    if query.selected_text == one.text:
        phrase = plain(one.text)
        return _near(
            ranked, ranked[:1], lambda unit: bool(own := plain(unit.text)) and (own in phrase or phrase in own)
        )
    if one.labels.alone and labels:
        homes = [item for item in ranked if any(unit.label in labels for unit in item.chunk.units)]
        return _near(ranked, homes, lambda unit: unit.label in labels, labels) or list(ranked)
    return None


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
