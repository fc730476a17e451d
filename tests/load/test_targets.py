"""How the samples of a load test are judged."""

import math
import xml.etree.ElementTree as ET

import pytest

from loadtests import plot, targets
from loadtests.targets import Sample


def sample(session: str = "a", seconds: float = 1.0, **changed: object) -> Sample:
    """An answer of the model that took so long."""
    values = {"what": "answer", "at_s": 0.0, "status": 200, "kind": "generated"} | changed
    return Sample(session=session, seconds=seconds, **values)  # type: ignore[arg-type]  # values by name


def test_percentiles_are_of_the_nearest_rank() -> None:
    """Half of ten values do not exceed the fifth; the 95th of a hundred is the 95th."""
    assert targets.percentile(range(1, 11), 0.5) == 5
    assert targets.percentile(range(1, 101), 0.95) == 95
    assert math.isnan(targets.percentile([], 0.5))


def test_a_run_without_answers_fails() -> None:
    """Nothing asked is not the same as nothing wrong."""
    assert not targets.errors(0)([]).met
    assert not targets.fair(2)([]).met


@pytest.mark.parametrize(("failed", "met"), [(0, True), (1, True), (2, False)])
def test_errors_are_a_share_of_all_requests(failed: int, met: bool) -> None:
    """One of a hundred is one per cent; no reply at all is an error like any other."""
    samples = [sample(status=0 if number < failed else 200) for number in range(100)]
    assert targets.errors(0.01)(samples).met is met


def test_fairness_compares_the_means_of_sessions() -> None:
    """A session that waits 5 s on average where another waits 2 s is treated unfairly."""
    samples = [sample("a", 1.0), sample("a", 3.0), sample("b", 4.0), sample("b", 6.0)]
    verdict = targets.fair(2)(samples)
    assert (verdict.value, verdict.met) == (2.5, False)


def test_waits_that_nobody_notices_are_alike() -> None:
    """Half a second is not five times a tenth of one: both count as one second."""
    samples = [sample("a", 0.1), sample("a", 0.1), sample("b", 0.5), sample("b", 0.5)]
    assert targets.fair(2)(samples).value == 1


def test_an_ingest_beside_is_compared_with_quiet_times_of_the_same_run() -> None:
    """A p95 of 1.5 s beside one of 1 s misses 1.2."""
    verdict = targets.beside([sample(seconds=1.0)], 1.2)([sample(seconds=1.5)])
    assert (verdict.value, verdict.met) == (1.5, False)


def test_a_kind_that_did_not_occur_misses_nothing() -> None:
    """The model's seconds are judged only where the model wrote."""
    assert targets.slowest(0.95, 5, kind="generated")([sample(kind="extractive", seconds=9)]).met
    assert not targets.slowest(0.95, 5)([sample(kind="extractive", seconds=9)]).met


def test_the_picture_has_a_point_for_each_answer() -> None:
    """It is well-formed SVG, and a title with markup in it stays text."""
    samples = [sample(at_s=number, seconds=number / 2) for number in range(5)]
    picture = ET.fromstring(plot.svg("a < b", samples, 3.0, [(1.0, 2.0)]))  # noqa: S314 - our own text
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert sum(circle.get("r") == "3" for circle in circles) == len(samples)
