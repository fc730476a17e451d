"""Kept questions lead to the passages on which they were written."""

import msgspec
import numpy as np

from lutrin.index.companion import Companion
from lutrin.prepared import BY_THE_BOOK, Entry, PreparedEntry
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.search.sought import gains, leads_of, weights
from lutrin.settings import load_settings


def entry(topic: str, chunk: str, state: str = "approved") -> PreparedEntry:
    """A prepared question on a passage."""
    made = Entry(kind="question", file="a.md", heading="A", topic=topic, text="So.", state=state)  # type: ignore[arg-type] # one of the states
    return PreparedEntry(entry=made, chunk_id=chunk, asked=(topic,))


def companion() -> Companion:
    """Three questions on two passages, at right angles; the last is hidden."""
    entries = [entry("Near?", "one"), entry("Far?", "two"), entry("Hidden?", "three", "hidden")]
    return Companion(entries, np.eye(3, dtype=np.float32), np.zeros((0, 2), np.int8), np.zeros(4, np.int64))


def test_a_passage_is_led_to_by_its_nearest_question() -> None:
    """The cosine of that question is kept, the nearest first; hidden entries lead nowhere."""
    found = leads_of(companion(), np.array([0.6, 0.0, 0.8], dtype=np.float32))
    assert list(found) == ["one", "two"]
    assert round(found["one"], 3) == 0.6


def test_what_a_book_says_of_itself_leads_nowhere() -> None:
    """Its own words are found as they stand."""
    by_book = msgspec.structs.replace(entry("Near?", "one").entry, author=BY_THE_BOOK)
    own = PreparedEntry(entry=by_book, chunk_id="one", asked=("Near?",))
    entries = [own, entry("Far?", "two")]
    known = Companion(entries, np.eye(2, dtype=np.float32), np.zeros((0, 2), np.int8), np.zeros(3, np.int64))
    assert list(leads_of(known, np.array([0.9, 0.1], dtype=np.float32))) == ["two"]


def test_nothing_is_gained_for_another_embedder() -> None:
    """The weight was fitted on the scores of one reader."""
    known = weights()
    assert known is not None
    assert known.file_at_1[1] >= known.file_at_1[0] + 0.03
    assert gains({"one": 0.5}, known.embedder) == {"one": 0.5 * known.weight}
    assert gains({"one": 0.5}, "another") == {}


def test_the_weight_is_of_the_shipped_reader() -> None:
    """A newly trained reader needs a new fit."""
    embedder = open_embedder(load_settings(), threads=1)
    known = weights()
    name = Searcher(embedder).embedder.name
    embedder.close()
    assert known is not None
    assert known.embedder == name, "another reader is installed: run `python -m training kept`"
