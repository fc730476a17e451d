"""The scheduler, over a decoder that checks every rule and says something else if a single token goes astray."""

import numpy as np
import pytest
from tests.fakes_generator import BEGIN, echo

from lutrin.generate.forecast import SENTENCE_TOKENS
from lutrin.generate.head import Head
from lutrin.generate.scheduler import Limits, Pace, Rejection
from lutrin.records import Begun, Finished, Piece, Queued

from .room import SYSTEM, Keen, Room, expected


def test_ten_readers_get_their_own_answers() -> None:
    """In any batch, each reader gets the same text as alone."""
    room = Room(Limits(slots=4, queue=10), sequences=8, context_tokens=4000)
    ids = [room.ask(f"Question {n}: why – and how – does step {n} matter?") for n in range(10)]
    room.drain()
    assert [room.text(id_) for id_ in ids] == [expected(room.requests[id_]) for id_ in ids]


def test_a_common_beginning_is_computed_once() -> None:
    """Ten readers who ask about one passage cost its tokens once."""
    room = Room(Limits(slots=10), sequences=16, context_tokens=4000)
    passage = "The sensorimotor loop joins sensing, deciding and acting. " * 5
    for n in range(10):
        room.ask(f"{passage}{n}", max_tokens=1)
    room.drain()
    shared = len(SYSTEM) + len(passage)
    assert shared < room.decoder.computed < shared + 10 * 8


@pytest.mark.parametrize("shares", [True, False])
def test_between_two_words_nothing_is_written(*, shares: bool) -> None:
    """A request for the odds of two words ends with its prompt, and the other readers' text is not disturbed."""
    room = Room(shares=shares)
    writer = room.ask("What is a robot?")
    first_word = echo([SYSTEM, "Does the book say so?"])[:6].upper()
    judged = [room.ask("Does the book say so?", between=(word, "NO")) for word in ("NEVER", first_word)]
    room.drain()
    assert room.text(writer) == expected(room.requests[writer])
    (never,), (first,) = (room.told[id_][-1:] for id_ in judged)
    assert isinstance(never, Finished)
    assert isinstance(first, Finished)
    assert (never.odds or 0) < 0 < (first.odds or 0)
    assert never.tokens == first.tokens == 0
    assert not any(isinstance(event, Piece) for id_ in judged for event in room.told[id_])


@pytest.mark.parametrize("shares", [True, False])
def test_the_odds_of_two_words_come_with_those_of_the_model_s_head(*, shares: bool) -> None:
    """From the hidden state of the prompt's last token, in any batch; none from a model that does not report it."""
    head = Head(sha256="", size=0, layers=(1, 2), weights=np.array([2.0], "<f2").tobytes(), bias=0.5)
    room = Room(shares=shares, head=head)
    room.ask("What is a robot?")
    judged = room.ask("Does the book say so?", between=("YES", "NO"))
    room.drain()
    last = room.last(judged)
    assert isinstance(last, Finished)
    assert last.head == (2.0 * BEGIN + 0.5 if shares else None)


def test_a_beginning_that_was_seen_before_costs_nothing() -> None:
    """A prompt that repeats an earlier one computes its last token alone."""
    room = Room()
    room.ask("What is a robot?", max_tokens=1)
    room.drain()
    before = room.decoder.computed
    room.ask("What is a robot?", max_tokens=1)
    room.drain()
    assert room.decoder.computed - before == 1


def test_a_model_that_cannot_share_answers_all_the_same() -> None:
    """A recurrent model's sequences are computed from their first token."""
    room = Room(shares=False)
    ids = [room.ask("What is a robot?") for _ in range(5)]
    room.drain()
    assert {room.text(id_) for id_ in ids} == {expected(room.requests[1])}


def test_a_newcomer_never_stalls_the_others() -> None:
    """While a long prompt is read, those who are being answered get a token in every step."""
    room = Room(Limits(slots=2, prefill_tokens=16), context_tokens=2000)
    first = room.ask("short")
    while not room.text(first):
        room.step()
    room.ask("A long one. " * 30)
    for _ in range(10):
        length = len(room.text(first))
        room.step()
        assert len(room.text(first)) == length + 1


def test_sessions_take_turns() -> None:
    """A session that asks eight times in a row does not make another wait for all eight."""
    room = Room(Limits(slots=1, queue=20))
    greedy = [room.ask(f"again {n}", session="greedy", max_tokens=4) for n in range(8)]
    modest = room.ask("once", session="modest", max_tokens=4)
    ended: list[int] = []
    while room.scheduler.busy:
        ended += [output.id for output in room.step() if isinstance(output.event, Finished)]
    assert ended.index(modest) == 1
    assert [id_ for id_ in ended if id_ != modest] == greedy


def test_a_full_queue_says_so_at_once() -> None:
    """More readers than slots and queue hold are refused in the next step; the others are served."""
    room = Room(Limits(slots=2, queue=3))
    ids = [room.ask(f"question {n}") for n in range(7)]
    room.drain()
    assert [isinstance(room.last(id_), Finished) for id_ in ids] == [True] * 5 + [False] * 2
    assert room.last(ids[6]) == Rejection("queue_full")


def test_a_peer_that_fills_the_queue_gives_way_to_another() -> None:
    """With a session for each of its questions, too: its last one is refused, and the other is next but one."""
    room = Room(Limits(slots=1, queue=3))
    crowd = [room.ask(f"question {n}", peer="crowd", session=str(n), max_tokens=4) for n in range(4)]
    modest = room.ask("once", peer="reader", max_tokens=4)
    ended: list[int] = []
    while room.scheduler.busy:
        ended += [output.id for output in room.step() if isinstance(output.event, Finished)]
    assert ended == [crowd[0], modest, *crowd[1:3]]
    assert room.last(crowd[3]) == Rejection("queue_full")


def test_the_queue_is_told_honestly() -> None:
    """The time to a first sentence that a waiting reader is told is wrong by less than half, once the pace is known."""
    room = Room(Limits(slots=2, queue=20), context_tokens=4000)
    room.ask("warm up " * 10, max_tokens=20)
    room.drain()
    ids = [room.ask(f"question {n}, which is as long as the others", max_tokens=30) for n in range(8)]
    start = room.clock.now
    pieces: dict[int, list[float]] = {id_: [] for id_ in ids}
    while room.scheduler.busy:
        for output in room.step():
            if isinstance(output.event, Piece):
                pieces[output.id] += [room.clock.now - start] * len(output.event.text)
    queued = {id_: event for id_ in ids if isinstance(event := room.told[id_][0], Queued)}
    assert [event.position for event in queued.values()] == [1, 2, 3, 4, 5, 6]
    for id_, event in queued.items():
        assert event.eta_s == pytest.approx(pieces[id_][SENTENCE_TOKENS], rel=0.5)


def test_an_estimate_is_told_anew_when_the_machine_becomes_busy() -> None:
    """A reader whose passage is being read is told what it will take now, and is not told the same again and again."""
    room = Room(Limits(slots=2, prefill_tokens=32), context_tokens=4000)
    room.ask("warm up " * 10, max_tokens=20)
    room.drain()
    reader = room.ask("which is long " * 40, max_tokens=4)
    room.step()
    room.decoder.slowness = 8.0
    room.drain()
    told = [event.eta_s for event in room.told[reader] if isinstance(event, Begun)]
    assert 2 <= len(told) <= 5
    assert max(told) > 3 * told[0]


def test_what_two_prompts_share_counts_once_in_an_estimate() -> None:
    """The question whether the passage answers is asked beside the question itself."""
    told = []
    for beside in (False, True):
        room = Room(Limits(slots=2, prefill_tokens=32), context_tokens=4000)
        room.ask("warm up " * 10, max_tokens=20)
        room.drain()
        passage = "which is long " * 40
        if beside:
            room.ask(f"{passage}Does it say so?", between=("yes", "no"))
        reader = room.ask(f"{passage}What is it?", max_tokens=4)
        room.drain()
        told += [next(event.eta_s for event in room.told[reader] if isinstance(event, Begun))]
    assert told[1] < 1.3 * told[0]


def test_positions_only_get_better() -> None:
    """A reader is told their place when it changes, never the same one twice while the pace is the same."""
    room = Room(Limits(slots=1, queue=20))
    room.ask("warm up " * 10, max_tokens=20)
    room.drain()
    ids = [room.ask(f"question {n}", max_tokens=3) for n in range(5)]
    room.drain()
    told = [[event.position for event in room.told[id_] if isinstance(event, Queued)] for id_ in ids]
    assert told == [[], [1], [2, 1], [3, 2, 1], [4, 3, 2, 1]]


def test_a_cancelled_answer_is_not_computed_further() -> None:
    """One step after the reader has gone, the model works for the others alone."""
    room = Room()
    gone, stays = room.ask("a" * 20), room.ask("b" * 20)
    while not room.text(gone):
        room.step()
    room.scheduler.cancel(gone)
    before = room.decoder.computed
    due = 1 if room.text(stays) else len("b" * 20) + 1
    room.step()
    assert room.last(gone) == Finished("cancelled", len(SYSTEM) + 23, len(room.text(gone)))
    assert room.decoder.computed == before + due
    room.drain()
    assert room.text(stays) == expected(room.requests[stays])


def test_who_follows_a_reader_that_leaves_computes_for_themselves() -> None:
    """A prompt that waits for the same beginning of another one does not wait for ever if that is cancelled."""
    room = Room(context_tokens=2000)
    text = " ".join(f"Sentence {n} of a long passage." for n in range(6))
    leader, follower = room.ask(text + "1"), room.ask(text + "2")
    room.step()
    room.scheduler.cancel(leader)
    room.drain()
    assert room.text(follower) == expected(room.requests[follower])


def test_a_deadline_ends_an_answer_where_it_is() -> None:
    """Text before the deadline stays; the last event gives the reason of the end."""
    room = Room()
    id_ = room.ask("a question that is answered slowly", wait_s=3.0)
    room.drain()
    assert expected(room.requests[id_]).startswith(room.text(id_))
    assert isinstance(last := room.last(id_), Finished)
    assert last.reason == "deadline"
    assert room.clock.now < 3.5


def test_what_cannot_be_ready_in_time_is_not_begun() -> None:
    """A request that may miss its deadline waits while there is hope, at no cost to the others."""
    room = Room(Limits(slots=10, queue=10, prefill_tokens=32, guesses=0), sequences=16, context_tokens=4000)
    room.ask("warm up " * 10, max_tokens=20)
    room.drain()
    began, computed = room.clock.now, room.decoder.computed
    ids = [room.ask(f"{n} " * 60, max_tokens=20, wait_s=8.0) for n in range(10)]
    room.drain()
    refused = [id_ for id_ in ids if room.last(id_) == Rejection("deadline")]
    assert refused
    assert not any(room.text(id_) for id_ in refused)
    assert room.clock.now - began < 8.5
    served = [id_ for id_ in ids if id_ not in refused]
    assert served == ids[: len(served)]
    assert all(room.text(id_) for id_ in served)
    assert room.decoder.computed - computed <= len(served) * (120 + 20)


def test_what_stands_in_the_prompt_is_written_in_fewer_steps() -> None:
    """The same text, guessed or not; the decoder would say something else after a wrong guess that was kept."""
    steps, texts = {}, {}
    for guesses in (0, 3):
        room = Room(Limits(slots=4, queue=4, guesses=guesses), sequences=8, context_tokens=4000)
        room.scheduler.pace = Keen()
        ids = [room.ask(f"The arm of robot {n} lifts {n * 3} kilograms and no more.") for n in range(4)]
        steps[guesses] = room.drain()
        texts[guesses] = [room.text(id_) for id_ in ids]
        assert texts[guesses] == [expected(room.requests[id_]) for id_ in ids]
    assert steps[3] < steps[0] / 2


@pytest.mark.parametrize("guesses", [0, 3])
def test_how_likely_the_words_were_comes_with_them(guesses: int) -> None:
    """Each piece has the log probability of its own tokens, guessed or not, and the last event their mean."""
    room = Room(Limits(slots=4, queue=4, guesses=guesses), sequences=8, context_tokens=4000)
    room.scheduler.pace = Keen()
    ids = [room.ask(f"The arm of robot {n} lifts {n * 3} kilograms; it is 2 µm long.") for n in range(4)]
    room.drain()
    for id_ in ids:
        pieces = [event for event in room.told[id_] if isinstance(event, Piece)]
        for piece in pieces:
            assert piece.logprob == pytest.approx(-sum(piece.text.encode()) / 256)
        assert isinstance(last := room.last(id_), Finished)
        assert last.logprob == pytest.approx(sum(piece.logprob or 0 for piece in pieces) / last.tokens)


def test_guesses_end_where_they_do_not_pay() -> None:
    """Wrong ones, or rows that cost as much as steps of their own."""
    pace = Pace()
    for rows, seconds in ((1, 0.02), (4, 0.03), (10, 0.05), (40, 0.4)):
        pace.observe(0, rows, seconds)
    assert pace.guesses(1, 3) > 0
    assert pace.guesses(10, 3) == 0
    assert pace.token_s(1, 3) < 0.02
    for _ in range(200):
        pace.note_guess(right=False)
    assert pace.guesses(1, 3) == 0
    assert pace.token_s(1, 3) == 0.02


def test_who_cannot_be_answered_in_time_is_told_at_once() -> None:
    """Excerpts do not wait for an explanation that comes too late; all other requests are answered whole."""
    limits = Limits(slots=10, queue=30, prefill_tokens=32, worth_tokens=40)
    room = Room(limits, sequences=16, context_tokens=8000)
    room.ask("warm up " * 10, max_tokens=20)
    room.drain()
    began_s = room.clock.now
    ids = [room.ask(f"Page {n}. " + "It is strong. " * 20, max_tokens=60, wait_s=25.0) for n in range(10)]
    room.drain()
    ends = [room.last(id_) for id_ in ids]
    served = [id_ for id_, last in zip(ids, ends, strict=True) if isinstance(last, Finished)]
    assert 0 < len(served) < len(ids)
    assert all(room.text(id_) for id_ in served)
    assert all(last == Rejection("deadline") for last in ends if not isinstance(last, Finished))
    assert room.clock.now - began_s <= 26.0


def test_memory_is_promised_before_it_is_needed() -> None:
    """Readers whose long answers do not fit in memory together wait for each other; no step finds it full."""
    room = Room(Limits(slots=3, queue=10), context_tokens=450)
    text = " ".join(map(str, range(60)))
    ids = [room.ask(f"{text} {n}", max_tokens=190) for n in range(4)]
    room.drain()
    assert room.decoder.overfull == 0
    assert all(isinstance(room.last(id_), Finished) for id_ in ids)


def test_a_failed_step_costs_its_readers_alone() -> None:
    """Readers in the step learn that the model is away; waiting readers are served; the memory is clean."""
    room = Room(Limits(slots=2, queue=5))
    ids = [room.ask(f"question {n}") for n in range(4)]
    for _ in range(4):
        room.step()
    room.decoder.fail_next = True
    room.drain()
    assert [room.last(id_) for id_ in ids[:2]] == [Rejection("unavailable")] * 2
    assert [room.text(id_) for id_ in ids[2:]] == [expected(room.requests[id_]) for id_ in ids[2:]]
    assert room.scheduler.failures == 0


def test_a_prompt_of_any_length_is_answered() -> None:
    """A prompt larger than the model's memory loses its middle, not the question."""
    room = Room()
    passages = "\n\n".join(f"[{n}] {' '.join(map(str, range(n, n + 20)))}" for n in range(50))
    id_ = room.ask(f"{passages}\n\nWhat is it?", max_tokens=290)
    room.drain()
    assert isinstance(room.last(id_), Finished)
    assert room.text(id_).endswith("What is it?")
    assert "[0]" in room.text(id_)


def test_a_loop_is_ended() -> None:
    """An answer that repeats itself word for word is not written to its limit."""
    room = Room(context_tokens=4000)
    id_ = room.ask("and then and then " * 20, max_tokens=1000)
    room.drain()
    assert isinstance(last := room.last(id_), Finished)
    assert last.reason == "stop"
    assert last.tokens < 100
