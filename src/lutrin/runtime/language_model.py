"""Choose the language model and its number format from settings, manifest and measurements on this machine."""

import datetime as dt
import os
import platform
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from lutrin.adapters.generate_llamacpp import open_decoder, require_engine
from lutrin.answer.prompt import Ability, warm_request
from lutrin.errors import GeneratorUnavailable, ModelMissing
from lutrin.generate.measure import LONGEST_S, Speed, measure_apart
from lutrin.generate.protocol import Limits, PassageFigures, PassageLimits
from lutrin.generate.tune import (
    SHORT_FORMATS,
    SHORT_S,
    Trial,
    Tuning,
    choose,
    merge_trials,
    read_tuning,
    sha256,
    trials,
    write_tuning,
)
from lutrin.generate.worker import WorkerGenerator
from lutrin.keep import weights
from lutrin.platform import available_bytes, usable_cpus
from lutrin.ports import Generator
from lutrin.settings import LOCAL, Settings

Score = Callable[[Path], float]
Note = Callable[[Trial | str], None]
WRITING = 0.5
"""Share of an explanation's time for writing; the rest is for reading the prompt and for waiting."""
LEAST_ANSWER_TOKENS = 64
"""On slower machines the explanation comes late, and readers ask for it."""
PASSAGES = "passages"
"""Folder of the passages that the model has read, in the data folder. It can be deleted at any time."""
FREE_SHARE = 4
"""Part of the free memory, and of the free disk, that passages may take: a quarter."""
MOST_PASSAGE_BYTES = 1 << 30
UNKNOWN_PASSAGE_BYTES = 1 << 28
"""Memory for passages on a system that does not say how much is free."""


def tuning_path(settings: Settings) -> Path:
    """Return the file in which `lutrin models tune` stores its result."""
    return settings.data_dir / "tuning.json"


def model_path(settings: Settings) -> tuple[str, Path] | None:
    """Return the name and the checked file of the language model of the settings; None for `none`.

    Raises:
        EngineMissing: No engine for language models is installed.
        ModelMissing, ChecksumMismatch: The file cannot be used.
        InvalidSettings: No model has that name.
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
        name = auto_tier(settings)
        if name == "none":
            return None
    model = weights.load_manifest(settings.models_dir).language_model(name)
    tuned = tuning.chosen(model.name) if tuning is not None else None
    if tuned is not None and Path(tuned.path).is_file() and sha256(Path(tuned.path)) == tuned.sha256:
        return model.name, Path(tuned.path)
    return model.name, weights.verified_path(settings.models_dir, model)


def auto_tier(settings: Settings) -> str:
    """Return the largest tier that this machine has the memory and the speed for; `none` if there is none.

    The manifest says what a tier needs; speed counts once `lutrin models tune` has measured it.
    """
    manifest = weights.load_manifest(settings.models_dir)
    tuning = read_tuning(tuning_path(settings))
    memory, cpus = available_bytes() >> 20, len(usable_cpus())
    for tier in sorted(manifest.tiers, key=lambda tier: -tier.least_bytes):
        if not tier.memory_mb or memory < tier.memory_mb or cpus < tier.cpus:
            continue
        trial = tuning.chosen(manifest.find(tier.name).name) if tuning is not None else None
        if trial is None or trial.speed.prefill >= tier.prefill:
            return tier.name
    return "none"


def ability_of(settings: Settings) -> Ability:
    """Decide by tier and measured speed how much the configured model reads and writes.

    A service's model counts as `large`, as does a file of at least the size of the smallest model of that tier.

    Raises:
        InvalidSettings: There is no model of that name.
    """
    manifest = weights.load_manifest(settings.models_dir)
    is_remote = settings.profile == "remote" and settings.llm_model != LOCAL
    tier = manifest.tier("large" if is_remote else _tier_of(settings, manifest))
    ability = Ability(
        tier=tier.name,
        sections=tier.sections,
        judges=tier.judges,
        answer_tokens=tier.answer_tokens,
        own_words=tier.own_words,
        study=frozenset(tier.study),
    )
    tuning = None if is_remote else read_tuning(tuning_path(settings))
    model = _name_of(settings, manifest)
    trial = tuning.chosen(model) if tuning is not None else None
    return ability if trial is None else limit_to_speed(ability, trial.speed, settings.explain_s)


def limit_to_speed(ability: Ability, speed: Speed, explain_s: float) -> Ability:
    """Limit an answer to what a single reader gets in the seconds that an explanation may take."""
    return replace(
        ability,
        answer_tokens=min(ability.answer_tokens, max(LEAST_ANSWER_TOKENS, int(WRITING * explain_s * speed.single))),
    )


def _tier_of(settings: Settings, manifest: weights.Manifest) -> str:
    if settings.model == "none":
        return "none"
    if settings.model.endswith(".gguf"):
        path = Path(settings.model)
        return manifest.tier_of_size(path.stat().st_size if path.is_file() else 0).name
    return manifest.language_model(_name_of(settings, manifest)).tier


def _name_of(settings: Settings, manifest: weights.Manifest) -> str:
    if settings.model == "auto":
        tier = auto_tier(settings)
        return tier if tier == "none" else manifest.find(tier).name
    if settings.model == "none" or settings.model.endswith(".gguf"):
        return settings.model
    return manifest.language_model(settings.model).name


def gpu_layers(settings: Settings) -> int | None:
    """Return the number of layers that a graphics processor computes; None: all of them."""
    return None if settings.gpu_layers == "auto" else settings.gpu_layers


def computed_by(settings: Settings) -> str:
    """Describe what would compute a language model here. This loads the engine into the process, but no model.

    Raises:
        GeneratorUnavailable: The engine does not run on this processor.
    """
    # The server's process must not load llama.cpp; `lutrin doctor` runs in its own process.
    from lutrin.adapters import llamacpp_backend  # noqa: PLC0415 - see above

    return llamacpp_backend.computed_by(gpu_layers(settings))


def passage_limits(settings: Settings, model_bytes: int) -> PassageLimits:
    """Size the store of passages that the model has read, by the settings and what is free on this machine."""
    if settings.passage_cache_mb == "auto":
        free = available_bytes()
        memory = min(MOST_PASSAGE_BYTES, max(0, free - model_bytes) // FREE_SHARE) if free else UNKNOWN_PASSAGE_BYTES
    else:
        memory = settings.passage_cache_mb << 20
    place = next(path for path in (settings.data_dir, *settings.data_dir.resolve().parents) if path.exists())
    # Passages on disk do not count as taken: otherwise the store would shrink from one start to the next.
    folder = settings.data_dir / PASSAGES
    free = shutil.disk_usage(place).free + sum(file.stat().st_size for file in folder.glob("*"))
    disk = settings.passage_disk_mb << 20
    return PassageLimits(
        memory_bytes=memory, disk_bytes=disk if disk <= free // FREE_SHARE else 0, folder=str(folder.resolve())
    )


def passage_figures(generator: Generator | None) -> dict[str, float]:
    """Return what reading passages once has saved a model; nothing for a service's model, which has no store here."""
    figures = getattr(generator, "passages", None)
    return msgspec.structs.asdict(figures) if isinstance(figures, PassageFigures) else {}


def passages_text(settings: Settings, model: Path) -> str:
    """Describe the store of passages for an operator: what it may take with a model, and what it has on disk."""
    limits = passage_limits(settings, model.stat().st_size)
    files = [file.stat().st_size for file in (settings.data_dir / PASSAGES).glob("*")]
    disk = f"{limits.disk_bytes >> 20} MB on disk" if limits.disk_bytes else "none on disk"
    return (
        f"Passages that the model has read take up to {limits.memory_bytes >> 20} MB of memory and {disk}; "
        f"{len(files)} are stored, {sum(files) >> 20} MB."
    )


def open_generator(settings: Settings) -> WorkerGenerator | None:
    """Make the language model in a process of its own, not started yet; None if none is configured."""
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
        kv_type=settings.model_cache,
        gpu_layers=gpu_layers(settings),
    )
    limits = Limits(slots=settings.model_slots, queue=settings.queue_limit)
    # A file of the manifest, or converted from one, was checked by its hash; for any other, its time identifies it.
    state = path.stat()
    identity = f"{name} {path.name} {state.st_size}"
    if settings.model.endswith(".gguf"):
        identity += f" {state.st_mtime_ns}"
    passages = passage_limits(settings, state.st_size)
    return WorkerGenerator(name, factory, identity=identity, limits=limits, passages=passages, warm=warm_request())


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
        formats: Some of `lutrin.generate.tune.FORMATS`.
        tiers: Tiers of the models to measure; empty: all that are here. Results of other models are kept.
        score: Scores a file's answers; None: speed alone decides.
        within_s: Seconds after which no further file is tried.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing: No such language model is here.
        GeneratorUnavailable: None could be measured.
    """
    require_engine()
    # Only this command loads llama.cpp into its own process, to convert files.
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
        wanted, formats, folder, convert=quantize, speed=speed, score=score, goes_on=lambda: time.monotonic() < end_s
    ):
        note(trial)
        if isinstance(trial, Trial):
            measured.append(trial)
    if not measured:
        raise GeneratorUnavailable("No model could be measured.")
    machine = f"{platform.machine()}, {os.cpu_count()} cores{', GPU' if offloads() else ''}"
    known = read_tuning(tuning_path(settings))
    kept = merge_trials(measured, known, machine, [model.name for model in present])
    tuning = choose(kept, settings.deadline_s, machine=machine, date=dt.datetime.now(dt.UTC).date().isoformat())
    write_tuning(tuning, tuning_path(settings))
    return tuning


def tune_short(settings: Settings, note: Note = lambda _: None) -> Tuning | None:
    """Measure the quickest format of the configured model, once and for a minute; None: known, or nothing to do.

    Raises:
        EngineMissing: Nothing here runs a language model.
        ModelMissing, ChecksumMismatch: The model's file cannot be used.
        InvalidSettings: There is no model of that name.
        GeneratorUnavailable: It could not be measured.
    """
    if not settings.tune or settings.model == "none" or settings.model.endswith(".gguf"):
        return None
    tier = auto_tier(settings) if settings.model == "auto" else settings.model
    if tier == "none":
        return None
    model = weights.load_manifest(settings.models_dir).language_model(tier)
    known = read_tuning(tuning_path(settings))
    if known is not None and model.name in known.files:
        return None
    return tune(settings, SHORT_FORMATS, tiers=(model.tier,), note=note, within_s=SHORT_S)
