"""Estimates of explanations: what they count, and how they become true."""

import msgspec
import pytest

from lutrin.answer.punctuality import MOST, Punctuality
from lutrin.generate.forecast import Forecaster, PaceFigures, passage_key
from lutrin.records import Forecast, GenerationRequest, Message

SECTION = "The arm of Kestrel lifts a load of 2 kg. " * 20
PACE = PaceFigures(prefill_s=0.02, token_s=0.1, crowd_token_s=0.03, first_s=3.0, unread_s=5.0, length=60.0)


def asking(section: str = SECTION) -> GenerationRequest:
    """A request about a section."""
    text = f"{section}Question: What does it lift?"
    return GenerationRequest(
        messages=(Message(role="user", content=text),), max_tokens=200, deadline_s=60, stable_chars=len(section)
    )


def first_s(forecaster: Forecaster) -> float:
    """Estimated seconds to the first sentence."""
    forecast = forecaster.forecast(asking())
    assert forecast is not None
    return forecast.first_s


def test_nothing_is_estimated_before_anything_was_measured() -> None:
    """A guess would turn readers away."""
    assert Forecaster().forecast(asking()) is None


def test_a_section_that_was_read_is_not_read_again() -> None:
    """A half-read section counts half, and so does the process's own report of its queue."""
    forecaster = Forecaster()
    forecaster.note_pace(PACE, {}, 0)
    unread = first_s(forecaster)
    forecaster.note_pace(PACE, {passage_key(asking()): 100}, 0)
    half = first_s(forecaster)
    forecaster.note_pace(PACE, {passage_key(asking()): 0}, 0)
    read = first_s(forecaster)
    assert unread > half == pytest.approx(read + 2.0 + 100 * PACE.prefill_s)
    forecaster.note_pace(msgspec.structs.replace(PACE, first_s=20.0), {}, 0)
    assert first_s(forecaster) == pytest.approx(read + 17.0)
    forecaster.reset()
    assert forecaster.forecast(asking()) is None


def test_who_has_asked_since_the_process_was_heard_counts() -> None:
    """Their passage once, also if it is the same; nothing any more when they have ended or the process counts them."""
    forecaster = Forecaster()
    forecaster.note_pace(PACE, {}, 0)
    alone = first_s(forecaster)
    forecaster.begin(1, asking())
    beside_one = first_s(forecaster)
    forecaster.begin(2, asking("The legs of Kestrel are light. " * 20))
    beside_two = first_s(forecaster)
    assert alone < beside_one < beside_two
    assert beside_two - beside_one > 2 * (beside_one - alone)
    forecaster.end(2)
    assert first_s(forecaster) == beside_one
    forecaster.note_pace(msgspec.structs.replace(PACE, passages_s={passage_key(asking()): 4.0}), {}, 1)
    assert first_s(forecaster) == pytest.approx(4.0, abs=0.3)


def test_each_who_comes_at_the_same_moment_adds_what_the_last_ones_cost() -> None:
    """Each adds the reading of a passage, as long as the passages are new to the model."""
    forecaster = Forecaster()
    forecaster.note_pace(PACE, {}, 0)

    def each_s() -> float:
        forecast = forecaster.forecast(asking())
        assert forecast is not None
        return forecast.each_s

    new, same = [asking(f"Joint {number} of Kestrel turns. " * 40) for number in range(20)], asking()
    for number, request in enumerate(new):
        forecaster.begin(number, request)
    strangers_s = each_s()
    for number in range(20, 40):
        forecaster.begin(number, same)
    assert strangers_s > 2 * each_s() > 0


def test_estimates_learn_from_what_they_missed_by() -> None:
    """A late answer raises later estimates, within bounds; two very late ones pause unrequested explanations."""
    punctuality = Punctuality()
    paused = []
    for took_s in (6.0, 40.0, 40.0):
        punctuality.note(punctuality.corrected(5.0), took_s, Forecast(5.0, 9.0))
        paused.append(punctuality.is_paused)
    assert paused == [False, False, True]
    assert 1.5 < punctuality.corrected(1.0).first_s <= MOST
    assert not punctuality.is_better(Forecast(4.5, 9.0))
    assert punctuality.is_better(Forecast(2.0, 4.0))
    punctuality.resume()
    assert punctuality.corrected(1.0).first_s == 1.0


def test_many_that_were_told_at_once_correct_as_one_does() -> None:
    """A class is told thirty estimates before the first has ended, all of them a third of the truth."""
    punctuality = Punctuality()
    told = [punctuality.corrected(10.0) for _ in range(30)]
    for estimate in told:
        punctuality.note(estimate, 30.0, None)
    assert punctuality.corrected(10.0).first_s == pytest.approx(30.0, rel=0.01)
