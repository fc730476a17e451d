"""What a book is searched for: texts in its spelling, and the passages that a question points at.

Prepared questions lead to passages: each says, in readers' words, what a passage answers. A reader's question is closer
to such a question than to the prose that answers it (hypothetical prompt embeddings, HyPE; doc2query does the same with
words). A passage gains by the nearest question that leads to it. The verdict on whether the book answers ignores this
gain: any near question would find one like itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import msgspec

from lutrin.index.companion import Companion
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.labels import labels_in
from lutrin.language.words import stem_set, subject_stems
from lutrin.ports import Encode, Encoding
from lutrin.prepared import BY_THE_BOOK
from lutrin.query.understand import Query
from lutrin.search import everyday
from lutrin.search.fits import Float, load_fit, read_fit
from lutrin.search.marked import homes

SELECTION_CHARACTERS = 4096
"""Characters of a selection that are embedded, at most."""
NEAREST = 60
"""Prepared questions that may lead to a passage."""
MOST_LED = 12
"""Passages that become candidates because of them, at most."""
FITTED = "kept.json"


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


@dataclass(frozen=True, slots=True)
class SoughtText:
    """One thing that is asked of a book."""

    text: str
    encoding: Encoding
    labels: NamedLabels
    gains: Mapping[str, float]
    """Gains of passages by prepared questions, by id."""
    loss: float
    """Loss of the odds for an everyday question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a book is searched for, and the passages that the question points at."""

    query: Query
    """The query in the book's spelling."""
    texts: list[SoughtText]
    added: list[tuple[str, Encoding]]
    """What a follow-up that asks one thing adds to the previous question, to be read for itself; else empty."""
    is_selection: bool
    """Whether the text is the selection itself."""
    homes: list[str]
    """Ids of the passages that contain the selection."""
    shown: Mapping[str, float]
    """Gains by id of the passages that the question continues from."""
    besides: list[str]
    """Ids of these and of all others that the question points at."""
    led: list[str]
    """Ids of the passages that prepared questions lead to."""

    @property
    def is_question(self) -> bool:
        """Whether it stands alone: the cross-encoder has not been trained on follow-ups and selections."""
        return not self.query.subject and not self.query.leans and not self.is_selection


async def sought_in(generation: OpenGeneration, query: Query, embedder: str, encode: Encode) -> Sought:
    """Choose the search texts for a book, and the passages that the question points at.

    Args:
        generation: The book.
        query: The question, in the book's spelling.
        embedder: Name of the model behind `encode`.
        encode: Encodes the texts.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    selection = query.selected_text[:SELECTION_CHARACTERS]
    home_chunks = await homes(generation, selection)
    section = [chunk for home in home_chunks[: int(query.leans)] for chunk in await generation.section_chunks(home)]
    shown = await _section_shown(generation, query)
    named = [find_labels(generation, part) for part in query.parts]
    texts = _texts(query, selection, is_found=bool(home_chunks))
    labels = named if len(named) == len(texts) else [find_labels(generation, text) for text in texts]
    added = [query.added] if query.added and len(texts) == 1 else []
    encodings = await encode([*texts, *added])
    losses = await _everyday_losses(query, encodings[: len(texts)], embedder, encode)
    # A selection points at its own place; a question that leans on one is handled like any other follow-up.
    leads = [
        {} if query.selected_text else leads_of(generation.companion, encoding.pooled)
        for encoding in encodings[: len(texts)]
    ]
    return Sought(
        query=query,
        texts=[
            SoughtText(text, encoding, label, gains(lead, embedder), loss)
            for text, encoding, label, lead, loss in zip(texts, encodings, labels, leads, losses, strict=False)
        ],
        added=list(zip(added, encodings[len(texts) :], strict=True)),
        is_selection=texts == [selection],
        homes=[chunk.chunk_id for chunk in home_chunks],
        shown=shown,
        besides=[
            *(chunk.chunk_id for chunk in (*home_chunks, *section)),
            *query.follows,
            *shown,
            *(name for label in named for name in label.chunks),
        ],
        led=[name for lead in leads for name in list(lead)[:MOST_LED]],
    )


def _texts(query: Query, selection: str, *, is_found: bool) -> list[str]:
    """One text for each thing that is asked; a question that names no subject is about the whole selection."""
    if selection and not query.stems:
        return [selection]
    if query.leans and not is_found and " ".join(selection.split()) not in query.topic:
        # If the selection is not in the book word for word, its text must say what "this concept" is.
        return [f"{query.topic} – {selection}"]
    return list(query.parts)


async def _section_shown(generation: OpenGeneration, query: Query) -> dict[str, float]:
    """Gains of the passages that a follow-up continues from: the first one shown, and those of its section.

    Empty if it asks the same about something else, "And the LED?", that they do not mention.
    """
    fit = places()
    for chunk in await generation.chunks(query.follows[:1]):
        own = await generation.section_chunks(chunk)
        if query.goes_on:
            own = [other for other in own if subject_stems(query.added) <= stem_set(other.embedded_text())]
            if chunk not in own:
                return dict.fromkeys((other.chunk_id for other in own), fit.section)
        return dict.fromkeys((other.chunk_id for other in own), fit.section) | {chunk.chunk_id: fit.shown}
    return {}


async def _everyday_losses(query: Query, encodings: list[Encoding], embedder: str, encode: Encode) -> list[float]:
    """The loss of each part's odds for an everyday question; zero if the question leans on anything.

    A question that asks one thing is judged by all of its words, "Tell me a joke", even those not searched for.
    """
    if query.selected_text or query.subject:
        return [0.0] * len(encodings)
    whole = await encode([query.text]) if len(encodings) == 1 else encodings
    return [everyday.loss(encoding.pooled, embedder) for encoding in whole]


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
    return load_fit("lutrin.search", "places.json", Places)


def weights() -> Weight | None:
    """The fitted weight of prepared questions; None before fitting."""
    return read_fit("lutrin.search", FITTED, Weight)


def gains(leads: Mapping[str, float], embedder: str) -> dict[str, float]:
    """Gains of passages by prepared questions, by id; none for another embedder's scores."""
    fit = weights()
    weight = fit.weight if fit is not None and fit.embedder == embedder else 0.0
    return {name: weight * near for name, near in leads.items() if weight}
