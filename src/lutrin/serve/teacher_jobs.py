"""Commands that the teacher's page runs in separate processes, so that readers do not have to wait for them."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from lutrin.settings import Settings

PATIENCE_S = 600.0
"""The doctor reads every model file and every vector once."""

T = TypeVar("T")


class CommandJob(Generic[T]):
    """Runs `lutrin COMMAND --json`, once at a time, and keeps what it printed last."""

    def __init__(self, command: str, shape: type[T], settings: Settings, now: Callable[[], datetime]) -> None:
        self._command = command
        self._shape = shape
        self._settings = settings
        self._now = now
        self.running = False
        self.found: T | None = None
        self.at: datetime | None = None
        """When it ended last."""
        self.trouble = ""
        """Why it found nothing, the last time."""

    def start(self, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Start the command, in a task that ends with the server, unless it is already running."""
        if not self.running:
            self.running = True
            spawn(self._run())

    async def _run(self) -> None:
        try:
            output, errors = await asyncio.wait_for(self._process(), PATIENCE_S)
            self.found, self.trouble = msgspec.json.decode(output, type=self._shape), ""
        except TimeoutError:
            self.found, self.trouble = None, f"It took more than {PATIENCE_S:.0f} s."
        except msgspec.MsgspecError:
            said = errors.decode(errors="replace").strip().rpartition("\n")[2]
            self.found, self.trouble = None, said or f"`lutrin {self._command}` did not end as it should."
        finally:
            self.running = False
            self.at = self._now()

    async def _process(self) -> tuple[bytes, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "lutrin.cli", self._command, "--json",
            "--data-dir", str(self._settings.data_dir),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LUTRIN_LOG_LEVEL": "error"},
        )  # fmt: skip
        try:
            return await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
