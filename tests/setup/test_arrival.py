"""The language model arrives while the server answers: what is missing is brought, what cannot come is said once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lutrin.answer.prompt import Ability
from lutrin.errors import GeneratorUnavailable
from lutrin.keep import weights
from lutrin.records import GenerationRequest, Message
from lutrin.runtime import language_model
from lutrin.runtime.language_model import ArrivingModel
from lutrin.settings import load_settings

REQUEST = GenerationRequest(messages=(Message(role="user", content="Hello"),), max_tokens=4, deadline_s=30)


async def test_until_it_is_here_it_answers_nothing(tmp_path: Path, models_dir: Path) -> None:
    """Its name is empty, so answers are the book's own; a request is refused as if the model were away."""
    model = ArrivingModel(load_settings(data_dir=tmp_path, models_dir=models_dir, model="tiny"))
    assert (model.name, model.state.state, model.load, model.computed_by) == ("", "arriving", (0, 0), "")
    assert not await model.ready()
    model.warm([REQUEST])
    with pytest.raises(GeneratorUnavailable):
        async for _ in model.stream(REQUEST):
            pass
    await model.close()


@pytest.mark.gguf
async def test_what_is_here_takes_over(tmp_path: Path, models_dir: Path) -> None:
    """With its name and what it can do."""
    model = ArrivingModel(load_settings(data_dir=tmp_path, models_dir=models_dir, model="tiny"))
    able: list[Ability] = []
    await model.arrive(able.append)
    try:
        assert (model.state.state, model.name) == ("ready", "SmolLM2-135M-Instruct")
        assert [one.tier for one in able] == ["tiny"]
        assert [event async for event in model.stream(REQUEST)]
    finally:
        await model.close()


async def test_what_cannot_come_is_said(tmp_path: Path, models_dir: Path) -> None:
    """The server goes on; pages show why."""
    model = ArrivingModel(load_settings(data_dir=tmp_path, models_dir=models_dir, model=str(tmp_path / "no.gguf")))
    able: list[Ability] = []
    await model.arrive(able.append)
    assert able == []
    assert model.state.state == "away"
    assert "no.gguf" in model.state.progress


@pytest.mark.parametrize(
    ("machine", "tier"),
    [
        ((2_000, 2), "none"),
        ((4_000, 1), "none"),
        ((4_000, 2), "medium"),
        ((16_000, 4), "medium"),
        ((16_000, 8), "large"),
    ],
)
def test_a_machine_gets_the_largest_model_that_it_carries(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch, machine: tuple[int, int], tier: str
) -> None:
    """By free memory and processors, as the manifest says; below 3 GB there is none."""
    memory_mb, cpus = machine
    monkeypatch.setattr(language_model, "available_bytes", lambda: memory_mb << 20)
    monkeypatch.setattr(language_model, "usable_cpus", lambda: set(range(cpus)))
    assert language_model.auto_tier(load_settings(data_dir=tmp_path, models_dir=models_dir)) == tier
    assert any(one.name == "medium" and one.memory_mb == 3_000 for one in weights.load_manifest(models_dir).tiers)


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="Linux only")
def test_what_compiles_leaves_the_cores_to_readers() -> None:
    """The lowest priority and one core, for the command and all that it starts."""
    code = "import os; print(os.sched_getscheduler(0) == os.SCHED_IDLE, len(os.sched_getaffinity(0)))"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    command = [sys.executable, "-P", "-m", "lutrin.platform", sys.executable, "-c", child]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["True", "1"]
