"""Fit what the ranker counts beside the reader, and when a book answers by both; the result is `ranker.json`.

Runs the real search over the books that are left out of training, as `calibrate` does. A unit scores a weighted sum of
what the reader gives it, what the ranker says of it and what it says of its passage; the weights make the units that
answer most likely in a softmax over all units of the passages that were read twice. Each make of book is also judged by
what is fitted on the others.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lutrin.adapters.rerank import LEARNED, ReaderReranker
from lutrin.answer.runs import choose
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ports import Embedder, Ranking, Reranker
from lutrin.query.understand import alone
from lutrin.records import NEVER_AN_ANSWER, Question
from lutrin.runtime.profile import open_embedder, open_store
from lutrin.search.reader import UnitScores, combine, gather, judge, score_passages, signals
from lutrin.search.result import Part, ScoredPassage
from lutrin.search.search import Searcher
from lutrin.settings import Settings
from training.calibrate import Array, Label, Mask, Seen, answers, fit_scope, holds, opened

STEPS = 400
RATE = 0.03


@dataclass(frozen=True, slots=True)
class Again:
    """What a search found for a question, and what the ranker said of the best passages."""

    label: Label
    ranked: tuple[ScoredPassage, ...]
    """Best first, by the reader."""
    judgements: tuple[UnitScores, ...]
    signals: Array

    def units(self) -> tuple[Array, Mask]:
        """(U, 3) and (U,): of each unit that both have read the three scores, and whether it answers."""
        rows, right = [], []
        for item, one in zip(self.ranked, self.judgements, strict=False):
            for unit, score, again in zip(item.chunk.units, item.scores, one.units, strict=True):
                if np.isfinite(score):
                    rows.append((score, again, one.passage))
                    places = (place for place in self.label.spans if place[0] == item.chunk.filename)
                    right.append(any(unit.char_start < end and unit.char_end > start for _, start, end in places))
        return np.array(rows, dtype=np.float64).reshape(-1, 3), np.array(right, dtype=np.bool_)

    def seen(self, ranking: Ranking | None) -> Seen:
        """The same as `calibrate` has it, ranked again or as the reader alone ranks."""
        ranked = combine(self.ranked, self.judgements, ranking) if ranking is not None else list(self.ranked)
        more = [max(one.passage for one in self.judgements)] if ranking is not None else []
        runs = choose([Part(self.label.question, tuple(ranked), 0.0)])
        places = [(unit.char_start, unit.char_end) for unit in ranked[0].chunk.units]
        is_right = any(
            ranked[0].chunk.filename == file and first < end and last > start
            for file, start, end in self.label.spans
            for first, last in places
        )
        return Seen(
            self.label,
            np.array([[ranked[0].score, 0.0]]),
            np.array([is_right]),
            np.append(self.signals, more),
            (holds(runs[:1], self.label), holds(runs, self.label)),
        )


async def observe(settings: Settings, rows: Sequence[Label], reranker: Reranker) -> list[Again]:
    """What a search and the ranker find for each question in the one book of a data folder."""
    embedder = open_embedder(settings, threads=1)
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings), embedder=embedder.name) as shelf:
        (generation,) = shelf.books()
        async with shelf.lease(generation.book.slug) as book:
            return [await look(book, row, embedder, reranker) for row in rows]


async def look(book: OpenGeneration, row: Label, embedder: Embedder, reranker: Reranker) -> Again:
    """Search for one question."""
    query = alone(Question(text=row.question))
    (encoding,) = await Searcher(embedder).encode([query.topic])
    candidates = await gather(book, [(query.topic, encoding)], embedder.reading)
    (pool,) = candidates.match(lambda chunk: chunk.role in NEVER_AN_ANSWER)
    found = score_passages(pool, embedder.reading)
    ranked = tuple(sorted(found, key=lambda item: (-item.score, item.chunk.chunk_id)))
    judgements = tuple(await judge(reranker, query.topic, ranked))
    return Again(row, ranked, judgements, signals(pool, found).astype(np.float64))


def weigh(observed: Sequence[Again]) -> Ranking:
    """The weights under which what answers is most likely, by gradient ascent."""
    tables = [one.units() for one in observed]
    tables = [(rows, right) for rows, right in tables if right.any()]
    weights = np.full(3, 0.3)
    for step in range(STEPS):
        slope = np.zeros(3)
        for rows, right in tables:
            logits = rows @ weights
            chance = np.exp(logits - logits.max())
            chance /= chance.sum()
            target = chance * right
            slope += (target / target.sum() - chance) @ rows
        weights += RATE * (1 if step < STEPS * 3 // 4 else 0.2) * slope / len(tables)
    reader, unit, passage = (round(float(value), 3) for value in weights)
    return Ranking(reader=reader, unit=unit, passage=passage)


def run(checkouts: Path, out: Path, names: Sequence[str] = (), most: int = 0) -> None:
    """Fit all of it and write it beside the ranker; the arguments are those of `calibrate.opened`."""
    folder = out / "models" / "reader"
    reranker = ReaderReranker(folder, name="reader", threads=1)
    books = opened(checkouts, out, names, most)
    observed = [one for settings, rows in books for one in asyncio.run(observe(settings, rows, reranker))]
    reranker.close()
    print("by the reader alone:")
    fit_scope([one.seen(None) for one in observed], 0.0)
    makes = dict.fromkeys(one.label.make for one in observed)
    print("ranked again, by weights of other makes:")
    by_others = {make: weigh([one for one in observed if one.label.make != make]) for make in makes}
    fit_scope([one.seen(by_others[one.label.make]) for one in observed], 0.0)
    print("ranked again, as it is written:")
    ranking = weigh(observed)
    seen = [one.seen(ranking) for one in observed]
    fitted = fit_scope(seen, 0.0)
    values = {"reader": ranking.reader, "unit": ranking.unit, "passage": ranking.passage, "answers": answers(seen, 0.0)}
    (folder / LEARNED).write_text(json.dumps(values | {"scope": fitted["scope"]}, indent=1) + "\n", encoding="utf-8")
    print((folder / LEARNED).read_text(encoding="utf-8"))
