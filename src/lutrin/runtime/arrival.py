"""The language model arrives while the server answers with quotes: engine, file, measurement, then it takes over.

All of it runs in other processes at the lowest priority on one core. What is missing (a compiler, room, a network) is
said once; answers stay the book's own then. `LUTRIN_MODEL=none` turns all of it off.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from importlib import invalidate_caches
from importlib.util import find_spec

from lutrin.adapters.generate_llamacpp import ENGINE_MODULE
from lutrin.answer.prompt import Ability
from lutrin.errors import GeneratorUnavailable, LutrinError, ModelMissing
from lutrin.generate.protocol import PassageFigures
from lutrin.installed import ABOVE
from lutrin.keep import weights
from lutrin.log import get_logger
from lutrin.messages import MODEL_AWAY
from lutrin.records import GenerationEvent, GenerationRequest, ModelState
from lutrin.runtime.language_model import ability_of, auto_tier, open_generator
from lutrin.runtime.profile import HousedGenerator
from lutrin.settings import Settings

INSTALLER = ABOVE / "requirements" / "install.py"
"""Compiles the engine, where Lutrin runs from its checkout."""
TOLD_EVERY_S = 10.0
"""Between two lines of progress in the log."""


class ArrivingModel:
    """A `HousedGenerator` that stands in for the model until it is here.

    Raises:
        InvalidSettings: There is no model of that name.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.model != "auto" and not settings.model.startswith("hf:") and not settings.model.endswith(".gguf"):
            weights.load_manifest(settings.models_dir).language_model(settings.model)
        self.name = ""
        self.identity = ""
        self.state = ModelState("arriving", "The language model is on its way.")
        self._settings = settings
        self._inner: HousedGenerator | None = None
        self._log = get_logger("model")
        self._told_s = float("-inf")

    @property
    def computed_by(self) -> str:
        """What computes the model; empty until it is here."""
        return self._inner.computed_by if self._inner is not None else ""

    @property
    def load(self) -> tuple[int, int]:
        """Running answers and waiting readers."""
        return self._inner.load if self._inner is not None else (0, 0)

    @property
    def restarts(self) -> int:
        """Times that the model's process was started anew."""
        return int(getattr(self._inner, "restarts", 0))

    @property
    def passages(self) -> PassageFigures:
        """What reading passages once has saved."""
        return getattr(self._inner, "passages", PassageFigures())

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Compute the beginnings of prompts while nobody waits; nothing while there is no model."""
        if self._inner is not None:
            self._inner.warm(requests)

    async def start(self) -> bool:
        """Whether the model takes requests; does not wait for one that is on its way."""
        return await self._inner.start() if self._inner is not None else False

    async def ready(self) -> bool:
        """Whether the model would serve a request sent now."""
        return await self._inner.ready() if self._inner is not None else False

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Generate; see `ports.Generator`.

        Raises:
            GeneratorUnavailable: The model is not here yet.
        """
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
        """Bring engine and file, measure, and take over; returns when the model takes requests or cannot come."""
        try:
            ability = await self._arrive()
            if ability is not None:
                on_ready(ability)
        except (LutrinError, OSError) as error:
            detail = error.detail if isinstance(error, LutrinError) else str(error)
            remedy = error.remedy if isinstance(error, LutrinError) else ""
            self.state = ModelState("away", f"No language model: {detail}")
            self._log.warning("model_unusable", detail=detail, remedy=remedy)

    async def _arrive(self) -> Ability | None:
        """What the model can do; None if this machine is to have none."""
        tier = self._settings.model if self._settings.model != "auto" else auto_tier(self._settings)
        if tier == "none":
            self.state = ModelState("none", "This machine has too little memory for a language model.")
            self._log.info("no_model", detail=self.state.progress)
            return None
        invalidate_caches()
        if find_spec(ENGINE_MODULE) is None:
            if not INSTALLER.is_file():
                open_generator(self._settings)  # says how the engine is installed here
            await self._run(
                "Compiling the engine of the language model (some minutes)",
                [sys.executable, str(INSTALLER), "remote" if self._settings.profile == "remote" else "runtime"],
                {"LUTRIN_ENGINE": os.environ.get("LUTRIN_ENGINE", "") or "cpu"},
            )
        lutrin = [sys.executable, "-P", "-m", "lutrin.cli", "models"]
        if not self._is_here(tier):
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

    def _is_here(self, tier: str) -> bool:
        """Whether the file of a model need not be fetched; a path is taken as it is."""
        if tier.endswith(".gguf") and not tier.startswith("hf:"):
            return True
        try:
            model = weights.load_manifest(self._settings.models_dir).language_model(tier)
        except ModelMissing:  # of a hub, not fetched yet
            return False
        return weights.state_of(self._settings.models_dir, model) == "present"

    async def _run(self, what: str, command: list[str], environment: dict[str, str], *, idle: bool = True) -> None:
        """Run a command and show its last line as progress; at the lowest priority on one core, unless it measures."""
        self._tell(what)
        # The command lowers itself, because whatever it starts before somebody else does keeps the full priority.
        background = [sys.executable, "-P", "-m", "lutrin.platform"] if idle else []
        process = await asyncio.create_subprocess_exec(
            *background,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        last = ""
        try:
            if process.stdout is None:
                raise TypeError("the output is a pipe")
            async for raw in process.stdout:
                last = raw.decode(errors="replace").strip() or last
                self._tell(f"{what}: {last}")
            if await process.wait():
                raise ModelMissing(last or f"{what} failed.", remedy="Answers are the book's own words until then.")
        finally:
            if process.returncode is None:  # the server is stopping
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def _tell(self, line: str) -> None:
        """Show a line of progress; the log gets one every few seconds."""
        if self.state.state != "measuring":
            self.state = ModelState("arriving", line)
        now_s = asyncio.get_running_loop().time()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            self._log.info("model_on_its_way", progress=line)
