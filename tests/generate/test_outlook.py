"""The look ahead: what is counted once, who is served first, and whether what a class is told comes true."""

import random
from collections.abc import Sequence

import pytest

from lutrin.generate.forecast import SENTENCE_TOKENS
from lutrin.generate.outlook import Ahead, Room, first_sentences
from lutrin.generate.scheduler import Limits
from lutrin.records import Begun, Finished, Piece, Queued

from .room import Room as Class


class Flat:
    """A second for ten prompt tokens or for a token of any number of answers."""

    def mixed_s(self, prefill: float, answers: int) -> float:
        """Seconds."""
        return (prefill + answers) / 10

    def token_s(self, answers: int, most: int) -> float:  # noqa: ARG002 - costs the same
        """Seconds."""
        return 1.0


ROOM = Room(slots=2, step_tokens=10, guesses=0)


def test_one_alone_reads_and_writes() -> None:
    """Passage and question are read, then the sentence is written; its end does not matter."""
    (alone,) = first_sentences([Ahead("a", 10, 5, 50)], [], {"a": 20}, ROOM, Flat())
    assert alone == pytest.approx(3.0 + 5.0)


def test_a_passage_is_read_once_for_all_who_ask_about_it() -> None:
    """The second waits for the same reading."""
    both = first_sentences([Ahead("a", 1, 5, 5), Ahead("a", 1, 5, 5)], [], {"a": 20}, ROOM, Flat())
    apart = first_sentences([Ahead("a", 1, 5, 5), Ahead("b", 1, 5, 5)], [], {"a": 20, "b": 20}, ROOM, Flat())
    assert max(both) < max(apart) - 1.5


def test_who_waits_gets_the_first_slot_that_becomes_free_and_read_passages_go_first() -> None:
    """Of two waiting requests, the second is served first, because its passage has been read."""
    running = [Ahead("", 0, 5, 5), Ahead("", 0, 30, 30)]
    early, late, *waiting = first_sentences(
        running, [Ahead("new", 10, 5, 20), Ahead("", 10, 5, 5)], {"new": 30}, ROOM, Flat()
    )
    assert early == 5.0
    assert late == pytest.approx(30.0, abs=5.0)
    assert waiting[1] < waiting[0]


def test_odds_have_no_sentence_and_free_their_slot_at_once() -> None:
    """They end with their prompt."""
    odds, after = first_sentences([Ahead("", 10, 0, 0), Ahead("", 0, 90, 90)], [Ahead("", 10, 5, 5)], {}, ROOM, Flat())[
        ::2
    ]
    assert odds < after < 20


def words(texts: Sequence[str]) -> str:
    """An answer of 12 to 80 letters."""
    order = random.Random("".join(texts))
    return "".join(order.choices("abcdefgh ", k=order.choice((12, 20, 30, 40, 60, 80))))


def test_what_a_class_is_told_comes_true() -> None:
    """Thirty ask about ten passages at once: for eight of ten the first sentence takes half to twice the time told."""
    room = Class(Limits(), sequences=24, context_tokens=12_000)
    room.decoder.step_tokens, room.decoder.script = 256, words
    for text in ("alone " * 10, *("together " * 10 for _ in range(10))):
        room.ask(text, max_tokens=20)
        if text.startswith("alone"):
            room.drain()
    room.drain()
    passages = ["".join(random.Random(number).choices("abcdefgh ", k=300)) for number in range(10)]
    start, asked = room.clock.now, []
    for pupil in range(30):
        for between in (("yes", "no"), None):
            question = f"Question {pupil}: {'why ' * (pupil % 5)}?" + "Does it say so?" * (between is not None)
            id_ = room.ask(question, session=str(pupil), between=between, section=passages[pupil % 10])
        asked.append(id_)
    ratios = []
    came: dict[int, list[float]] = {id_: [] for id_ in asked}
    while room.scheduler.busy:
        for output in room.step():
            if output.id in came and isinstance(output.event, Piece | Finished):
                length = len(output.event.text) if isinstance(output.event, Piece) else SENTENCE_TOKENS
                came[output.id] += [room.clock.now - start] * length
    for id_, times in came.items():
        first = room.told[id_][0]
        assert isinstance(first, Queued | Begun)
        ratios.append(times[SENTENCE_TOKENS - 1] / first.eta_s)
    assert sum(0.5 <= ratio <= 2 for ratio in ratios) >= 0.8 * len(ratios), sorted(ratios)
