"""The answer cache: its contents, the readers that it serves, and the replies to repeats."""

from collections import OrderedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lutrin import messages
from lutrin.answer.cache import AnswerCache, for_reader
from lutrin.query.understand import normalize
from lutrin.records import (
    Answer,
    AnswerEvent,
    AnswerKind,
    Certainty,
    DoneEvent,
    Question,
    QueuedEvent,
    SourcesEvent,
    WorkingEvent,
)

FIRST = Question(text="What is a loop?", session_id="one")


def answered(
    *warnings: str, kind: AnswerKind = "extractive", explainable: bool = False, prepared_by: str = ""
) -> list[tuple[AnswerEvent, float]]:
    """Events of an answer with these warnings, after a wait in the queue, and when they came."""
    answer = Answer(
        answer="A loop.", sources=(), mode="book", kind=kind, refusal=None, suggestions=(), warnings=warnings,
        model_used="", latency_ms=700, generation="g", explainable=explainable, prepared_by=prepared_by,
    )  # fmt: skip
    made = Certainty(searched="what is a loop?")
    return [
        (QueuedEvent(position=1, eta_s=2.0), 0.1),
        (SourcesEvent(citations=()), 0.2),
        (WorkingEvent(what="reading", eta_s=1.0), 0.3),
        (DoneEvent(answer=answer, made=made), 0.7),
    ]


def test_capitals_blanks_and_marks_at_the_end_make_no_other_question() -> None:
    """However it is typed."""
    for text in (
        "what does a watchdog do?",
        "  what does a WATCHDOG do",
        "What does\ta  Watchdog do?!",
        "WHAT DOES A WATCHDOG DO ?",
    ):
        assert normalize(text) == "what does a watchdog do?"


def test_what_may_mean_something_else_stays_another_question() -> None:
    """Names from code and numbers, single letters, marks between two questions."""
    for one, other in (
        ("What is Node.spin?", "What is node.spin?"),
        ("What does goToPose do?", "What does gotopose do?"),
        ("What is D435i?", "What is D435I?"),
        ("What is vitamin C?", "What is vitamin c?"),
        ("What is C?", "What is C++?"),
        ("My arm shakes. Now what?", "My arm shakes. Now what."),
        ("What is a loop? And a node?", "What is a loop and a node?"),
    ):
        assert normalize(one) != normalize(other)


@pytest.mark.parametrize("text", ["Explain the loop", "Explain the loop!", "explain the loop."])
def test_a_demand_ends_as_one(text: str) -> None:
    """With or without its mark."""
    assert normalize(text) == "explain the loop"


def test_what_is_told_after_a_question_becomes_none() -> None:
    """It gets no mark that would make it one."""
    assert normalize("What is a wheelbase? It has no wheels") == "what is a wheelbase? it has no wheels"
    assert normalize("It has no wheels. What is a wheelbase") == "it has no wheels. what is a wheelbase?"


def test_the_same_form_again_is_the_same() -> None:
    """For any text."""
    for text in ("What is C++?", "...", "RAG/LLM and Node.spin ?", "Is it 5 V?", "\u201cNode\u201d (URDF)?"):
        assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize("kind", ["extractive", "generated"])
def test_an_answer_of_which_a_better_one_may_come_is_not_kept(kind: AnswerKind) -> None:
    """The model was late, away or not begun, even if it had something to say of another passage."""
    cache = AnswerCache()
    cache.put("q", answered("simulated", kind=kind, explainable=True), "one")
    assert cache.get("q", "one") is None


def test_the_book_s_own_words_are_kept_whatever_is_said_with_them() -> None:
    """A note on simulation, code that is withheld, a slip of the keyboard: the next reader gets the same."""
    cache = AnswerCache()
    cache.put("q", answered("simulated", messages.CODE_WITHHELD), "one")
    assert cache.get("q", "one") is not None


def test_nobody_waits_for_what_is_known() -> None:
    """The queue of the first reader is not told to the second."""
    cache = AnswerCache()
    cache.put("q", answered(), "one")
    assert [(type(event), after) for event, after in cache.get("q", "one") or ()] == [(SourcesEvent, 0), (DoneEvent, 0)]


def test_no_time_tells_what_somebody_else_has_asked() -> None:
    """Other readers get each event no earlier than the first did; the same reader gets all at once."""
    cache = AnswerCache()
    cache.put("q", answered(), "one")
    paced = [(type(event), after) for event, after in cache.get("q", "two") or ()]
    assert paced == [(SourcesEvent, 0.2), (WorkingEvent, 0.3), (DoneEvent, 0.7)]
    assert [after for _, after in cache.get("q", "two") or ()] == [0, 0]
    assert [after for _, after in cache.get("q", "one") or ()] == [0, 0]
    cache.put("p", answered(prepared_by="the authors"), "one")
    assert [after for _, after in cache.get("p", "two") or ()] == [0, 0]


@given(
    st.lists(
        st.tuples(st.sampled_from(["get", "put", "put later"]), st.sampled_from("abcde"), st.sampled_from("xyz")),
        max_size=40,
    )
)
def test_it_remembers_the_newest_whatever_is_asked_in_whatever_order(acts: list[tuple[str, str, str]]) -> None:
    """As many as its limit; two readers who ask the same at once are both answered, and both are known."""
    cache, model = AnswerCache(limit=3), OrderedDict[str, set[str]]()
    for act, key, reader in acts:
        if act == "get":
            replay = cache.get(key, reader)
            assert (replay is not None) == (key in model)
            if replay is not None:
                assert all(after == 0 for _, after in replay) == (reader in model[key])
                model.move_to_end(key)
                model[key].add(reader)
        elif act == "put":
            cache.put(key, answered(), reader)
            model.setdefault(key, set()).add(reader)
            model.move_to_end(key)
            while len(model) > 3:
                model.popitem(last=False)
        else:
            cache.put(key, answered(explainable=True), reader)


def test_a_repeat_is_the_same_but_for_the_reader_s_own_wait() -> None:
    """Nothing of the first reader is told to the second."""
    *_, (before, _) = answered()
    after = for_reader(before, latency_ms=3)
    assert isinstance(before, DoneEvent)
    assert isinstance(after, DoneEvent)
    assert after.answer.latency_ms == 3
    assert msgspec.structs.replace(after.answer, latency_ms=700) == before.answer
    assert after.made is not None
    assert after.made.searched == "what is a loop?"


def test_the_answer_asked_for_longest_ago_goes_first() -> None:
    """Memory is bounded."""
    cache = AnswerCache(limit=2)
    for name in ("a", "b"):
        cache.put(name, answered(), "one")
    assert cache.get("a", "one") is not None
    cache.put("c", answered(), "one")
    assert [cache.get(name, "one") is not None for name in ("a", "b", "c")] == [True, False, True]


def test_it_is_no_pronoun() -> None:
    """Unless the whole question is in capitals."""
    assert normalize("What does IT support do?") == "what does IT support do?"
    assert normalize("WHAT DOES IT DO?") == "what does it do?"
