"""The scheduler at any interleaving of arrivals, cancels and failures."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from lutrin.generate.prefix import PassageLimits, PassageStore
from lutrin.generate.scheduler import Limits, Rejection
from lutrin.records import Finished

from .room import FOREVER, Keen, Room, asking, expected

PROMPTS = st.lists(st.sampled_from(["robot ", "loop ", "sensör ", "x"]), max_size=25).map("".join)
SECTIONS = st.sampled_from(["", "Robots move. ", "Robots move. They sense. ", "Sensör. "])
ASK = st.tuples(
    st.just("ask"),
    PROMPTS,
    st.sampled_from(["", "a", "b"]),
    st.integers(1, 60),
    st.sampled_from([FOREVER, FOREVER, 30.0, 5.0, 0.0]),
    SECTIONS,
)
WARM = st.tuples(st.just("warm"), SECTIONS)
CANCEL = st.tuples(st.just("cancel"), st.integers(1, 30))
STEP = st.tuples(st.just("step"), st.integers(1, 12))
FAIL = st.tuples(st.just("fail"))
LIMITS = st.builds(
    Limits,
    slots=st.integers(1, 5),
    queue=st.integers(0, 6),
    prefill_tokens=st.integers(1, 40),
    retained_tokens=st.integers(0, 400),
)


@settings(max_examples=300, deadline=None)
@given(
    LIMITS,
    st.integers(5, 9),
    st.integers(150, 900),
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0, 700, 1 << 20])),
    st.lists(st.one_of(ASK, ASK, STEP, STEP, CANCEL, FAIL, WARM), max_size=40),
)
def test_any_interleaving_keeps_the_promises(
    limits: Limits, sequences: int, context_tokens: int, ways: tuple[bool, bool, int], moves: list[tuple[object, ...]]
) -> None:
    """In any order of arrivals, cancellations and failures, a request gets one last event and only its own text.

    The decoder raises on a gap or an overfull step and counts steps that found no room; `Room.step` checks the budgets.
    """
    shares, keen, kept_bytes = ways
    room = Room(limits, sequences, context_tokens, shares, PassageStore(PassageLimits(memory_bytes=kept_bytes), ""))
    if keen:
        room.scheduler.pace = Keen()
    act: dict[object, Callable[..., object]] = {
        "ask": lambda text, session, tokens, wait, section: room.ask(
            text, session=session, max_tokens=tokens, wait_s=wait, section=section
        ),
        "warm": lambda section: room.scheduler.warm([asking("", section)]),
        "cancel": room.scheduler.cancel,
        "step": lambda times: [room.step() for _ in range(times)],
        "fail": lambda: setattr(room.decoder, "fail_next", True),
    }
    for name, *arguments in moves:
        act[name](*arguments)
    room.drain()
    for id_, events in room.told.items():
        assert [isinstance(event, Finished | Rejection) for event in events] == [False] * (len(events) - 1) + [True]
        check_text(room, id_)
    assert room.decoder.cells() <= limits.retained_tokens + sequences
    assert room.decoder.overfull == 0


def check_text(room: Room, id_: int) -> None:
    """A reader's text is the beginning of the right answer, and all of it if the model ended it."""
    request, text, last = room.requests[id_], room.text(id_), room.last(id_)
    right = expected(request)
    cut = isinstance(last, Finished) and last.prompt_tokens < 3 + sum(len(m.content.encode()) for m in request.messages)
    if cut:
        return
    whole = text.rstrip("\ufffd")
    assert right.startswith(whole)
    if isinstance(last, Finished):
        assert len(whole.encode()) <= last.tokens <= request.max_tokens
        if last.reason == "length":
            assert last.tokens == request.max_tokens or room.context_tokens < 2 * request.max_tokens
