"""Which language model answers, and in which number format: from settings, manifest and what was measured here."""

import datetime as dt
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lutrin.adapters.generate_llamacpp import open_decoder, require_engine
from lutrin.adapters.rerank_fastembed import FastembedReranker
from lutrin.adapters.support_generated import PATIENCE_S, GeneratedSupport
from lutrin.answer.ability import Ability
from lutrin.answer.prompt import warm_request
from lutrin.errors import GeneratorUnavailable, InvalidSettings, ModelMissing
from lutrin.generate.measure import LONGEST_S, Speed, measure_apart
from lutrin.generate.protocol import Limits
from lutrin.generate.tune import (
    SHORT_FORMATS,
    SHORT_S,
    Trial,
    Tuning,
    choose,
    joined,
    read_tuning,
    sha256,
    trials,
    write_tuning,
)
from lutrin.generate.worker import WorkerGenerator
from lutrin.keep import weights
from lutrin.ports import Generator, Support
from lutrin.runtime import judging
from lutrin.settings import LOCAL, Settings

RERANK_THREADS = 1
"""Threads of the cross-encoder; the language model needs the cores."""
Score = Callable[[Path], float]
Note = Callable[[Trial | str], None]
READING, WRITING = 0.4, 0.5
"""Shares of the time for an explanation in which a prompt is read and an answer is written; the rest is waiting."""
LEAST_PROMPT_TOKENS, LEAST_ANSWER_TOKENS = 300, 48
"""Below these no machine makes an explanation shorter: it comes too late instead, and can be asked for."""
AUTO_FALLBACK = "small"
"""The tier that `LUTRIN_MODEL=auto` fetches and measures before any other was measured."""


def tuning_path(settings: Settings) -> Path:
    """Where `lutrin models tune` keeps its result."""
    return settings.data_dir / "tuning.json"


def model_path(settings: Settings) -> tuple[str, Path] | None:
    """Name and checked file of the language model of the settings; None for `none`.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing, ChecksumMismatch: The file cannot be used.
        InvalidSettings: There is no model of that name.
    """
    if settings.model == "none":
        return None
    require_engine()
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
    model = weights.load_manifest(settings.models_dir).language_model(name)
    tuned = tuning.chosen(model.name) if tuning is not None else None
    if tuned is not None and Path(tuned.path).is_file() and sha256(Path(tuned.path)) == tuned.sha256:
        return model.name, Path(tuned.path)
    return model.name, weights.verified_path(settings.models_dir, model)


def ability_of(settings: Settings) -> Ability:
    """Decide what the configured model may be asked, by its tier and its speed on this machine.

    A service's model counts as `large`, and so does a file as large as the smallest model of that tier.

    Raises:
        InvalidSettings: There is no model of that name.
    """
    manifest = weights.load_manifest(settings.models_dir)
    is_remote = settings.profile == "remote" and settings.llm_model != LOCAL
    tier = manifest.tier("large" if is_remote else _tier_of(settings, manifest))
    ability = Ability(
        tier=tier.name,
        frames=frozenset(tier.frames),
        prompt_tokens=tier.prompt_tokens,
        answer_tokens=tier.answer_tokens,
        own_words=tier.own_words,
    )
    tuning = None if is_remote else read_tuning(tuning_path(settings))
    model = _name_of(settings, manifest, tuning)
    trial = tuning.chosen(model) if tuning is not None else None
    return ability if trial is None else fitted(ability, trial.speed, settings.explain_s)


def fitted(ability: Ability, speed: Speed, explain_s: float) -> Ability:
    """The same with a prompt and an answer that a reader alone gets in time.

    Args:
        ability: Of the tier.
        speed: Of the model here.
        explain_s: Seconds that an explanation may take.
    """
    return replace(
        ability,
        prompt_tokens=min(ability.prompt_tokens, max(LEAST_PROMPT_TOKENS, int(READING * explain_s * speed.prefill))),
        answer_tokens=min(ability.answer_tokens, max(LEAST_ANSWER_TOKENS, int(WRITING * explain_s * speed.single))),
    )


def _tier_of(settings: Settings, manifest: weights.Manifest) -> str:
    """The tier of the local model of the settings; that of a file goes by its size."""
    if settings.model == "none":
        return "none"
    if settings.model.endswith(".gguf"):
        path = Path(settings.model)
        return manifest.tier_of_size(path.stat().st_size if path.is_file() else 0).name
    return manifest.language_model(_name_of(settings, manifest, read_tuning(tuning_path(settings)))).tier


def _name_of(settings: Settings, manifest: weights.Manifest, tuning: Tuning | None) -> str:
    """The name of the local model of the settings in the manifest; that of a file as it is."""
    if settings.model in {"none", "auto"} or settings.model.endswith(".gguf"):
        chosen = tuning.auto if tuning is not None else AUTO_FALLBACK
        return chosen if settings.model == "auto" else settings.model
    return manifest.language_model(settings.model).name


def open_support(settings: Settings, generator: Generator | None, *, patience_s: float = PATIENCE_S) -> Support | None:
    """Who judges whether passages state a sentence: the model itself, if models like it can; None: nobody.

    Args:
        settings: Name the model.
        generator: The model.
        patience_s: So long a sentence waits for its judgement.

    Raises:
        InvalidSettings: There is no model of that name.
    """
    if generator is None:
        return None
    if settings.profile == "remote" and settings.llm_model != LOCAL:
        return GeneratedSupport(generator, patience_s=patience_s)
    manifest = weights.load_manifest(settings.models_dir)
    found = judging.recalled(getattr(generator, "identity", ""), settings.data_dir)
    threshold = found.threshold if found else manifest.tier(_tier_of(settings, manifest)).judge_threshold
    return None if threshold is None else GeneratedSupport(generator, threshold, patience_s=patience_s)


def open_reranker(settings: Settings) -> FastembedReranker | None:
    """The cross-encoder of the settings, after its files matched the manifest; None if there is to be none.

    Raises:
        ModelMissing, ChecksumMismatch: A file cannot be used.
        InvalidSettings: There is no cross-encoder of that name.
    """
    if not settings.rerank:
        return None
    manifest = weights.load_manifest(settings.models_dir)
    model = next((item for item in manifest.model if settings.rerank in {item.tier, item.name}), None)
    if model is None:
        raise InvalidSettings(f"LUTRIN_RERANK: the manifest has no model {settings.rerank}.", remedy="Leave it empty.")
    if model.role != "rerank":
        raise InvalidSettings(
            f"{model.name} is no cross-encoder.",
            remedy="Name one whose role is `rerank`, or leave LUTRIN_RERANK empty.",
        )
    return FastembedReranker(weights.verified_path(settings.models_dir, model), name=model.name, threads=RERANK_THREADS)


def gpu_layers(settings: Settings) -> int | None:
    """Layers that a graphics processor computes; None: all of them."""
    return None if settings.gpu_layers == "auto" else settings.gpu_layers


def computed_by(settings: Settings) -> str:
    """What would compute a language model here, in words; loads the engine into this process, and no model.

    Raises:
        GeneratorUnavailable: The engine does not run on this processor.
    """
    # The server's process must not hold llama.cpp; `lutrin doctor` is one of its own.
    from lutrin.adapters import llamacpp_backend  # noqa: PLC0415 - see above

    return llamacpp_backend.computed_by(gpu_layers(settings))


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
        gpu_layers=gpu_layers(settings),
    )
    limits = Limits(slots=settings.model_slots, queue=settings.queue_limit)
    # A file of the manifest, or made of one, was checked by its sum; of any other its time says whether it is the same.
    state = path.stat()
    identity = f"{name} {path.name} {state.st_size}"
    if settings.model.endswith(".gguf"):
        identity += f" {state.st_mtime_ns}"
    return WorkerGenerator(name, factory, identity=identity, limits=limits, warm=warm_request())


def tune(
    settings: Settings,
    formats: Sequence[str],
    *,
    tiers: Sequence[str] = (),
    score: Score | None = None,
    note: Note = lambda _: None,
    within_s: float = float("inf"),
) -> Tuning:
    """Convert and measure installed models, and remember what suits this machine.

    Args:
        settings: Say where models and data lie, and the deadline.
        formats: Of `lutrin.generate.tune.FORMATS`.
        tiers: Of which models; none: of all that are here. What is known of the others stays.
        score: Judges a file's answers; None: speed alone decides.
        note: Told of each trial as it ends.
        within_s: After this, no further file is tried.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing: No such language model is here.
        GeneratorUnavailable: None could be measured.
    """
    require_engine()
    # llama.cpp is loaded by whoever converts a file, and by nobody else.
    from lutrin.adapters.llamacpp_quantize import offloads, quantize  # noqa: PLC0415 - see above

    manifest = weights.load_manifest(settings.models_dir)
    present = [
        model
        for model in sorted(manifest.model, key=lambda model: model.size)
        if model.role == "generate" and weights.state_of(settings.models_dir, model) == "present"
    ]
    wanted = [
        (model.name, weights.verified_path(settings.models_dir, model))
        for model in present
        if not tiers or model.tier in tiers
    ]
    if not wanted:
        raise ModelMissing("There is no language model to measure.", remedy="Run `lutrin models fetch`.")
    end_s = time.monotonic() + within_s

    def speed(path: Path) -> Speed:
        factory = partial(open_decoder, path, threads=settings.model_threads, gpu_layers=gpu_layers(settings))
        return measure_apart(factory, min(LONGEST_S, within_s / (1 + len(formats))))

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    measured: list[Trial] = []
    folder = settings.data_dir / "models"
    for trial in trials(
        wanted,
        formats,
        folder,
        convert=quantize,
        speed=speed,
        score=score,
        goes_on=lambda: time.monotonic() < end_s,
    ):
        note(trial)
        if isinstance(trial, Trial):
            measured.append(trial)
    if not measured:
        raise GeneratorUnavailable("No model could be measured.")
    machine = f"{platform.machine()}, {os.cpu_count()} cores{', GPU' if offloads() else ''}"
    known = read_tuning(tuning_path(settings))
    kept = joined(measured, known, machine, [model.name for model in present])
    tuning = choose(kept, settings.deadline_s, machine=machine, date=dt.datetime.now(dt.UTC).date().isoformat())
    write_tuning(tuning, tuning_path(settings))
    return tuning


async def tune_frames(settings: Settings, note: Callable[[str], None]) -> list[tuple[str, str]]:
    """Find how far the model of the settings can be trusted as a judge of its own sentences, and remember it.

    Returns:
        What readers will get, in rows of a table.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing, ChecksumMismatch: There is no model, or its file cannot be used.
        InvalidSettings: There is no model of that name.
    """
    generator = open_generator(settings)
    if generator is None:
        raise ModelMissing("LUTRIN_MODEL is none.", remedy="Name a model, such as LUTRIN_MODEL=medium.")
    require_engine()
    try:
        if not await generator.start():
            raise GeneratorUnavailable("The model did not load.", remedy="`lutrin doctor` checks its file.")
        items = judging.read_list(settings.models_dir)
        trust = await judging.measured(generator, generator.identity, items, note)
    finally:
        await generator.close()
    judging.remember(trust, settings.data_dir)
    return judging.told(trust, ability_of(settings))


def tune_short(settings: Settings, note: Note = lambda _: None) -> Tuning | None:
    """Set-up's form: the model that will answer, its quickest format, a minute at most, once.

    Returns:
        What was chosen; None if it is known already, or nothing is to be measured.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing, ChecksumMismatch: The model's file cannot be used.
        InvalidSettings: There is no model of that name.
        GeneratorUnavailable: It could not be measured.
    """
    if not settings.tune or settings.model == "none" or settings.model.endswith(".gguf"):
        return None
    tier = AUTO_FALLBACK if settings.model == "auto" else settings.model
    model = weights.load_manifest(settings.models_dir).language_model(tier)
    known = read_tuning(tuning_path(settings))
    if known is not None and model.name in known.files:
        return None
    return tune(settings, SHORT_FORMATS, tiers=(model.tier,), note=note, within_s=SHORT_S)
