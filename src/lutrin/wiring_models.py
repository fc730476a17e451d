"""Which language model answers, and in which number format: from settings, manifest and what was measured here."""

import datetime as dt
import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from lutrin import weights
from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.answer.prompt import warm_request
from lutrin.errors import InvalidSettings, ModelMissing
from lutrin.generate.measure import Speed, measure_apart
from lutrin.generate.protocol import Limits
from lutrin.generate.tune import Trial, Tuning, choose, read_tuning, sha256, trials, write_tuning
from lutrin.generate.worker import WorkerGenerator
from lutrin.settings import Settings

Score = Callable[[Path], float]


def tuning_path(settings: Settings) -> Path:
    """Where `lutrin models tune` keeps its result."""
    return settings.data_dir / "tuning.json"


def model_path(settings: Settings) -> tuple[str, Path] | None:
    """Name and checked file of the language model of the settings; None for `none`.

    Raises:
        ModelMissing, ChecksumMismatch: The file cannot be used.
        InvalidSettings: There is no model of that name.
    """
    if settings.model == "none":
        return None
    if settings.model.endswith(".gguf"):
        path = Path(settings.model)
        if not path.is_file():
            raise ModelMissing(f"The model file {path} does not exist.", remedy="Correct LUTRIN_MODEL.")
        return path.stem, path
    tuning = read_tuning(tuning_path(settings))
    name = settings.model
    if name == "auto":
        if tuning is None:
            raise InvalidSettings("LUTRIN_MODEL=auto needs a measurement.", remedy="Run `lutrin models tune` once.")
        name = tuning.auto
    model = weights.load_manifest(settings.models_dir).find(name)
    tuned = tuning.chosen(model.name) if tuning is not None else None
    if tuned is not None and Path(tuned.path).is_file() and sha256(Path(tuned.path)) == tuned.sha256:
        return model.name, Path(tuned.path)
    return model.name, weights.verified_path(settings.models_dir, model)


def open_generator(settings: Settings) -> WorkerGenerator | None:
    """The language model in its own process, not started yet; None if there is to be none."""
    chosen = model_path(settings)
    if chosen is None:
        return None
    name, path = chosen
    factory = partial(
        open_decoder,
        path,
        n_ctx=settings.model_context_tokens,
        slots=settings.model_slots,
        threads=settings.model_threads,
    )
    limits = Limits(slots=settings.model_slots, queue=settings.queue_limit)
    return WorkerGenerator(name, factory, limits=limits, warm=warm_request())


def tune(
    settings: Settings,
    formats: Sequence[str],
    *,
    score: Score | None = None,
    note: Callable[[Trial | str], None] = lambda _: None,
) -> Tuning:
    """Convert and measure every installed model, and remember what suits this machine.

    Args:
        settings: Say where models and data lie, and the deadline.
        formats: Of `lutrin.generate.tune.FORMATS`.
        score: Judges a file's answers; None: speed alone decides.
        note: Told of each trial as it ends.

    Raises:
        ModelMissing: No language model is here.
    """
    # llama.cpp is loaded by whoever converts a file, and by nobody else.
    from lutrin.adapters.llamacpp_quantize import quantize  # noqa: PLC0415 - see above

    installed = [
        (model.name, weights.verified_path(settings.models_dir, model))
        for model in sorted(weights.load_manifest(settings.models_dir).model, key=lambda model: model.size)
        if model.role == "generate" and weights.state_of(settings.models_dir, model) == "present"
    ]
    if not installed:
        raise ModelMissing("There is no language model to measure.", remedy="Run `lutrin models fetch`.")

    def speed(path: Path) -> Speed:
        return measure_apart(partial(open_decoder, path, threads=settings.model_threads))

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    measured: list[Trial] = []
    folder = settings.data_dir / "models"
    for trial in trials(installed, formats, folder, convert=quantize, speed=speed, score=score):
        note(trial)
        if isinstance(trial, Trial):
            measured.append(trial)
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    tuning = choose(measured, settings.deadline_s, machine=machine, date=dt.datetime.now(dt.UTC).date().isoformat())
    write_tuning(tuning, tuning_path(settings))
    return tuning
