"""`lutrin models tune`: what is measured, how the choice falls, where it is kept."""

import functools
from pathlib import Path

import pytest
from tests.fakes_generator import ScriptedDecoder

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.errors import GeneratorUnavailable
from lutrin.generate.tune import (
    SHIPPED,
    Speed,
    Trial,
    choose,
    measure,
    measure_apart,
    merge_trials,
    read_tuning,
    table,
    trials,
    write_tuning,
)
from lutrin.runtime.language_model import tune_short
from lutrin.settings import load_settings

TINY = "smollm2-135m-instruct-q4_1.gguf"


def trial(model: str, kind: str, speed: float, score: float | None = None) -> Trial:
    """A trial of a model that reads `speed` and writes a tenth of it, alone or for ten."""
    return Trial(
        model=model,
        format=kind,
        path=f"{model}-{kind}",
        sha256="",
        bytes=1,
        speed=Speed(prefill=speed, single=speed / 10, ten=speed / 10),
        score=score,
    )


def test_times_follow_from_the_speed() -> None:
    """A lone answer is prompt and text; ten at once are ten prompts and ten texts."""
    speed = Speed(prefill=100, single=20, ten=50)
    assert speed.alone_s(300, 60) == pytest.approx(6.0)
    assert speed.class_s(300, 60) == pytest.approx(42.0)


def test_measuring_counts_tokens_by_the_clock() -> None:
    """A step of 20 ms: 120 prompt tokens, one token for one reader, or ten for ten; on a busy machine less."""
    speed = measure(ScriptedDecoder(context_tokens=16384, step_s=0.02))
    for found, expected in ((speed.prefill, 120 / 0.02), (speed.single, 50), (speed.ten, 500)):
        assert 0.25 * expected < found < 1.05 * expected


def test_measuring_apart_tells_why_it_cannot(tmp_path: Path) -> None:
    """The other process's error arrives as ours."""
    with pytest.raises(GeneratorUnavailable, match="does not exist"):
        measure_apart(functools.partial(open_decoder, tmp_path / "none.gguf"))


def test_the_best_answers_win_within_a_model() -> None:
    """A quicker file is taken unless its answers are clearly worse."""
    tuning = choose(
        [
            trial("small", SHIPPED, 100, 0.50),
            trial("small", "Q4_0", 300, 0.49),
            trial("small", "Q4_0-all", 500, 0.40),
        ],
        3.0,
        machine="",
        date="",
    )
    assert tuning.files == {"small": "small-Q4_0"}


def test_one_question_of_twenty_decides_nothing() -> None:
    """Within chance, the faster file and the larger model win; a difference of 0.3 is not chance."""
    measured = [
        trial("tiny", SHIPPED, 800, 0.70),
        trial("tiny", "Q4_0", 1600, 0.65),
        trial("tiny", "Q4_0-all", 3200, 0.40),
        trial("small", SHIPPED, 300, 0.70),
        trial("small", "Q4_0", 600, 0.65),
    ]
    tuning = choose(measured, 3.0, machine="", date="")
    assert tuning.files == {"tiny": "tiny-Q4_0", "small": "small-Q4_0"}
    assert tuning.auto == "small"


def test_auto_is_the_best_that_keeps_the_deadline() -> None:
    """The larger model is taken where it is in time, the smaller where it is not, the quickest where none is."""
    measured = [trial("small", SHIPPED, 800, 0.40), trial("medium", SHIPPED, 400, 0.60)]
    assert choose(measured, 3.0, machine="", date="").auto == "medium"
    assert choose(measured, 2.0, machine="", date="").auto == "small"
    assert choose(measured, 0.1, machine="", date="").auto == "small"


def test_without_scores_the_larger_model_is_the_better() -> None:
    """Models are listed from small to large; speed alone decides between formats."""
    measured = [trial("small", SHIPPED, 800), trial("medium", SHIPPED, 300), trial("medium", "Q4_0", 400)]
    tuning = choose(measured, 3.0, machine="", date="")
    assert (tuning.auto, tuning.files["medium"]) == ("medium", "medium-Q4_0")


def test_a_format_that_fails_is_told_and_skipped(tmp_path: Path) -> None:
    """A file that cannot be converted does not end the run; an existing one is not converted again."""
    shipped = tmp_path / "model.gguf"
    shipped.write_bytes(b"weights")
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "model-q8_0.gguf").write_bytes(b"more weights")

    def convert(_source: Path, target: Path, kind: str) -> None:
        if kind != "Q4_0":
            raise GeneratorUnavailable(f"cannot convert to {kind}")
        target.write_bytes(b"fewer")

    found = list(
        trials(
            [("small", shipped)],
            ("Q4_0", "IQ4_NL", "Q8_0"),
            tmp_path / "tuned",
            convert=convert,
            speed=lambda path: Speed(prefill=path.stat().st_size, single=1, ten=1),
            score=lambda _: 0.5,
        )
    )
    assert found[2] == "small, IQ4_NL: cannot convert to IQ4_NL"
    assert [t.format for t in found if isinstance(t, Trial)] == [SHIPPED, "Q4_0", "Q8_0"]
    assert [t.speed.prefill for t in found if isinstance(t, Trial)] == [7, 5, 12]


def test_the_choice_is_kept_and_shown(tmp_path: Path) -> None:
    """What is written is read back; the table marks what is chosen; a damaged file counts as none."""
    measured = [trial("small", SHIPPED, 100), trial("small", "Q4_0", 300), trial("medium", SHIPPED, 10)]
    tuning = choose(measured, 3.0, machine="two cores", date="2026-11-21")
    path = tmp_path / "tuning.json"
    write_tuning(tuning, path)
    assert read_tuning(path) == tuning
    assert [row[0] for row in table(tuning)] == ["", "", "auto", "*"]
    assert (chosen := tuning.choice("auto")) is not None
    assert chosen.format == "Q4_0"
    assert tuning.choice("large") is None
    path.write_text("{")
    assert read_tuning(path) is None
    assert read_tuning(tmp_path / "none") is None


def test_a_run_that_must_end_tries_nothing_more(tmp_path: Path) -> None:
    """After the first no, no further file is converted or measured."""
    shipped = tmp_path / "model.gguf"
    shipped.write_bytes(b"weights")
    answers = iter([True, False])
    found = list(
        trials(
            [("small", shipped)],
            ("Q4_0", "Q8_0"),
            tmp_path,
            convert=lambda *_: pytest.fail("nothing is converted"),
            speed=lambda _: Speed(prefill=1, single=1, ten=1),
            goes_on=lambda: next(answers),
        )
    )
    assert [t.format for t in found if isinstance(t, Trial)] == [SHIPPED]


def test_what_was_measured_of_other_models_stays() -> None:
    """New trials replace those of their model; others stay in order of size, unless the machine is another one."""
    known = choose([trial("tiny", SHIPPED, 900), trial("small", SHIPPED, 100)], 3.0, machine="two cores", date="")
    fresh = [trial("small", "Q4_0", 300)]
    kept = merge_trials(fresh, known, "two cores", ["tiny", "small"])
    assert [(t.model, t.format) for t in kept] == [("tiny", SHIPPED), ("small", "Q4_0")]
    assert merge_trials(fresh, known, "four cores", ["tiny", "small"]) == fresh
    assert merge_trials(fresh, known, "two cores", ["small"]) == fresh


@pytest.mark.parametrize("given", [{"tune": False}, {"model": "none"}, {"model": "/some/file.gguf"}])
def test_set_up_measures_nothing_where_it_should_not(tmp_path: Path, given: dict[str, object]) -> None:
    """Switched off, without a model, or with a file of one's own: nothing is measured, nothing is written."""
    assert tune_short(load_settings(data_dir=tmp_path / "data", **given)) is None
    assert not (tmp_path / "data").exists()


@pytest.mark.gguf
@pytest.mark.nightly
def test_set_up_measures_once(models_dir: Path, tmp_path: Path) -> None:
    """The model that will answer is measured in what the time allows of two formats; a second time nothing happens."""
    given = load_settings(data_dir=tmp_path, models_dir=models_dir, model="tiny")
    tuning = tune_short(given)
    assert tuning is not None
    assert {t.format for t in tuning.trials} <= {SHIPPED, "Q4_0-all"}
    assert read_tuning(tmp_path / "tuning.json") == tuning
    assert tune_short(given) is None


@pytest.mark.gguf
@pytest.mark.slow("a model is converted, loaded and measured")
def test_a_real_file_is_converted_and_measured(models_dir: Path, tmp_path: Path) -> None:
    """Conversion writes a whole file or none; the result loads, runs and is measured in a process of its own."""
    from lutrin.adapters.llamacpp import quantize  # noqa: PLC0415 - loads llama.cpp

    target = tmp_path / "tiny-q4_0.gguf"
    quantize(models_dir / TINY, target, "Q4_0", 1)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    speed = measure_apart(functools.partial(open_decoder, target, 4096, 10, 1))
    assert min(speed.prefill, speed.single, speed.ten) > 0
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(GeneratorUnavailable, match=r"broken\.gguf cannot be converted"):
        quantize(tmp_path / "broken.gguf", tmp_path / "out.gguf", "Q4_0", 1)
    assert not (tmp_path / "out.part").exists()
