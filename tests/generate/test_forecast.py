"""Estimates of explanations: what they count, and how they become true."""

import pytest

from lutrin.answer.punctuality import MOST, Punctuality
from lutrin.generate.forecast import Forecaster, PaceFigures, passage_key
from lutrin.records import Forecast, GenerationRequest, Message

SECTION = "The arm of Kestrel lifts a load of 2 kg. " * 20
PACE = PaceFigures(prefill_s=0.02, token_s=0.1, ahead_tokens=0, wait_s=0.0, length=60.0)


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
    """What is half read counts half; who stands before counts, too."""
    forecaster = Forecaster()
    forecaster.pace = PACE
    unread = first_s(forecaster)
    forecaster.note_unread({passage_key(asking()): 100})
    half = first_s(forecaster)
    forecaster.note_unread({passage_key(asking()): 0})
    read = first_s(forecaster)
    assert unread > half == pytest.approx(read + 100 * PACE.prefill_s)
    forecaster.pace = PaceFigures(prefill_s=0.02, token_s=0.1, ahead_tokens=500, wait_s=7.0)
    assert first_s(forecaster) == pytest.approx(read + 500 * 0.02 + 7.0)
    forecaster.reset()
    assert forecaster.forecast(asking()) is None


def test_estimates_learn_from_what_they_missed_by() -> None:
    """Late ones grow the next, within bounds; two that are late by far pause what nobody asked for."""
    punctuality = Punctuality()
    paused = []
    for took_s in (6.0, 40.0, 40.0):
        punctuality.note(5.0, took_s, Forecast(5.0, 9.0))
        paused.append(punctuality.is_paused)
    assert paused == [False, False, True]
    assert 2.0 < punctuality.corrected(Forecast(1.0, 2.0)).first_s <= MOST
    assert not punctuality.is_better(Forecast(4.5, 9.0))
    assert punctuality.is_better(Forecast(2.0, 4.0))
    punctuality.resume()
    assert punctuality.corrected(Forecast(1.0, 2.0)).first_s == 1.0
