"""Chooses the language model and its number format from settings, manifest and measurements on this machine.

The model arrives while the server answers with quotes: engine, file, measurement, then it takes over. All of this runs
in other processes at the lowest priority on one core. A missing part (a compiler, room, a network) is reported once;
answers then stay the book's own. `LUTRIN_MODEL=none` turns all of it off.
"""

import asyncio
import datetime as dt
import os
import platform
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import msgspec

from lutrin.adapters.generate_llamacpp import ENGINE_MODULE, open_decoder, require_engine
from lutrin.answer.prompt import Ability, warm_request
from lutrin.errors import GeneratorUnavailable, LutrinError, ModelMissing
from lutrin.generate.head import Head, shipped_head
from lutrin.generate.prefix import PassageLimits
from lutrin.generate.scheduler import Limits, PassageFigures
from lutrin.generate.tune import (
    LONGEST_S,
    SHORT_FORMATS,
    SHORT_S,
    Speed,
    Trial,
    Tuning,
    choose,
    measure_apart,
    merge_trials,
    read_tuning,
    trials,
    write_tuning,
)
from lutrin.generate.worker import WorkerGenerator
from lutrin.index.disk import file_hash
from lutrin.installed import ABOVE
from lutrin.keep import weights
from lutrin.log import get_logger
from lutrin.messages import MODEL_AWAY
from lutrin.platform import available_bytes, usable_cpus
from lutrin.ports import Generator
from lutrin.records import Forecast, GenerationEvent, GenerationRequest, ModelState
from lutrin.runtime.command import run_command
from lutrin.settings import LOCAL, Settings

Score = Callable[[Path], float]
Note = Callable[[Trial | str], None]
WRITING = 0.5
"""Share of an explanation's time for writing; the rest is for reading the prompt and for waiting."""
LEAST_ANSWER_TOKENS = 64
"""Least length of an explanation; on slower machines it comes late, and readers request it."""
PASSAGES = "passages"
"""Folder of the passages that the model has read, in the data folder. It may be deleted at any time."""
FREE_SHARE = 4
"""Share of the free memory, and of the free disk, for passages: a quarter."""
MOST_PASSAGE_BYTES = 1 << 30
UNKNOWN_PASSAGE_BYTES = 1 << 28
"""Memory for passages on a system that does not report its free memory."""


class HousedGenerator(Generator, Protocol):
    """A language model that the runtime starts and whose load it reports."""

    @property
    def identity(self) -> str:
        """Equal for equal model files; empty if unknown, in which case no answer is cached."""

    @property
    def computed_by(self) -> str:
        """Hardware that runs the model, such as `processor (haswell)`; empty until known."""

    @property
    def load(self) -> tuple[int, int]:
        """Count running answers and waiting readers."""

    async def start(self) -> bool:
        """Start the model; return whether it is ready, once that is known."""


def tuning_path(settings: Settings) -> Path:
    """Return the file in which `lutrin models tune` stores its result."""
    return settings.data_dir / "tuning.json"


def _tuning(settings: Settings) -> Tuning | None:
    return read_tuning(tuning_path(settings))


def _chosen_model(settings: Settings) -> weights.Model | Path | None:
    """Return the configured model of the manifest, or the operator's own file; None for none."""
    name = auto_tier(settings) if settings.model == "auto" else settings.model
    if name == "none":
        return None
    return Path(name) if name.endswith(".gguf") else weights.load_manifest(settings.models_dir).find(name, "generate")


def model_path(settings: Settings) -> tuple[str, Path] | None:
    """Return the name and the checked file of the configured language model; None for `none`.

    Raises:
        EngineMissing: No engine for language models is installed.
        ModelMissing, ChecksumMismatch: The file cannot be used.
        InvalidSettings: No model has that name.
    """
    if settings.model == "none":
        return None
    require_engine()
    model = _chosen_model(settings)
    if isinstance(model, Path):
        if not model.is_file():
            raise ModelMissing(f"The model file {model} does not exist.", remedy="Correct LUTRIN_MODEL.")
        return model.stem, model
    if model is None:
        return None
    tuning = _tuning(settings)
    tuned = tuning.choice(model.name) if tuning is not None else None
    if tuned is not None and Path(tuned.path).is_file() and file_hash(Path(tuned.path)) == tuned.sha256:
        return model.name, Path(tuned.path)
    return model.name, weights.verified_path(settings.models_dir, model)


def auto_tier(settings: Settings) -> str:
    """Return the largest tier that this machine has the memory and the speed for; `none` if there is none.

    The manifest gives a tier's requirements; speed counts once `lutrin models tune` has measured it.
    """
    manifest = weights.load_manifest(settings.models_dir)
    tuning = _tuning(settings)
    memory, cpus = available_bytes() >> 20, len(usable_cpus())
    for tier in sorted(manifest.tiers, key=lambda tier: -tier.least_bytes):
        if not tier.memory_mb or memory < tier.memory_mb or cpus < tier.cpus:
            continue
        trial = tuning.choice(manifest.find(tier.name).name) if tuning is not None else None
        if trial is None or trial.speed.prefill >= tier.prefill:
            return tier.name
    return "none"


def ability_of(settings: Settings) -> Ability:
    """Decide by tier and measured speed how much the configured model reads and writes.

    A service's model counts as `large`, as does a file of at least the size of the smallest model of that tier.
    """
    manifest = weights.load_manifest(settings.models_dir)
    is_remote = settings.profile == "remote" and settings.llm_model != LOCAL
    model = None if is_remote else _chosen_model(settings)
    if isinstance(model, Path):
        tier = manifest.tier_of_size(model.stat().st_size if model.is_file() else 0)
    else:
        tier = manifest.tier("large" if is_remote else model.tier if model is not None else "none")
    ability = Ability(
        tier=tier.name,
        sections=tier.sections,
        judges=tier.judges,
        answer_tokens=tier.answer_tokens,
        own_words=tier.own_words,
        study=frozenset(tier.study),
    )
    tuning = _tuning(settings)
    trial = tuning.choice(model.name) if tuning is not None and isinstance(model, weights.Model) else None
    return ability if trial is None else limit_to_speed(ability, trial.speed, settings.explain_s)


def limit_to_speed(ability: Ability, speed: Speed, explain_s: float) -> Ability:
    """Limit an answer to the tokens that a single reader gets in the seconds for an explanation."""
    return replace(
        ability,
        answer_tokens=min(ability.answer_tokens, max(LEAST_ANSWER_TOKENS, int(WRITING * explain_s * speed.single))),
    )


def gpu_layers(settings: Settings) -> int | None:
    """Return the number of layers for the graphics processor; None: all of them."""
    return None if settings.gpu_layers == "auto" else settings.gpu_layers


def computed_by(settings: Settings) -> str:
    """Describe the hardware that would run a language model. This loads the engine into the process, but no model."""
    # The server's process must not load llama.cpp; `lutrin doctor` runs in its own process.
    from lutrin.adapters import llamacpp  # noqa: PLC0415 - see above

    return llamacpp.computed_by(gpu_layers(settings))


def passage_limits(settings: Settings, model_bytes: int) -> PassageLimits:
    """Size the store of read passages by the settings and the free space of this machine."""
    if settings.passage_cache_mb == "auto":
        free = available_bytes()
        memory = min(MOST_PASSAGE_BYTES, max(0, free - model_bytes) // FREE_SHARE) if free else UNKNOWN_PASSAGE_BYTES
    else:
        memory = settings.passage_cache_mb << 20
    place = next(path for path in (settings.data_dir, *settings.data_dir.resolve().parents) if path.exists())
    # Passages on disk count as free: otherwise the store would shrink from one start to the next.
    folder = settings.data_dir / PASSAGES
    free = shutil.disk_usage(place).free + sum(file.stat().st_size for file in folder.glob("*"))
    disk = settings.passage_disk_mb << 20
    disk = disk if disk <= free // FREE_SHARE else 0
    return PassageLimits(memory_bytes=memory, disk_bytes=disk, folder=str(folder.resolve()))


def passage_figures(generator: Generator | None) -> dict[str, float]:
    """Return the savings of a model's store of passages; empty for a service's model, which has no store here."""
    figures = getattr(generator, "passages", None)
    return msgspec.structs.asdict(figures) if isinstance(figures, PassageFigures) else {}


def passages_text(settings: Settings, model: Path) -> str:
    """Describe the store of passages for an operator: its limits with a model, and its size on disk."""
    limits = passage_limits(settings, model.stat().st_size)
    files = [file.stat().st_size for file in (settings.data_dir / PASSAGES).glob("*")]
    disk = f"{limits.disk_bytes >> 20} MB on disk" if limits.disk_bytes else "none on disk"
    return (
        f"Passages that the model has read take up to {limits.memory_bytes >> 20} MB of memory and {disk}; "
        f"{len(files)} are stored, {sum(files) >> 20} MB."
    )


def open_generator(settings: Settings) -> WorkerGenerator | None:
    """Make the language model in a separate process, not started yet; None if none is configured."""
    chosen = model_path(settings)
    if chosen is None:
        return None
    name, path = chosen
    n_ctx, slots, threads = settings.model_context_tokens, settings.model_slots, settings.model_threads
    layers, kv_type = gpu_layers(settings), settings.model_cache
    factory = partial(open_decoder, path, n_ctx, slots, threads, kv_type=kv_type, gpu_layers=layers)
    limits = Limits(slots=slots, queue=settings.queue_limit)
    # A file of the manifest, or converted from one, was checked by its hash; for any other, its time identifies it.
    state = path.stat()
    identity = f"{name} {path.name} {state.st_size}"
    if settings.model.endswith(".gguf"):
        identity += f" {state.st_mtime_ns}"
    passages, head = passage_limits(settings, state.st_size), head_of(settings, shipped_head())
    return WorkerGenerator(
        name, factory, identity=identity, limits=limits, passages=passages, warm=warm_request(), head=head
    )


def head_of(settings: Settings, head: Head) -> Head | None:
    """Return the head if it was fitted for the configured model, which `lutrin models tune` may have converted."""
    model = _chosen_model(settings)
    if isinstance(model, Path):
        # Few files have this exact size, so that others need not be hashed.
        return head if model.stat().st_size == head.size and file_hash(model) == head.sha256 else None
    return head if model is not None and model.file[0].sha256 == head.sha256 else None


def tune(
    settings: Settings,
    formats: Sequence[str],
    *,
    tiers: Sequence[str] = (),
    score: Score | None = None,
    note: Note = lambda _: None,
    within_s: float = float("inf"),
) -> Tuning:
    """Convert and measure installed models, and remember the best choice for this machine.

    Args:
        formats: Some of `lutrin.generate.tune.FORMATS`.
        tiers: Tiers of the models to measure; empty: all installed ones. Results of other models are kept.
        score: Scores a file's answers; None: only speed decides.
        within_s: Seconds after which no further file is tried.
    """
    require_engine()
    # Only this command loads llama.cpp into its own process, to convert files.
    from lutrin.adapters.llamacpp import offloads, quantize  # noqa: PLC0415 - see above

    manifest = weights.load_manifest(settings.models_dir)
    folder, generate = settings.models_dir, [model for model in manifest.model if model.role == "generate"]
    present = [model for model in generate if weights.state_of(folder, model) == "present"]
    present.sort(key=lambda model: model.size)
    chosen = [model for model in present if not tiers or model.tier in tiers]
    files = [(model.name, weights.verified_path(folder, model)) for model in chosen]
    if not files:
        raise ModelMissing("There is no language model to measure.", remedy="Run `lutrin models fetch`.")
    end_s = time.monotonic() + within_s

    def goes_on() -> bool:
        return time.monotonic() < end_s

    def speed(path: Path) -> Speed:
        factory = partial(open_decoder, path, threads=settings.model_threads, gpu_layers=gpu_layers(settings))
        return measure_apart(factory, min(LONGEST_S, within_s / (1 + len(formats))))

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    measured: list[Trial] = []
    for trial in trials(
        files, formats, settings.data_dir / "models", convert=quantize, speed=speed, score=score, goes_on=goes_on
    ):
        note(trial)
        if isinstance(trial, Trial):
            measured.append(trial)
    if not measured:
        raise GeneratorUnavailable("No model could be measured.")
    machine = f"{platform.machine()}, {os.cpu_count()} cores{', GPU' if offloads() else ''}"
    results = merge_trials(measured, _tuning(settings), machine, [model.name for model in present])
    tuning = choose(results, settings.deadline_s, machine=machine, date=dt.datetime.now(dt.UTC).date().isoformat())
    write_tuning(tuning, tuning_path(settings))
    return tuning


def tune_short(settings: Settings, note: Note = lambda _: None) -> Tuning | None:
    """Measure the fastest format of the configured model, once and for a minute; None: known, or nothing to do."""
    model = _chosen_model(settings) if settings.tune else None
    tuning = _tuning(settings)
    if not isinstance(model, weights.Model) or (tuning is not None and model.name in tuning.files):
        return None
    return tune(settings, SHORT_FORMATS, tiers=(model.tier,), note=note, within_s=SHORT_S)


INSTALLER = ABOVE / "requirements" / "install.py"
"""Compiles the engine, if Lutrin runs from its checkout."""
TOLD_EVERY_S = 10.0
"""Seconds between two lines of progress in the log."""


class ArrivingModel:
    """A `HousedGenerator` that stands in for the model until it arrives."""

    def __init__(self, settings: Settings) -> None:
        if settings.model != "auto":
            with suppress(ModelMissing):  # it is of a hub, and will be fetched
                _chosen_model(settings)
        self.name = ""
        self.identity = ""
        self.state = ModelState("arriving", "The language model is on its way.")
        self._settings = settings
        self._inner: HousedGenerator | None = None
        self._log = get_logger("model")
        self._told_s = float("-inf")

    @property
    def computed_by(self) -> str:
        """See `HousedGenerator`."""
        return self._inner.computed_by if self._inner is not None else ""

    @property
    def load(self) -> tuple[int, int]:
        """See `HousedGenerator`."""
        return self._inner.load if self._inner is not None else (0, 0)

    @property
    def restarts(self) -> int:
        """Number of restarts of the model's process."""
        return int(getattr(self._inner, "restarts", 0))

    @property
    def passages(self) -> PassageFigures:
        """Savings of the store of passages."""
        return getattr(self._inner, "passages", PassageFigures())

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Compute the beginnings of prompts while no reader waits; do nothing without a model."""
        if self._inner is not None:
            self._inner.warm(requests)

    def hold(self, waiting: int) -> None:
        """Let readers who wait for the book's words go first; do nothing without a model."""
        if self._inner is not None:
            self._inner.hold(waiting)

    def forecast(self, request: GenerationRequest) -> Forecast | None:
        """Estimate how long a request would take; None while there is no model."""
        return self._inner.forecast(request) if self._inner is not None else None

    async def start(self) -> bool:
        """Whether the model takes requests; does not wait for one on its way."""
        return await self._inner.start() if self._inner is not None else False

    async def ready(self) -> bool:
        """Whether the model would serve a request sent now."""
        return await self._inner.ready() if self._inner is not None else False

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Generate; see `ports.Generator`."""
        if self._inner is None:
            raise GeneratorUnavailable(MODEL_AWAY)
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """End the model's process, if there is one."""
        if self._inner is not None:
            await self._inner.close()

    async def arrive(self, on_ready: Callable[[Ability], None]) -> None:
        """Bring engine and file, measure, and take over; return when the model takes requests or cannot arrive."""
        try:
            ability = await self._arrive()
            if ability is not None:
                on_ready(ability)
        except (LutrinError, OSError) as error:
            detail = error.detail if isinstance(error, LutrinError) else str(error)
            remedy = error.remedy if isinstance(error, LutrinError) else ""
            self.state = ModelState("away", f"No language model: {detail}")
            self._log.warning("model_unusable", detail=detail, remedy=remedy)
        except Exception:
            self.state = ModelState("away", "No language model: it failed to arrive; the log says where.")
            raise

    async def _arrive(self) -> Ability | None:
        """The model's abilities; None if this machine is to have none."""
        tier = self._settings.model if self._settings.model != "auto" else auto_tier(self._settings)
        if tier == "none":
            self.state = ModelState("none", "This machine has too little memory for a language model.")
            self._log.info("no_model", detail=self.state.progress)
            return None
        invalidate_caches()
        if find_spec(ENGINE_MODULE) is None:
            if not INSTALLER.is_file():
                open_generator(self._settings)  # says how the engine is installed here
            installer = [sys.executable, str(INSTALLER), "remote" if self._settings.profile == "remote" else "runtime"]
            engine = {"LUTRIN_ENGINE": os.environ.get("LUTRIN_ENGINE", "") or "cpu"}
            await self._run("Compiling the engine of the language model (some minutes)", installer, engine)
        lutrin = [sys.executable, "-P", "-m", "lutrin.cli", "models"]
        if not self._is_here(self._settings.model_copy(update={"model": tier})):
            await self._run(f"Fetching the language model ({tier})", [*lutrin, "fetch", tier], {})
        if self._settings.tune and self._settings.model == "auto":
            self.state = ModelState("measuring", "Measuring the language model on this machine (half a minute).")
            with suppress(ModelMissing):
                command = [*lutrin, "tune", "--short", "--data-dir", str(self._settings.data_dir)]
                await self._run("Measuring the language model", command, {}, idle=False)
        # A model that is too slow here gives way to a smaller one, or to none.
        chosen = self._settings.model if self._settings.model != "auto" else auto_tier(self._settings)
        inner = open_generator(self._settings.model_copy(update={"model": chosen}))
        if inner is None:
            self.state = ModelState("none", "This machine is too slow for a language model.")
            self._log.info("no_model", detail=self.state.progress)
            return None
        if not await inner.start():
            raise GeneratorUnavailable("The model did not load.", remedy="`lutrin doctor` checks its file.")
        self._inner = inner
        self.name, self.identity = inner.name, inner.identity
        self.state = ModelState("ready")
        return ability_of(self._settings.model_copy(update={"model": chosen}))

    def _is_here(self, settings: Settings) -> bool:
        """Whether the file of a model need not be fetched; a path is accepted as is."""
        try:
            model = _chosen_model(settings)
        except ModelMissing:  # of a hub, not fetched yet
            return False
        return not isinstance(model, weights.Model) or weights.state_of(settings.models_dir, model) == "present"

    async def _run(self, what: str, command: list[str], environment: dict[str, str], *, idle: bool = True) -> None:
        """Run a command and show its last line as progress; at the lowest priority on one core, unless it measures."""
        self._tell(what)
        # The command lowers itself, because anything that it starts before would keep the full priority.
        background = [sys.executable, "-P", "-m", "lutrin.platform"] if idle else []
        last = ""

        def keep(line: str) -> None:
            nonlocal last
            last = line or last
            self._tell(f"{what}: {last}")

        code, _ = await run_command([*background, *command], keep, environment, returns=False)
        if code:
            raise ModelMissing(last or f"{what} failed.", remedy="Answers are the book's own words until then.")

    def _tell(self, line: str) -> None:
        if self.state.state != "measuring":
            self.state = ModelState("arriving", line)
        now_s = asyncio.get_running_loop().time()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            self._log.info("model_on_its_way", progress=line)
