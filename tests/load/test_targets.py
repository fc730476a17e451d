"""The judgement of a load test's samples."""

import json
import math
import random
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtests import plot, targets
from loadtests.deck import Deck
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


def waiting(session: str, *seconds: float) -> list[Sample]:
    """Answers of a session whose first words took so long each."""
    return [sample(session, seconds=9.0, first_s=wait, queue_s=wait, turn=turn) for turn, wait in enumerate(seconds)]


JUDGES = pytest.mark.parametrize("judge", [targets.fair, targets.fair_queue])


@JUDGES
def test_fairness_compares_what_sessions_usually_wait(judge: Callable[[float], targets.Target]) -> None:
    """A session that waits 5 s every time where others wait 2 s is treated unfairly; a single bad moment is no fate."""
    others = [item for number in range(9) for item in waiting(str(number), 2.0, 2.0, 2.0, 2.0, 30.0)]
    verdict = judge(2)([*others, *waiting("last", 5.0, 5.0, 5.0, 5.0, 31.0)])
    assert (verdict.value, verdict.met) == (2.5, False)
    assert judge(2)([*others, *waiting("unlucky", 2.5, 2.5, 2.5, 2.5, 31.0)]).met


def test_what_chance_deals_is_nobody_s_treatment() -> None:
    """Thirty sessions draw seven waits each from the same hat: some ratio is beyond the bar, and none is blamed."""
    order = random.Random(3)
    crowd = [item for number in range(30) for item in waiting(str(number), *order.choices([0.1, 0.3, 0.6, 1.2], k=7))]
    verdict = targets.fair(2)(crowd)
    assert verdict.value > 2
    assert verdict.met
    assert "dealings" in verdict.note


@pytest.mark.parametrize("factor", [2.5, 4.0])
def test_who_is_always_last_is_noticed_among_chance(factor: float) -> None:
    """The same hat, but one session's waits are so many times as long as everybody's of that turn."""
    order = random.Random(3)
    turns = [[order.choice([0.2, 0.25, 0.3, 0.4]) for _ in range(30)] for _ in range(7)]
    crowd = [item for number in range(29) for item in waiting(str(number), *(turn[number] for turn in turns))]
    assert targets.fair(2)(crowd).met
    assert not targets.fair(2)([*crowd, *waiting("last", *(factor * max(turn) for turn in turns))]).met


def test_the_length_of_an_answer_is_no_wait() -> None:
    """One session's answers take ten times as long to be written; both had their first words at once."""
    samples = [sample("a", 0.5, first_s=0.2)] * 3 + [sample("b", 5.0, first_s=0.2)] * 3
    assert targets.fair(2)(samples).value == 1


def test_what_comes_at_once_is_alike() -> None:
    """A hundredth and a tenth of a second are both at once; a fifth and half of one are not."""
    assert targets.fair(2)([*waiting("a", *[0.01] * 3), *waiting("b", *[0.1] * 3)]).value == 1
    assert not targets.fair(2)([*waiting("a", *[0.2] * 9), *waiting("b", *[0.5] * 9)]).met


def test_without_a_model_nobody_queues() -> None:
    """Quotes only: the queue is fair; without any answer it is not."""
    assert targets.fair_queue(2)([sample(first_s=0.1)]).met
    assert not targets.fair_queue(2)([]).met


def test_one_who_queues_alone_cannot_be_compared() -> None:
    """Where the model has said the books ahead hardly anybody waits for it; two sessions that wait are compared."""
    alone = [sample("a", queue_s=9.0), sample("b"), sample("c")]
    assert targets.fair_queue(2)(alone).met
    many = [sample(name, queue_s=wait, turn=turn) for name, wait in (("a", 9.0), ("b", 1.0)) for turn in range(20)]
    assert not targets.fair_queue(2)(many).met


def test_the_log_says_who_waited_for_the_model(tmp_path: Path) -> None:
    """Samples and log lines meet by the message's id; other lines and answers without the model are passed over."""
    lines = [
        {"event": "question", "message": "m1", "work_ms": {"search": 10, "queue": 250}},
        {"event": "question", "message": "m2", "work_ms": {"search": 10}},
        {"event": "other"},
    ]
    (tmp_path / "log").write_text("Lutrin answers on ...\n" + "\n".join(map(json.dumps, lines)), encoding="utf-8")
    asked = {"session": "s", "what": "answer", "seconds": 1.0, "status": 200}
    samples = [{**asked, "at_s": 2.0, "message": "m2"}, {**asked, "at_s": 1.0, "message": "m1"}]
    (tmp_path / "samples").write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")
    read = targets.read_samples(tmp_path / "samples", tmp_path / "log")
    assert [item.queue_s for item in read] == [0.25, None]


def test_every_reader_gets_the_same_mix_and_other_questions() -> None:
    """In each round all questions are of one kind and differ; no words come twice before all were dealt."""
    deck = Deck()
    kinds = [[f"{kind}{number}" for number in range(12)] for kind in "abc"]
    deck.open(kinds, 10)
    seats = [deck.seat() for _ in range(10)]
    rounds = [[deck.deal(seat, turn) for seat in seats] for turn in range(30)]
    for turn, dealt in enumerate(rounds):
        assert len(set(dealt)) == 10
        assert {text.split()[-1][0] for text in dealt} == {"abc"[turn % 3]}
    assert len({text for dealt in rounds for text in dealt}) == 300


def test_an_ingest_beside_is_compared_with_quiet_times_of_the_same_run() -> None:
    """A p95 of 1.5 s beside one of 1 s misses 1.2."""
    verdict = targets.beside([sample(seconds=1.0)], 1.2)([sample(seconds=1.5)])
    assert (verdict.value, verdict.met) == (1.5, False)


def test_a_kind_that_did_not_occur_misses_nothing() -> None:
    """The model's seconds are judged only where the model wrote."""
    assert targets.slowest(0.95, 0.5, what="retrieve")([sample(seconds=9)]).met


def test_explanations_count_that_come_while_the_reader_waits() -> None:
    """Among answers that are no refusals; one that comes after a minute does not count."""
    came = [sample(words_s=5.0), sample(words_s=61.0), sample(kind="extractive"), sample(kind="refusal")]
    verdict = targets.explained(0.3, 60)(came)
    assert verdict.value == pytest.approx(1 / 3)
    assert verdict.met
    assert not targets.explained(0.8, 60)([]).met


def test_a_model_that_has_nothing_to_add_has_come_to_its_end() -> None:
    """Counted among the answers that it was to explain, unless the reader no longer waited."""
    came = [sample(begun=True, ended_s=5.0), sample(begun=True, ended_s=61.0), sample(begun=True), sample()]
    assert targets.ended(0.3, 60)(came).value == pytest.approx(1 / 3)
    assert not targets.ended(0.8, 60)([]).met


def test_an_estimate_counts_from_when_it_was_told() -> None:
    """Half of the time, or twice, is still right, also of word that there is none; who gave up says nothing of it."""
    came = [
        sample(words_s=11.0, told_s=1.0, eta_s=5.0),
        sample(words_s=12.0, told_s=1.0, eta_s=5.0),
        sample(words_s=3.0, told_s=1.0, eta_s=4.0),
        sample(words_s=3.0, ended_s=60.0, told_s=2.0, eta_s=1.0),
        sample(ended_s=3.0, told_s=2.0, eta_s=4.0),
        sample(told_s=1.0, eta_s=4.0),
    ]
    assert targets.estimates(0.8)(came).value == pytest.approx(3 / 5)
    assert not targets.slowest(0.95, 5)([sample(kind="extractive", seconds=9)]).met


def test_the_picture_has_a_point_for_each_answer() -> None:
    """It is well-formed SVG, and a title with markup in it stays text."""
    samples = [sample(at_s=number, seconds=number / 2) for number in range(5)]
    picture = ET.fromstring(plot.svg("a < b", samples, 3.0, [(1.0, 2.0)]))  # noqa: S314 - our own text
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert sum(circle.get("r") == "3" for circle in circles) == len(samples)
